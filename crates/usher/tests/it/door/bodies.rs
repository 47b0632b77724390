//! What is no message is refused before anybody else sees it.

use std::fmt::Write as _;

use usher_testkit::{
    client::Reply,
    upstream::{Script, Upstream},
};

use super::PING;
use crate::harness::Stage;

const LIMIT: usize = 4 * 1024 * 1024;

/// Sends these bytes with the headers of either era, to a server that must not get them.
async fn refused(stage: &Stage, bytes: &[u8]) -> [Reply; 2] {
    let modern = stage.modern().request("ping", "{}").body(bytes).send().await;
    let legacy = stage.legacy().with_session("A".repeat(43)).post(bytes).await.reply().await;
    [modern, legacy]
}

#[tokio::test]
async fn a_body_of_another_content_type_is_refused() {
    let stage = Stage::free(Upstream::start().await).await;
    let client = stage.modern();
    let kinds = [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json-rpc",
        "application/jsonp",
        "text/plain; application/json",
        "",
    ];
    for kind in kinds {
        let reply = client.request("ping", "{}").header("content-type", kind).send().await;
        assert_eq!(reply.status, 415, "{kind:?}: {}", reply.text());
    }
    assert_eq!(client.request("ping", "{}").omit("content-type").send().await.status, 415);
    assert!(stage.upstream.requests().is_empty());
    let reply =
        client.request("tools/list", "{}").header("content-type", "Application/JSON; charset=utf-8").send().await;
    assert_eq!(reply.status, 200);
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_and_one_at_the_limit_passes() {
    let stage = Stage::free(Upstream::start().await).await;
    let client = stage.modern();
    let mut body = client.request("tools/list", "{}").to_body();
    body.resize(LIMIT, b' ');
    assert_eq!(client.request("tools/list", "{}").body(body.clone()).send().await.status, 200);
    assert_eq!(stage.upstream.requests_of("tools/list")[0].body.len(), LIMIT);
    body.push(b' ');
    let reply = client.request("tools/list", "{}").body(body).send().await;
    assert_eq!((reply.status.as_u16(), reply.error_code()), (413, -32600));
    assert_eq!(stage.upstream.requests().len(), 1);
}

#[tokio::test]
async fn what_is_not_json_is_a_parse_error() {
    let stage = Stage::free(Upstream::start().await).await;
    let cut = &PING.as_bytes()[..PING.len() - 1];
    let twice = format!("{PING}{PING}");
    let bodies: [&[u8]; 9] = [
        b"",
        b"hello",
        b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":NaN}}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",}",
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":\"\x01\"}}",
        cut,
        twice.as_bytes(),
    ];
    for body in bodies {
        for reply in refused(&stage, body).await {
            let shown = String::from_utf8_lossy(body);
            assert_eq!((reply.status.as_u16(), reply.error_code()), (400, -32700), "{shown}: {}", reply.text());
        }
    }
    assert!(stage.upstream.requests().is_empty());
}

/// R-REQ-03: what two readers could understand differently is nobody's message.
#[tokio::test]
async fn what_is_no_json_rpc_message_is_an_invalid_request() {
    let stage = Stage::free(Upstream::start().await).await;
    let batch = format!("[{PING}]");
    let bodies = [
        "[]",
        batch.as_str(),
        "{}",
        r#"{"id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1e3,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":null}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":["ping"]}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","m\u0065thod":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{},"params":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
        r#"{"jsonrpc":"2.0","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
    ];
    for body in bodies {
        for reply in refused(&stage, body.as_bytes()).await {
            assert_eq!((reply.status.as_u16(), reply.error_code()), (400, -32600), "{body}: {}", reply.text());
        }
    }
    assert!(stage.upstream.requests().is_empty());
}

/// R-SEC-08, R-MRTR-02: a name that stands twice would be decided on in one sense and run in the other.
#[tokio::test]
async fn a_name_or_state_that_stands_twice_goes_nowhere() {
    let stage = Stage::free(Upstream::start().await).await;
    let (modern, legacy) = (stage.modern(), stage.ready().await);
    let before = stage.upstream.requests().len();
    for (method, params) in [
        ("tools/call", r#"{"name":"a","name":"b"}"#),
        ("tools/call", r#"{"name":"a","n\u0061me":"b"}"#),
        ("prompts/get", r#"{"name":"a","name":"b"}"#),
        ("resources/read", r#"{"uri":"a:b","uri":"c:d"}"#),
        ("tools/call", r#"{"name":"a","requestState":"x","requestState":"y"}"#),
        ("tools/call", r#"{"name":7}"#),
        ("tools/call", "{}"),
        ("resources/read", r#"{"name":"a"}"#),
    ] {
        let reply = modern.request(method, params).header("mcp-name", "a").send().await;
        assert_eq!((reply.status.as_u16(), reply.error_code()), (400, -32602), "{method} {params}: {}", reply.text());
        let reply = legacy.call(method, params).await;
        assert_eq!(reply.error_code(), -32602, "{method} {params}: {}", reply.text());
    }
    let doubled = r#"{"_meta":{},"_meta":{}}"#;
    assert_eq!(modern.request("tools/list", doubled).send().await.error_code(), -32602);
    assert_eq!(legacy.call("tools/list", doubled).await.error_code(), -32602);
    assert_eq!(stage.upstream.requests().len(), before);
}

/// R-GW-02, R-SEC-04: depth is no way to bring the service down, and none to be stopped.
#[tokio::test]
async fn a_deeply_nested_message_passes_as_it_is() {
    const DEEP: usize = 50_000;
    let stage = Stage::free(Upstream::start().await).await;
    stage.upstream.tool("echo", Script::new().text("done"));
    let mut arguments = String::new();
    let _ = write!(arguments, "{{\"a\":{}{}}}", "[".repeat(DEEP), "]".repeat(DEEP));
    let modern = stage.modern();
    let request = modern.request("tools/call", &format!(r#"{{"name":"echo","arguments":{arguments}}}"#));
    let body = request.to_body();
    assert_eq!(request.send().await.content_text(), "done");
    assert_eq!(stage.upstream.requests_of("tools/call")[0].body, body);
    assert_eq!(stage.ready().await.tool("echo", &arguments).await.content_text(), "done");
}

/// R-SEC-04: a call too deep to be digested cannot be asked a question for, and says so.
#[tokio::test]
async fn a_call_that_is_too_deep_to_ask_for_ends_in_an_error() {
    let stage = Stage::new().await;
    let arguments = format!("{{\"a\":{}{}}}", "[".repeat(500), "]".repeat(500));
    let reply = stage.modern().tool("get_forecast", &arguments).await;
    assert_eq!(reply.error_code(), -32603, "{}", reply.text());
    assert!(stage.upstream.requests().is_empty());
}
