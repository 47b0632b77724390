//! Why somebody was not signed in.

use elicit::Rejected;
use usher_store::StoreError;

use super::super::{Unavailable, VerifyError, jwt::Invalid};
use crate::claim;

/// What went wrong. For the log; the page says it in words of its own.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// The query is no reply of an issuer.
    #[error("the reply is none")]
    NoReply,
    /// The browser holds nothing that a sign-in was begun with.
    #[error("the browser has begun no sign-in")]
    NoBrowser,
    /// The state is another browser's.
    #[error("the sign-in was begun in another browser")]
    OtherBrowser,
    /// It took too long.
    #[error("the sign-in has expired")]
    Expired,
    /// The state was not sealed here.
    #[error("{0}")]
    State(Rejected),
    /// It was finished before, or is being finished.
    #[error("the sign-in was used already")]
    Used,
    /// The reply does not name this issuer.
    #[error("the reply is of another issuer")]
    OtherIssuer,
    /// The issuer refused.
    #[error("the issuer refused: {}", .0.code)]
    Refused(Refusal),
    /// The issuer cannot be reached, or does not answer as it should.
    #[error("the issuer does not answer: {0}")]
    Unavailable(String),
    /// Too many sign-ins are being finished at this moment.
    #[error("too many sign-ins at once")]
    Busy,
    /// The token endpoint refused.
    #[error("the issuer refused the code: {0}")]
    Exchange(String),
    /// The ID token does not prove who it is.
    #[error("the ID token is refused: {0}")]
    Unproven(Unproven),
    /// The ID token lacks the operator's `user_claim`.
    #[error("the ID token is nobody's: {0}; have the issuer send the claim (sign_in_scopes), or choose another")]
    NoUser(&'static str),
    /// It could not be made.
    #[error("the sign-in could not be made")]
    Internal,
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why an ID token does not prove who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unproven {
    /// There is none.
    #[error("there is none")]
    Missing,
    /// It is not good, or not for us.
    #[error(transparent)]
    Invalid(Invalid),
    /// Another access token came with it than it says.
    #[error("its at_hash is another access token's")]
    AccessToken,
}

impl From<Unavailable> for Fault {
    fn from(error: Unavailable) -> Self {
        Self::Unavailable(error.to_string())
    }
}

impl From<VerifyError> for Fault {
    fn from(error: VerifyError) -> Self {
        match error {
            VerifyError::Invalid(invalid) => Self::Unproven(Unproven::Invalid(invalid)),
            VerifyError::Unavailable(error) => error.into(),
        }
    }
}

impl Fault {
    /// Whether it is what an issuer says that cannot let people choose among its accounts (OpenID Connect Core, sections
    /// 3.1.2.1 and 3.1.2.6).
    pub(super) fn is_unable(&self) -> bool {
        matches!(self, Self::Refused(refusal) if matches!(refusal.code.as_str(), "invalid_request" | "account_selection_required"))
    }

    /// For the audit log, in fixed words; `None` for what is nobody's attempt.
    pub(crate) fn audited(&self) -> Option<&'static str> {
        Some(match self {
            Self::NoReply => "a reply that is none",
            Self::NoBrowser => "a reply to a browser that has begun no sign-in",
            Self::OtherBrowser => "a sign-in of another browser",
            Self::Expired => "a sign-in that has expired",
            Self::State(_) => "a state that was not made here",
            Self::Used => "a sign-in that was used already",
            Self::OtherIssuer => "a reply of another issuer",
            Self::Refused(_) => "refused by the issuer",
            Self::Exchange(_) => "a code that the issuer refused",
            Self::Unproven(_) => "an ID token that proves nothing",
            Self::NoUser(_) => "an account without the user claim",
            Self::Unavailable(_) | Self::Busy | Self::Internal | Self::Store(_) => return None,
        })
    }
}

/// What the issuer says, made harmless to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Its error code.
    pub(crate) code: String,
    /// Its words, if it has any.
    pub(crate) description: Option<String>,
}

impl Refusal {
    /// Cleans both (R-SEC-02): they came through the browser.
    pub(super) fn new(code: &str, description: Option<&str>) -> Self {
        Self {
            code: claim::clean(code).unwrap_or_else(|| "?".to_owned()),
            description: description.and_then(claim::clean),
        }
    }
}
