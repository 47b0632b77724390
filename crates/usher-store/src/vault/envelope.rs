//! The bytes of a sealed value.

use crate::keys::{KeyError, WrappedKey};

/// The one shape so far.
const VERSION: u8 = 1;

/// `version` 1 byte | key id: length 1 byte, text | wrapped data key: length 1 byte,
/// bytes | sealed value: the rest.
pub(super) struct Envelope {
    pub(super) key: WrappedKey,
    pub(super) sealed: Vec<u8>,
}

impl Envelope {
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, KeyError> {
        let mut bytes = vec![VERSION];
        for part in [self.key.key_id.as_bytes(), &self.key.bytes] {
            let length = u8::try_from(part.len())
                .map_err(|_| KeyError::Holder("a key id or wrapped key is too long".to_owned()))?;
            bytes.push(length);
            bytes.extend_from_slice(part);
        }
        bytes.extend_from_slice(&self.sealed);
        Ok(bytes)
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<Self, KeyError> {
        let (&version, rest) = bytes.split_first().ok_or(KeyError::Malformed)?;
        if version != VERSION {
            return Err(KeyError::Malformed);
        }
        let (key_id, rest) = part(rest)?;
        let (wrapped, sealed) = part(rest)?;
        let key_id = str::from_utf8(key_id).map_err(|_| KeyError::Malformed)?;
        Ok(Self { key: WrappedKey { key_id: key_id.to_owned(), bytes: wrapped.to_vec() }, sealed: sealed.to_vec() })
    }
}

fn part(bytes: &[u8]) -> Result<(&[u8], &[u8]), KeyError> {
    let (&length, rest) = bytes.split_first().ok_or(KeyError::Malformed)?;
    rest.split_at_checked(usize::from(length)).ok_or(KeyError::Malformed)
}
