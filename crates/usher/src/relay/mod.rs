//! The MCP data plane: takes what clients send, lets the broker decide, and puts it upstream or asks. Knows no HTML.

mod answers;
mod ask_legacy;
mod ask_modern;
mod begin;
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
mod pace;
mod pipe;
mod reply;
mod resume;
mod rounds;
mod screen;
mod sessions;
mod streams;
mod upstream;

use std::sync::Arc;

use elicit::StateKeys;
use tokio::sync::Semaphore;
use usher_store::{SessionKey, Store};

use self::{answers::Answers, cancels::Cancels, resume::Resumes, sessions::Sessions, streams::Streams};
pub use self::{
    notices::{catch_up, deliver},
    pace::Pace,
};

/// What the data plane keeps in memory on this replica.
pub struct Relay {
    state_keys: Arc<StateKeys>,
    sessions: Sessions,
    answers: Answers,
    cancels: Cancels,
    streams: Streams,
    resumes: Resumes,
    /// Upstreams that are being told that their question was refused.
    refusals: Arc<Semaphore>,
    pace: Pace,
}

/// How many upstreams are told at a time that their question was refused.
const REFUSALS: usize = 64;

impl Relay {
    /// An idle data plane.
    pub fn new(state_keys: Arc<StateKeys>, store: Store, pace: Pace) -> Self {
        Self {
            state_keys,
            answers: Answers::new(store.instance()),
            resumes: Resumes::new(store.instance()),
            cancels: Cancels::default(),
            sessions: Sessions::new(store),
            streams: Streams::default(),
            refusals: Arc::new(Semaphore::new(REFUSALS)),
            pace,
        }
    }

    /// Drops what is kept of a session, after its upstream began its side, or it ended. Its GET streams end with it; a
    /// client whose session goes on opens a new one, which reaches the upstream.
    pub fn forget_session(&self, key: &SessionKey) {
        self.sessions.forget(key);
        self.streams.upstream_began(key, &notices::tools_changed());
        self.streams.end(key);
    }

    /// Ends all that a session which its client has ended still waits for.
    fn end_streams(&self, key: &SessionKey) {
        self.streams.end(key);
        self.resumes.end(key);
    }

    /// Drops what is kept of all sessions, after contact to the store was lost.
    pub fn forget_sessions(&self) {
        self.sessions.forget_all();
    }
}
