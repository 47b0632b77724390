use super::{Inner, Upstream};
use crate::record::lock;

#[derive(Clone, Debug)]
pub(super) struct Session {
    pub(super) version: String,
    pub(super) params: String,
    pub(super) initialized: bool,
    pub(super) ended: bool,
    pub(super) deleted: bool,
    pub(super) questions: u64,
}

/// A legacy session as the upstream knows it.
#[derive(Clone, Debug)]
pub struct SessionInfo {
    /// Its id; empty where the server gives none out.
    pub id: String,
    /// The negotiated revision.
    pub version: String,
    /// `params` of `initialize` as JSON text.
    pub initialize: String,
    /// Whether `notifications/initialized` came.
    pub initialized: bool,
    /// Whether the client ended it by DELETE.
    pub deleted: bool,
}

impl SessionInfo {
    /// The capabilities that the client declared, as JSON text.
    pub fn capabilities(&self) -> &str {
        crate::json::at(&self.initialize, &["capabilities"]).unwrap_or("{}")
    }
}

impl Inner {
    pub(super) fn new_session(&self, version: &str, params: &str) -> String {
        // Ids sort by age, so that tests can speak of the first and the second session.
        let id = if self.config.sessions { format!("upstream-session-{:04}", self.next()) } else { String::new() };
        let session = Session {
            version: version.to_owned(),
            params: params.to_owned(),
            initialized: false,
            ended: false,
            deleted: false,
            questions: 0,
        };
        lock(&self.sessions).insert(id.clone(), session);
        id
    }

    /// Changes a session; `None` where there is none.
    pub(super) fn with_session<T>(&self, id: &str, f: impl FnOnce(&mut Session) -> T) -> Option<T> {
        lock(&self.sessions).get_mut(id).map(f)
    }
}

impl Upstream {
    /// All legacy sessions ever opened, oldest first.
    pub fn sessions(&self) -> Vec<SessionInfo> {
        let info = |(id, session): (&String, &Session)| SessionInfo {
            id: id.clone(),
            version: session.version.clone(),
            initialize: session.params.clone(),
            initialized: session.initialized,
            deleted: session.deleted,
        };
        lock(&self.inner.sessions).iter().map(info).collect()
    }

    /// Waits until the client ended this session by DELETE.
    pub async fn wait_deleted(&self, id: &str) {
        let what = format!("a DELETE of {id}");
        let look = |upstream: &Self| upstream.sessions().iter().any(|session| session.id == id && session.deleted);
        self.wait_until(&what, look).await;
    }

    /// Forgets all sessions, as after a restart: their ids get 404 from now on, which is no violation.
    pub fn forget_sessions(&self) {
        for session in lock(&self.inner.sessions).values_mut() {
            session.ended = true;
        }
    }
}
