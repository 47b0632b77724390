//! Who is asked: verified users and clients (R-ID-01, R-ID-02).

use std::fmt;

use serde::{Deserialize, Serialize};

/// The longest issuer, subject or client id that is taken, in bytes.
const MAX_BYTES: usize = 1024;

/// Why a text is no identity. `part` names the text, never shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// The text is empty: take it from a verified credential.
    #[error("the {part} is empty")]
    Empty {
        /// Issuer, subject or client id.
        part: &'static str,
    },
    /// The text is longer than 1024 bytes.
    #[error("the {part} is longer than {MAX_BYTES} bytes")]
    TooLong {
        /// Issuer, subject or client id.
        part: &'static str,
    },
    /// The text holds NUL or another control character.
    #[error("the {part} holds a control character")]
    Control {
        /// Issuer, subject or client id.
        part: &'static str,
    },
}

fn checked(part: &'static str, text: String) -> Result<String, IdentityError> {
    if text.is_empty() {
        Err(IdentityError::Empty { part })
    } else if text.len() > MAX_BYTES {
        Err(IdentityError::TooLong { part })
    } else if text.chars().any(char::is_control) {
        Err(IdentityError::Control { part })
    } else {
        Ok(text)
    }
}

/// A verified user: the issuer that knows them and its name for them. Never an e-mail address,
/// never a session (R-ID-01).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "UncheckedUser")]
pub struct UserId {
    issuer: String,
    subject: String,
}

#[derive(Deserialize)]
struct UncheckedUser {
    issuer: String,
    subject: String,
}

impl TryFrom<UncheckedUser> for UserId {
    type Error = IdentityError;

    fn try_from(user: UncheckedUser) -> Result<Self, IdentityError> {
        Self::new(user.issuer, user.subject)
    }
}

impl UserId {
    /// A user (R-ID-02) from the claims `iss` and `sub` (or the operator's `user_claim`) of a verified
    /// credential. Each is 1 to 1024 bytes without control characters; nothing is normalised,
    /// since issuers compare exactly (RFC 9207, section 2.4).
    pub fn new(issuer: impl Into<String>, subject: impl Into<String>) -> Result<Self, IdentityError> {
        Ok(Self { issuer: checked("issuer", issuer.into())?, subject: checked("subject", subject.into())? })
    }

    /// Who vouches for the user.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// The issuer's own name for the user.
    pub fn subject(&self) -> &str {
        &self.subject
    }
}

/// For logs: what holds no control character cannot break a line. Not to be read back, since both parts may hold any
/// other character.
impl fmt::Display for UserId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.subject, self.issuer)
    }
}

/// A verified client: the `client_id` of its token, or the name of its local token. What a client
/// says about itself (`clientInfo`) is a claim and never becomes one (R-ID-02).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ClientId(String);

impl ClientId {
    /// A client id of 1 to 1024 bytes without control characters.
    pub fn new(id: impl Into<String>) -> Result<Self, IdentityError> {
        checked("client id", id.into()).map(Self)
    }

    /// The id as it was verified.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ClientId {
    type Error = IdentityError;

    fn try_from(id: String) -> Result<Self, IdentityError> {
        Self::new(id)
    }
}

impl From<ClientId> for String {
    fn from(client: ClientId) -> Self {
        client.0
    }
}

impl fmt::Display for ClientId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A user through a client: what every question and everything stored is bound to (R-ID-01).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Principal {
    /// The verified user.
    pub user: UserId,
    /// The verified client.
    pub client: ClientId,
}

/// For logs, as the [`Display`](UserId#impl-Display-for-UserId) of its user.
impl fmt::Display for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} through {}", self.user, self.client)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// R-ID-01: a user is issuer and subject together, and a principal is a user and a client.
    #[test]
    fn the_same_subject_of_another_issuer_is_another_user() {
        let one = UserId::new("https://one.example", "7").unwrap();
        let other = UserId::new("https://other.example", "7").unwrap();
        assert_ne!(one, other);
        let principal =
            |user: &UserId, client| Principal { user: user.clone(), client: ClientId::new(client).unwrap() };
        assert_eq!(principal(&one, "editor"), principal(&one, "editor"));
        assert_ne!(principal(&one, "editor"), principal(&one, "terminal"));
        assert_ne!(principal(&one, "editor"), principal(&other, "editor"));
    }

    #[test]
    fn texts_that_are_no_identity_are_refused_by_name() {
        let issuer = |text: &str| UserId::new(text, "7").unwrap_err();
        let subject = |text: &str| UserId::new("https://one.example", text).unwrap_err();
        let long = "a".repeat(1025);
        assert_eq!(issuer(""), IdentityError::Empty { part: "issuer" });
        assert_eq!(subject(""), IdentityError::Empty { part: "subject" });
        assert_eq!(issuer(&long), IdentityError::TooLong { part: "issuer" });
        assert_eq!(subject("a\0"), IdentityError::Control { part: "subject" });
        assert_eq!(subject("a\u{85}"), IdentityError::Control { part: "subject" });
        assert_eq!(ClientId::new("a\nb").unwrap_err().to_string(), "the client id holds a control character");
    }

    #[test]
    fn the_longest_identity_is_1024_bytes() {
        assert!(ClientId::new("é".repeat(512)).is_ok());
        assert!(ClientId::new("é".repeat(513)).is_err());
    }

    #[test]
    fn what_was_written_reads_back_and_is_checked_again() {
        let principal = Principal {
            user: UserId::new("urn:usher:local", "owner").unwrap(),
            client: ClientId::new("editor").unwrap(),
        };
        let text = serde_json::to_string(&principal).unwrap();
        insta::assert_snapshot!(
            text,
            @r#"{"user":{"issuer":"urn:usher:local","subject":"owner"},"client":"editor"}"#
        );
        assert_eq!(serde_json::from_str::<Principal>(&text).unwrap(), principal);
        assert!(serde_json::from_str::<UserId>(r#"{"issuer":"i","subject":""}"#).is_err());
        assert!(serde_json::from_str::<ClientId>(r#""a\u0000""#).is_err());
    }

    #[test]
    fn a_principal_shows_as_one_line() {
        let user = UserId::new("https://id.example", "7").unwrap();
        let principal = Principal { user, client: ClientId::new("editor").unwrap() };
        insta::assert_snapshot!(principal, @"7 of https://id.example through editor");
    }

    proptest! {
        /// R-ID-01: exactly the texts that may stand in a log line are identities, and nothing is normalised.
        #[test]
        fn what_is_taken_stays_as_it_is(
            issuer in prop_oneof![any::<String>(), "[a\u{0}\u{7f}\u{85}\u{a0}\u{2028}]{0,3}", "a{1020,1030}"],
            subject in prop_oneof![any::<String>(), "[ A\u{e9}\u{301}]{1,3}"],
        ) {
            let fine = |text: &str| (1..=1024).contains(&text.len()) && !text.contains(char::is_control);
            let user = UserId::new(issuer.as_str(), subject.as_str());
            prop_assert_eq!(user.is_ok(), fine(&issuer) && fine(&subject));
            prop_assert_eq!(ClientId::new(subject.as_str()).is_ok(), fine(&subject));
            if let Ok(user) = user {
                prop_assert_eq!((user.issuer(), user.subject()), (issuer.as_str(), subject.as_str()));
                prop_assert_eq!(user.to_string().lines().count(), 1);
                let text = serde_json::to_string(&user).unwrap();
                prop_assert_eq!(serde_json::from_str::<UserId>(&text).unwrap(), user);
            }
        }

        /// R-ID-01: what is written elsewhere is checked when it is read.
        #[test]
        fn what_is_read_is_an_identity_or_refused(issuer in any::<String>(), subject in any::<String>()) {
            let text = serde_json::json!({ "issuer": issuer, "subject": subject }).to_string();
            prop_assert_eq!(serde_json::from_str::<UserId>(&text).ok(), UserId::new(issuer, subject).ok());
        }
    }
}
