//! Stored credentials on their way into a call: a short cache, and the headers they are injected as.

pub mod check;
pub mod fresh;
mod inject;
pub mod servers;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use elicit::UserId;
use moka::sync::Cache;
use usher_store::{Credential, CredentialKey, Store, StoreError};

pub use self::{
    fresh::refresh_at,
    inject::{InjectError, Injection, Used},
};
use crate::clock::Clock;

/// How long a credential is used without asking the store again. Events drop it earlier.
pub const CACHED_FOR: Duration = Duration::from_mins(1);

/// The most credentials kept in memory.
const CACHED_AT_MOST: u64 = 10_000;

/// Opened credentials, kept for [`CACHED_FOR`]. Cheap to clone.
#[derive(Clone)]
pub struct Credentials {
    store: Store,
    clock: Arc<dyn Clock>,
    cache: Cache<CredentialKey, Entry>,
    /// Grows with each forgetting, so that a row read before it is not kept after it.
    forgotten: Arc<AtomicU64>,
}

#[derive(Clone)]
struct Entry {
    credential: Arc<Credential>,
    /// Whether its use was noted since it was read.
    noted: Arc<AtomicBool>,
}

impl Credentials {
    /// An empty cache over `store`.
    pub fn new(store: Store, clock: Arc<dyn Clock>) -> Self {
        let cache = Cache::builder().time_to_live(CACHED_FOR).max_capacity(CACHED_AT_MOST).build();
        Self { store, clock, cache, forgotten: Arc::default() }
    }

    /// The credential of `user` at `provider`, if there is one.
    pub async fn of(&self, user: &UserId, provider: &str) -> Result<Option<Arc<Credential>>, StoreError> {
        let key = CredentialKey::of(user, provider);
        if let Some(entry) = self.cache.get(&key) {
            return Ok(Some(entry.credential));
        }
        let before = self.forgotten.load(Ordering::Acquire);
        let Some(credential) = self.store.credential(user, provider).await? else { return Ok(None) };
        let credential = Arc::new(credential);
        self.cache.insert(key.clone(), Entry { credential: Arc::clone(&credential), noted: Arc::default() });
        if self.forgotten.load(Ordering::Acquire) != before {
            self.cache.invalidate(&key);
        }
        Ok(Some(credential))
    }

    /// Notes in the background that a credential was used: once while it is kept in memory, so at most once a minute. A
    /// failure costs only the note.
    pub fn note_use(&self, user: &UserId, provider: &str) {
        let Some(entry) = self.cache.get(&CredentialKey::of(user, provider)) else { return };
        if entry.noted.swap(true, Ordering::AcqRel) {
            return;
        }
        let (store, now, user, provider) = (self.store.clone(), self.clock.now(), user.clone(), provider.to_owned());
        tokio::spawn(async move {
            if let Err(error) = store.touch_credential(&user, &provider, now).await {
                tracing::warn!(provider, %error, "the time of use was not written");
            }
        });
    }

    /// Drops what is kept of one credential, after it changed.
    pub fn forget(&self, user: &UserId, provider: &str) {
        self.forget_key(&CredentialKey::of(user, provider));
    }

    /// The same by the key that an event carries.
    pub fn forget_key(&self, key: &CredentialKey) {
        self.forgotten.fetch_add(1, Ordering::AcqRel);
        self.cache.invalidate(key);
    }

    /// Drops all, after contact to the store was lost.
    pub fn forget_all(&self) {
        self.forgotten.fetch_add(1, Ordering::AcqRel);
        self.cache.invalidate_all();
    }
}
