//! Digests of JSON values, to tell whether two requests ask for the same.

mod canonical;

use std::fmt;

use aws_lc_rs::digest::{SHA256, digest};

use serde_json::value::RawValue;

use crate::{RawObject, WireError};

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
    #[error("nested deeper than {} levels", canonical::MAX_DEPTH)]
    TooDeep,
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
        let mut bytes = b"elicit json 1\0".to_vec();
        canonical::write(raw, &mut bytes)?;
        Ok(Self::of(&bytes))
    }

    /// The digest as lower-case hexadecimal digits.
    pub fn to_hex(&self) -> String {
        self.to_string()
    }

    /// The 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    fn of(bytes: &[u8]) -> Self {
        let mut value = [0; 32];
        value.copy_from_slice(digest(&SHA256, bytes).as_ref());
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

/// The digest of what a request asks for (R-MRTR-02): name and arguments of `tools/call` and
/// `prompts/get`, the URI of `resources/read`. A retry has the same digest as its first request,
/// whatever else changed; absent arguments are `{}`.
pub fn request_digest(method: &str, params_raw: Option<&str>) -> Result<Digest, DigestError> {
    let params = params_raw.unwrap_or("{}");
    let mut bytes = b"elicit request 1\0".to_vec();
    bytes.extend_from_slice(method.as_bytes());
    bytes.push(0);
    match method {
        "tools/call" | "prompts/get" => {
            let params = parameters(params)?;
            canonical::write(required(&params, "name")?, &mut bytes)?;
            let arguments = params.get("arguments").map_or("{}", RawValue::get);
            canonical::write(arguments, &mut bytes)?;
        }
        "resources/read" => canonical::write(required(&parameters(params)?, "uri")?, &mut bytes)?,
        _ => return Err(DigestError::Method),
    }
    Ok(Digest::of(&bytes))
}

fn parameters(raw: &str) -> Result<RawObject<'_>, DigestError> {
    RawObject::parse(raw).map_err(|error| match error {
        WireError::DuplicateKey => DigestError::DuplicateKey,
        WireError::NotObject => DigestError::ParametersNoObject,
        _ => DigestError::NotJson,
    })
}

fn required<'a>(params: &RawObject<'a>, key: &'static str) -> Result<&'a str, DigestError> {
    params.get(key).map(RawValue::get).ok_or(DigestError::MissingParameter(key))
}

#[cfg(test)]
mod tests;
