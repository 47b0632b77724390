use super::*;
use crate::{Answer, Content, InputRequired};

const ROUND: &str = r#"{"resultType":"input_required","inputRequests":{
    "z":{"method":"elicitation/create","params":{"mode":"url","url":"https://a.example","message":"m"}},
    "a":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}},
    "r":{"method":"roots/list"}
},"requestState":"a\/\u00e9"}"#;

fn retry(round: &str) -> Retry {
    InputRequired::parse(round).unwrap().unwrap().retry()
}

fn accepted() -> Outcome {
    Outcome::Form(Answer::Accept(Content::parse(r#"{"n":1.50}"#).unwrap()))
}

/// R-MRTR-05, R-REQ-03; case 30: the state goes back byte for byte, every answer under its key, and nothing else changes.
#[test]
fn a_retry_carries_the_state_and_every_answer() {
    let mut retry = retry(ROUND);
    retry.answer("a", &accepted()).unwrap();
    retry.answer("z", &Outcome::Url(Answer::Accept(()))).unwrap();
    retry.result("r", r#"{"roots":[ ]}"#).unwrap();
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"x":1e999},"requestState":"older","_meta":{"k":9007199254740993}}}"#;
    insta::assert_snapshot!(retry.request(request, &RequestId::from(2)).unwrap(), @r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","arguments":{"x":1e999},"requestState":"a\/\u00e9","_meta":{"k":9007199254740993},"inputResponses":{"z":{"action":"accept"},"a":{"action":"accept","content":{"n":1.50}},"r":{"roots":[ ]}}}}"#);
}

/// R-MRTR-05: no answer is left out.
#[test]
fn a_retry_without_every_answer_is_an_error() {
    let mut retry = retry(ROUND);
    assert_eq!(retry.params("{}"), Err(RetryError::Missing(["z", "a", "r"].map(str::to_owned).to_vec())));
    retry.answer("a", &Outcome::Form(Answer::Decline)).unwrap();
    retry.result("r", "{}").unwrap();
    assert_eq!(retry.missing().collect::<Vec<_>>(), ["z"]);
    assert!(retry.params("{}").is_err());
    retry.answer("z", &Outcome::Url(Answer::Cancel)).unwrap();
    assert!(retry.params("{}").is_ok());
}

/// R-MRTR-05; case 30: none is invented, an older one is dropped, and `null` is none.
#[test]
fn where_there_was_no_state_none_goes_back() {
    for state in ["", r#","requestState":null"#] {
        let round =
            format!(r#"{{"resultType":"input_required","inputRequests":{{"r":{{"method":"roots/list"}}}}{state}}}"#);
        let mut retry = retry(&round);
        retry.result("r", "{}").unwrap();
        let params = retry.params(r#"{"requestState":"older","name":"t"}"#).unwrap();
        assert_eq!(params, r#"{"name":"t","inputResponses":{"r":{}}}"#);
    }
}

/// R-MRTR-05; case 29: a result with a state and no questions is retried as it is, and answers of earlier rounds go.
#[test]
fn a_state_without_questions_is_retried_at_once() {
    for questions in ["", r#","inputRequests":{}"#, r#","inputRequests":null"#] {
        let retry = retry(&format!(r#"{{"resultType":"input_required","_meta":{{}},"requestState":"s"{questions}}}"#));
        let params = retry.params(r#"{"name":"t","inputResponses":{"old":{}}}"#).unwrap();
        assert_eq!(params, r#"{"name":"t","requestState":"s"}"#);
    }
}

/// R-MRTR-05: independent requests have ids of their own.
#[test]
fn a_retry_has_another_id() {
    let retry = retry(r#"{"resultType":"input_required","requestState":"s"}"#);
    let request = r#"{"jsonrpc":"2.0","id":"\u0061","method":"tools/call","params":{}}"#;
    assert_eq!(retry.request(request, &RequestId::from("a")), Err(RetryError::SameId));
    assert!(retry.request(request, &RequestId::from("b")).is_ok());
    let missing = RetryError::Wire(WireError::Missing("params"));
    assert_eq!(retry.request(r#"{"id":1,"method":"m"}"#, &RequestId::from(2)), Err(missing));
}

/// Case 31: answers are matched by key and kind, and what does not match fails loudly.
#[test]
fn an_answer_to_what_was_not_asked_is_an_error() {
    let mut retry = retry(ROUND);
    assert_eq!(retry.answer("b", &accepted()), Err(RetryError::UnknownKey("b".to_owned())));
    assert_eq!(retry.answer("z", &accepted()), Err(RetryError::OtherKind("z".to_owned())));
    assert_eq!(retry.answer("a", &Outcome::Url(Answer::Decline)), Err(RetryError::OtherKind("a".to_owned())));
    assert_eq!(retry.answer("r", &accepted()), Err(RetryError::OtherKind("r".to_owned())));
    assert_eq!(retry.result("a", "{}"), Err(RetryError::OtherKind("a".to_owned())));
    assert_eq!(retry.result("r", "[]"), Err(RetryError::Wire(WireError::NotObject)));
}

#[test]
fn no_answer_shows_in_debug() {
    let mut retry = retry(ROUND);
    retry.answer("a", &accepted()).unwrap();
    assert!(!format!("{retry:?}").contains("1.50"));
}
