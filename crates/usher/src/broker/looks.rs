//! How often the other side is asked whether a visit is done: one question at a time for each visit, and not at every click.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use jiff::{SignedDuration, Timestamp};
use usher_store::InteractionId;

use super::ConfirmError;

/// How long an answer that a visit is open counts as the newest.
const EVERY: SignedDuration = SignedDuration::from_secs(5);

/// After this a look is over, whatever became of whoever began it.
const UNDER_WAY: SignedDuration = SignedDuration::from_secs(15);

/// The looks of this replica.
#[derive(Debug, Default)]
pub struct Looks(Mutex<HashMap<InteractionId, Last>>);

#[derive(Debug, Clone, Copy)]
struct Last {
    began: Timestamp,
    under_way: bool,
    /// What the one before said.
    said: Option<ConfirmError>,
}

/// Whether somebody may look now.
pub(super) enum Turn {
    /// Yes; it is to be [noted](Looks::note).
    Look,
    /// No: this is what is known, if anything.
    Known(Option<ConfirmError>),
}

impl Looks {
    /// Takes the turn, where it is one.
    pub(super) fn turn(&self, id: &InteractionId, now: Timestamp) -> Turn {
        let mut looks = self.lock();
        looks.retain(|_, last| now.duration_since(last.began) < if last.under_way { UNDER_WAY } else { EVERY });
        if let Some(last) = looks.get(id) {
            return Turn::Known(last.said);
        }
        looks.insert(id.clone(), Last { began: now, under_way: true, said: None });
        Turn::Look
    }

    /// What came of a look.
    pub(super) fn note(&self, id: &InteractionId, said: ConfirmError) {
        if let Some(last) = self.lock().get_mut(id) {
            (last.under_way, last.said) = (false, Some(said));
        }
    }

    /// A panic while the lock is held leaves a map that is still whole.
    fn lock(&self) -> MutexGuard<'_, HashMap<InteractionId, Last>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use elicit::SystemRandom;

    use super::*;

    #[test]
    fn one_look_at_a_time_and_one_every_five_seconds() {
        let (looks, id) = (Looks::default(), InteractionId::new(&SystemRandom));
        let at = |seconds| Timestamp::from_second(seconds).unwrap();
        assert!(matches!(looks.turn(&id, at(0)), Turn::Look));
        assert!(matches!(looks.turn(&id, at(9)), Turn::Known(None)), "another one is under way");
        assert!(matches!(looks.turn(&InteractionId::new(&SystemRandom), at(9)), Turn::Look), "another visit");
        looks.note(&id, ConfirmError::NotYet);
        assert!(matches!(looks.turn(&id, at(4)), Turn::Known(Some(ConfirmError::NotYet))));
        assert!(matches!(looks.turn(&id, at(5)), Turn::Look));
        assert!(matches!(looks.turn(&id, at(20)), Turn::Look), "whoever looked has left");
    }
}
