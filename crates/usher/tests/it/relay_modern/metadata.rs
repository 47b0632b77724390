//! Version, mirrored headers and `_meta` of a modern request.

use http::Method;
use usher_testkit::{
    agent,
    client::Modern,
    upstream::{Script, Upstream},
};

use crate::harness::Stage;

const CALLS: [(&str, &str); 3] =
    [("tools/call", r#"{"name":"a"}"#), ("prompts/get", r#"{"name":"a"}"#), ("resources/read", r#"{"uri":"a:a"}"#)];

/// Streamable HTTP 2026-07-28, "Earlier Streamable HTTP Revisions": there is no GET stream and no session to delete.
#[tokio::test]
async fn get_and_delete_are_not_allowed() {
    let stage = Stage::free(Upstream::start().await).await;
    for method in [Method::GET, Method::DELETE] {
        let request = agent()
            .request(method.clone(), stage.endpoint())
            .bearer_auth(&stage.token)
            .header("accept", "text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-session-id", "A".repeat(43));
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 405, "{method}");
        assert_eq!(response.headers()["allow"], "POST");
    }
    for method in [Method::PUT, Method::PATCH, Method::OPTIONS, Method::HEAD] {
        let response =
            agent().request(method.clone(), stage.endpoint()).bearer_auth(&stage.token).send().await.unwrap();
        assert_eq!(response.status(), 405, "{method}");
        assert_eq!(response.headers()["allow"], "GET, POST, DELETE");
    }
    assert!(stage.upstream.requests().is_empty());
}

/// Streamable HTTP 2026-07-28, "Server Validation": -32020, and nothing goes upstream.
#[tokio::test]
async fn a_header_that_does_not_say_what_the_body_says_is_a_mismatch() {
    let stage = Stage::free(Upstream::start().await).await;
    let client = stage.modern();
    for (method, params) in CALLS {
        let call = || client.request(method, params).id(Some("\"m\""));
        for request in [
            call().omit("mcp-protocol-version"),
            call().header("mcp-protocol-version", "2025-11-25"),
            call().header("mcp-protocol-version", "2026-07-28, 2026-07-28"),
            call().omit("mcp-method"),
            call().header("mcp-method", "tools/list"),
            call().header("mcp-method", &method.to_uppercase()),
            call().omit("mcp-name"),
            call().header("mcp-name", "b"),
            call().header("mcp-name", "A"),
            call().header("mcp-name", ""),
            call().header("mcp-name", "=?base64?YQ==?"),
            call().header("mcp-name", "=?base64?Yg==?="),
            call().header("mcp-name", "=?base64?!?="),
            call().header("mcp-name", "=?base64?/w==?="),
            call().header("mcp-name", "=?BASE64?YQ==?="),
            call().header("mcp-name", "é"),
        ] {
            let reply = request.clone().send().await;
            assert_eq!((reply.status.as_u16(), reply.error_code()), (400, -32020), "{request:?}");
            assert_eq!(reply.response().id(), Some("\"m\""));
        }
    }
    let mirrored = client.request("tools/list", "{}").header("mcp-method", "ping").send().await;
    assert_eq!(mirrored.error_code(), -32020);
    assert!(stage.upstream.requests().is_empty());
}

/// Streamable HTTP 2026-07-28, "Value Encoding": a name is compared after it was decoded, and passes as it came.
#[tokio::test]
async fn a_name_in_base64_is_compared_by_what_it_says() {
    let stage = Stage::free(Upstream::start().await).await;
    let client = stage.modern();
    for name in ["世界", " padded ", "=?base64?literal?=", "tab\there", "plain"] {
        stage.upstream.tool(name, Script::new().text(name));
        stage.upstream.resource(name, Script::new().text(name));
        let arguments = usher_testkit::quote(name);
        assert_eq!(client.tool(name, "{}").await.content_text(), name);
        let read = client.call("resources/read", &format!(r#"{{"uri":{arguments}}}"#)).await;
        assert_eq!(read.result()["contents"][0]["text"], name);
    }
    let encoded = client.request("tools/call", r#"{"name":"plain"}"#).header("mcp-name", "=?base64?cGxhaW4=?=");
    assert_eq!(encoded.send().await.content_text(), "plain");
    let seen = stage.upstream.requests_of("tools/call");
    assert_eq!(seen.last().unwrap().header("mcp-name"), Some("=?base64?cGxhaW4=?="));
    stage.upstream.assert_clean();
}

/// Streamable HTTP 2026-07-28, "Protocol Version Header": -32022 names what is supported, so that a client can go on. For a
/// request of the modern era these are modern revisions, as in `server/discover`.
#[tokio::test]
async fn an_unknown_version_is_answered_with_those_that_are_known() {
    let stage = Stage::free(Upstream::start().await).await;
    let client = stage.modern();
    for version in ["2027-01-01", "2026-07-29", "garbage", "2025-11-25", "2025-03-26"] {
        let request = client.request("tools/list", "{}").header("mcp-protocol-version", version);
        let reply = request.meta_version(Some(version)).send().await;
        assert_eq!((reply.status.as_u16(), reply.error_code()), (400, -32022), "{version}: {}", reply.text());
        let error = reply.error();
        assert_eq!(error["data"]["supported"], serde_json::json!(["2026-07-28"]));
        assert_eq!(error["data"]["requested"], version);
    }
    let header_alone = client.request("tools/list", "{}").header("mcp-protocol-version", "2027-01-01");
    let reply = header_alone.meta_version(None).send().await;
    assert_eq!((reply.status.as_u16(), reply.error_code()), (400, -32022), "{}", reply.text());
    assert!(stage.upstream.requests().is_empty());
}

/// A later revision may have other metadata and other headers: its version is looked at first, so that its client can fall
/// back.
#[tokio::test]
async fn an_unknown_version_is_told_before_anything_else_is_looked_at() {
    let stage = Stage::free(Upstream::start().await).await;
    let request = stage.modern().request("tools/call", r#"{"name":"a"}"#).header("mcp-protocol-version", "2027-01-01");
    let reply = request.meta_version(Some("2027-01-01")).meta_capabilities(None).omit("mcp-method").omit("mcp-name");
    let reply = reply.send().await;
    assert_eq!((reply.status.as_u16(), reply.error_code()), (400, -32022), "{}", reply.text());
}

/// What we cannot read, a laxer reader could: metadata with a member twice is refused in both eras.
#[tokio::test]
async fn metadata_that_cannot_be_read_is_refused() {
    let stage = Stage::free(Upstream::start().await).await;
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/protocolVersion":"x"}}}"#;
    let reply = stage.modern().request("tools/list", "{}").body(body).send().await;
    assert_eq!((reply.status.as_u16(), reply.error_code()), (400, -32602), "{}", reply.text());
    let legacy = stage.ready().await;
    let reply = legacy.post(body).await.reply().await;
    assert_eq!((reply.status.as_u16(), reply.error_code()), (400, -32602), "{}", reply.text());
    assert!(stage.upstream.requests_of("tools/list").is_empty());
}

/// R-GW-02: an upstream that refuses a call in JSON-RPC is heard in its own words.
#[tokio::test]
async fn an_upstreams_own_refusal_passes() {
    let stage = Stage::free(Upstream::start().await).await;
    let body = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-31999,"message":"not for you","data":{"why":[1e999]}}}"#;
    stage.upstream.tool("closed", Script::new().body(403, "application/json", body));
    let reply = stage.modern().request("tools/call", r#"{"name":"closed","arguments":{}}"#).id(Some("1")).send().await;
    assert_eq!(reply.text(), body);
}

/// R-CAP-05: a request without its required metadata is malformed.
#[tokio::test]
async fn a_request_without_required_meta_is_malformed() {
    let stage = Stage::free(Upstream::start().await).await;
    let client = stage.modern();
    for (method, params) in CALLS.into_iter().chain([("tools/list", "{}"), ("subscriptions/listen", "{}")]) {
        let call = || client.request(method, params);
        for request in [
            call().meta_version(None),
            call().meta_capabilities(None),
            call().meta_capabilities(Some("true")),
            call().meta_capabilities(Some("[]")),
            call().meta_capabilities(Some("null")),
            call().meta_version(None).meta_capabilities(None),
        ] {
            let reply = request.clone().send().await;
            assert_eq!((reply.status.as_u16(), reply.error_code()), (400, -32602), "{request:?}: {}", reply.text());
        }
    }
    assert!(stage.upstream.requests().is_empty());
}

/// R-CAP-02: sub-keys that nobody knows and values of the wrong kind make no request fail.
#[tokio::test]
async fn capabilities_that_we_do_not_know_pass_as_they_are() {
    let stage = Stage::free(Upstream::start().await).await;
    stage.upstream.tool("a", Script::new());
    for capabilities in [
        "{}",
        r#"{"elicitation":{}}"#,
        r#"{"elicitation":true}"#,
        r#"{"elicitation":{"voice":{"z":9007199254740993}},"x":1e999}"#,
    ] {
        let client = Modern::new(stage.endpoint()).token(&stage.token).capabilities(capabilities);
        assert_eq!(client.tool("a", "{}").await.content_text(), "ok", "{capabilities}");
        let seen = stage.upstream.requests_of("tools/call");
        assert_eq!(seen.last().unwrap().capabilities(), Some(capabilities));
    }
    stage.upstream.assert_clean();
}

/// Streamable HTTP 2026-07-28: a session id of an older client is ignored, and none is given out.
#[tokio::test]
async fn a_session_id_is_ignored() {
    let stage = Stage::free(Upstream::start().await).await;
    let reply = stage.modern().request("tools/list", "{}").header("mcp-session-id", "any").send().await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(reply.header("mcp-session-id"), None);
    stage.upstream.assert_clean();
}
