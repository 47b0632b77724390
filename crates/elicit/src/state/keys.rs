use std::fmt;

use aws_lc_rs::aead::{AES_256_GCM, LessSafeKey, UnboundKey};
use aws_lc_rs::error::Unspecified;
use aws_lc_rs::hmac::{self, Context, HMAC_SHA256};
use zeroize::Zeroize;

use super::SALT;

const LABEL: &[u8] = b"elicit state 1 message key";

/// One secret of the ring, with the name under which a state says that it was sealed by it.
#[derive(Clone)]
pub struct StateKey {
    id: String,
    // Holds the secret; aws-lc wipes it when it is dropped.
    secret: hmac::Key,
}

impl StateKey {
    /// A key from 32 secret random bytes. The id is no secret, should be short (at most 255 bytes),
    /// and must never come back for another secret.
    pub fn new(id: impl Into<String>, mut secret: [u8; 32]) -> Self {
        let key = hmac::Key::new(HMAC_SHA256, &secret);
        secret.zeroize();
        Self { id: id.into(), secret: key }
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn message_key(&self, salt: &[u8; SALT]) -> Result<LessSafeKey, Unspecified> {
        let mut context = Context::with_key(&self.secret);
        context.update(LABEL);
        context.update(salt);
        let tag = context.sign();
        UnboundKey::new(&AES_256_GCM, tag.as_ref()).map(LessSafeKey::new)
    }
}

impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateKey").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The key ring: one key seals, all of them open.
#[derive(Clone, Debug)]
pub struct StateKeys {
    active: StateKey,
    older: Vec<StateKey>,
}

impl StateKeys {
    /// A ring whose only key is `active`.
    pub fn new(active: StateKey) -> Self {
        Self { active, older: Vec::new() }
    }

    /// The same ring, which also opens what `older` sealed. With several replicas a new key is
    /// first added to each as an older one, and made active after that.
    pub fn with(mut self, older: StateKey) -> Self {
        self.older.push(older);
        self
    }

    pub(super) fn active(&self) -> &StateKey {
        &self.active
    }

    pub(super) fn named(&self, id: &[u8]) -> Option<&StateKey> {
        std::iter::once(&self.active).chain(&self.older).find(|key| key.id.as_bytes() == id)
    }
}
