//! Digests of JSON values, to tell whether two requests ask for the same.

mod canonical;
mod cursor;
mod large;
mod members;
mod request;
mod small;
mod spans;
mod stream;

use std::fmt;

use canonical::Value;
use stream::Stream;

use crate::json;

pub use request::request_digest;

/// The SHA-256 digest of a JSON value.
///
/// Two texts have the same digest when they differ only in white space, in the order of keys and in
/// how strings are escaped. Numbers count by their exact text: `9007199254740993` differs from
/// `9007199254740992`, and `1` from `1.0`, since no float is ever made of them. (RFC 8785 would let
/// the first two collide.)
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

/// Why there is no digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DigestError {
    /// The text is not one JSON value.
    #[error("not JSON")]
    NotJson,
    /// An object names a key twice, so that two readers may see two values.
    #[error("an object holds a key twice")]
    DuplicateKey,
    /// Arrays and objects are nested deeper than 128.
    #[error("nested deeper than {} levels", spans::MAX_DEPTH)]
    TooDeep,
    /// The text is longer than 2 GiB.
    #[error("longer than 2 GiB")]
    TooLong,
    /// The request lacks a parameter that says what it asks for.
    #[error("the parameter {0} is missing")]
    MissingParameter(&'static str),
    /// The parameters are no object.
    #[error("the parameters are no object")]
    ParametersNoObject,
    /// Only `tools/call`, `prompts/get` and `resources/read` can be continued (R-MRTR-01).
    #[error("the method has no rounds")]
    Method,
}

impl Digest {
    /// The digest of one JSON value.
    pub fn of_json(raw: &str) -> Result<Self, DigestError> {
        if !json::is_valid(raw) {
            return Err(DigestError::NotJson);
        }
        let mut stream = Stream::new("elicit json 2\0");
        Value::at(raw, 0)?.write(&mut stream)?;
        Ok(stream.finish())
    }

    /// The digest as lower-case hexadecimal digits.
    pub fn to_hex(&self) -> String {
        self.to_string()
    }

    /// The 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The output of SHA-256, which has 32 bytes.
    fn from_hash(hash: &aws_lc_rs::digest::Digest) -> Self {
        let mut value = [0; 32];
        value.copy_from_slice(hash.as_ref());
        Self(value)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

#[cfg(test)]
mod tests;
