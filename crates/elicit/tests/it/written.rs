//! Everything that is written is what the official schema of its revision calls so.

use elicit::{
    Answer, ClientCapabilities, CompleteNotice, Content, ElicitRequest, Elicitation, ElicitationError, Form,
    FormElicitation, InputRequired, Mode, Modes, Outcome, RequestId, Revision, Round, Rounds, UrlElicitation,
    UrlElicitationRequired, complete_result, missing_capability, unsupported_version,
};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::official::{assert_is, definition};

const BOTH: Modes = Modes { form: true, url: true };
const SCHEMA: &str = r#"{"type":"object","$schema":"https://json-schema.org/draft/2020-12/schema","properties":{
    "name":{"type":"string","minLength":1,"maxLength":80,"x-hint":[1.0]},
    "seats":{"type":"integer","minimum":1,"maximum":12,"default":2},
    "place":{"type":"string","oneOf":[{"const":"in","title":"Inside"},{"const":"out","title":"Outside"}]},
    "news":{"type":"boolean","default":false}},"required":["name","seats"]}"#;

fn client() -> ClientCapabilities {
    ClientCapabilities::parse(r#"{"elicitation":{"form":{},"url":{}}}"#).unwrap()
}

fn form() -> Elicitation {
    FormElicitation::new("Who is the table for?", Form::parse(SCHEMA).unwrap()).unwrap().into()
}

fn url() -> UrlElicitation {
    UrlElicitation::new("Pay the deposit.", "https://pay.example.com/1").unwrap().with_id("5Q0Z").unwrap()
}

/// R-REQ-01, R-CAP-07, R-FORM-11: requests of the legacy era; titled choices go to 2025-06-18 as `enumNames`.
#[test]
fn requests_are_elicit_requests() {
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
        let request = form().request(&RequestId::from("q-1"), &client(), revision).unwrap();
        assert_is(&request, revision, "ElicitRequest");
        assert_is(&request, revision, "JSONRPCRequest");
        let value: Value = serde_json::from_str(&request).unwrap();
        assert_eq!(value["params"].get("mode").is_some(), revision.has_url_mode());
        let place = &value["params"]["requestedSchema"]["properties"]["place"];
        assert_eq!(place.get("enumNames").is_some(), !revision.has_url_mode());
        assert!(request.contains(r#""x-hint":[1.0]"#), "{request}");
    }
    let request = Elicitation::from(url()).request(&RequestId::from(7), &client(), Revision::V2025_11_25).unwrap();
    assert_is(&request, Revision::V2025_11_25, "ElicitRequest");
}

/// A round of a form and a page, with state.
fn two_questions(client: &ClientCapabilities) -> Box<RawValue> {
    let mut round = Round::new("tools/call", client, Revision::V2026_07_28).unwrap();
    round.ask("guest", form()).unwrap();
    round.ask("pay", url()).unwrap();
    round.with_state("sealed").result().unwrap()
}

/// R-ERR-03: the modern era has questions, and no requests.
#[test]
fn modern_questions_are_elicit_requests_inside_a_round() {
    let revision = Revision::V2026_07_28;
    let client = client();
    let result = two_questions(&client);
    assert_is(result.get(), revision, "InputRequiredResult");
    let value: Value = serde_json::from_str(result.get()).unwrap();
    for key in ["guest", "pay"] {
        assert_is(&value["inputRequests"][key].to_string(), revision, "ElicitRequest");
    }
    assert!(value["inputRequests"]["pay"]["params"].get("elicitationId").is_none());
    let bare = Round::new("tools/call", &client, revision).unwrap().with_state("sealed").result().unwrap();
    assert_is(bare.get(), revision, "InputRequiredResult");
    assert!(form().request(&RequestId::from(1), &client, revision).is_err());
    assert_is(&complete_result(r#"{"content":[]}"#).unwrap(), revision, "CallToolResult");
}

/// R-MRTR-05: the retry.
#[test]
fn retries_are_requests_with_answers() {
    let revision = Revision::V2026_07_28;
    let client = client();
    let result = two_questions(&client);
    let first = json!({"_meta":{
        "io.modelcontextprotocol/protocolVersion": revision.as_str(),
        "io.modelcontextprotocol/clientInfo": { "name": "host", "version": "1" },
    }, "name": "book", "arguments": {} });
    let first = client.in_params(&first.to_string(), revision).unwrap();
    let first = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{first}}}"#);
    let mut rounds = Rounds::new(&first).unwrap();
    let mut retry = rounds.retry(&InputRequired::parse(result.get()).unwrap().unwrap()).unwrap();
    retry.answer("guest", &Outcome::Form(Answer::Accept(Content::new().with("name", "Ada").with("seats", 2)))).unwrap();
    retry.answer("pay", &Outcome::Url(Answer::Accept(()))).unwrap();
    let request = retry.request(&RequestId::from(2)).unwrap();
    assert_is(&request, revision, "CallToolRequest");
    let request: Value = serde_json::from_str(&request).unwrap();
    let params = request["params"].to_string();
    assert_is(&params, revision, "InputResponseRequestParams");
    assert_is(&params, revision, "CallToolRequestParams");
}

/// R-ACT-01, R-ACT-02, R-URL-10
#[test]
fn answers_are_elicit_results() {
    let content = Content::new().with("name", "Ada").with("seats", 2).with("news", true);
    for revision in Revision::SUPPORTED {
        for answer in [Answer::Accept(content.clone()), Answer::Decline, Answer::Cancel] {
            assert_is(&answer.to_json(), *revision, "ElicitResult");
            assert_is(&Outcome::Form(answer.clone()).to_json(), *revision, "ElicitResult");
            assert_is(&Outcome::Url(answer.consent()).to_json(), *revision, "ElicitResult");
        }
        if revision.has_url_mode() {
            let list = Answer::Accept(Content::new().with("colours", ["red", "blue"]));
            assert_is(&list.to_json(), *revision, "ElicitResult");
        }
    }
}

/// R-FORM-11: a `number` takes 0.5, which the generated schemas, that know integers only in `content`, do not have. The
/// text of every revision says that the content matches the requested schema, and this has `number` beside `integer` for
/// nothing else: so decimals are right, and are sent.
#[test]
fn decimals_are_answers_though_the_generated_schema_lacks_them() {
    let schema = r#"{"type":"object","properties":{"tip":{"type":"number"}},"required":["tip"]}"#;
    let form = Form::parse(schema).unwrap();
    for (text, whole) in [("0.5", false), ("2", true), ("2.0", true)] {
        let answer = Answer::parse(&format!(r#"{{"action":"accept","content":{{"tip":{text}}}}}"#)).unwrap();
        let sent = form.check(&answer).unwrap().to_json();
        assert!(sent.contains(text), "{sent}");
        let value: Value = serde_json::from_str(&sent).unwrap();
        let requested: Value = serde_json::from_str(schema).unwrap();
        assert!(jsonschema::validator_for(&requested).unwrap().is_valid(&value["content"]), "matches what was asked");
        for revision in Revision::SUPPORTED {
            assert_eq!(definition(*revision, "ElicitResult").is_valid(&value), whole, "{revision}: {text}");
        }
    }
}

/// R-ERR-01, R-DONE-01, R-CAP-05
#[test]
fn errors_and_notices_are_what_the_schema_calls_so() {
    let legacy = Revision::V2025_11_25;
    let required = UrlElicitationRequired::new("Pay first.", vec![url()]).unwrap();
    let error = required.error_for(&client(), legacy).unwrap();
    let response = |error: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#);
    assert_is(&response(error.get()), legacy, "URLElicitationRequiredError");
    assert_is(&CompleteNotice::new("5Q0Z").to_json(), legacy, "ElicitationCompleteNotification");

    let modern = Revision::V2026_07_28;
    for mode in [Mode::Form, Mode::Url] {
        let error = missing_capability("m", mode.required_capabilities()).to_string();
        assert_is(&response(&error), modern, "MissingRequiredClientCapabilityError");
    }
    assert_is(&response(&unsupported_version("1900-01-01").to_string()), modern, "UnsupportedProtocolVersionError");
}

/// R-CAP-04, R-ACT-02
#[test]
fn responses_of_a_host_are_responses() {
    let revision = Revision::V2025_11_25;
    let text = form().request(&RequestId::from("q-1"), &client(), revision).unwrap();
    let request = ElicitRequest::parse(&text).unwrap().unwrap();
    let refused = request.refusal(&ElicitationError::Undeclared(Mode::Form));
    assert_is(&refused, revision, "JSONRPCErrorResponse");
    let answered = request.response(&Outcome::Url(Answer::Decline));
    assert_is(&answered, revision, "JSONRPCResultResponse");
}

/// R-CAP-01: in `initialize`, or in the `_meta` of each request.
#[test]
fn declarations_are_client_capabilities() {
    for revision in Revision::SUPPORTED {
        for modes in [Modes { form: true, url: false }, Modes { form: false, url: true }, BOTH, Modes::NONE] {
            let declared = ClientCapabilities::none().with_modes(modes, *revision);
            assert_is(declared.as_str(), *revision, "ClientCapabilities");
        }
    }
    let declared = ClientCapabilities::none().with_modes(BOTH, Revision::V2025_11_25);
    let params = json!({ "protocolVersion": "2025-11-25", "clientInfo": { "name": "host", "version": "1" } });
    let params = declared.in_params(&params.to_string(), Revision::V2025_11_25).unwrap();
    let request = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{params}}}"#);
    assert_is(&request, Revision::V2025_11_25, "InitializeRequest");
}
