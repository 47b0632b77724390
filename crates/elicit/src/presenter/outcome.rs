use crate::form::Faults;
use crate::{Action, Answer, Consent, Mode, text};

/// What came of one question: the answer that the server gets, or why it gets none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The answer to a form.
    Form(Answer),
    /// The answer to a question in url mode.
    Url(Consent),
    /// Nobody decided, and the server is told cancel: never decline, which only a person does (R-ACT-01).
    Unanswered(Unanswered),
}

/// Why a question has no answer of a person. For the host's log, and for who started the call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unanswered {
    /// It could not be shown.
    #[error(transparent)]
    NotShown(#[from] NotShown),
    /// The review of its URL says that nobody should go there (R-URL-08).
    #[error("the URL is dangerous ({0}) and was not shown as a link")]
    Blocked(String),
    /// These fields ask for a secret, which MCP forbids in a form, and no person declined it (R-FORM-07).
    #[error("the server asked for a secret in a form ({}), and nothing was sent", text::line(&format!("{:?}", .0), 200))]
    Secret(Vec<String>),
    /// An answer looks like a secret, and came back again and again without being confirmed (R-FORM-07).
    #[error("an answer looks like a secret, and was not confirmed")]
    Unconfirmed,
    /// The presenter came back with answers that do not fit, again and again (R-FORM-05).
    #[error("no answer fits the form: {0}")]
    Unfit(Faults),
}

/// No person was shown the question, or could act on it: no terminal, no browser, the connection to the page was lost.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the question could not be shown: {reason}")]
pub struct NotShown {
    reason: String,
}

impl NotShown {
    /// With the reason, as the end of "The question could not be shown: …".
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }

    /// In a mode that the presenter does not handle.
    pub fn mode(mode: Mode) -> Self {
        Self::new(format!("nothing here shows questions in {} mode", mode.as_str()))
    }

    /// The reason.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl Outcome {
    /// What the server is told.
    pub fn action(&self) -> Action {
        match self {
            Self::Form(answer) => answer.action(),
            Self::Url(consent) => consent.action(),
            Self::Unanswered(_) => Action::Cancel,
        }
    }

    /// The result of the `elicitation/create`, or the entry of `inputResponses`: content goes with an accepted form and
    /// with nothing else (R-ACT-02).
    pub fn to_json(&self) -> String {
        match self {
            Self::Form(answer) => answer.to_json(),
            Self::Url(consent) => consent.to_json(),
            Self::Unanswered(_) => Consent::Cancel.to_json(),
        }
    }
}
