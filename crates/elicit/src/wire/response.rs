use serde_json::value::RawValue;

use super::{RawObject, RequestId, WireError, optional_text};
use crate::{Answer, Number, json, text};

/// The JSON-RPC response of a legacy client to an [`elicitation/create`](crate::Elicitation::request).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElicitResponse {
    /// The id of the question that it answers.
    pub id: RequestId,
    /// What the person did; or why nobody was asked, which is never a decline (R-ACT-01).
    pub answer: Result<Answer, ResponseError>,
}

/// Why a response holds no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResponseError {
    /// The client answered with an error.
    #[error("the client refused the question (code {code}): {}", text::line(message, 200))]
    Refused {
        /// The JSON-RPC error code, 0 where it cannot be read.
        code: i64,
        /// The client's own words.
        message: String,
    },
    /// The result is no answer (R-ACT-03).
    #[error("the answer cannot be read: {0}")]
    Malformed(#[from] WireError),
}

impl ElicitResponse {
    /// Reads a whole JSON-RPC message; `None` for one that is no response. `null` beside the other of the two counts as
    /// absent; a response with both a result and an error is [malformed](ResponseError::Malformed).
    pub fn parse(message: &str) -> Result<Option<Self>, WireError> {
        let object = RawObject::parse(message)?;
        let (result, error) = (object.get("result"), object.get("error"));
        let Some(id) = object.get("id").filter(|_| !object.contains("method")) else { return Ok(None) };
        let is_there = |value: &&RawValue| !json::is_null(value.get());
        let answer = match (result.filter(is_there), error.filter(is_there)) {
            (Some(_), Some(_)) => Err(WireError::ResultAndError.into()),
            (Some(result), None) => Answer::parse(result.get()).map_err(ResponseError::from),
            (None, Some(error)) => Err(refused(error.get())),
            (None, None) if result.or(error).is_some() => Err(WireError::Missing("result").into()),
            (None, None) => return Ok(None),
        };
        Ok(Some(Self { id: RequestId::read(id)?, answer }))
    }
}

fn refused(error: &str) -> ResponseError {
    let object = match RawObject::parse(error) {
        Ok(object) => object,
        Err(error) => return error.into(),
    };
    let code = object.get("code").and_then(|code| code_of(code.get())).unwrap_or_default();
    ResponseError::Refused { code, message: optional_text(&object, "message").unwrap_or_default() }
}

/// The code of an error object, however the number is written.
pub(super) fn code_of(raw: &str) -> Option<i64> {
    Number::parse(raw).ok()?.integer_text()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Action;

    /// R-ACT-01, R-ACT-03: an error and a malformed answer are no decline.
    #[test]
    fn answers_errors_and_nonsense_are_told_apart() {
        let read = |text: &str| ElicitResponse::parse(text).unwrap().unwrap();
        let accepted = read(r#"{"jsonrpc":"2.0","id":1,"result":{"action":"accept","content":{"n":1.50}}}"#);
        assert_eq!(accepted.id, RequestId::from(1));
        assert_eq!(accepted.answer.unwrap().to_json(), r#"{"action":"accept","content":{"n":1.50}}"#);
        let declined = read(r#"{"jsonrpc":"2.0","id":"1","result":{"action":"decline"}}"#);
        assert_eq!(declined.answer.unwrap().action(), Action::Decline);
        let refused = read(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-3.2602e4,"message":"no"}}"#);
        assert_eq!(refused.answer, Err(ResponseError::Refused { code: -32602, message: "no".to_owned() }));
        let unknown = read(r#"{"jsonrpc":"2.0","id":1,"result":{"action":"yes"}}"#);
        assert_eq!(unknown.answer, Err(ResponseError::Malformed(WireError::UnknownAction)));
        let odd = read(r#"{"jsonrpc":"2.0","id":1,"error":{}}"#);
        assert_eq!(odd.answer, Err(ResponseError::Refused { code: 0, message: String::new() }));
    }

    /// R-ACT-03: some libraries write every member, and an answer beside an error is not used.
    #[test]
    fn null_beside_the_other_counts_as_absent_and_both_are_malformed() {
        let read = |members: &str| {
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,{members}}}"#);
            ElicitResponse::parse(&text).unwrap().unwrap().answer
        };
        assert_eq!(read(r#""result":{"action":"decline"},"error":null"#), Ok(Answer::Decline));
        let refused = read(r#""result":null,"error":{"code":-1,"message":"no"}"#);
        assert_eq!(refused, Err(ResponseError::Refused { code: -1, message: "no".to_owned() }));
        let both = read(r#""result":{"action":"accept"},"error":{"code":-1,"message":"no"}"#);
        assert_eq!(both, Err(ResponseError::Malformed(WireError::ResultAndError)));
        for neither in [r#""result":null"#, r#""error":null"#, r#""result":null,"error":null"#] {
            assert_eq!(read(neither), Err(ResponseError::Malformed(WireError::Missing("result"))), "{neither}");
        }
    }

    /// R-SEC-02: the client's words go to a log, and on to the person.
    #[test]
    fn what_the_client_says_is_shown_on_one_clean_line() {
        let error = ResponseError::Refused { code: 1, message: "no\n\u{1b}[2Jdone\u{202e}".to_owned() };
        assert_eq!(error.to_string(), "the client refused the question (code 1): no ‹U+001B›[2Jdone‹U+202E›");
    }

    #[test]
    fn other_messages_are_no_response() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/x"}"#,
            r#"{"jsonrpc":"2.0","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1}"#,
        ] {
            assert_eq!(ElicitResponse::parse(text), Ok(None), "{text}");
        }
        assert_eq!(ElicitResponse::parse("{"), Err(WireError::NotJson));
    }
}
