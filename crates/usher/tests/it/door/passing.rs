//! What passes between client and upstream beside the body, and what does not.

use usher_testkit::upstream::{Refusal, Script, Upstream};

use crate::harness::Stage;

/// What a client might send and an upstream must never see.
const OURS: [(&str, &str); 8] = [
    ("cookie", "usher-session=cookie-secret"),
    ("x-api-key", "key-of-the-client"),
    ("proxy-authorization", "Basic proxy-secret"),
    ("x-goog-api-key", "goog-secret"),
    ("x-auth-token", "auth-secret"),
    ("x-anything", "anything-secret"),
    ("referer", "http://referer-secret.example/"),
    ("from", "from-secret@example.com"),
];

/// What goes with the message.
const PASSES: [(&str, &str); 6] = [
    ("mcp-param-region", "us-west1"),
    ("mcp-param-greeting", "=?base64?SGVsbG8sIOS4lueVjA==?="),
    ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
    ("tracestate", "a=b"),
    ("baggage", "k=v"),
    ("accept-language", "zh-CN"),
];

/// R-ID-04: the token that was issued for us, and everything like it, stays with us.
#[tokio::test]
async fn the_clients_token_and_its_cookies_never_go_upstream() {
    let stage = Stage::free(Upstream::start().await).await;
    let upstream = &stage.upstream;
    upstream.forbid(&stage.token);
    for (_, value) in OURS {
        upstream.forbid(value);
    }
    let mut request = stage.modern().request("tools/list", "{}");
    let mut legacy = stage.legacy();
    for (name, value) in OURS.into_iter().chain(PASSES) {
        request = request.header(name, value);
        legacy = legacy.header(name, Some(value));
    }
    assert_eq!(request.send().await.status, 200);
    assert_eq!(legacy.initialize().await.status, 200);
    assert_eq!(legacy.call("tools/list", "{}").await.status, 200);
    let stream = legacy.open_get(None).await;
    assert_eq!(stream.status, 200);
    assert_eq!(legacy.delete().await.status, 200);
    let seen = upstream.requests();
    assert!(seen.len() >= 5, "{seen:?}");
    for request in seen {
        assert_eq!(request.header("authorization"), None);
        assert_eq!(request.header("host"), Some(upstream.origin().trim_start_matches("http://")));
        for (name, value) in PASSES {
            assert_eq!(request.header(name), Some(value), "{} {name}", request.method);
        }
    }
    upstream.assert_clean();
}

/// R-SEC-06, R-ID-05: an upstream sets no cookie, no session and no challenge at our address.
#[tokio::test]
async fn what_an_upstream_sets_in_headers_does_not_reach_the_client() {
    let stage = Stage::free(Upstream::start().await).await;
    let headers = [
        ("set-cookie", "usher=theirs"),
        ("www-authenticate", "Bearer"),
        ("mcp-session-id", "theirs"),
        ("access-control-allow-origin", "*"),
        ("location", "https://evil.example"),
        ("clear-site-data", "\"*\""),
        ("content-security-policy", "sandbox"),
        ("x-anything", "theirs"),
        ("server", "theirs"),
    ];
    let with =
        |script: Script| headers.iter().fold(script, |script, (name, value)| script.response_header(name, value));
    stage.upstream.tool("json", with(Script::new()).text("a")).tool("events", with(Script::new()).sse().text("b"));
    let legacy = stage.ready().await;
    for (tool, text) in [("json", "a"), ("events", "b")] {
        for reply in [stage.modern().tool(tool, "{}").await, legacy.tool(tool, "{}").await] {
            assert_eq!(reply.content_text(), text);
            for (name, _) in headers {
                assert_eq!(reply.header(name), None, "{tool} {name}");
            }
        }
    }
}

/// R-ID-05: 401 speaks of the client's token for us, so an upstream's own never looks like it.
#[tokio::test]
async fn an_upstream_that_refuses_us_is_no_challenge_to_the_client() {
    for refusal in [Refusal::unauthorized(), Refusal::forbidden()] {
        let stage = Stage::free(Upstream::start().await).await;
        stage.upstream.tool("locked", Script::new().require_or("x-key", "k", refusal));
        for reply in [stage.modern().tool("locked", "{}").await, stage.ready().await.tool("locked", "{}").await] {
            assert_eq!(reply.status, 200, "{}", reply.text());
            assert_eq!(reply.header("www-authenticate"), None);
            assert!(reply.error_message().contains("weather"), "{}", reply.text());
        }
    }
}
