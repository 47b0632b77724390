//! Faults that were seen elsewhere, each made impossible.

use elicit::{
    Answer, ClientCapabilities, CompleteNotice, Elicitation, ElicitationError, Form, FormElicitation, InputRequired,
    InputResponses, Mode, Modes, Outcome, QuestionError, RequestId, ResultType, RetryError, Revision, Round,
    RoundError, Rounds, UrlElicitation, UrlElicitationRequired,
};

const LEGACY: Revision = Revision::V2025_11_25;
const MODERN: Revision = Revision::V2026_07_28;

fn client(raw: &str) -> ClientCapabilities {
    ClientCapabilities::parse(raw).unwrap()
}

/// A call with these parameters, under the id 1.
fn call(params: &str) -> Rounds {
    Rounds::new(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#)).unwrap()
}

fn required(result: &str) -> InputRequired<'_> {
    InputRequired::parse(result).unwrap().unwrap()
}

fn form() -> Elicitation {
    FormElicitation::new("m", Form::parse(r#"{"type":"object","properties":{}}"#).unwrap()).unwrap().into()
}

fn url() -> Elicitation {
    UrlElicitation::new("m", "https://a.example/").unwrap().with_id("1").unwrap().into()
}

/// Case 1, R-CAP-03: url alone is no form; `{}` is no url.
#[test]
fn case_1_a_client_is_asked_in_no_mode_that_it_did_not_declare() {
    for revision in [LEGACY, MODERN] {
        let url_only = client(r#"{"elicitation":{"url":{}}}"#);
        assert_eq!(form().params_for(&url_only, revision).unwrap_err(), QuestionError::Undeclared(Mode::Form));
        assert!(url().params_for(&url_only, revision).is_ok());
        let form_only = client(r#"{"elicitation":{}}"#);
        assert_eq!(url().params_for(&form_only, revision).unwrap_err(), QuestionError::Undeclared(Mode::Url));
        assert!(form().params_for(&form_only, revision).is_ok());
    }
    let oldest = client(r#"{"elicitation":{"form":{},"url":{}}}"#);
    let error = url().params_for(&oldest, Revision::V2025_06_18).unwrap_err();
    assert_eq!(error, QuestionError::NoUrlMode(Revision::V2025_06_18));
}

/// Case 2, R-CAP-02: sub-keys are read, whichever; what is no object declares nothing and breaks nothing.
#[test]
fn case_2_every_shape_of_the_capability_is_read() {
    for (raw, asked) in [
        (r#"{"elicitation":{"form":{}}}"#, true),
        (r#"{"elicitation":{"form":{},"voice":{"x":1e999}}}"#, true),
        (r#"{"elicitation":{"voice":{}}}"#, true),
        (r#"{"elicitation":true}"#, false),
        (r#"{"elicitation":[]}"#, false),
    ] {
        assert_eq!(form().params_for(&client(raw), LEGACY).is_ok(), asked, "{raw}");
        assert_eq!(client(raw).as_str(), raw);
    }
}

/// Case 3, R-CAP-01: what nobody handles is not declared, and what was declared is not overwritten.
#[test]
fn case_3_the_declaration_is_what_the_presenter_handles() {
    let before = client(r#"{"elicitation":{"form":{"a":1},"url":{}},"roots":{}}"#);
    assert_eq!(before.with_modes(Modes::NONE, LEGACY).as_str(), r#"{"roots":{}}"#);
    let form = Modes { form: true, url: false };
    assert_eq!(before.with_modes(form, LEGACY).as_str(), r#"{"elicitation":{"form":{"a":1}},"roots":{}}"#);
}

/// Case 12, R-URL-01: legacy needs an id, modern has none, not even an empty one.
#[test]
fn case_12_the_elicitation_id_is_there_in_one_revision_and_in_no_other() {
    let params = |id: &str| format!(r#"{{"mode":"url","message":"m","url":"https://a.example/"{id}}}"#);
    for id in ["", r#","elicitationId":"""#, r#","elicitationId":null"#] {
        let error = Elicitation::parse(&params(id), LEGACY).unwrap_err();
        assert_eq!((error.code(), &error), (-32602, &ElicitationError::NoId), "{id}");
        let text = params(id);
        let modern = Elicitation::parse(&text, MODERN).unwrap();
        assert_eq!(modern.raw(), Some(text.as_str()), "kept as it came");
        assert!(!modern.params(MODERN).unwrap().get().contains("elicitationId"), "{id}");
        assert_eq!(modern.params(LEGACY).unwrap_err(), QuestionError::NoId);
    }
    let question = UrlElicitation::new("m", "https://a.example/").unwrap();
    assert_eq!(question.params(LEGACY).unwrap_err(), QuestionError::NoId);
    for id in ["", " "] {
        assert_eq!(question.clone().with_id(id).unwrap_err(), QuestionError::NoId);
    }
    assert!(!url().params(MODERN).unwrap().get().contains("elicitationId"));
}

/// Case 13, R-ERR-01: the error keeps its code, its words and its data.
#[test]
fn case_13_the_required_error_arrives_as_it_was_sent() {
    let error = r#"{"code":-32042,"message":"This request requires more information.","data":{"elicitations":[{"mode":"url","elicitationId":"1","url":"https://a.example/","message":"m","x":1.0}],"y":1e999}}"#;
    let required = UrlElicitationRequired::parse(error).unwrap().unwrap();
    let url = client(r#"{"elicitation":{"url":{}}}"#);
    assert_eq!(required.error_for(&url, LEGACY).unwrap().get(), error);
    assert_eq!(CompleteNotice::new(required.elicitations()[0].id().unwrap()).elicitation_id, "1");
}

/// Case 29, R-MRTR-05, R-MRTR-07: a state alone is a round, with `_meta` or without.
#[test]
fn case_29_a_state_without_questions_is_to_be_retried() {
    for text in [
        r#"{"resultType":"input_required","requestState":"s"}"#,
        r#"{"_meta":{"x":1},"resultType":"input_required","requestState":"s","content":[]}"#,
    ] {
        let mut rounds = call("{}");
        let retry = rounds.retry(&required(text)).unwrap();
        assert_eq!(retry.missing().count(), 0);
        assert_eq!(retry.params(&RequestId::from(2)).unwrap(), r#"{"requestState":"s"}"#);
        let result = elicit::RawObject::parse(text).unwrap();
        assert_eq!(ResultType::of(&result), Ok(ResultType::InputRequired));
    }
}

/// Case 30, R-MRTR-05: echoed as it came; none is invented; `null` is none.
#[test]
fn case_30_the_state_is_neither_changed_nor_invented() {
    let state = r#""\u00e9\/ \"x\"=""#;
    let text = format!(r#"{{"resultType":"input_required","requestState":{state}}}"#);
    let mut rounds = call(r#"{"requestState":"old"}"#);
    let params = rounds.retry(&required(&text)).unwrap().params(&RequestId::from(2)).unwrap();
    assert_eq!(params, format!(r#"{{"requestState":{state}}}"#));
    let text = r#"{"resultType":"input_required","requestState":null,"inputRequests":{}}"#;
    assert_eq!(rounds.retry(&required(text)).unwrap().params(&RequestId::from(3)).unwrap(), "{}");
}

/// Case 31, R-MRTR-04: by key, in whatever order; under another key it fails, or is asked for again.
#[test]
fn case_31_answers_are_matched_by_key() {
    let responses = r#"{"b":{"action":"decline"},"a":{"action":"accept"}}"#;
    let responses = InputResponses::parse(responses).unwrap();
    assert_eq!(responses.answer("a").map(|answer| answer.action()), Some(elicit::Action::Accept));
    assert_eq!(responses.answer("b").map(|answer| answer.action()), Some(elicit::Action::Decline));
    assert!(responses.answer("c").is_none());
    let text = r#"{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"url"}}}}"#;
    let mut rounds = call("{}");
    let mut retry = rounds.retry(&required(text)).unwrap();
    let consent = Outcome::Url(Answer::Accept(()));
    assert_eq!(retry.answer("b", &consent), Err(RetryError::UnknownKey("b".to_owned())));
    assert_eq!(retry.params(&RequestId::from(2)), Err(RetryError::Missing(vec!["a".to_owned()])));
}

/// Case 33, R-CAP-03, R-CAP-04, R-MRTR-08: neither sent in a round, nor shown where one brings it.
#[test]
fn case_33_an_undeclared_mode_does_not_arrive_in_a_round() {
    let form_only = client(r#"{"elicitation":{}}"#);
    let mut round = Round::new("tools/call", &form_only, MODERN).unwrap();
    let error = round.ask("k", url()).unwrap_err();
    assert_eq!(error, RoundError::Question { key: "k".to_owned(), error: QuestionError::Undeclared(Mode::Url) });
    let text = r#"{"resultType":"input_required","inputRequests":{"k":{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://a.example/"}}}}"#;
    let required = required(text);
    assert!(required.undeclared(&form_only, MODERN).is_some());
    let error = required.requests[0].elicitation(MODERN, form_only.modes(MODERN)).unwrap_err();
    assert_eq!((error.code(), error), (-32602, ElicitationError::Undeclared(Mode::Url)));
}
