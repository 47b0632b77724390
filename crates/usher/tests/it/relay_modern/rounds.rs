//! The upstream's own questions in rounds.

use usher_testkit::{
    client::Modern,
    upstream::{Question, Script, Upstream},
};

use crate::harness::{SECOND, Setup, Stage};

const SCHEMA: &str = r#"{"type":"object","properties":{"name":{"type":"string"}}}"#;
const NAMED: &str = r#"{"action":"accept","content":{"name":"octocat","n":9007199254740993}}"#;

fn asking() -> Script {
    Script::new()
        .ask(Question::form("who", "Name?", SCHEMA).and_url("pay", "Pay", "https://pay.example/1"))
        .ask(Question::nothing())
        .ask(Question::form("seat", "Seat?", SCHEMA).without_state())
        .result_with(|call| format!(r#"{{"content":[],"seat":{}}}"#, call.answer("seat").unwrap_or("null")))
}

/// R-GW-01, R-MRTR-01, R-MRTR-05: questions with state, state alone, and questions without state go through as they are.
#[tokio::test]
async fn rounds_of_the_upstream_pass() {
    let stage = Stage::free(Upstream::start().await).await;
    stage.upstream.tool("ask", asking()).prompt("ask", asking()).resource("ask:it", asking());
    let client = stage.modern();
    for (method, params) in [
        ("tools/call", r#"{"name":"ask","arguments":{"n":1e999}}"#),
        ("prompts/get", r#"{"name":"ask"}"#),
        ("resources/read", r#"{"uri":"ask:it"}"#),
    ] {
        let mut asked = Vec::new();
        let reply = client
            .call_answering(method, params, |reply| {
                asked.push(reply.input_requests().keys().cloned().collect::<Vec<_>>().join(" "));
                reply.answer_all(NAMED)
            })
            .await;
        assert_eq!(asked, ["who pay", "seat"], "{method}");
        assert_eq!(reply.response().at(&["result", "seat"]), Some(NAMED));
    }
    stage.upstream.assert_clean();
}

/// R-GW-02: a question is the upstream's: its members pass as they were written.
#[tokio::test]
async fn a_question_passes_byte_for_byte_around_its_state() {
    let stage = Stage::free(Upstream::start().await).await;
    let head = r#"{"x":1e999,"resultType":"input_required","inputRequests":{"b":{"params":{"message":"m","requestedSchema":{"z":9007199254740993,"type":"object","properties":{}},"mode":"form"},"method":"elicitation/create"}},"requestState":"#;
    let tail = r#","_meta":{ "y":-0.0 }}"#;
    stage.upstream.tool("ask", Script::new().result(format!("{head}\"theirs\"{tail}")));
    let reply = stage.modern().tool("ask", "{}").await;
    let raw = reply.result_raw();
    assert!(raw.starts_with(head) && raw.ends_with(tail), "{raw}");
    assert!(!raw.contains("theirs"));
}

/// R-MRTR-02: the state that a client holds is ours: sealed, and of no use anywhere else.
#[tokio::test]
async fn a_state_is_good_for_its_own_call_alone() {
    let setup = Setup { free: true, second: true, ..Setup::default() };
    let upstream = Upstream::start().await;
    let more = format!("[[upstream]]\nname = \"other\"\nurl = \"{}\"\n", upstream.url());
    let stage = Stage::with(Setup { more, ..setup }, upstream).await;
    let ask = || Script::new().ask(Question::form("who", "Name?", SCHEMA)).text("done");
    stage.upstream.tool("ask", ask()).tool("also", ask()).prompt("ask", ask());
    let client = stage.modern();
    let asked = client.tool("ask", r#"{"a":9007199254740993}"#).await;
    let state = asked.request_state().unwrap();
    let answers = asked.answer_all(NAMED);
    let params = r#"{"name":"ask","arguments":{"a":9007199254740993}}"#;
    let mut tampered = state.clone();
    let last = if tampered.pop() == Some('A') { 'B' } else { 'A' };
    tampered.push(last);
    let second = client.clone().token(SECOND);
    let elsewhere = Modern::new(format!("{}/mcp/other", stage.origin)).token(&stage.token).elicitation(&["form"]);
    let calls = stage.upstream.requests_of("tools/call").len();
    for (who, client, method, params, state) in [
        ("tampered", &client, "tools/call", params, tampered.as_str()),
        ("cut", &client, "tools/call", params, &state[..state.len() / 2]),
        ("empty", &client, "tools/call", params, ""),
        ("invented", &client, "tools/call", params, "theirs"),
        ("another client", &second, "tools/call", params, &state),
        ("another upstream", &elsewhere, "tools/call", params, &state),
        ("another method", &client, "prompts/get", r#"{"name":"ask"}"#, &state),
        ("another tool", &client, "tools/call", r#"{"name":"also","arguments":{"a":9007199254740993}}"#, &state),
        ("other arguments", &client, "tools/call", r#"{"name":"ask","arguments":{"a":9007199254740992}}"#, &state),
        ("no arguments", &client, "tools/call", r#"{"name":"ask"}"#, &state),
    ] {
        let reply = client.retry(method, params, Some(&answers), Some(state)).await;
        assert_eq!(reply.error_code(), -32602, "{who}: {}", reply.text());
        assert_eq!(reply.error_message(), elicit::STATE_REJECTED, "{who}");
    }
    assert_eq!(stage.upstream.requests_of("tools/call").len(), calls);
    stage.clock.forward(3600);
    let late = client.retry("tools/call", params, Some(&answers), Some(&state)).await;
    assert_eq!(late.error_code(), -32602, "{}", late.text());
    stage.clock.forward(-3600);
    let reply = client.retry("tools/call", params, Some(&answers), Some(&state)).await;
    assert_eq!(reply.content_text(), "done");
    stage.upstream.assert_clean();
}

/// R-MRTR-06: the state needs nothing of the process that made it.
#[tokio::test]
async fn a_state_outlives_a_restart() {
    let mut stage = Stage::free(Upstream::start().await).await;
    stage.upstream.tool("ask", Script::new().ask(Question::form("who", "Name?", SCHEMA)).text("done"));
    let asked = stage.modern().tool("ask", "{}").await;
    let state = asked.request_state().unwrap();
    stage.restart().await;
    let params = r#"{"name":"ask","arguments":{}}"#;
    let retry = stage.modern().request(
        "tools/call",
        &format!(
            r#"{{"name":"ask","arguments":{{}},"inputResponses":{},"requestState":{}}}"#,
            asked.answer_all(NAMED),
            usher_testkit::quote(&state)
        ),
    );
    assert_eq!(retry.id(Some("\"after\"")).send().await.content_text(), "done", "{params}");
    stage.upstream.assert_clean();
}

/// R-MRTR-04, R-MRTR-05: `null` is no state, and a retry without one is the upstream's to judge.
#[tokio::test]
async fn a_state_of_null_counts_as_absent() {
    let stage = Stage::free(Upstream::start().await).await;
    stage.upstream.tool("ask", Script::new().ask(Question::form("who", "Name?", SCHEMA).without_state()).text("done"));
    let params = format!(r#"{{"name":"ask","requestState":null,"inputResponses":{{"who":{NAMED}}}}}"#);
    let request = stage.modern().request("tools/call", &params);
    let body = request.to_body();
    assert_eq!(request.send().await.content_text(), "done");
    assert_eq!(stage.upstream.requests_of("tools/call")[0].body, body);
    let null = r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}},"requestState":null}"#;
    stage.upstream.tool("null", Script::new().result(null));
    let client = stage.modern().capabilities(r#"{"roots":{}}"#);
    assert_eq!(client.tool("null", "{}").await.result_raw(), null);
}

/// R-MRTR-01: nothing but calls, prompts and resources may ask.
#[tokio::test]
async fn a_question_where_none_is_allowed_is_stopped() {
    let stage = Stage::free(Upstream::start().await).await;
    let question = r#"{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"form","message":"m","requestedSchema":{}}}}}"#;
    let escaped = question.replace("input_required", "input\\u005frequired");
    let also =
        question.replace("resultType", "r\\u0065sultType").replace("input_required", "\\u0069nput_require\\u0064");
    for text in [question, &escaped, &also] {
        for method in ["tools/list", "server/discover", "completion/complete", "unknown/method"] {
            for script in [Script::new(), Script::new().sse()] {
                stage.upstream.method(method, script.result(text));
                let reply = stage.modern().call(method, "{}").await;
                assert_eq!(reply.error_code(), -32603, "{method}: {}", reply.text());
                assert!(!reply.text().contains("inputRequests"));
            }
        }
    }
}

/// R-CAP-03, R-CAP-05, R-MRTR-08: what the client did not declare on this very request does not reach it.
#[tokio::test]
async fn a_question_that_the_client_did_not_declare_is_stopped() {
    let stage = Stage::free(Upstream::start().await).await;
    let form = Question::form("a", "m", SCHEMA);
    let url = Question::url("a", "m", "https://hidden.example/");
    let sampling = Question::request("a", "sampling/createMessage", r#"{"messages":[],"maxTokens":1}"#);
    let roots = Question::request("a", "roots/list", "{}");
    let cases = [
        ("{}", &form, r#"{"elicitation":{"form":{}}}"#),
        (r#"{"elicitation":{"url":{}}}"#, &form, r#"{"elicitation":{"form":{}}}"#),
        (r#"{"elicitation":{}}"#, &url, r#"{"elicitation":{"url":{}}}"#),
        (r#"{"elicitation":{"form":{}}}"#, &url, r#"{"elicitation":{"url":{}}}"#),
        (r#"{"elicitation":true}"#, &form, r#"{"elicitation":{"form":{}}}"#),
        (r#"{"elicitation":{"form":{},"url":{}}}"#, &sampling, r#"{"sampling":{}}"#),
        (r#"{"elicitation":{"form":{},"url":{}}}"#, &roots, r#"{"roots":{}}"#),
    ];
    for (declared, question, required) in cases {
        for script in [Script::new(), Script::new().sse()] {
            let streamed = format!("{script:?}").contains("stream");
            stage.upstream.tool("ask", script.ask(question.clone()));
            let client = stage.modern().capabilities(declared);
            let reply = client.tool("ask", "{}").await;
            assert_eq!(reply.error_code(), -32021, "{declared}: {}", reply.text());
            assert_eq!(reply.status.as_u16(), if streamed { 200 } else { 400 });
            let expected: serde_json::Value = serde_json::from_str(required).unwrap();
            assert_eq!(reply.error()["data"]["requiredCapabilities"], expected);
            assert!(!reply.text().contains("hidden.example"));
        }
    }
}

/// R-FORM-02: a form that is none ends the call with its property; the gateway goes on.
#[tokio::test]
async fn a_form_that_is_none_ends_the_call() {
    let stage = Stage::free(Upstream::start().await).await;
    let schema = r#"{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}}}}"#;
    stage.upstream.tool("ask", Script::new().ask(Question::form("q", "m", schema)).text("done"));
    stage.upstream.tool("other", Script::new().text("done"));
    let client = stage.modern();
    let reply = client.tool("ask", "{}").await;
    assert_eq!(reply.error_code(), -32603);
    let text = reply.text();
    assert!(text.contains("asked a question that cannot be shown") && text.contains("/properties/a/items"), "{text}");
    assert_eq!(client.tool("other", "{}").await.content_text(), "done");
}

/// R-REQ-02, R-MRTR-08: what the protocol does not have is never passed on as if it were a form.
#[tokio::test]
async fn a_question_that_the_protocol_does_not_have_is_stopped() {
    let stage = Stage::free(Upstream::start().await).await;
    for request in [
        r#"{"a":{"method":"elicitation/create","params":{"mode":"popup","message":"m"}}}"#,
        r#"{"a":{"method":"elicitation/create","params":{"mode":7,"message":"m"}}}"#,
        r#"{"a":{"method":"tools/call","params":{}}}"#,
        r#"{"a":{"method":"elicitation/create","params":{"message":"m","requestedSchema":{}}},"\u0061":{"method":"roots/list"}}"#,
        r#"{"a":7}"#,
        "[]",
    ] {
        stage.upstream.tool(
            "ask",
            Script::new().result(format!(r#"{{"resultType":"input_required","inputRequests":{request}}}"#)),
        );
        let client = stage.modern().capabilities(r#"{"elicitation":{"form":{},"url":{}},"roots":{},"sampling":{}}"#);
        let reply = client.tool("ask", "{}").await;
        assert!([-32603, -32021].contains(&reply.error_code()), "{request}: {}", reply.text());
    }
    stage.upstream.tool("ask", Script::new().result(r#"{"resultType":"input_required"}"#));
    assert_eq!(stage.modern().tool("ask", "{}").await.error_code(), -32603);
}
