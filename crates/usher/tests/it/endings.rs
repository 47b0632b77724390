//! Calls that end badly: the server is down, slow, or answers with nonsense. The caller learns which server, in time, and
//! other servers go on.

use std::time::Duration;

use usher_testkit::{
    client::{Legacy, Modern, Reply},
    upstream::{Script, Upstream},
};

use crate::harness::{CALLS, KEY, Setup, Stage, answered};

/// How long an answer may take where the operator gives the server a second.
const IN_TIME: Duration = Duration::from_secs(5);

/// A client of either era that is connected.
enum Client {
    Modern(Modern),
    Legacy(Legacy),
}

impl Client {
    async fn call(&self, call: (&str, &str)) -> Reply {
        match self {
            Self::Modern(client) => client.call(call.0, call.1).await,
            Self::Legacy(client) => client.call(call.0, call.1).await,
        }
    }
}

/// A stage with a connected credential, a second server, and a client of each era.
async fn stage() -> (Stage, Upstream, [Client; 2]) {
    let other = Upstream::start().await;
    other.tool("get_forecast", Script::new().text("sunny"));
    let setup = Setup {
        upstream: "timeout = \"1s\"".to_owned(),
        more: format!("[[upstream]]\nname = \"other\"\nurl = \"{}\"\n", other.url()),
        ..Setup::default()
    };
    let stage = Stage::with(setup, Upstream::start().await).await;
    stage.connected().await;
    let legacy = stage.legacy();
    assert_eq!(legacy.initialize().await.status, 200);
    let clients = [Client::Modern(stage.modern()), Client::Legacy(legacy)];
    (stage, other, clients)
}

fn plays(stage: &Stage, script: &Script) {
    stage.upstream.tool("get_forecast", script.clone());
    stage.upstream.prompt("plan", script.clone());
    stage.upstream.resource("weather://berlin", script.clone());
}

/// A JSON-RPC error of ours that names the server, and nothing of what stands behind it.
fn assert_failed(stage: &Stage, reply: &Reply, what: &str) {
    assert_eq!(reply.error_code(), -32603, "{what}: {}", reply.text());
    let text = reply.error_message();
    assert!(text.contains("the server weather"), "{what}: {text}");
    let port = stage.upstream.origin().rsplit(':').next().unwrap().to_owned();
    for inside in [port.as_str(), "127.0.0.1", "error sending", "hyper", KEY] {
        assert!(!reply.text().contains(inside), "{what}: {inside} in {}", reply.text());
    }
}

async fn assert_all_fail(stage: &Stage, clients: &[Client], what: &str) {
    for client in clients {
        for call in CALLS {
            let reply = tokio::time::timeout(IN_TIME, client.call(call)).await.expect(what);
            assert_failed(stage, &reply, &format!("{what}, {}", call.0));
        }
    }
}

async fn assert_other_goes_on(stage: &Stage) {
    let other = Modern::new(format!("{}/mcp/other", stage.origin)).token(&stage.token);
    let reply = other.call(CALLS[0].0, CALLS[0].1).await;
    assert!(answered(&reply), "another server is not affected: {}", reply.text());
}

/// R-SEC-04: no answer within the time-out.
#[tokio::test]
async fn a_slow_server_is_named_in_time_and_others_go_on() {
    let (stage, _other, clients) = stage().await;
    plays(&stage, &Script::new().silence());
    assert_all_fail(&stage, &clients, "silence").await;
    assert_other_goes_on(&stage).await;
    plays(&stage, &Script::new().text("sunny"));
    for client in &clients {
        assert!(answered(&client.call(CALLS[0]).await), "it recovers by itself");
    }
}

/// No connection.
#[tokio::test]
async fn a_server_that_is_down_is_named_and_others_go_on() {
    let (stage, _other, clients) = stage().await;
    stage.upstream.stop();
    assert_all_fail(&stage, &clients, "down").await;
    assert_other_goes_on(&stage).await;
    stage.upstream.restart().await;
    for client in &clients {
        assert!(answered(&client.call(CALLS[0]).await), "it recovers by itself");
    }
}

/// Answers that are no MCP, and connections that break, before the answer and in its middle.
#[tokio::test]
async fn a_server_that_answers_nonsense_is_named_and_others_go_on() {
    let (stage, _other, clients) = stage().await;
    let message = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}"#;
    for (what, script) in [
        ("garbage", Script::new().garbage()),
        ("an empty body", Script::new().body(200, "application/json", "")),
        ("JSON that is no JSON-RPC", Script::new().body(200, "application/json", "[1]")),
        ("a request in place of an answer", Script::new().body(200, "application/json", message)),
        ("HTML", Script::new().body(200, "text/html", "<h1>hello</h1>")),
        ("an error page", Script::new().body(500, "text/html", "<h1>oops</h1>")),
        ("a bad gateway", Script::new().body(502, "text/plain", "bad gateway")),
        ("accepted without an answer", Script::new().body(202, "application/json", "")),
        ("a redirect", Script::new().body(302, "text/html", "").response_header("location", "https://evil.example/")),
        ("a dropped connection", Script::new().drop_connection()),
        ("a stream that is cut", Script::new().message(message).drop_connection()),
        ("a stream that ends early", Script::new().message(message).body(200, "text/event-stream", "")),
    ] {
        plays(&stage, &script);
        assert_all_fail(&stage, &clients, what).await;
    }
    assert_other_goes_on(&stage).await;
}

/// R-GW-02: an error of the server's own passes as it is, whatever its HTTP status.
#[tokio::test]
async fn an_error_of_the_servers_own_passes() {
    let (stage, _other, clients) = stage().await;
    let error = r#"{"code":-32050,"message":"no such city","data":{"n":1e999,"b":1,"a":2}}"#;
    for script in [Script::new().error_raw(error), Script::new().sse().error_raw(error)] {
        plays(&stage, &script);
        for client in &clients {
            for call in CALLS {
                let reply = client.call(call).await;
                assert_eq!(reply.response().error(), Some(error), "{}", reply.text());
            }
        }
    }
    plays(&stage, &Script::new().failure("it rains too much"));
    for client in &clients {
        let reply = client.call(CALLS[0]).await;
        assert!(reply.is_tool_error() && reply.content_text() == "it rains too much", "{}", reply.text());
    }
}

/// R-URL-02, R-SEC-05: the credential does not follow a redirect of the server.
#[tokio::test]
async fn a_redirect_of_the_server_is_not_followed() {
    let (stage, other, clients) = stage().await;
    other.forbid(KEY);
    plays(&stage, &Script::new().body(307, "text/plain", "").response_header("location", &other.url()));
    assert_all_fail(&stage, &clients, "a redirect").await;
    assert!(other.requests().is_empty());
}

/// R-SEC-04: a held call ends with an answer to itself even where the server refuses it in words that are no MCP.
#[tokio::test]
async fn a_held_call_ends_with_an_answer_whatever_the_server_says() {
    let bodies = [(400, r#"{"error":"bad request"}"#), (422, "{}"), (409, r#"{"jsonrpc":"2.0","id":"x","error":{}}"#)];
    for (status, body) in bodies {
        let stage = Stage::new().await;
        let script = Script::new().require("x-api-key", KEY).body(status, "application/json", body);
        stage.upstream.tool("get_forecast", script);
        let client = stage.ready().await;
        let mut stream = client.open(CALLS[0].0, CALLS[0].1).await;
        let question = stream.expect("elicitation/create").await;
        let url = question.string(&["params", "url"]).unwrap();
        stage.person().await.connect(&url, &[("api_key", KEY)]).await;
        let reply = stream.reply().await;
        assert_eq!(reply.error_code(), -32603, "{}", reply.text());
        let text = reply.error_message();
        assert!(text.contains("the server weather") && text.contains(&format!("HTTP {status}")), "{text}");
    }
}
