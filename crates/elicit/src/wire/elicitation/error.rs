use crate::form::FormError;
use crate::{Mode, Revision, WireError, codes};

/// Why a question of a peer is refused. The text is for that peer, beside [`code`](Self::code): it names fields of the
/// protocol and properties of the form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ElicitationError {
    /// The parameters, or the message that they came in, cannot be read (R-REQ-02).
    #[error("the elicitation cannot be read: {0}")]
    Wire(#[from] WireError),
    /// `requestedSchema` is no form; every fault is named with its place (R-FORM-02).
    #[error("`requestedSchema`: {0}")]
    Form(#[from] FormError),
    /// `url` is no absolute URL (R-URL-01).
    #[error("`url` is no absolute URL")]
    Url,
    /// `elicitationId` is missing or empty, in 2025-11-25 (R-URL-01).
    #[error("`elicitationId` is missing or empty")]
    NoId,
    /// We did not declare this mode (R-CAP-04).
    #[error("elicitation in {} mode was not declared", .0.as_str())]
    Undeclared(Mode),
    /// The revision of this connection has no url mode (R-CAP-07).
    #[error("revision {0} has no url mode")]
    NoUrlMode(Revision),
    /// The revision of this connection has no elicitation.
    #[error("revision {0} has no elicitation")]
    NoElicitation(Revision),
}

impl ElicitationError {
    /// The JSON-RPC error code that the peer gets: -32602, or -32601 where the method does not exist.
    pub fn code(&self) -> i64 {
        match self {
            Self::NoElicitation(_) => codes::METHOD_NOT_FOUND,
            _ => codes::INVALID_PARAMS,
        }
    }
}
