//! What the vault asks of whoever holds the master keys.

use elicit::Random;
use zeroize::Zeroizing;

/// A holder of master keys: a file, later a key service.
///
/// Master keys have ids: lower-case letters, digits, `-`, `_`, at most 64 bytes.
pub trait KeyWrap: Send + Sync {
    /// Id of the key that wraps now.
    fn active_id(&self) -> String;

    /// Ids of the keys whose time is over: what they wrapped is to be wrapped anew. Not among them are keys that will
    /// wrap one day, or else two replicas could wrap to and fro.
    fn older_ids(&self) -> Vec<String>;

    /// Whether this key can be unwrapped with.
    fn has(&self, id: &str) -> bool;

    /// Wraps a data key under the active key. `context` is authenticated, not kept.
    fn wrap(&self, data_key: &[u8; 32], context: &[u8], random: &dyn Random) -> Result<WrappedKey, KeyError>;

    /// Unwraps a data key, given the same context.
    fn unwrap(&self, wrapped: &WrappedKey, context: &[u8]) -> Result<Zeroizing<[u8; 32]>, KeyError>;
}

/// A data key, wrapped under a master key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrappedKey {
    /// Id of the master key.
    pub key_id: String,
    /// The wrapped data key; at most 255 bytes.
    pub bytes: Vec<u8>,
}

/// Why a value does not seal or open. Says nothing about the value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// No master key has this id. Restore it from a backup of the key file.
    #[error("no master key has the id {0}")]
    UnknownKey(String),
    /// The bytes are not what was sealed, or not for this record.
    #[error("it was changed, or belongs to another record")]
    Tampered,
    /// The bytes have no shape that is known here.
    #[error("it has a shape that this version does not know")]
    Malformed,
    /// The holder of the keys failed.
    #[error("the key holder failed: {0}")]
    Holder(String),
}

impl KeyError {
    /// Whether the bytes themselves are at fault: they were changed, or moved from another record.
    pub fn is_tampering(&self) -> bool {
        matches!(self, Self::Tampered | Self::Malformed)
    }
}
