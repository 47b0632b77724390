use super::{RawObject, WireError, text};
use crate::json;

/// `notifications/elicitation/complete`: the page of a url elicitation is done with (2025-11-25 only, R-DONE-01).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompleteNotice {
    /// The id of the elicitation that was sent to the same client.
    pub elicitation_id: String,
}

const METHOD: &str = "notifications/elicitation/complete";

impl CompleteNotice {
    /// For the client that was asked under this id. Only under a revision that
    /// [has it](crate::Revision::has_completion).
    pub fn new(elicitation_id: impl Into<String>) -> Self {
        Self { elicitation_id: elicitation_id.into() }
    }

    /// Reads a whole JSON-RPC message; `None` for another one. Whether its id is known:
    /// [`Completions::complete`](crate::Completions::complete).
    pub fn parse(message: &str) -> Result<Option<Self>, WireError> {
        let object = RawObject::parse(message)?;
        let method = object.get("method").and_then(|method| json::text(method.get()));
        if method.as_deref() != Some(METHOD) || object.contains("id") {
            return Ok(None);
        }
        let params = object.get("params").ok_or(WireError::Missing("params"))?;
        let params = RawObject::parse(params.get())?;
        Ok(Some(Self { elicitation_id: text(&params, "elicitationId")? }))
    }

    /// The whole JSON-RPC message.
    pub fn to_json(&self) -> String {
        let id = json::quote(&self.elicitation_id);
        format!(r#"{{"jsonrpc":"2.0","method":"{METHOD}","params":{{"elicitationId":{id}}}}}"#)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-DONE-01
    #[test]
    fn the_completion_notice_names_the_elicitation() {
        let notice = CompleteNotice::new("a\"b");
        insta::assert_snapshot!(
            notice.to_json(),
            @r#"{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"a\"b"}}"#
        );
        assert_eq!(CompleteNotice::parse(&notice.to_json()), Ok(Some(notice)));
    }

    #[test]
    fn other_messages_and_notices_without_an_id_are_told_apart() {
        let parse = CompleteNotice::parse;
        assert_eq!(parse(r#"{"method":"notifications/message","params":{}}"#), Ok(None));
        assert_eq!(parse(r#"{"id":1,"method":"notifications/elicitation/complete","params":{}}"#), Ok(None));
        let notice = |params| format!(r#"{{"method":"notifications/elicitation/complete"{params}}}"#);
        assert_eq!(parse(&notice("")), Err(WireError::Missing("params")));
        assert_eq!(parse(&notice(r#","params":{}"#)), Err(WireError::Missing("elicitationId")));
        assert_eq!(parse(&notice(r#","params":{"elicitationId":7}"#)), Err(WireError::WrongType("elicitationId")));
        assert!(parse(&notice(r#","params":{"elicitationId":"7","x":1e999}"#)).unwrap().is_some());
    }
}
