//! Legacy sessions: a row in the store, kept in memory for a minute so that a message costs no store access.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use elicit::Principal;
use http::HeaderMap;
use jiff::Timestamp;
use moka::sync::Cache;
use usher_store::{Session, SessionId, SessionKey, Store, StoreError};

use crate::mcp::headers;

/// How long a session lives without a message.
pub(super) const IDLE: Duration = Duration::from_hours(24);

const CACHED_FOR: Duration = Duration::from_mins(1);
const CACHED_AT_MOST: u64 = 50_000;

/// The sessions that this replica has seen lately.
pub(super) struct Sessions {
    store: Store,
    cache: Cache<SessionKey, Arc<Session>>,
    /// Grows with each forgetting, so that a row read before it is not kept after it.
    forgotten: AtomicU64,
}

/// What a session id of a client turns out to be.
pub(super) enum Named {
    /// A session of this principal at this upstream.
    Own(Arc<Session>),
    /// Somebody else's, or one at another upstream. To the client it looks like [`Named::Unknown`] (R-ID-01).
    Foreign,
    /// None.
    Unknown,
}

impl Sessions {
    /// None yet.
    pub(super) fn new(store: Store) -> Self {
        let cache = Cache::builder().time_to_live(CACHED_FOR).max_capacity(CACHED_AT_MOST).build();
        Self { store, cache, forgotten: AtomicU64::new(0) }
    }

    /// The session that the headers name.
    pub(super) async fn named(
        &self,
        headers: &HeaderMap,
        principal: &Principal,
        upstream: &str,
        now: Timestamp,
    ) -> Result<Named, StoreError> {
        let Some(id) = headers.get(headers::SESSION_ID).and_then(|value| value.to_str().ok()) else {
            return Ok(Named::Unknown);
        };
        let Ok(id) = SessionId::parse(id) else { return Ok(Named::Unknown) };
        let key = id.key();
        let is_own = |session: &Session| session.principal == *principal && session.upstream == upstream;
        if let Some(session) = self.cache.get(&key) {
            return Ok(if is_own(&session) { Named::Own(session) } else { Named::Foreign });
        }
        let before = self.forgotten.load(Ordering::Acquire);
        let Some(session) = self.store.session(&id, now).await? else { return Ok(Named::Unknown) };
        if !is_own(&session) {
            return Ok(Named::Foreign);
        }
        // At most once a minute, since the cache forgets after that.
        self.store.extend_session(&key, now + IDLE, now).await?;
        let session = Arc::new(session);
        self.cache.insert(key.clone(), Arc::clone(&session));
        if self.forgotten.load(Ordering::Acquire) != before {
            self.cache.invalidate(&key);
        }
        Ok(Named::Own(session))
    }

    /// Ends a session.
    pub(super) async fn end(&self, key: &SessionKey) -> Result<(), StoreError> {
        self.forget(key);
        self.store.delete_session(key).await
    }

    /// Drops what is kept in memory of one session.
    pub(super) fn forget(&self, key: &SessionKey) {
        self.forgotten.fetch_add(1, Ordering::AcqRel);
        self.cache.invalidate(key);
    }

    /// Drops what is kept in memory of all.
    pub(super) fn forget_all(&self) {
        self.forgotten.fetch_add(1, Ordering::AcqRel);
        self.cache.invalidate_all();
    }
}
