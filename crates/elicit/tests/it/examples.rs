//! Every JSON example of the specification's texts on elicitation and on rounds, without their comments: read as what it
//! is, and written back equal.

use std::collections::BTreeMap;

use elicit::{
    Answer, ClientCapabilities, CompleteNotice, ElicitRequest, ElicitResponse, Elicitation, Form, InputRequired,
    InputResponses, Modes, Outcome, RequestId, Revision, Rounds, UrlElicitation, UrlElicitationRequired,
};
use serde_json::{Value, json};

const BOTH: Modes = Modes { form: true, url: true };

fn client() -> ClientCapabilities {
    ClientCapabilities::parse(r#"{"elicitation":{"form":{},"url":{}}}"#).unwrap()
}

/// How many examples of each kind a text has.
type Kinds = BTreeMap<&'static str, usize>;

fn read_all(revision: Revision, text: &str) -> Kinds {
    let examples: Vec<Value> = serde_json::from_str(text).unwrap();
    let mut kinds = Kinds::new();
    for example in examples {
        *kinds.entry(read(revision, &example)).or_default() += 1;
    }
    kinds
}

/// Reads one example, by what stands in it; says what it was.
fn read(revision: Revision, example: &Value) -> &'static str {
    let text = example.to_string();
    let has = |pointer: &str| example.pointer(pointer).is_some();
    if has("/capabilities") || has("/_meta") {
        capabilities(revision, example);
        "capabilities"
    } else if has("/result/inputRequests") {
        round(&example["result"]);
        "round"
    } else if has("/result/action") {
        let response = ElicitResponse::parse(&text).unwrap().unwrap();
        assert_eq!(response.id.to_json(), example["id"].to_string());
        answer(&response.answer.unwrap(), &example["result"]);
        "response"
    } else if has("/action") {
        answer(&Answer::parse(&text).unwrap(), example);
        "answer"
    } else if has("/error") {
        let error = example["error"].to_string();
        let required = UrlElicitationRequired::parse(&error).unwrap().unwrap();
        let anew = required.elicitations().iter().map(rebuilt).collect();
        let anew = UrlElicitationRequired::new(required.message(), anew).unwrap();
        for required in [required, anew] {
            equal(required.error_for(&client(), revision).unwrap().get(), &example["error"]);
        }
        "required"
    } else if has("/params/elicitationId") && !has("/id") {
        equal(&CompleteNotice::parse(&text).unwrap().unwrap().to_json(), example);
        "notice"
    } else if has("/method") && has("/id") {
        let request = ElicitRequest::parse(&text).unwrap().unwrap();
        let elicitation = request.elicitation(revision, BOTH).unwrap();
        for elicitation in [anew(&elicitation), elicitation] {
            equal(&elicitation.request(&request.id, &client(), revision).unwrap(), example);
        }
        "request"
    } else if has("/method") {
        question(revision, &example["params"]);
        "question"
    } else if has("/requestedSchema") {
        form(&example["requestedSchema"]);
        "schema"
    } else if example["type"].is_string() {
        form(&json!({ "type": "object", "properties": { "field": example } }));
        "field"
    } else {
        map(example)
    }
}

/// A map of questions, or of answers.
fn map(example: &Value) -> &'static str {
    if example.as_object().unwrap().values().all(|entry| entry.get("method").is_some()) {
        round(&json!({ "resultType": "input_required", "inputRequests": example }));
        return "questions";
    }
    let text = example.to_string();
    let responses = InputResponses::parse(&text).unwrap();
    assert!(responses.answer("github_login").is_some());
    equal(&responses.without::<&str>(&[]), example);
    "answers"
}

fn equal(written: &str, example: &Value) {
    assert_eq!(&serde_json::from_str::<Value>(written).unwrap(), example);
}

/// The same question, built here.
fn anew(elicitation: &Elicitation) -> Elicitation {
    match elicitation {
        Elicitation::Form(form) => elicit::FormElicitation::new(form.message(), form.form().clone()).unwrap().into(),
        Elicitation::Url(url) => rebuilt(url).into(),
    }
}

fn rebuilt(url: &UrlElicitation) -> UrlElicitation {
    // One example abbreviates its URL by three dots, which are no fault of a URL.
    let anew = UrlElicitation::new(url.message(), url.url()).unwrap();
    match url.id() {
        Some(id) => anew.with_id(id).unwrap(),
        None => anew,
    }
}

fn capabilities(revision: Revision, example: &Value) {
    let (params, raw) = match example.get("_meta") {
        Some(meta) => (json!({}), &meta[elicit::CLIENT_CAPABILITIES]),
        None => (json!({}), &example["capabilities"]),
    };
    let read = ClientCapabilities::parse(&raw.to_string()).unwrap();
    assert!(read.modes(revision).form);
    equal(&read.in_params(&params.to_string(), revision).unwrap(), example);
    let declared = ClientCapabilities::none().with_modes(read.modes(revision), revision);
    assert_eq!(declared.modes(revision), read.modes(revision));
}

fn question(revision: Revision, params: &Value) {
    let elicitation = Elicitation::parse(&params.to_string(), revision).unwrap();
    for elicitation in [anew(&elicitation), elicitation] {
        equal(elicitation.params_for(&client(), revision).unwrap().get(), params);
    }
}

fn answer(answer: &Answer, example: &Value) {
    let has_content = example.get("content").is_some();
    let written = if has_content { answer.to_json() } else { answer.consent().to_json() };
    equal(&written, example);
}

fn form(schema: &Value) {
    let form = Form::parse(&schema.to_string()).unwrap();
    equal(form.as_str(), schema);
}

fn round(result: &Value) {
    let text = result.to_string();
    let required = InputRequired::parse(&text).unwrap().unwrap();
    assert_eq!(required.request_state.as_deref(), result["requestState"].as_str());
    let keys: Vec<&str> = required.requests.iter().map(|request| &*request.key).collect();
    assert_eq!(keys, ["github_login", "capital_of_france"]);
    let login = required.requests[0].elicitation(Revision::V2026_07_28, BOTH).unwrap().unwrap();
    equal(login.params(Revision::V2026_07_28).unwrap().get(), &result["inputRequests"]["github_login"]["params"]);
    assert!(required.requests[1].elicitation(Revision::V2026_07_28, BOTH).unwrap().is_none());

    let request = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#;
    let mut rounds = Rounds::new(request).unwrap();
    let mut retry = rounds.retry(&required).unwrap();
    retry.answer("github_login", &Outcome::Form(Answer::Decline)).unwrap();
    retry.result("capital_of_france", r#"{"role":"assistant"}"#).unwrap();
    let written: Value = serde_json::from_str(&retry.request(&RequestId::from(2)).unwrap()).unwrap();
    assert_eq!(written["params"].get("requestState"), result.get("requestState"));
}

/// R-CAP-01, R-CAP-07, R-FORM-01, R-ACT-01
#[test]
fn the_examples_of_2025_06_18() {
    let kinds = read_all(Revision::V2025_06_18, include_str!("../spec/examples/2025-06-18.json"));
    let expected = [("capabilities", 1), ("field", 4), ("request", 2), ("response", 5), ("schema", 1)];
    assert_eq!(kinds, expected.into());
}

/// R-CAP-01, R-REQ-01, R-FORM-01, R-URL-01, R-URL-10, R-DONE-01, R-ERR-01, R-ACT-01
#[test]
fn the_examples_of_2025_11_25() {
    let kinds = read_all(Revision::V2025_11_25, include_str!("../spec/examples/2025-11-25.json"));
    let expected = [("capabilities", 2), ("field", 7), ("notice", 1), ("request", 4), ("required", 2), ("response", 4)];
    assert_eq!(kinds, expected.into());
}

/// R-CAP-01, R-REQ-01, R-FORM-01, R-URL-01, R-ACT-01, R-MRTR-01, R-MRTR-04, R-MRTR-05, R-MRTR-07, R-MRTR-08
#[test]
fn the_examples_of_2026_07_28() {
    let kinds = read_all(Revision::V2026_07_28, include_str!("../spec/examples/2026-07-28.json"));
    let expected = [
        ("answer", 4),
        ("answers", 1),
        ("capabilities", 2),
        ("field", 7),
        ("question", 3),
        ("questions", 1),
        ("round", 1),
    ];
    assert_eq!(kinds, expected.into());
}
