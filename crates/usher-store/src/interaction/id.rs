//! The id of an interaction.

use std::fmt;
use std::str::FromStr;

use elicit::Random;
use serde::{Deserialize, Serialize};

use crate::token;

/// The id of an interaction: 256 random bits, base64url, 43 characters.
///
/// The link to the page carries it and nothing else (R-URL-03). It is no secret
/// that opens anything: the page asks who the visitor is (R-ID-03).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct InteractionId(String);

/// The text is not the id of an interaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an interaction id has 43 base64url characters")]
pub struct InvalidId;

impl InteractionId {
    /// A new id.
    pub fn new(random: &dyn Random) -> Self {
        Self(token::random_text(random))
    }

    /// Reads an id, strictly: one id has one text.
    pub fn parse(text: &str) -> Result<Self, InvalidId> {
        if token::is_random_text(text) { Ok(Self(text.to_owned())) } else { Err(InvalidId) }
    }

    /// The text of the id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for InteractionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for InteractionId {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl TryFrom<String> for InteractionId {
    type Error = InvalidId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

impl From<InteractionId> for String {
    fn from(id: InteractionId) -> Self {
        id.0
    }
}

#[cfg(test)]
mod tests {
    use elicit::SystemRandom;

    use super::InteractionId;

    /// R-URL-01: unguessable and unique.
    #[test]
    fn an_id_carries_256_bits_and_survives_its_text() {
        let id = InteractionId::new(&SystemRandom);
        assert_eq!(id.as_str().len(), 43);
        assert_eq!(InteractionId::parse(id.as_str()), Ok(id.clone()));
        assert_ne!(id, InteractionId::new(&SystemRandom));
    }

    #[test]
    fn other_text_is_refused() {
        let stray_bits = format!("{}B", "A".repeat(42));
        for text in ["", "short", &"A".repeat(44), &"!".repeat(43), &stray_bits, &"é".repeat(21)] {
            assert!(InteractionId::parse(text).is_err(), "{text}");
        }
        assert!(InteractionId::parse(&"A".repeat(43)).is_ok());
    }
}
