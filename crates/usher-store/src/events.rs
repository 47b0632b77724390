//! Hints that a row has changed.

use crate::{CredentialKey, InteractionId, SessionKey};

/// A hint that something changed. The row is the truth: whoever waits reads it again.
///
/// A hint can come twice, and a receiver that falls behind gets
/// [`RecvError::Lagged`](tokio::sync::broadcast::error::RecvError::Lagged), which
/// means the same as [`Event::Everything`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Event {
    /// This interaction has another state.
    Interaction(InteractionId),
    /// This credential was stored, refreshed, rejected, or deleted.
    Credential(CredentialKey),
    /// This session was deleted or has expired.
    Session(SessionKey),
    /// Hints may have been lost: read again all that is waited for.
    Everything,
}

impl Event {
    /// One line of a `NOTIFY` payload. Ids only.
    pub(crate) fn to_line(&self) -> String {
        match self {
            Self::Interaction(id) => format!("i{id}"),
            Self::Credential(key) => format!("c{key}"),
            Self::Session(key) => format!("s{key}"),
            Self::Everything => "*".to_owned(),
        }
    }

    /// The event of a line; `None` for what another version may send.
    pub(crate) fn from_line(line: &str) -> Option<Self> {
        if line == "*" {
            return Some(Self::Everything);
        }
        let (kind, id) = line.split_at_checked(1)?;
        match kind {
            "i" => InteractionId::parse(id).ok().map(Self::Interaction),
            "c" => CredentialKey::parse(id).map(Self::Credential),
            "s" => SessionKey::parse(id).map(Self::Session),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use elicit::{SystemRandom, UserId};

    use super::Event;
    use crate::{CredentialKey, InteractionId, SessionId};

    #[test]
    fn every_event_survives_its_line() {
        let user = UserId::new("https://issuer.example", "s-1").unwrap();
        for event in [
            Event::Interaction(InteractionId::new(&SystemRandom)),
            Event::Credential(CredentialKey::of(&user, "weather")),
            Event::Session(SessionId::new(&SystemRandom).key()),
            Event::Everything,
        ] {
            assert_eq!(Event::from_line(&event.to_line()), Some(event));
        }
    }

    #[test]
    fn an_unknown_line_is_no_event() {
        for line in ["", "x", "i", "ishort", "é", "zAAAA"] {
            assert_eq!(Event::from_line(line), None, "{line}");
        }
    }
}
