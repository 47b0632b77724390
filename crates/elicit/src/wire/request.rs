use std::fmt;

use serde_json::value::RawValue;

use super::{Elicitation, ElicitationError, RawObject, RequestId, WireError};
use crate::{Modes, Outcome, Revision, json};

/// A JSON-RPC request `elicitation/create` of a legacy server, as a host receives it. It is written by
/// [`Elicitation::request`].
#[derive(Clone)]
pub struct ElicitRequest<'a> {
    /// The id that the response has to carry.
    pub id: RequestId,
    params: Option<&'a RawValue>,
}

impl<'a> ElicitRequest<'a> {
    /// Reads a whole JSON-RPC message; `None` for one with another method, and for one that wants no response. What its
    /// parameters are is read [afterwards](Self::elicitation), so that faults in them can be answered under its id.
    pub fn parse(message: &'a str) -> Result<Option<Self>, WireError> {
        let object = RawObject::parse(message)?;
        let (Some(id), Some(method)) = (object.get("id"), object.get("method")) else { return Ok(None) };
        if json::text(method.get()).as_deref() != Some("elicitation/create") {
            return Ok(None);
        }
        Ok(Some(Self { id: RequestId::read(id)?, params: object.get("params") }))
    }

    /// The parameters as they came.
    pub fn params(&self) -> Option<&'a RawValue> {
        self.params
    }

    /// The question, if its mode is one of those that we `declared` (R-CAP-04, R-REQ-02). An error is the answer:
    /// [`refusal`](Self::refusal).
    pub fn elicitation(&self, revision: Revision, declared: Modes) -> Result<Elicitation, ElicitationError> {
        let params = self.params.ok_or(WireError::Missing("params"))?;
        Elicitation::parse(params.get(), revision)?.within(declared)
    }

    /// The response with what the person did.
    pub fn response(&self, outcome: &Outcome) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{},"result":{}}}"#, self.id.to_json(), outcome.to_json())
    }

    /// The response that refuses the question, with the code and the text of `error`.
    pub fn refusal(&self, error: &ElicitationError) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":{},"message":{}}}}}"#,
            self.id.to_json(),
            error.code(),
            json::quote(&error.to_string())
        )
    }
}

/// The id only: what is asked is between the server and the person.
impl fmt::Debug for ElicitRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ElicitRequest").field("id", &self.id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Answer, Mode};

    const BOTH: Modes = Modes { form: true, url: true };

    fn request(text: &str) -> ElicitRequest<'_> {
        ElicitRequest::parse(text).unwrap().unwrap()
    }

    /// R-CAP-04, R-REQ-02, R-FORM-02: what we cannot ask is answered with -32602 under the request's own id.
    #[test]
    fn a_question_that_cannot_be_asked_is_refused_under_its_id() {
        let form = r#"{"jsonrpc":"2.0","id":"a\/b","method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"object"}}}}}"#;
        let asked = request(form);
        let error = asked.elicitation(Revision::V2025_11_25, BOTH).unwrap_err();
        insta::assert_snapshot!(asked.refusal(&error), @r#"{"jsonrpc":"2.0","id":"a/b","error":{"code":-32602,"message":"`requestedSchema`: the schema is no form: /properties/a is a nested object; allowed types are string, number, integer, boolean, and array for several choices; choices are `enum`, or `oneOf` of `const` and `title`"}}"#);
        let url = r#"{"jsonrpc":"2.0","id":9007199254740993,"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://a.example/","elicitationId":"1"}}"#;
        let asked = request(url);
        let error = asked.elicitation(Revision::V2025_11_25, Modes { form: true, url: false }).unwrap_err();
        assert_eq!(error, ElicitationError::Undeclared(Mode::Url));
        insta::assert_snapshot!(asked.refusal(&error), @r#"{"jsonrpc":"2.0","id":9007199254740993,"error":{"code":-32602,"message":"elicitation in url mode was not declared"}}"#);
        assert!(asked.elicitation(Revision::V2025_11_25, BOTH).is_ok());
        let none = request(r#"{"jsonrpc":"2.0","id":1,"method":"elicitation/create"}"#);
        assert_eq!(none.elicitation(Revision::V2025_11_25, BOTH).unwrap_err().code(), -32602);
    }

    /// R-ACT-02
    #[test]
    fn the_answer_goes_back_under_the_id() {
        let asked = request(r#"{"jsonrpc":"2.0","id":"q-1","method":"elicitation/create","params":{}}"#);
        insta::assert_snapshot!(asked.response(&Outcome::Form(Answer::Decline)), @r#"{"jsonrpc":"2.0","id":"q-1","result":{"action":"decline"}}"#);
    }

    #[test]
    fn no_message_shows_in_debug() {
        let text = r#"{"jsonrpc":"2.0","id":"q-1","method":"elicitation/create","params":{"message":"Who?"}}"#;
        let shown = format!("{:?}", request(text));
        assert!(shown.contains("q-1") && !shown.contains("Who"), "{shown}");
    }

    #[test]
    fn other_messages_are_no_question() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","method":"elicitation/create","params":{}}"#,
        ] {
            assert!(ElicitRequest::parse(text).unwrap().is_none(), "{text}");
        }
        assert_eq!(ElicitRequest::parse("[]").unwrap_err(), WireError::NotObject);
        let null = r#"{"jsonrpc":"2.0","id":null,"method":"elicitation/create"}"#;
        assert_eq!(ElicitRequest::parse(null).unwrap_err(), WireError::WrongType("id"));
    }
}
