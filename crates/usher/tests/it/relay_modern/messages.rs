//! Whole messages: what is not ours passes byte for byte (R-GW-02).

use usher_testkit::{
    client::Modern,
    upstream::{Eras, Script, Upstream},
};

use super::odd;
use crate::harness::Stage;

/// R-GW-02: request and result arrive as they were written.
#[tokio::test]
async fn a_request_and_its_result_pass_byte_for_byte() {
    let stage = Stage::free(Upstream::start().await).await;
    let (arguments, result) = (odd(""), odd(r#","content":[],"resultType":"complete""#));
    stage.upstream.tool("odd", Script::new().result(&*result));
    stage.upstream.tool("pieces", Script::new().result(&*result).in_pieces_of(1000));
    let client = stage.modern();
    for (tool, id) in [("odd", "9007199254740993"), ("pieces", r#""\u00e9 id""#), ("odd", "-0"), ("odd", r#""""#)] {
        let params = format!(r#"{{ "unknown":1e999,"name":"{tool}" ,"arguments":{arguments},"_meta":{{"x":1.0}}}}"#);
        let request = client.request("tools/call", &params).id(Some(id)).meta("progressToken", "1");
        let body = request.to_body();
        let reply = request.send().await;
        assert_eq!(stage.upstream.requests_of("tools/call").last().unwrap().body, body, "{id}");
        assert_eq!(reply.status, 200);
        assert_eq!(reply.header("content-type"), Some("application/json"));
        assert_eq!(reply.text(), format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
    }
}

/// R-GW-02: an error with its data is the upstream's word.
#[tokio::test]
async fn an_error_passes_byte_for_byte() {
    let stage = Stage::free(Upstream::start().await).await;
    let error = format!(r#"{{"message":"no","code":-32000,"data":{},"extra":1}}"#, odd(""));
    stage.upstream.tool("fails", Script::new().error_raw(&*error));
    let reply = stage.modern().request("tools/call", r#"{"name":"fails"}"#).id(Some("7")).send().await;
    assert_eq!(reply.text(), format!(r#"{{"jsonrpc":"2.0","id":7,"error":{error}}}"#));
}

/// R-GW-02, R-CAP-05: a method that we do not know is the upstream's to answer, 404 included.
#[tokio::test]
async fn an_unknown_method_is_the_upstreams_to_answer() {
    let stage = Stage::free(Upstream::start().await).await;
    let client = stage.modern();
    let reply = client.request("weather/unknown", "{}").id(Some("1")).send().await;
    assert_eq!(reply.status, 404);
    let error = r#"{"code":-32601,"message":"unknown method weather/unknown"}"#;
    assert_eq!(reply.text(), format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#));
    let result = odd("");
    stage.upstream.method("weather/known", Script::new().result(&*result));
    let request = client.request("weather/known", &odd(""));
    let body = request.to_body();
    assert_eq!(request.send().await.result_raw(), result);
    assert_eq!(stage.upstream.requests_of("weather/known")[0].body, body);
    stage.upstream.assert_clean();
}

/// R-GW-02, R-GW-06: what only looks around passes and never waits for anything.
#[tokio::test]
async fn discovery_and_listings_pass() {
    let stage = Stage::free(Upstream::builder().instructions("say \u{1f600}").start().await).await;
    let client = stage.modern();
    let direct = Modern::new(stage.upstream.url()).elicitation(&["form", "url"]);
    for method in ["server/discover", "tools/list", "prompts/list", "resources/list"] {
        let (ours, theirs) = (client.request(method, "{}").id(Some("1")), direct.request(method, "{}").id(Some("1")));
        let (ours, theirs) = (ours.send().await, theirs.send().await);
        assert_eq!((ours.status, ours.text()), (theirs.status, theirs.text()), "{method}");
        let seen = stage.upstream.requests_of(method);
        assert_eq!(seen[0].body, seen[1].body, "{method}");
    }
    for method in ["ping", "completion/complete", "logging/setLevel", "tasks/get"] {
        stage.upstream.method(method, Script::new().result(r#"{"resultType":"complete"}"#));
        assert_eq!(client.call(method, "{}").await.result_raw(), r#"{"resultType":"complete"}"#);
    }
    stage.upstream.assert_clean();
}

/// R-MRTR-07: another `resultType` belongs to an extension that client and server share.
#[tokio::test]
async fn a_result_type_that_we_do_not_know_passes() {
    let stage = Stage::free(Upstream::start().await).await;
    for result in [
        r#"{"resultType":"task","taskId":"1"}"#,
        r#"{"resultType":"Input_Required"}"#,
        r#"{"content":[{"type":"text","text":"input_required"}]}"#,
        r#"{"structuredContent":{"resultType":"input_required"},"content":[]}"#,
    ] {
        stage.upstream.tool("other", Script::new().result(result));
        let reply = stage.modern().tool("other", "{}").await;
        assert_eq!((reply.status.as_u16(), reply.result_raw()), (200, result));
    }
}

/// Streamable HTTP 2026-07-28: a notification is accepted; a response is nothing that a client sends.
#[tokio::test]
async fn a_notification_is_accepted_and_a_response_is_refused() {
    let stage = Stage::free(Upstream::start().await).await;
    let client = stage.modern();
    let notification = client.request("notifications/anything", r#"{"n":1e999}"#).id(None);
    let body = notification.to_body();
    let reply = notification.send().await;
    assert_eq!((reply.status.as_u16(), reply.text().as_str()), (202, ""));
    assert_eq!(stage.upstream.requests_of("notifications/anything")[0].body, body);
    for body in
        [r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"no"}}"#]
    {
        let reply = client.request("ping", "{}").body(body).send().await;
        assert_eq!((reply.status.as_u16(), reply.error_code()), (400, -32600), "{}", reply.text());
    }
    assert_eq!(stage.upstream.requests().len(), 1);
    stage.upstream.assert_clean();
}

/// Streamable HTTP 2026-07-28, "Backward Compatibility": a client that looks for the era must see what the upstream says.
#[tokio::test]
async fn a_legacy_upstreams_refusal_reaches_the_client_so_that_it_falls_back() {
    let refusals = [
        (400, r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"},"id":null}"#),
        (400, r#"{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"Missing session ID"}}"#),
        (400, r#"{"detail":"Bad Request"}"#),
        (400, ""),
        (404, r#"{"error":"not found"}"#),
        (405, ""),
        (406, ""),
        (422, r#"{"detail":[]}"#),
    ];
    for (status, body) in refusals {
        let builder = Upstream::builder().eras(Eras::Legacy).answer_to_modern(status, body);
        let stage = Stage::free(builder.start().await).await;
        let reply = stage.modern().call("server/discover", "{}").await;
        assert_eq!(reply.status.as_u16(), status, "{body}");
        if !body.is_empty() {
            assert_eq!(reply.text(), body);
        }
        let modern = [-32020, -32021, -32022].iter().any(|code| reply.text().contains(&code.to_string()));
        assert!(!modern, "{}", reply.text());
        assert_eq!(stage.ready().await.call("tools/list", "{}").await.status, 200);
        stage.upstream.assert_clean();
    }
}

/// The same, where the refusal is no JSON at all: frameworks answer in text and HTML.
#[tokio::test]
async fn a_refusal_in_another_content_type_keeps_its_status() {
    let stage = Stage::free(Upstream::start().await).await;
    for status in [400, 404, 405, 415] {
        stage.upstream.method("server/discover", Script::new().body(status, "text/html", "<h1>No</h1>"));
        let reply = stage.modern().call("server/discover", "{}").await;
        assert_eq!(reply.status.as_u16(), status);
        assert_eq!(reply.error_code(), -32603);
        assert!(reply.error_message().contains("weather"), "{}", reply.text());
    }
}

/// R-ERR-03, R-CAP-03: -32042 is a thing of the other era; the client gets an error that it can understand, and no link.
#[tokio::test]
async fn a_legacy_url_error_does_not_reach_a_modern_client() {
    let stage = Stage::free(Upstream::start().await).await;
    let error = r#"{"code":-32042,"message":"visit","data":{"elicitations":[{"mode":"url","elicitationId":"1","url":"https://a.example/secret","message":"m"}]}}"#;
    stage.upstream.tool("json", Script::new().error_raw(error)).tool("events", Script::new().sse().error_raw(error));
    let hidden = error.replace("\"code\"", "\"c\\u006fde\"");
    stage.upstream.tool("escaped", Script::new().sse().error_raw(&*hidden));
    for tool in ["json", "events", "escaped"] {
        let reply = stage.modern().tool(tool, "{}").await;
        assert_eq!(reply.error_code(), -32603, "{tool}: {}", reply.text());
        assert!(!reply.text().contains("a.example"), "{}", reply.text());
        assert!(reply.error_message().contains("weather"));
    }
}
