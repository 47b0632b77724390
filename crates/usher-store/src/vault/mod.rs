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
use crate::keys::{KeyError, KeyWrap, WrappedKey};

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

    pub(crate) fn older_ids(&self) -> Vec<String> {
        self.keys.older_ids()
    }

    pub(crate) fn keys(&self) -> &dyn KeyWrap {
        &*self.keys
    }

    /// Id of the master key that a sealed value needs.
    pub(crate) fn key_id(bytes: &[u8]) -> Result<String, KeyError> {
        Ok(Envelope::parse(bytes)?.key.key_id)
    }

    /// Wraps with the active key.
    pub(crate) fn wrap(&self, data_key: &[u8; 32], context: &[u8]) -> Result<WrappedKey, KeyError> {
        self.keys.wrap(data_key, context, &*self.random)
    }

    /// The same sealed value, with its data key wrapped by the active key; `None` where it is so already.
    pub(crate) fn rewrap(&self, record: &Record<'_>, bytes: &[u8]) -> Result<Option<Vec<u8>>, KeyError> {
        let context = record.context();
        let envelope = Envelope::parse(bytes)?;
        if envelope.key.key_id == self.keys.active_id() {
            return Ok(None);
        }
        let data_key = self.keys.unwrap(&envelope.key, &context)?;
        // Else a value that was changed would get a wrapping that is right.
        aead::open(&data_key, &context, &envelope.sealed)?;
        let key = self.wrap(&data_key, &context)?;
        Envelope { key, sealed: envelope.sealed }.to_bytes().map(Some)
    }

    pub(crate) fn seal(&self, record: &Record<'_>, value: &[u8]) -> Result<Vec<u8>, KeyError> {
        let context = record.context();
        let mut data_key = Zeroizing::new([0_u8; 32]);
        self.random.fill(data_key.as_mut());
        Envelope {
            key: self.wrap(&data_key, &context)?,
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
        f.debug_struct("Vault").field("active_id", &self.keys.active_id()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
