use std::fmt;

use serde_json::value::RawValue;

use super::{RawObject, WireError};
use crate::json;

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

/// The answer to one question. Whether the content fits the form is for the form to say.
#[derive(Clone)]
pub struct Answer {
    /// What the person did.
    pub action: Action,
    /// The filled form as it came: an object, and only on [`Action::Accept`] (R-ACT-02).
    pub content: Option<Box<RawValue>>,
}

impl Answer {
    /// Reads the result of an `elicitation/create`, or one of `inputResponses` (R-ACT-03).
    ///
    /// Unknown actions and content that is no object are errors. `"content": null` counts as
    /// absent. Content beside decline and cancel is dropped unread, since what it says was not
    /// approved.
    pub fn parse(raw: &str) -> Result<Self, WireError> {
        let object = RawObject::parse(raw)?;
        let action = object.get("action").ok_or(WireError::Missing("action"))?;
        let action = json::text(action.get()).ok_or(WireError::WrongType("action"))?;
        let action = Action::parse(&action).ok_or(WireError::UnknownAction)?;
        let content = match object.get("content") {
            Some(content) if action == Action::Accept && !json::is_null(content.get()) => {
                if !json::is_object(content.get()) {
                    return Err(WireError::WrongType("content"));
                }
                Some(content.to_owned())
            }
            _ => None,
        };
        Ok(Self { action, content })
    }
}

/// Says whether there is content, never which.
impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer")
            .field("action", &self.action)
            .field("content", &self.content.as_ref().map(|_| "…"))
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn content(raw: &str) -> (Action, Option<String>) {
        let answer = Answer::parse(raw).unwrap();
        (answer.action, answer.content.map(|content| content.get().to_owned()))
    }

    /// R-ACT-03, R-ACT-02: all three are handled, and content counts on accept alone.
    #[test]
    fn each_action_is_read_with_what_belongs_to_it() {
        let table = [
            (r#"{"action":"accept"}"#, Action::Accept, None),
            (
                r#"{"content":{"n":1e999,"a":"\u00e9"},"action":"accept"}"#,
                Action::Accept,
                Some(r#"{"n":1e999,"a":"\u00e9"}"#),
            ),
            (r#"{"action":"accept","content":{}}"#, Action::Accept, Some("{}")),
            (r#"{"action":"accept","content":null}"#, Action::Accept, None),
            (r#"{"action":"decline"}"#, Action::Decline, None),
            (r#"{"action":"decline","content":{"a":1}}"#, Action::Decline, None),
            (r#"{"action":"cancel","content":"no object"}"#, Action::Cancel, None),
            (r#"{"action":"cancel","_meta":{"x":1}}"#, Action::Cancel, None),
            (r#"{"\u0061ction":"\u0061ccept"}"#, Action::Accept, None),
        ];
        for (raw, action, kept) in table {
            assert_eq!(content(raw), (action, kept.map(str::to_owned)), "{raw}");
        }
    }

    /// R-ACT-03: unknown actions, and content of another shape, are refused.
    #[test]
    fn what_is_no_answer_is_refused() {
        let table = [
            (r#"{"action":"ok"}"#, WireError::UnknownAction),
            (r#"{"action":"Accept"}"#, WireError::UnknownAction),
            (r#"{"action":""}"#, WireError::UnknownAction),
            (r#"{"action":true}"#, WireError::WrongType("action")),
            (r#"{"action":null}"#, WireError::WrongType("action")),
            (r#"{"content":{}}"#, WireError::Missing("action")),
            ("{}", WireError::Missing("action")),
            (r#"{"action":"accept","content":[]}"#, WireError::WrongType("content")),
            (r#"{"action":"accept","content":"a"}"#, WireError::WrongType("content")),
            (r#"{"action":"accept","content":7}"#, WireError::WrongType("content")),
            (r#"{"action":"decline","action":"accept"}"#, WireError::DuplicateKey),
            ("null", WireError::NotObject),
            ("", WireError::NotJson),
        ];
        for (raw, error) in table {
            assert_eq!(Answer::parse(raw).unwrap_err(), error, "{raw}");
        }
    }

    #[test]
    fn no_answer_shows_in_debug() {
        let answer = Answer::parse(r#"{"action":"accept","content":{"a":"private"}}"#).unwrap();
        assert_eq!(format!("{answer:?}"), r#"Answer { action: Accept, content: Some("…") }"#);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_without_a_panic(raw in any::<String>()) {
            let _ = Answer::parse(&raw);
        }
    }
}
