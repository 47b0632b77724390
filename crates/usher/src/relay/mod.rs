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
mod pace;
mod pipe;
mod places;
mod reply;
mod resume;
mod rounds;
mod screen;
mod sessions;
mod sought;
mod streams;
pub mod turned_away;
mod upstream;

use std::{path::Path, sync::Arc};

use tokio::sync::Semaphore;
use usher_store::{CredentialKey, KeyRing, SessionKey, Store};

use self::upstream::Processes;
use self::{answers::Answers, cancels::Cancels, places::Places, resume::Resumes, sessions::Sessions, streams::Streams};
pub use self::{
    notices::{catch_up, deliver},
    pace::Pace,
    rounds::STATE_LIVES,
};

use crate::{
    app::App,
    config::{Config, Transport},
};

/// What the data plane keeps in memory on this replica.
pub struct Relay {
    keys: Arc<KeyRing>,
    sessions: Sessions,
    answers: Answers,
    cancels: Cancels,
    streams: Streams,
    processes: Processes,
    places: Places,
    resumes: Resumes,
    /// Upstreams that are being told that their question was refused.
    refusals: Arc<Semaphore>,
    pace: Pace,
}

/// How many upstreams are told at a time that their question was refused.
const REFUSALS: usize = 64;

/// After a credential changed, or any may have: ends processes that may not have it any more.
pub async fn credentials_changed(app: &App, key: Option<&CredentialKey>) {
    upstream::credentials_changed(app, &app.relay.processes, key).await;
}

impl Relay {
    /// An idle data plane.
    ///
    /// `program` is our own, which the guard of processes runs.
    pub fn new(keys: Arc<KeyRing>, store: Store, config: &Config, pace: Pace, program: Option<&Path>) -> Self {
        let runs = config.upstreams.iter().any(|upstream| matches!(upstream.transport, Transport::Process(_)));
        Self {
            keys,
            answers: Answers::new(store.instance()),
            resumes: Resumes::new(store.instance()),
            cancels: Cancels::default(),
            sessions: Sessions::new(store),
            streams: Streams::default(),
            processes: Processes::new(config.processes, program, runs),
            places: Places::new(config.limits.clone()),
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

    /// A session was deleted or has expired: its process goes as well.
    pub fn session_over(&self, key: &SessionKey) {
        self.processes.session_over(key);
    }

    /// Stops processes that nobody uses.
    pub fn reap(&self, config: &Config) {
        self.processes.reap(&config.upstreams);
    }

    /// Stops all processes, at the end of the service.
    pub async fn close(&self) {
        self.processes.close().await;
    }

    /// Drops counts of clients that have nothing under way.
    pub fn shrink(&self) {
        self.places.shrink();
    }

    /// Whether a session must not end for another one to begin: a stream of it is open here, or a call under way.
    fn is_in_use(&self, key: &SessionKey) -> bool {
        self.streams.of(key).is_some() || self.cancels.is_following(key)
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
