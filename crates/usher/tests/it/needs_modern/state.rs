//! The state that a round carries: bound to the caller and the call, and of no use to anybody else.

use elicit::STATE_REJECTED;
use usher_store::AuditAction;
use usher_testkit::{
    client::{Modern, Reply},
    upstream::Upstream,
};

use crate::{
    harness::{ACCEPT, CALLS, KEY, SECOND, Setup, Stage, answered},
    needs_modern::{ask, retry},
};

/// R-MRTR-02: one fixed text, whatever the cause.
fn assert_refused(reply: &Reply, what: &str) {
    assert_eq!(reply.status, 400, "{what}: {}", reply.text());
    assert_eq!(reply.error_code(), -32602, "{what}");
    assert_eq!(reply.error_message(), STATE_REJECTED, "{what}");
    assert_eq!(reply.error()["data"], serde_json::Value::Null, "{what}");
}

/// The stage with a second client and a second server behind the same upstream.
async fn stage() -> Stage {
    let upstream = Upstream::start().await;
    let mut setup = Setup { second: true, ..Setup::default() };
    setup.more = format!(
        "[[upstream]]\nname = \"other\"\nurl = \"{}\"\n[[upstream.needs]]\nprovider = \"weather\"\nheader = {{ X-Api-Key = \"{{api_key}}\" }}\n",
        upstream.url()
    );
    Stage::with(setup, upstream).await
}

fn altered(state: &str, at: usize) -> String {
    let mut bytes = state.as_bytes().to_vec();
    bytes[at] = if bytes[at] == b'A' { b'B' } else { b'A' };
    String::from_utf8(bytes).unwrap()
}

/// R-MRTR-02, R-SEC-03: a state that was changed in any place is refused and audited, and nothing goes upstream.
#[tokio::test]
async fn a_tampered_state_is_refused() {
    for call in CALLS {
        let stage = Stage::new().await;
        let client = stage.modern();
        let asked = ask(&client, call).await;
        stage.person().await.connect(&asked.url(), &[("api_key", KEY)]).await;
        let state = asked.request_state().unwrap();
        let responses = asked.answer_all(ACCEPT);
        let mut wrong: Vec<String> = (0..state.len()).step_by(state.len() / 9).map(|at| altered(&state, at)).collect();
        wrong.extend([
            String::new(),
            "state".to_owned(),
            state[1..].to_owned(),
            state[..state.len() - 2].to_owned(),
            format!("{state}AAAA"),
            format!("{state}="),
            format!(" {state}"),
            "A".repeat(70_000),
        ]);
        for state in wrong {
            let reply = client.retry(call.0, call.1, Some(&responses), Some(&state)).await;
            assert_refused(&reply, &state[..state.len().min(80)]);
        }
        for raw in ["7", "{}", "[]", "true"] {
            let params = call.1.replacen('{', &format!("{{\"requestState\":{raw},"), 1);
            assert_refused(&client.call(call.0, &params).await, raw);
        }
        assert!(stage.upstream.requests_of(call.0).is_empty());
        let refused = stage.audited(AuditAction::StateRefused).await;
        assert_eq!(refused, 1, "audited, and once a minute is enough");
        let reply = client.retry(call.0, call.1, Some(&responses), Some(&state)).await;
        assert!(answered(&reply), "the state itself is still good: {}", reply.text());
        stage.upstream.assert_clean();
    }
}

/// R-MRTR-02: `null` counts as no state at all.
#[tokio::test]
async fn a_null_state_is_none() {
    let stage = Stage::new().await;
    let params = CALLS[0].1.replacen('{', "{\"requestState\":null,", 1);
    assert!(stage.modern().call(CALLS[0].0, &params).await.is_input_required());
}

/// R-MRTR-02, R-ID-01: a state is good for the client that got it, at that server, for that very call.
#[tokio::test]
async fn a_state_is_good_for_one_client_one_server_and_one_call() {
    let stage = stage().await;
    stage.upstream.tool("get_history", usher_testkit::upstream::Script::new().text("rain"));
    let client = stage.modern();
    let other = Modern::new(format!("{}/mcp/other", stage.origin)).token(&stage.token).elicitation(&["form", "url"]);
    let (tool, prompt, resource) = (CALLS[0], CALLS[1], CALLS[2]);
    for call in CALLS {
        let asked = ask(&client, call).await;
        let foreign = retry(&stage.modern().token(SECOND), call, &asked, ACCEPT).await;
        assert_refused(&foreign, "another client");
        assert_refused(&retry(&other, call, &asked, ACCEPT).await, "another server");
    }
    let asked = ask(&client, tool).await;
    for (what, call) in [
        ("another tool", (tool.0, r#"{"name":"get_history","arguments":{"city":"Berlin"}}"#)),
        ("other arguments", (tool.0, r#"{"name":"get_forecast","arguments":{"city":"Bern"}}"#)),
        ("more arguments", (tool.0, r#"{"name":"get_forecast","arguments":{"city":"Berlin","days":1}}"#)),
        ("no arguments", (tool.0, r#"{"name":"get_forecast"}"#)),
        ("another method", prompt),
        ("a prompt of that name", ("prompts/get", r#"{"name":"get_forecast","arguments":{"city":"Berlin"}}"#)),
        ("a resource", resource),
    ] {
        assert_refused(&retry(&client, call, &asked, ACCEPT).await, what);
    }
    let asked = ask(&client, prompt).await;
    for params in [r#"{"name":"other"}"#, r#"{"name":"plan","arguments":{"a":"b"}}"#] {
        assert_refused(&retry(&client, (prompt.0, params), &asked, ACCEPT).await, params);
    }
    let asked = ask(&client, resource).await;
    assert_refused(&retry(&client, (resource.0, r#"{"uri":"weather://bern"}"#), &asked, ACCEPT).await, "another URI");
    for (method, _) in CALLS {
        assert!(stage.upstream.requests_of(method).is_empty());
    }
}

/// R-MRTR-02: numbers are compared by their exact text, so two that a double cannot tell apart are two.
#[tokio::test]
async fn numbers_that_differ_only_beyond_a_double_are_another_call() {
    let stage = Stage::new().await;
    let client = stage.modern();
    let params = |number: &str| format!(r#"{{"name":"get_forecast","arguments":{{"id":{number}}}}}"#);
    let first = params("9007199254740993");
    let asked = ask(&client, ("tools/call", &first)).await;
    assert_refused(&retry(&client, ("tools/call", &params("9007199254740992")), &asked, ACCEPT).await, "…992");
}

/// R-MRTR-02: a state expires, but not before the question that it carries.
#[tokio::test]
async fn an_old_state_is_refused() {
    for call in CALLS {
        let stage = Stage::new().await;
        let client = stage.modern();
        let asked = ask(&client, call).await;
        stage.clock.forward(15 * 60 - 5);
        stage.person().await.connect(&asked.url(), &[("api_key", KEY)]).await;
        stage.clock.forward(10);
        let late = retry(&client, call, &asked, ACCEPT).await;
        assert!(answered(&late), "whoever finishes in the last second still gets an answer: {}", late.text());
        stage.clock.forward(3 * 3600);
        assert_refused(&retry(&client, call, &asked, ACCEPT).await, "expired");
        assert_eq!(stage.upstream.requests_of(call.0).len(), 1);
    }
}

/// R-GW-02, R-FORM-11: what the client sends goes upstream as it was, through a round of ours: numbers, key order, escapes.
#[tokio::test]
async fn the_call_goes_upstream_as_the_client_wrote_it() {
    let stage = Stage::new().await;
    let client = stage.modern();
    let arguments = r#"{"z":1e999,"a":9007199254740993,"m":{"y":1.0,"b":[-0,2E+3]},"\u0061b":"\u00e9\/"}"#;
    let params = format!(r#"{{"zeta":[1.50],"arguments":{arguments},"name":"get_forecast","alpha":{{"k":null}}}}"#);
    let asked = ask(&client, ("tools/call", &params)).await;
    stage.person().await.connect(&asked.url(), &[("api_key", KEY)]).await;
    assert!(answered(&retry(&client, ("tools/call", &params), &asked, ACCEPT).await));
    let sent = &stage.upstream.requests_of("tools/call")[0];
    assert_eq!(sent.raw(&["params", "arguments"]), Some(arguments));
    assert_eq!(sent.raw(&["params", "zeta"]), Some("[1.50]"));
    assert_eq!(sent.raw(&["params", "alpha"]), Some(r#"{"k":null}"#));
    // The client's own metadata stands in front of it.
    let place = |key: &str| sent.text().rfind(&format!("\"{key}\":")).unwrap();
    assert!(place("zeta") < place("arguments") && place("arguments") < place("name") && place("name") < place("alpha"));
    stage.upstream.assert_clean();
}

/// R-MRTR-02, R-OAUTH-01: nobody can read the state: it names neither interaction nor provider.
#[tokio::test]
async fn a_state_cannot_be_read() {
    use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
    let stage = Stage::new().await;
    let asked = ask(&stage.modern(), CALLS[0]).await;
    let state = asked.request_state().unwrap();
    let bytes = URL_SAFE_NO_PAD.decode(&state).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let id = asked.url().rsplit('/').next().unwrap().to_owned();
    for word in ["weather", "usher_connect", "tools/call", "owner", "Berlin", id.as_str()] {
        assert!(!text.contains(word) && !state.contains(word), "{word}");
    }
    let other = ask(&stage.modern(), CALLS[0]).await.request_state().unwrap();
    assert_ne!(state, other, "no two states are alike");
}
