//! Who registers a client: one at a time for each client that there can be, and not again at once where it failed.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use jiff::{SignedDuration, Timestamp};

use crate::oauth::registration::RegistrationError;

/// How long a failure is everybody's answer who waited for it.
const LATELY: SignedDuration = SignedDuration::from_secs(5);

/// A registration that failed, and may not later.
#[derive(Debug)]
pub(super) struct Failed {
    error: RegistrationError,
    at: Timestamp,
}

impl Failed {
    pub(super) fn new(error: RegistrationError, at: Timestamp) -> Self {
        Self { error, at }
    }

    /// Why, if it was a moment ago.
    pub(super) fn lately(&self, now: Timestamp) -> Option<RegistrationError> {
        let passed = now.duration_since(self.at);
        (!passed.is_negative() && passed < LATELY).then(|| self.error.clone())
    }
}

/// Held by whoever registers a client.
type Turn = Arc<tokio::sync::Mutex<Option<Failed>>>;

/// The right to register, for each server and redirect URI. What users choose is in there (kind 15), so nothing stays that nobody
/// waits for and that says nothing.
#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<HashMap<(String, String), Turn>>);

impl Turns {
    pub(super) fn of(&self, at: &str, redirect_uri: &str) -> Turn {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if turns.len() >= MANY {
            turns.retain(|_, turn| Arc::strong_count(turn) > 1);
        }
        Arc::clone(turns.entry((at.to_owned(), redirect_uri.to_owned())).or_default())
    }
}

/// From so many on those that nobody holds are dropped, with what failed there.
const MANY: usize = 100;
