//! The modern client against the fake upstream.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

use usher_testkit::Outcome;
use usher_testkit::client::{Legacy, Modern};
use usher_testkit::upstream::{Eras, Gate, Question, Script, Upstream};

const SCHEMA: &str = r#"{"type":"object","properties":{"name":{"type":"string"}}}"#;
const ACCEPT: &str = r#"{"action":"accept","content":{"name":"octocat"}}"#;

#[tokio::test]
async fn a_result_comes_back_byte_for_byte() {
    let upstream = Upstream::start().await;
    let raw = r#"{"z":9007199254740993 , "a":1e999,"resultType":"complete"}"#;
    upstream.tool("世界", Script::new().result(raw).response_header("x-seen", "1"));
    let client = Modern::new(upstream.url()).capabilities(r#"{"x":1}"#);
    let reply = client.tool("世界", r#"{"b":1,"a":1e999}"#).await;
    assert_eq!((reply.status.as_u16(), reply.result_raw()), (200, raw));
    assert_eq!(reply.header("x-seen"), Some("1"));
    let seen = &upstream.requests_of("tools/call")[0];
    assert_eq!(seen.header("mcp-name"), Some("=?base64?5LiW55WM?="));
    assert_eq!(seen.raw(&["params", "arguments"]), Some(r#"{"b":1,"a":1e999}"#));
    assert_eq!(seen.capabilities(), Some(r#"{"x":1}"#));
    upstream.assert_clean();
}

#[tokio::test]
async fn questions_are_asked_in_rounds_and_state_comes_back_unchanged() {
    let upstream = Upstream::start().await;
    let script = Script::new()
        .ask(Question::form("who", "Name?", SCHEMA).and_url("pay", "Pay", "https://pay.example/1"))
        .ask(Question::nothing())
        .ask(Question::form("seat", "Seat?", SCHEMA).without_state())
        .result_with(|call| {
            let answers: Vec<_> = call.answers.iter().map(|answer| format!("{:?}", answer.key)).collect();
            format!(r#"{{"keys":[{}]}}"#, answers.join(","))
        });
    upstream.resource("file:///a", script);
    let client = Modern::new(upstream.url()).elicitation(&["form", "url"]);
    let mut rounds = 0;
    let first = client.call("resources/read", r#"{"uri":"file:///a"}"#).await;
    assert_eq!(first.url(), "https://pay.example/1");
    assert!(first.result()["inputRequests"]["pay"]["params"].get("elicitationId").is_none());
    let reply = client
        .call_answering("resources/read", r#"{"uri":"file:///a"}"#, |reply| {
            rounds += 1;
            reply.answer_all(ACCEPT)
        })
        .await;
    assert_eq!(rounds, 2);
    assert_eq!(reply.result_raw(), r#"{"keys":["seat"]}"#);
    upstream.assert_clean();
}

#[tokio::test]
async fn a_missing_answer_is_asked_for_again() {
    let upstream = Upstream::start().await;
    upstream.tool("ask", Script::new().ask(Question::form("a", "A", SCHEMA).and_form("b", "B", SCHEMA)));
    let client = Modern::new(upstream.url());
    let params = r#"{"name":"ask"}"#;
    let first = client.call("tools/call", params).await;
    let responses = format!(r#"{{"a":{ACCEPT}}}"#);
    let again = client.retry("tools/call", params, Some(&responses), first.request_state().as_deref()).await;
    assert!(again.is_input_required());
    upstream.assert_clean();
}

#[tokio::test]
async fn changed_state_foreign_answers_and_other_arguments_are_violations() {
    let upstream = Upstream::start().await;
    upstream.tool("ask", Script::new().ask(Question::form("a", "A", SCHEMA)));
    let client = Modern::new(upstream.url());
    let first = client.tool("ask", "{}").await;
    let state = first.request_state().unwrap();
    let params = r#"{"name":"ask","arguments":{"n":2}}"#;
    let responses = format!(r#"{{"a":{ACCEPT},"ours":{ACCEPT}}}"#);
    client.retry("tools/call", params, Some(&responses), Some(&state)).await;
    assert_eq!(upstream.take_violations().len(), 2);
    let refused = client.retry("tools/call", params, Some(&responses), Some("s1")).await;
    assert_eq!(refused.error_code(), -32602);
    let refused = client.retry("tools/call", params, Some(&responses), None).await;
    assert_eq!(refused.error_code(), -32602);
    assert_eq!(upstream.take_violations().len(), 2);
    let same_id = client.request("tools/call", r#"{"name":"ask","arguments":{}}"#).id(Some("\"x\""));
    let state = same_id.clone().send().await.request_state().unwrap();
    let params =
        format!(r#"{{"name":"ask","arguments":{{}},"requestState":{state:?},"inputResponses":{{"a":{ACCEPT}}}}}"#);
    client.request("tools/call", &params).id(Some("\"x\"")).send().await;
    assert_eq!(upstream.take_violations(), ["tools/call (id \"x\"): the retry has the id of the first request"]);
}

#[tokio::test]
async fn wrong_headers_and_metadata_are_refused_and_recorded() {
    let upstream = Upstream::start().await;
    upstream.tool("t", Script::new());
    let client = Modern::new(upstream.url());
    let call = || client.request("tools/call", r#"{"name":"t"}"#);
    for (request, code) in [
        (call().omit("mcp-protocol-version"), -32020),
        (call().header("mcp-protocol-version", "2025-11-25"), -32020),
        (call().header("mcp-method", "tools/list"), -32020),
        (call().omit("mcp-name"), -32020),
        (call().header("mcp-name", "=?base64?!?="), -32020),
        (call().header("mcp-session-id", "s"), -32020),
        (call().meta_capabilities(None), -32602),
        (call().id(Some("1.5")), -32600),
        (call().body("[]"), -32600),
    ] {
        let reply = request.clone().send().await;
        assert_eq!((reply.status.as_u16(), reply.error_code()), (400, code), "{request:?}");
        assert_eq!(upstream.take_violations().len(), 1, "{request:?}");
    }
    let future = call().header("mcp-protocol-version", "2027-01-01").meta_version(Some("2027-01-01"));
    let reply = future.send().await;
    assert_eq!(reply.error_code(), -32022);
    assert_eq!(reply.error()["data"]["supported"][0], "2026-07-28");
    assert_eq!(call().omit("accept").send().await.content_text(), "ok");
    assert_eq!(upstream.take_violations().len(), 1);
}

#[tokio::test]
async fn annotated_parameters_must_be_mirrored() {
    let upstream = Upstream::start().await;
    let schema = r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}"#;
    upstream.tool_with_schema("t", schema, Script::new());
    let client = Modern::new(upstream.url());
    let call = client.request("tools/call", r#"{"name":"t","arguments":{"region":"eu"}}"#);
    assert_eq!(call.clone().send().await.error_code(), -32020);
    assert_eq!(call.header("mcp-param-region", "eu").send().await.content_text(), "ok");
    assert_eq!(upstream.take_violations().len(), 1);
}

#[tokio::test]
async fn discovery_lists_and_unknown_methods_are_answered() {
    let upstream = Upstream::start().await;
    upstream.tool("t", Script::new()).prompt("p", Script::new());
    let client = Modern::new(upstream.url());
    let discovered = client.call("server/discover", "{}").await.result();
    assert_eq!(discovered["supportedVersions"][0], "2026-07-28");
    assert_eq!(client.call("tools/list", "{}").await.result()["tools"][0]["name"], "t");
    let unknown = client.call("ping", "{}").await;
    assert_eq!((unknown.status.as_u16(), unknown.error_code()), (404, -32601));
    upstream.method("x/y", Script::new().error_raw(r#"{"code":-32021,"message":"m","data":{}}"#));
    assert_eq!(client.call("x/y", "{}").await.status, 400);
    assert_eq!(client.tool("none", "{}").await.error_code(), -32602);
    upstream.assert_clean();
}

#[tokio::test]
async fn a_subscription_is_acknowledged_fed_and_ended() {
    let upstream = Upstream::start().await;
    let client = Modern::new(upstream.url());
    let filter = r#"{"notifications":{"toolsListChanged":true}}"#;
    let mut stream = client.stream("subscriptions/listen", filter).await;
    let acknowledged = stream.expect("notifications/subscriptions/acknowledged").await;
    assert_eq!(acknowledged.at(&["params", "notifications"]), Some(r#"{"toolsListChanged":true}"#));
    upstream.publish("notifications/tools/list_changed", "{}").await;
    let change = stream.expect("notifications/tools/list_changed").await;
    assert_eq!(change.at(&["params", "_meta", "io.modelcontextprotocol/subscriptionId"]), Some("1"));
    upstream.end_streams();
    assert!(stream.next_message().await.unwrap().is_response());
    let stream = client.stream("subscriptions/listen", filter).await;
    drop(stream);
    upstream.wait_left("subscriptions/listen").await;
    assert_eq!(upstream.listeners(), 0);
    upstream.assert_clean();
}

#[tokio::test]
async fn dropping_the_stream_of_a_call_is_noticed_as_its_cancellation() {
    let upstream = Upstream::start().await;
    let gate = Gate::new();
    upstream.tool("slow", Script::new().progress(1, None, None).wait(&gate));
    let client = Modern::new(upstream.url());
    let request = client.request("tools/call", r#"{"name":"slow"}"#).meta("progressToken", "7");
    let mut stream = request.stream().await;
    stream.expect("notifications/progress").await;
    drop(stream);
    assert_eq!(upstream.wait_left("tools/call").await.outcome(), Outcome::Left);
}

#[tokio::test]
async fn servers_of_one_era_refuse_the_other_without_calling_it_a_violation() {
    let legacy = Upstream::builder().eras(Eras::Legacy).start().await;
    let reply = Modern::new(legacy.url()).call("tools/list", "{}").await;
    assert_eq!((reply.status.as_u16(), reply.error_code()), (400, -32000));
    let modern = Upstream::builder().eras(Eras::Modern).start().await;
    let client = Legacy::new(modern.url());
    let reply = client.initialize().await;
    assert_eq!((reply.status.as_u16(), reply.error_code()), (400, -32022));
    assert_eq!(client.call("tools/list", "{}").await.error_code(), -32020);
    assert_eq!(client.open_get(None).await.status, 405);
    assert_eq!(client.delete().await.status, 405);
    legacy.assert_clean();
    modern.assert_clean();
}
