//! The envelope in which secrets lie in the database.

pub(crate) mod aead;
mod envelope;
mod record;

use std::fmt;
use std::sync::Arc;

use elicit::Random;
use zeroize::Zeroizing;

use self::envelope::Envelope;
pub(crate) use self::record::{Record, RecordKind};
use crate::keys::{KeyError, KeyWrap};

/// Seals and opens what must not lie in the database in the clear.
///
/// Each value has a data key of its own (AES-256-GCM), which is wrapped under a
/// master key with an id. The record that the value belongs to — kind, id, user and
/// provider — is authenticated with both, so that a row which was copied to another
/// user, provider or id does not open (R-OAUTH-01).
pub struct Vault {
    keys: Arc<dyn KeyWrap>,
    random: Arc<dyn Random>,
}

impl Vault {
    /// A vault over these master keys.
    pub fn new(keys: Arc<dyn KeyWrap>, random: Arc<dyn Random>) -> Self {
        Self { keys, random }
    }

    pub(crate) fn active_id(&self) -> &str {
        self.keys.active_id()
    }

    pub(crate) fn has(&self, id: &str) -> bool {
        self.keys.has(id)
    }

    pub(crate) fn seal(&self, record: &Record<'_>, value: &[u8]) -> Result<Vec<u8>, KeyError> {
        let context = record.context();
        let mut data_key = Zeroizing::new([0_u8; 32]);
        self.random.fill(data_key.as_mut());
        Envelope {
            key: self.keys.wrap(&data_key, &context, &*self.random)?,
            sealed: aead::seal(&data_key, &context, value, &*self.random)?,
        }
        .to_bytes()
    }

    pub(crate) fn open(&self, record: &Record<'_>, bytes: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyError> {
        let context = record.context();
        let envelope = Envelope::parse(bytes)?;
        let data_key = self.keys.unwrap(&envelope.key, &context)?;
        aead::open(&data_key, &context, &envelope.sealed)
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vault").field("active_id", &self.active_id()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
