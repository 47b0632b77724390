use proptest::prelude::*;

use super::*;

const ROUND: &str = r#"{"resultType":"input_required","inputRequests":{
    "z":{"method":"elicitation/create","params":{"mode":"url","url":"https://a.example","message":"m","x":1e999}},
    "\u0061":{"method":"sampling/createMessage","params":{"maxTokens":1.0,"messages":[]}},
    "r":{"method":"roots/list"},
    "f":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{}}}
},"requestState":"a\/\u00e9","_meta":{"k":1}}"#;

fn round(raw: &str) -> InputRequired<'_> {
    InputRequired::parse(raw).unwrap().unwrap()
}

fn error(raw: &str) -> WireError {
    InputRequired::parse(raw).unwrap_err()
}

/// A round with one question.
fn question(text: &str) -> String {
    format!(r#"{{"resultType":"input_required","inputRequests":{{"k":{text}}}}}"#)
}

fn caps(raw: &str) -> ClientCapabilities {
    ClientCapabilities::parse(raw).unwrap()
}

/// R-MRTR-08, R-REQ-03: questions keep their order and their text.
#[test]
fn a_round_is_read_with_its_questions_in_order() {
    let round = round(ROUND);
    let keys: Vec<_> = round.requests.iter().map(|request| &*request.key).collect();
    assert_eq!(keys, ["z", "a", "r", "f"]);
    let methods: Vec<_> = round.requests.iter().map(|request| &*request.method).collect();
    assert_eq!(methods, ["elicitation/create", "sampling/createMessage", "roots/list", "elicitation/create"]);
    assert_eq!(round.request_state.as_deref(), Some("a/é"));
    assert_eq!(round.requests[1].params.unwrap().get(), r#"{"maxTokens":1.0,"messages":[]}"#);
    assert!(round.requests[2].params.is_none());
    assert!(round.requests[0].raw.get().contains("1e999"));
}

/// R-MRTR-07: complete results are no round; a type that nobody declared is not taken for complete.
#[test]
fn complete_results_are_no_round_and_unknown_ones_are_refused() {
    for raw in ["{}", r#"{"resultType":"complete","inputRequests":{}}"#, r#"{"inputRequests":{},"requestState":"s"}"#] {
        assert!(InputRequired::parse(raw).unwrap().is_none(), "{raw}");
    }
    for raw in [r#"{"resultType":"task"}"#, r#"{"resultType":"inputRequired","requestState":"s"}"#] {
        assert_eq!(error(raw), WireError::UnknownResultType, "{raw}");
    }
}

/// R-SEC-04: more than a person can answer is refused as a whole.
#[test]
fn questions_of_a_round_are_bounded() {
    let with = |count: usize| {
        let questions: Vec<_> = (0..count).map(|key| format!(r#""k{key}":{{"method":"roots/list"}}"#)).collect();
        format!(r#"{{"resultType":"input_required","inputRequests":{{{}}}}}"#, questions.join(","))
    };
    assert_eq!(round(&with(MAX_QUESTIONS)).requests.len(), MAX_QUESTIONS);
    assert_eq!(error(&with(MAX_QUESTIONS + 1)), WireError::TooMany("inputRequests"));
}

/// R-MRTR-08: a round has questions, a state, or both; null counts as absent.
#[test]
fn a_round_has_questions_or_a_state() {
    let only_state = round(r#"{"resultType":"input_required","requestState":"s"}"#);
    assert!(only_state.requests.is_empty());
    assert_eq!(only_state.request_state.as_deref(), Some("s"));
    let raw = question(r#"{"method":"roots/list"}"#);
    assert!(round(&raw).request_state.is_none());
    let null_state = raw.replace("\"inputRequests\"", "\"requestState\":null,\"inputRequests\"");
    assert!(round(&null_state).request_state.is_none());
    for raw in [
        r#"{"resultType":"input_required"}"#,
        r#"{"resultType":"input_required","requestState":null,"inputRequests":null}"#,
    ] {
        assert_eq!(error(raw), WireError::NothingRequired, "{raw}");
    }
}

/// R-MRTR-08: keys are unique, also where they are escaped differently.
#[test]
fn a_key_that_comes_twice_is_refused() {
    for other in ["a", r"\u0061"] {
        let raw = format!(
            r#"{{"resultType":"input_required","inputRequests":{{"a":{{"method":"roots/list"}},"{other}":{{"method":"roots/list"}}}}}}"#
        );
        assert_eq!(error(&raw), WireError::DuplicateKey);
    }
}

/// R-MRTR-08, R-REQ-02: only the three questions of the protocol, each in its shape.
#[test]
fn what_is_no_question_is_refused() {
    let table = [
        (r#"{"method":"tools/call","params":{}}"#, WireError::UnknownQuestion),
        (r#"{"method":"ping"}"#, WireError::UnknownQuestion),
        (r#"{"method":"Roots/List"}"#, WireError::UnknownQuestion),
        (r#"{"params":{}}"#, WireError::Missing("method")),
        (r#"{"method":7}"#, WireError::WrongType("method")),
        (r#"{"method":"elicitation/create"}"#, WireError::Missing("params")),
        (r#"{"method":"elicitation/create","params":null}"#, WireError::Missing("params")),
        (r#"{"method":"elicitation/create","params":[]}"#, WireError::WrongType("params")),
        (r#"{"method":"elicitation/create","params":{"mode":"voice"}}"#, WireError::UnknownMode),
        (r#"{"method":"sampling/createMessage"}"#, WireError::Missing("params")),
        ("[]", WireError::NotObject),
        ("null", WireError::NotObject),
    ];
    for (text, expected) in table {
        assert_eq!(error(&question(text)), expected, "{text}");
    }
}

#[test]
fn fields_of_another_type_are_refused() {
    let table = [
        (r#""requestState":7"#, WireError::WrongType("requestState")),
        (r#""requestState":"\ud800""#, WireError::WrongType("requestState")),
        (r#""inputRequests":[]"#, WireError::WrongType("inputRequests")),
        (r#""inputRequests":{"\ud800":{"method":"roots/list"}}"#, WireError::KeyNotText),
    ];
    for (field, expected) in table {
        let raw = format!(r#"{{"resultType":"input_required",{field}}}"#);
        assert_eq!(error(&raw), expected, "{field}");
    }
    assert_eq!(error("[]"), WireError::NotObject);
    assert_eq!(error("{"), WireError::NotJson);
}

/// R-CAP-03, R-CAP-05, R-MRTR-08: each question needs its own capability.
#[test]
fn a_question_that_the_client_did_not_declare_is_found() {
    let form = r#"{"method":"elicitation/create","params":{"message":"m"}}"#;
    let url = r#"{"method":"elicitation/create","params":{"mode":"url"}}"#;
    let sampling = r#"{"method":"sampling/createMessage","params":{}}"#;
    let tools = r#"{"method":"sampling/createMessage","params":{"tools":[]}}"#;
    let choice = r#"{"method":"sampling/createMessage","params":{"toolChoice":{}}}"#;
    let roots = r#"{"method":"roots/list"}"#;
    // question, a declaration that covers it, one that does not, what is then required
    let table = [
        (form, r#"{"elicitation":{}}"#, r#"{"elicitation":{"url":{}}}"#, r#"{"elicitation":{"form":{}}}"#),
        (url, r#"{"elicitation":{"url":{}}}"#, r#"{"elicitation":{}}"#, r#"{"elicitation":{"url":{}}}"#),
        (sampling, r#"{"sampling":{}}"#, r#"{"elicitation":{}}"#, r#"{"sampling":{}}"#),
        (tools, r#"{"sampling":{"tools":{}}}"#, r#"{"sampling":{}}"#, r#"{"sampling":{"tools":{}}}"#),
        (choice, r#"{"sampling":{"tools":{}}}"#, r#"{"sampling":{}}"#, r#"{"sampling":{"tools":{}}}"#),
        (roots, r#"{"roots":{}}"#, "{}", r#"{"roots":{}}"#),
    ];
    for (text, declared, other, required) in table {
        let raw = question(text);
        let round = round(&raw);
        assert_eq!(round.undeclared(&caps(declared), Revision::V2026_07_28), None, "{text}");
        let missing = round.undeclared(&caps(other), Revision::V2026_07_28);
        assert_eq!(missing.unwrap().to_string(), required, "{text}");
    }
}

/// R-CAP-03, R-CAP-07: what a client declared counts by its revision.
#[test]
fn an_older_client_is_not_asked_by_url_whatever_it_says() {
    let raw = question(r#"{"method":"elicitation/create","params":{"mode":"url"}}"#);
    let caps = caps(r#"{"elicitation":{"form":{},"url":{}}}"#);
    assert!(round(&raw).undeclared(&caps, Revision::V2025_06_18).is_some());
    assert!(round(&raw).undeclared(&caps, Revision::V2025_11_25).is_none());
}

/// R-CAP-05: a client that adds what one error lists is not refused for the next.
#[test]
fn all_that_is_undeclared_is_named_at_once() {
    let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let missing = |declared: &str| round(ROUND).undeclared(&caps(declared), Revision::V2026_07_28);
    let all = r#"{"elicitation":{"url":{},"form":{}},"sampling":{},"roots":{}}"#;
    assert_eq!(missing("{}"), Some(json(all)));
    let some = r#"{"elicitation":{"url":{}},"roots":{}}"#;
    assert_eq!(missing(some), Some(json(r#"{"elicitation":{"form":{}},"sampling":{}}"#)));
    assert_eq!(missing(all), None);
    for order in [["tools", "x"], ["x", "tools"]] {
        let questions =
            order.map(|what| format!(r#""{what}":{{"method":"sampling/createMessage","params":{{"{what}":[]}}}}"#));
        let raw = format!(r#"{{"resultType":"input_required","inputRequests":{{{}}}}}"#, questions.join(","));
        let missing = round(&raw).undeclared(&caps("{}"), Revision::V2026_07_28);
        assert_eq!(missing, Some(json(r#"{"sampling":{"tools":{}}}"#)));
    }
}

#[test]
fn no_question_and_no_state_shows_in_debug() {
    let shown = format!("{:?}", round(ROUND));
    assert!(shown.contains("roots/list"), "{shown}");
    assert!(!shown.contains("a.example") && !shown.contains("a/é"), "{shown}");
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_without_a_panic(raw in any::<String>()) {
        let _ = InputRequired::parse(&raw);
        let _ = InputRequired::parse(&question(&raw));
    }
}
