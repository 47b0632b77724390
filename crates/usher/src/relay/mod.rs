//! The MCP data plane: takes what clients send, lets the broker decide, and puts it upstream or asks. Knows no HTML.

mod answers;
mod ask_legacy;
mod ask_modern;
mod begin;
mod body;
mod call;
mod cancels;
mod connect_tool;
mod ending;
mod forward;
mod held;
pub mod inbound;
mod initialize;
mod legacy;
mod listen;
mod modern;
mod notices;
mod places;
mod reply;
mod rounds;
mod screen;
mod sessions;
mod streams;
mod upstream;

use std::{sync::Arc, time::Duration};

use elicit::StateKeys;
use usher_store::Store;

pub use self::notices::{catch_up, deliver};
use self::{answers::Answers, cancels::Cancels, places::Places, sessions::Sessions, streams::Streams};
use crate::config::Limits;

/// What the data plane keeps in memory on this replica.
pub struct Relay {
    state_keys: Arc<StateKeys>,
    sessions: Sessions,
    answers: Answers,
    cancels: Cancels,
    streams: Streams,
    places: Places,
    keep_alive: Duration,
}

/// How often a silent stream gets a comment, so that nothing in between closes it as idle.
pub const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(15);

impl Relay {
    /// An idle data plane.
    pub fn new(state_keys: Arc<StateKeys>, store: Store, limits: &Limits) -> Self {
        Self {
            state_keys,
            answers: Answers::new(store.instance()),
            cancels: Cancels::default(),
            sessions: Sessions::new(store),
            streams: Streams::default(),
            places: Places::new(limits.clone()),
            keep_alive: KEEP_ALIVE_EVERY,
        }
    }

    /// Drops what is kept of a session, after its upstream began its side, or it ended. Its GET streams end with it; a
    /// client whose session goes on opens a new one, which reaches the upstream.
    pub fn forget_session(&self, key: &usher_store::SessionKey) {
        self.sessions.forget(key);
        self.streams.upstream_began(key, &notices::tools_changed());
        self.streams.end(key);
    }

    /// Drops counts of clients that have nothing under way.
    pub fn shrink(&self) {
        self.places.shrink();
    }

    /// Whether a session must not end for another one to begin: a stream of it is open here, or a call under way.
    fn is_in_use(&self, key: &usher_store::SessionKey) -> bool {
        self.streams.of(key).is_some() || self.cancels.is_following(key)
    }

    /// Drops what is kept of all sessions, after contact to the store was lost.
    pub fn forget_sessions(&self) {
        self.sessions.forget_all();
    }
}
