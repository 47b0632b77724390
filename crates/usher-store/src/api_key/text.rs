//! The text of a key: `usher_`, its id, `_` and its secret. The beginning is there for programs that look for secrets in
//! places where none should be: `usher_[a-z0-9]{12}_[A-Za-z0-9_-]{43}`.

use std::fmt;

use elicit::Random;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;

use crate::connect::random_name;
use crate::token;

const PREFIX: &str = "usher_";

/// How many letters and digits an id has.
const ID_LENGTH: usize = 12;

/// The id of a key: twelve random lower-case letters and digits. No secret.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct ApiKeyId(String);

/// The text is no key of ours, or no id of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the id of a key has {ID_LENGTH} lower-case letters and digits")]
pub struct InvalidApiKey;

impl ApiKeyId {
    pub(super) fn new(random: &dyn Random) -> Self {
        Self(random_name(random, ID_LENGTH))
    }

    /// Reads an id.
    pub fn parse(text: &str) -> Result<Self, InvalidApiKey> {
        let right = text.len() == ID_LENGTH && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9'));
        if right { Ok(Self(text.to_owned())) } else { Err(InvalidApiKey) }
    }

    /// The text of the id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ApiKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::str::FromStr for ApiKeyId {
    type Err = InvalidApiKey;

    fn from_str(text: &str) -> Result<Self, InvalidApiKey> {
        Self::parse(text)
    }
}

/// A key that somebody presents. Keeps no secret: a hash of it.
pub struct ApiKeyText {
    pub(super) id: ApiKeyId,
    pub(super) hash: String,
}

impl ApiKeyText {
    /// Reads the whole text of a key, strictly: one key has one text.
    pub fn parse(text: &str) -> Result<Self, InvalidApiKey> {
        let (id, secret) = text.strip_prefix(PREFIX).and_then(|rest| rest.split_once('_')).ok_or(InvalidApiKey)?;
        if !token::is_random_text(secret) {
            return Err(InvalidApiKey);
        }
        Ok(Self { id: ApiKeyId::parse(id)?, hash: token::token_hash(secret) })
    }

    /// The id of the key that it claims to be.
    pub fn id(&self) -> &ApiKeyId {
        &self.id
    }
}

impl fmt::Debug for ApiKeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApiKeyText").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A new secret of 256 random bits for the key `id`: the whole text, and the hash to be kept.
pub(super) fn new_secret(id: &ApiKeyId, random: &dyn Random) -> (SecretString, String) {
    let secret = SecretString::from(token::random_text(random));
    let hash = token::token_hash(secret.expose_secret());
    (SecretString::from(format!("{PREFIX}{id}_{}", secret.expose_secret())), hash)
}

#[cfg(test)]
mod tests {
    use elicit::SystemRandom;

    use super::*;

    #[test]
    fn a_key_is_told_by_its_beginning_and_survives_its_text() {
        let id = ApiKeyId::new(&SystemRandom);
        let (text, hash) = new_secret(&id, &SystemRandom);
        let text = text.expose_secret();
        assert!(text.starts_with("usher_") && text.len() == 6 + 12 + 1 + 43, "{}", text.len());
        let read = ApiKeyText::parse(text).unwrap();
        assert_eq!((&read.id, &read.hash), (&id, &hash));
        assert!(!format!("{read:?}").contains(&hash), "not even the hash is shown");
        assert_ne!(new_secret(&id, &SystemRandom).1, hash);
    }

    #[test]
    fn other_text_is_no_key() {
        let (id, secret) = ("a".repeat(12), "A".repeat(43));
        assert!(ApiKeyText::parse(&format!("usher_{id}_{secret}")).is_ok());
        for text in [
            String::new(),
            secret.clone(),
            format!("usher_{secret}"),
            format!("Usher_{id}_{secret}"),
            format!("usher_{id}{secret}"),
            format!("usher_{}_{secret}", id.to_uppercase()),
            format!("usher_{}_{secret}", &id[1..]),
            format!("usher_{id}_{}", &secret[1..]),
            format!("usher_{id}_{}B", &secret[1..]),
            format!("usher_{id}_{secret}="),
            format!("usher_{id}_{secret} "),
        ] {
            assert_eq!(ApiKeyText::parse(&text).unwrap_err(), InvalidApiKey, "{text}");
        }
    }
}
