//! The master keys of a running process, which can be exchanged while it runs.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use elicit::{Random, StateKeys};
use zeroize::Zeroizing;

use super::{KeyError, KeyFile, KeyWrap, WrappedKey};

/// What everything in a process that needs keys shares. Reading costs a lock that is held for a clone of an [`Arc`].
///
/// Each use sees one whole ring, the old one or the new one.
pub struct KeyRing {
    held: RwLock<Held>,
}

#[derive(Clone)]
struct Held {
    keys: Arc<KeyFile>,
    state: Arc<StateKeys>,
}

impl KeyRing {
    /// A ring with these keys.
    pub fn new(keys: KeyFile) -> Self {
        Self { held: RwLock::new(Held::of(keys)) }
    }

    /// The keys now.
    pub fn keys(&self) -> Arc<KeyFile> {
        Arc::clone(&self.held.read().unwrap_or_else(PoisonError::into_inner).keys)
    }

    /// The keys of sealed request state now (R-MRTR-02).
    pub fn state_keys(&self) -> Arc<StateKeys> {
        Arc::clone(&self.held.read().unwrap_or_else(PoisonError::into_inner).state)
    }

    /// Puts other keys in their place. Whoever calls this has made sure that nothing stored needs one that is missing:
    /// [`Store::check_keys`](crate::Store::check_keys).
    pub fn replace(&self, keys: KeyFile) {
        let fresh = Held::of(keys);
        *self.held.write().unwrap_or_else(PoisonError::into_inner) = fresh;
    }
}

impl Held {
    fn of(keys: KeyFile) -> Self {
        Self { state: Arc::new(keys.state_keys()), keys: Arc::new(keys) }
    }
}

impl KeyWrap for KeyRing {
    fn active_id(&self) -> String {
        self.keys().active_id()
    }

    fn older_ids(&self) -> Vec<String> {
        self.keys().older_ids()
    }

    fn has(&self, id: &str) -> bool {
        self.keys().has(id)
    }

    fn wrap(&self, data_key: &[u8; 32], context: &[u8], random: &dyn Random) -> Result<WrappedKey, KeyError> {
        self.keys().wrap(data_key, context, random)
    }

    fn unwrap(&self, wrapped: &WrappedKey, context: &[u8]) -> Result<Zeroizing<[u8; 32]>, KeyError> {
        self.keys().unwrap(wrapped, context)
    }
}

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeyRing").field(&self.keys()).finish()
    }
}
