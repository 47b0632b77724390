use super::*;
use crate::{Form, FormElicitation, InputRequired, Mode, UrlElicitation};

const MODERN: Revision = Revision::V2026_07_28;

fn client(raw: &str) -> ClientCapabilities {
    ClientCapabilities::parse(raw).unwrap()
}

fn url() -> UrlElicitation {
    UrlElicitation::new("m", "https://a.example").unwrap().with_id("never sent").unwrap()
}

fn form() -> FormElicitation {
    let schema = r#"{ "type":"object", "properties":{"n":{"type":"number","minimum":1.50,"x":1}} }"#;
    FormElicitation::new("n", Form::parse(schema).unwrap()).unwrap()
}

/// R-MRTR-07, R-MRTR-08, R-ERR-03: a modern question is part of a result, with its `resultType`; forms go out in the text
/// that they have.
#[test]
fn our_own_round_has_the_shape_of_the_protocol() {
    let client = client(r#"{"elicitation":{"form":{},"url":{}}}"#);
    let mut round = Round::new("tools/call", &client, MODERN).unwrap();
    round.ask("b", url()).unwrap();
    round.ask("a", form()).unwrap();
    let result = round.with_state("sealed").result().unwrap();
    insta::assert_snapshot!(result.get(), @r#"{"resultType":"input_required","inputRequests":{"b":{"method":"elicitation/create","params":{"mode":"url","url":"https://a.example","message":"m"}},"a":{"method":"elicitation/create","params":{"mode":"form","message":"n","requestedSchema":{ "type":"object", "properties":{"n":{"type":"number","minimum":1.50,"x":1}} }}}},"requestState":"sealed"}"#);
    let read = InputRequired::parse(result.get()).unwrap().unwrap();
    assert_eq!(read.undeclared(&client, MODERN), None);
    let only_state = Round::new("prompts/get", &client, MODERN).unwrap().with_state("a\"b").result().unwrap();
    insta::assert_snapshot!(only_state.get(), @r#"{"resultType":"input_required","requestState":"a\"b"}"#);
}

/// R-MRTR-01: three methods, with a question or a state.
#[test]
fn a_round_is_for_the_methods_that_may_ask() {
    let client = client("{}");
    for method in ASKING_METHODS {
        assert_eq!(Round::new(method, &client, MODERN).unwrap().result().unwrap_err(), RoundError::Empty);
    }
    for method in ["tools/list", "initialize", "Tools/Call", ""] {
        assert_eq!(Round::new(method, &client, MODERN).unwrap_err(), RoundError::Method(method.to_owned()));
    }
    let legacy = Round::new("tools/call", &client, Revision::V2025_11_25).unwrap_err();
    assert_eq!(legacy, RoundError::Era(Revision::V2025_11_25));
}

/// R-MRTR-08
#[test]
fn a_key_that_is_used_twice_is_an_error() {
    let client = client(r#"{"elicitation":{"form":{},"url":{}}}"#);
    let mut round = Round::new("resources/read", &client, MODERN).unwrap();
    round.ask("a", url()).unwrap();
    assert_eq!(round.ask("a", form()), Err(RoundError::DuplicateKey("a".to_owned())));
    assert!(!round.result().unwrap().get().contains("requestedSchema"), "the second question is not there");
}

/// R-CAP-03, R-CAP-05, R-MRTR-08; cases 1 and 33: nothing that the client did not declare on this very request.
#[test]
fn a_question_in_an_undeclared_mode_is_not_part_of_a_round() {
    // declared; may be asked by form, by url
    let table = [
        ("{}", false, false),
        (r#"{"elicitation":{}}"#, true, false),
        (r#"{"elicitation":{"form":{}}}"#, true, false),
        (r#"{"elicitation":{"url":{}}}"#, false, true),
        (r#"{"elicitation":{"form":{},"url":{}}}"#, true, true),
        (r#"{"elicitation":true}"#, false, false),
    ];
    for (declared, by_form, by_url) in table {
        let client = client(declared);
        let mut round = Round::new("tools/call", &client, MODERN).unwrap();
        assert_eq!(round.ask("form", form()).is_ok(), by_form, "{declared}");
        assert_eq!(round.ask("url", url()).is_ok(), by_url, "{declared}");
        assert_eq!(round.result().is_ok(), by_form || by_url, "{declared}");
    }
    let client = client(r#"{"elicitation":{}}"#);
    let error = Round::new("tools/call", &client, MODERN).unwrap().ask("k", url()).unwrap_err();
    let RoundError::Question { key, error } = error else { panic!("{error}") };
    assert_eq!((key.as_str(), &error), ("k", &QuestionError::Undeclared(Mode::Url)));
    insta::assert_snapshot!(error.missing_capability("Use a newer app.").unwrap(), @r#"{"code":-32021,"message":"Use a newer app.","data":{"requiredCapabilities":{"elicitation":{"url":{}}}}}"#);
}

/// R-SEC-04: what a host would refuse is not asked.
#[test]
fn questions_are_bounded() {
    let client = client(r#"{"elicitation":{"url":{}}}"#);
    let mut round = Round::new("tools/call", &client, MODERN).unwrap();
    for key in 0..MAX_QUESTIONS {
        round.ask(key.to_string(), url()).unwrap();
    }
    assert_eq!(round.ask("one more", url()), Err(WireError::TooMany("inputRequests").into()));
    assert!(InputRequired::parse(round.result().unwrap().get()).is_ok());
}

#[test]
fn no_question_and_no_state_shows_in_debug() {
    let client = client(r#"{"elicitation":{"url":{}}}"#);
    let mut round = Round::new("tools/call", &client, MODERN).unwrap();
    round.ask("pay", url()).unwrap();
    let shown = format!("{:?}", round.with_state("sealed"));
    assert_eq!(shown, r#"Round { revision: V2026_07_28, keys: ["pay"], .. }"#);
}
