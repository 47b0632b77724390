//! What a person answered: the three actions, and the content of an accepted form.

mod content;
mod number;
mod value;

pub use content::Content;
pub(crate) use content::write_object;
pub use number::{Number, NumberError};
pub use value::{JsonType, OtherJson, Value};

use crate::{RawObject, WireError, json};

/// What the person did with a question (R-ACT-01).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Approved: sent the form, or agreed to open the page (not: has finished there).
    Accept,
    /// Refused.
    Decline,
    /// Made no choice: dismissed, not reachable, out of time.
    Cancel,
}

impl Action {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Decline => "decline",
            Self::Cancel => "cancel",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Accept, Self::Decline, Self::Cancel].into_iter().find(|action| action.as_str() == text)
    }
}

/// The answer to one question. Only an accepted one holds anything (R-ACT-02), and what it holds
/// says how far it has come:
///
/// - [`Content`]: as it was read, or is to be sent, not checked;
/// - [`Accepted`](crate::form::Accepted): checked by [`Form::check`](crate::Form::check);
/// - a type of yours: extracted by `into`;
/// - `()`: consent to open a page, in url mode ([`Consent`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer<C = Content> {
    /// The person approved.
    Accept(C),
    /// The person refused.
    Decline,
    /// Nobody decided.
    Cancel,
}

/// The answer to a question in url mode: accept means "open the page", not "done there" (R-URL-10).
pub type Consent = Answer<()>;

impl<C> Answer<C> {
    /// What the person did.
    pub fn action(&self) -> Action {
        match self {
            Self::Accept(_) => Action::Accept,
            Self::Decline => Action::Decline,
            Self::Cancel => Action::Cancel,
        }
    }

    /// What was accepted, if it was.
    pub fn accepted(self) -> Option<C> {
        match self {
            Self::Accept(content) => Some(content),
            Self::Decline | Self::Cancel => None,
        }
    }

    /// The same answer with another content.
    pub fn map<D>(self, change: impl FnOnce(C) -> D) -> Answer<D> {
        match self {
            Self::Accept(content) => Answer::Accept(change(content)),
            Self::Decline => Answer::Decline,
            Self::Cancel => Answer::Cancel,
        }
    }

    /// The same answer with another content, or the error of making it.
    pub fn try_map<D, E>(self, change: impl FnOnce(C) -> Result<D, E>) -> Result<Answer<D>, E> {
        Ok(match self {
            Self::Accept(content) => Answer::Accept(change(content)?),
            Self::Decline => Answer::Decline,
            Self::Cancel => Answer::Cancel,
        })
    }
}

impl Answer {
    /// Reads the result of an `elicitation/create`, or one of `inputResponses` (R-ACT-03).
    ///
    /// Unknown actions and content that is no object are errors. Absent content and
    /// `"content": null` count as `{}`. Content beside decline and cancel is dropped unread, since
    /// what it says was not approved.
    pub fn parse(raw: &str) -> Result<Self, WireError> {
        let object = RawObject::parse(raw)?;
        let action = object.get("action").ok_or(WireError::Missing("action"))?;
        let action = json::text(action.get()).ok_or(WireError::WrongType("action"))?;
        Ok(match Action::parse(&action).ok_or(WireError::UnknownAction)? {
            Action::Decline => Self::Decline,
            Action::Cancel => Self::Cancel,
            Action::Accept => match object.get("content") {
                Some(content) if json::is_object(content.get()) => Self::Accept(Content::parse(content.get())?),
                Some(content) if !json::is_null(content.get()) => return Err(WireError::WrongType("content")),
                _ => Self::Accept(Content::new()),
            },
        })
    }

    /// The result of an `elicitation/create` in form mode: an accepted form has content always,
    /// `{}` at least; decline and cancel never have any (R-ACT-02).
    pub fn to_json(&self) -> String {
        match self {
            Self::Accept(content) => format!(r#"{{"action":"accept","content":{}}}"#, content.to_json()),
            Self::Decline | Self::Cancel => bare(self.action()),
        }
    }

    /// The same answer for url mode, where content means nothing.
    pub fn consent(&self) -> Consent {
        match self {
            Self::Accept(_) => Answer::Accept(()),
            Self::Decline => Answer::Decline,
            Self::Cancel => Answer::Cancel,
        }
    }
}

impl Consent {
    /// The result of an `elicitation/create` in url mode: without content (R-URL-10).
    pub fn to_json(self) -> String {
        bare(self.action())
    }
}

fn bare(action: Action) -> String {
    format!(r#"{{"action":"{}"}}"#, action.as_str())
}

#[cfg(test)]
mod tests;
