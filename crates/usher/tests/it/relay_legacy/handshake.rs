//! `initialize`: the session that wraps another.

use usher_testkit::{
    client::Legacy,
    sse::event,
    upstream::{Eras, Gate, Question, Script, Upstream},
};

use crate::{harness::Stage, relay_modern::odd};

/// R-GW-02, R-ID-01: the answer passes as it came; the session id is ours, and the upstream's own is used upstream.
#[tokio::test]
async fn the_answer_to_initialize_passes_and_the_session_is_ours() {
    let stage = Stage::free(Upstream::start().await).await;
    let result =
        odd(r#","protocolVersion":"2025-11-25","capabilities":{"x":1e999},"serverInfo":{"name":"a","version":"1"}"#);
    stage.upstream.method("initialize", Script::new().result(&*result));
    let client = stage.legacy();
    let reply = client.initialize().await;
    assert_eq!(reply.text(), format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#));
    let theirs = stage.upstream.sessions()[0].id.clone();
    let ours = client.session().unwrap();
    assert_eq!(ours.len(), 43, "256 bits: {ours}");
    assert!(!reply.text().contains(&theirs) && ours != theirs);
    stage.upstream.forbid(&ours);
    assert_eq!(client.call("tools/list", "{}").await.status, 200);
    for request in &stage.upstream.requests()[1..] {
        assert_eq!(request.header("mcp-session-id"), Some(theirs.as_str()));
        assert_eq!(request.header("mcp-protocol-version"), Some("2025-11-25"));
    }
    assert!(stage.upstream.sessions()[0].initialized);
    stage.upstream.assert_clean();
}

/// R-GW-02: the same for an answer in events.
#[tokio::test]
async fn an_answer_in_events_passes_as_it_came() {
    let stage = Stage::free(Upstream::start().await).await;
    let result = r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"a","version":"1"}}"#;
    let before = ": hello\n\nid: 1\nretry: 7\ndata:\n\n";
    stage.upstream.method("initialize", Script::new().event(before).result(result).in_pieces_of(5));
    let client = stage.legacy();
    let reply = client.initialize().await;
    let response = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
    assert_eq!(reply.text(), format!("{before}{}", event(&response)));
    assert!(reply.sse && client.session().is_some());
    assert_eq!(client.call("tools/list", "{}").await.status, 200);
}

/// R-CAP-03: a question before the answer to `initialize` does not reach the client, whatever it declared.
#[tokio::test]
async fn nobody_is_asked_before_the_session_stands() {
    let stage = Stage::free(Upstream::start().await).await;
    let result = r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"a","version":"1"}}"#;
    let question =
        r#"{"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{"message":"Who?","requestedSchema":{}}}"#;
    let log = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hello"}}"#;
    stage.upstream.method("initialize", Script::new().message(question).message(log).result(result));
    let reply = stage.legacy().initialize().await;
    assert!(!reply.text().contains("elicitation"), "{}", reply.text());
    assert!(reply.text().contains("notifications/message"));
    assert_eq!(reply.result_raw(), result);
}

/// R-SEC-04: some servers leave the stream open behind the answer; the client does not wait for its end.
#[tokio::test]
async fn an_answer_in_a_stream_that_stays_open_is_an_answer() {
    let stage = Stage::free(Upstream::start().await).await;
    let gate = Gate::new();
    let result = r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"a","version":"1"}}"#;
    let response = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
    stage.upstream.method("initialize", Script::new().message(&response).wait(&gate));
    let client = stage.legacy();
    assert_eq!(client.initialize().await.result_raw(), result);
    assert_eq!(client.call("tools/list", "{}").await.status, 200);
}

/// R-CAP-06: the upstream hears of the client exactly what the client said.
#[tokio::test]
async fn the_clients_capabilities_reach_the_upstream_unchanged() {
    let stage = Stage::free(Upstream::start().await).await;
    for capabilities in [
        "{}",
        r#"{"elicitation":{}}"#,
        r#"{"elicitation":true}"#,
        r#"{"elicitation":{"url":{}}}"#,
        r#"{ "z":9007199254740993,"elicitation":{"form":{"x":1e999},"voice":{}},"roots":{"listChanged":true},"sampling":{"tools":{}} }"#,
    ] {
        let client = Legacy::new(stage.endpoint()).token(&stage.token).capabilities(capabilities);
        assert_eq!(client.initialize().await.status, 200, "{capabilities}");
        assert_eq!(stage.upstream.sessions().last().unwrap().capabilities(), capabilities);
        assert_eq!(stage.upstream.sessions().last().unwrap().initialize, client.initialize_params());
    }
    stage.upstream.assert_clean();
}

/// R-GW-02: an upstream that refuses says so itself, in JSON and in events, and no session is made.
#[tokio::test]
async fn a_refused_initialize_passes_and_makes_no_session() {
    let stage = Stage::free(Upstream::start().await).await;
    let error =
        r#"{"code":-32602,"message":"Unsupported protocol version","data":{"supported":["2024-11-05"],"n":1e999}}"#;
    for script in [Script::new(), Script::new().sse()] {
        stage.upstream.method("initialize", script.error_raw(error));
        let client = stage.legacy();
        let reply = client.initialize().await;
        assert_eq!(reply.response().error(), Some(error), "{}", reply.text());
        assert_eq!(reply.header("mcp-session-id"), None);
    }
    let modern = Stage::free(Upstream::builder().eras(Eras::Modern).start().await).await;
    let reply = modern.legacy().initialize().await;
    assert_eq!((reply.status.as_u16(), reply.error_code()), (400, -32022), "{}", reply.text());
    assert_eq!(reply.error()["data"]["supported"][0], "2026-07-28");
    assert_eq!(reply.header("mcp-session-id"), None);
}

/// R-SEC-04: what is no answer becomes an error that names the upstream.
#[tokio::test]
async fn an_initialize_without_a_usable_answer_ends_in_an_error() {
    let stage = Stage::free(Upstream::start().await).await;
    for script in [
        Script::new().garbage(),
        Script::new().body(200, "text/html", "<h1>hello</h1>"),
        Script::new().body(500, "text/plain", "oops"),
        Script::new().drop_connection(),
        Script::new().event(": nothing\n\n").body(200, "", ""),
        Script::new().body(200, "application/json", "[]"),
    ] {
        stage.upstream.method("initialize", script);
        let reply = stage.legacy().initialize().await;
        assert_eq!(reply.error_code(), -32603, "{}", reply.text());
        assert!(reply.error_message().contains("weather"), "{}", reply.text());
        assert_eq!(reply.header("mcp-session-id"), None);
    }
    let bad = stage.legacy().capabilities("7").initialize().await;
    assert_eq!(bad.error_code(), -32602, "{}", bad.text());
}

/// R-CAP-07: the revision that the upstream chose is the one that counts: 2025-06-18 has no url mode.
#[tokio::test]
async fn the_negotiated_revision_decides_what_may_be_asked() {
    let stage = Stage::free(Upstream::builder().legacy_versions(&["2025-06-18"]).start().await).await;
    let form = Question::form("a", "m", r#"{"type":"object","properties":{}}"#);
    let url = Question::url("a", "m", "https://hidden.example/");
    stage.upstream.tool("form", Script::new().ask(form)).tool("url", Script::new().ask(url));
    let client = stage.ready().await;
    let answered =
        client.call_answering("tools/call", r#"{"name":"form"}"#, |_| Some(r#"{"action":"cancel"}"#.into())).await;
    assert!(answered.result().is_some(), "{}", answered.text);
    let reply = client.tool("url", "{}").await;
    assert!(!reply.text().contains("hidden.example"), "{}", reply.text());
    let refused = stage.upstream.requests_of("response").pop().unwrap();
    assert_eq!(refused.raw(&["error", "code"]), Some("-32602"));
    stage.upstream.assert_clean();
}

/// The design, section 4: older revisions pass without elicitation, with or without the header that they do not have.
#[tokio::test]
async fn older_revisions_pass_without_elicitation() {
    for revision in ["2025-03-26", "2024-11-05"] {
        let stage = Stage::free(Upstream::builder().legacy_versions(&[revision]).start().await).await;
        let form = Question::form("a", "m", r#"{"type":"object","properties":{}}"#);
        stage.upstream.tool("ask", Script::new().ask(form)).tool("plain", Script::new().text("fine"));
        let client = stage.legacy().revision(revision).header("mcp-protocol-version", None);
        assert_eq!(client.initialize().await.status, 200);
        assert_eq!(client.tool("plain", "{}").await.content_text(), "fine");
        let reply = client.tool("ask", "{}").await;
        assert!(!reply.text().contains("elicitation/create"), "{}", reply.text());
        assert_eq!(stage.upstream.requests_of("response")[0].raw(&["error", "code"]), Some("-32601"));
        stage.upstream.assert_clean();
    }
}

/// Transports 2025-11-25: a version that nobody knows is HTTP 400.
#[tokio::test]
async fn a_version_header_that_nobody_knows_is_refused() {
    let stage = Stage::free(Upstream::start().await).await;
    let client = stage.ready().await;
    let session = client.session().unwrap();
    for version in ["2027-01-01", "garbage", ""] {
        let strange = stage.legacy().with_session(&session).header("mcp-protocol-version", Some(version));
        let reply = strange.call("tools/list", "{}").await;
        assert_eq!(reply.status, 400, "{version:?}: {}", reply.text());
    }
    assert!(stage.upstream.requests_of("tools/list").is_empty());
}
