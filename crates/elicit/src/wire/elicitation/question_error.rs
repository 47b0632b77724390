use serde_json::Value;

use crate::form::RevisionError;
use crate::{Mode, Revision, WireError, missing_capability};

/// Why a question cannot be built, or not be put to this client.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QuestionError {
    /// The message is blank: it has to say why the interaction is needed (R-REQ-01).
    #[error("the message is blank; say why the person is asked")]
    BlankMessage,
    /// The message of a form holds a URL, which nobody can click safely there (R-FORM-08).
    #[error("the message of a form holds a URL ({0}); use url mode for it")]
    Link(String),
    /// Not the text of an absolute URL: ASCII, everything else percent-encoded (R-URL-01; RFC 3986, section 2).
    #[error("the URL is no absolute URL in ASCII")]
    Url,
    /// Neither https, nor http on a loopback host (R-URL-02).
    #[error("the URL is neither https nor http on loopback")]
    UrlScheme,
    /// The URL names a user or a password (R-URL-03).
    #[error("the URL carries a user name or a password")]
    UrlUser,
    /// The review of the URL blocks it; the names of what it found (R-URL-02).
    #[error("the URL would be refused by a careful host ({0})")]
    UrlBlocked(String),
    /// A parameter of the URL is or looks like a credential (R-URL-03).
    #[error("the URL carries what looks like a credential")]
    UrlCredential,
    /// The elicitation id is missing or blank, which 2025-11-25 needs (R-URL-01).
    #[error("the elicitation id is missing or blank")]
    NoId,
    /// The revision has no words for the form (R-CAP-07).
    #[error(transparent)]
    Form(#[from] RevisionError),
    /// The client did not declare this mode (R-CAP-03).
    #[error("the client did not declare elicitation in {} mode", .0.as_str())]
    Undeclared(Mode),
    /// The revision has no url mode (R-CAP-07).
    #[error("revision {0} has no url mode")]
    NoUrlMode(Revision),
    /// The revision has no elicitation.
    #[error("revision {0} has no elicitation")]
    NoElicitation(Revision),
    /// The modern era has no requests of a server (R-ERR-03).
    #[error("revision {0} has no requests to the client; ask in a round")]
    NoRequest(Revision),
    /// The revision has no error -32042 (R-ERR-03).
    #[error("revision {0} has no error that requires a url elicitation")]
    NoRequiredError(Revision),
    /// An error -32042 without an elicitation (R-ERR-01).
    #[error("an error that requires a url elicitation has to name one")]
    NothingRequired,
    /// Too many elicitations, one id twice, or an id that is too long.
    #[error(transparent)]
    Wire(#[from] WireError),
}

impl QuestionError {
    /// The JSON-RPC `error` object that a modern client gets for its call where it lacks a mode that the call cannot go on
    /// without (R-CAP-05), over HTTP with status 400; `None` for every other error.
    pub fn missing_capability(&self, message: &str) -> Option<Value> {
        match self {
            Self::Undeclared(mode) => Some(missing_capability(message, mode.required_capabilities())),
            _ => None,
        }
    }
}
