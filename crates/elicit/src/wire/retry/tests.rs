use super::*;
use crate::{Answer, Content, InputRequired};

const ROUND: &str = r#"{"resultType":"input_required","inputRequests":{
    "z":{"method":"elicitation/create","params":{"mode":"url","url":"https://a.example","message":"m"}},
    "a":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}},
    "r":{"method":"roots/list"}
},"requestState":"a\/\u00e9"}"#;

const STATE_ALONE: &str = r#"{"resultType":"input_required","requestState":"s"}"#;

/// A call with these parameters, under the id 1.
fn call(params: &str) -> Rounds {
    Rounds::new(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#)).unwrap()
}

fn retry<'r>(rounds: &'r mut Rounds, result: &str) -> Retry<'r> {
    rounds.retry(&InputRequired::parse(result).unwrap().unwrap()).unwrap()
}

fn id(number: i64) -> RequestId {
    RequestId::from(number)
}

fn accepted() -> Outcome {
    Outcome::Form(Answer::Accept(Content::parse(r#"{"n":1.50}"#).unwrap()))
}

/// R-MRTR-05, R-REQ-03; case 30: the state goes back byte for byte, every answer under its key, and nothing else changes.
#[test]
fn a_retry_carries_the_state_and_every_answer() {
    let mut rounds = Rounds::new(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"x":1e999},"requestState":"older","_meta":{"k":9007199254740993}},"x":1.0}"#).unwrap();
    let mut retry = retry(&mut rounds, ROUND);
    retry.answer("a", &accepted()).unwrap();
    retry.answer("z", &Outcome::Url(Answer::Accept(()))).unwrap();
    retry.result("r", r#"{"roots":[ ]}"#).unwrap();
    insta::assert_snapshot!(retry.request(&id(2)).unwrap(), @r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","arguments":{"x":1e999},"requestState":"a\/\u00e9","_meta":{"k":9007199254740993},"inputResponses":{"z":{"action":"accept"},"a":{"action":"accept","content":{"n":1.50}},"r":{"roots":[ ]}}},"x":1.0}"#);
}

/// R-MRTR-05: a later round is made of the first request, so that nothing of an earlier one goes along.
#[test]
fn each_retry_is_made_of_the_first_request() {
    let mut rounds = call(r#"{"name":"t"}"#);
    let mut first = retry(&mut rounds, ROUND);
    first.answer("a", &accepted()).unwrap();
    first.answer("z", &Outcome::Url(Answer::Decline)).unwrap();
    first.result("r", "{}").unwrap();
    first.request(&id(2)).unwrap();
    let second = retry(&mut rounds, r#"{"resultType":"input_required","inputRequests":{},"requestState":null}"#);
    assert_eq!(second.params(&id(3)).unwrap(), r#"{"name":"t"}"#);
}

/// R-MRTR-05: no answer is left out.
#[test]
fn a_retry_without_every_answer_is_an_error() {
    let mut rounds = call("{}");
    let error = retry(&mut rounds, ROUND).params(&id(2)).unwrap_err();
    assert_eq!(error, RetryError::Missing(["z", "a", "r"].map(str::to_owned).to_vec()));
    let mut retry = retry(&mut rounds, ROUND);
    retry.answer("a", &Outcome::Form(Answer::Decline)).unwrap();
    retry.result("r", "{}").unwrap();
    assert_eq!(retry.missing().collect::<Vec<_>>(), ["z"]);
    retry.answer("z", &Outcome::Url(Answer::Cancel)).unwrap();
    assert!(retry.params(&id(2)).is_ok());
}

/// R-MRTR-05; case 30: none is invented, an older one is dropped, and `null` is none.
#[test]
fn where_there_was_no_state_none_goes_back() {
    for state in ["", r#","requestState":null"#] {
        let round =
            format!(r#"{{"resultType":"input_required","inputRequests":{{"r":{{"method":"roots/list"}}}}{state}}}"#);
        let mut rounds = call(r#"{"requestState":"older","name":"t"}"#);
        let mut retry = retry(&mut rounds, &round);
        retry.result("r", "{}").unwrap();
        assert_eq!(retry.params(&id(2)).unwrap(), r#"{"name":"t","inputResponses":{"r":{}}}"#);
    }
}

/// R-MRTR-05; case 29: a result with a state and no questions is retried as it is, and answers of earlier rounds go.
#[test]
fn a_state_without_questions_is_retried_at_once() {
    for questions in ["", r#","inputRequests":{}"#, r#","inputRequests":null"#] {
        let mut rounds = call(r#"{"name":"t","inputResponses":{"old":{}}}"#);
        let round = format!(r#"{{"resultType":"input_required","_meta":{{}},"requestState":"s"{questions}}}"#);
        let params = retry(&mut rounds, &round).params(&id(2)).unwrap();
        assert_eq!(params, r#"{"name":"t","requestState":"s"}"#);
    }
}

/// R-MRTR-05: independent requests have ids of their own, whoever writes the message and however the id is written.
#[test]
fn a_retry_has_an_id_that_no_earlier_try_had() {
    let request = r#"{"jsonrpc":"2.0","id":"\u0061","method":"tools/call","params":{}}"#;
    let mut rounds = Rounds::new(request).unwrap();
    assert_eq!(retry(&mut rounds, STATE_ALONE).request(&RequestId::from("a")), Err(RetryError::SameId));
    assert_eq!(retry(&mut rounds, STATE_ALONE).params(&RequestId::from("a")), Err(RetryError::SameId));
    assert!(retry(&mut rounds, STATE_ALONE).params(&RequestId::from("b")).is_ok());
    assert_eq!(retry(&mut rounds, STATE_ALONE).request(&RequestId::from("b")), Err(RetryError::SameId));
    assert!(retry(&mut rounds, STATE_ALONE).request(&RequestId::from("c")).is_ok());
    let mut rounds = Rounds::new(r#"{"id":1,"method":"tools/call"}"#).unwrap();
    let missing = RetryError::Wire(WireError::Missing("params"));
    assert_eq!(retry(&mut rounds, STATE_ALONE).request(&id(2)), Err(missing));
}

/// Case 31: answers are matched by key and kind, and what does not match fails loudly.
#[test]
fn an_answer_to_what_was_not_asked_is_an_error() {
    let mut rounds = call("{}");
    let mut retry = retry(&mut rounds, ROUND);
    assert_eq!(retry.answer("b", &accepted()), Err(RetryError::UnknownKey("b".to_owned())));
    assert_eq!(retry.answer("z", &accepted()), Err(RetryError::OtherKind("z".to_owned())));
    assert_eq!(retry.answer("a", &Outcome::Url(Answer::Decline)), Err(RetryError::OtherKind("a".to_owned())));
    assert_eq!(retry.answer("r", &accepted()), Err(RetryError::OtherKind("r".to_owned())));
    assert_eq!(retry.result("a", "{}"), Err(RetryError::OtherKind("a".to_owned())));
    assert_eq!(retry.result("r", "[]"), Err(RetryError::Wire(WireError::NotObject)));
}

/// R-SEC-02: keys are the server's words, and errors go to logs and persons.
#[test]
fn keys_in_errors_are_clean_and_short() {
    let keys = vec!["a\n\u{1b}[2J\u{202e}".to_owned(), "k".repeat(1_000)];
    let text = RetryError::Missing(keys).to_string();
    assert!(text.starts_with(r#"not answered: ["a\n\u{1b}[2J\u{202e}", "kkk"#), "{text}");
    assert!(text.chars().count() < 250, "{text}");
    let text = RetryError::UnknownKey("a\n\u{1b}".to_owned()).to_string();
    assert_eq!(text, r#"nothing was asked under the key "a\n\u{1b}""#);
}

#[test]
fn no_answer_and_no_state_shows_in_debug() {
    let mut rounds = call(r#"{"name":"secret-tool"}"#);
    let mut retry = retry(&mut rounds, ROUND);
    retry.answer("a", &accepted()).unwrap();
    let shown = format!("{retry:?}");
    assert!(shown.contains(r#"key: "a", answered: true"#), "{shown}");
    for hidden in ["1.50", "u00e9", "a.example", "secret-tool"] {
        assert!(!shown.contains(hidden), "{shown}");
    }
}
