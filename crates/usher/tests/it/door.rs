//! Who gets in at all: the bearer token, Host, Origin and proxies (R-SEC-08), on every route.

mod bodies;
mod passing;
mod smuggling;

use usher::identity::control::ControlFile;
use usher_testkit::upstream::Upstream;

use secrecy::ExposeSecret;

use crate::{
    harness::{SECOND, Setup, Stage},
    raw::{Answer, address, exchange, request},
};

/// One address of each kind that the service has.
const ROUTES: [&str; 16] = [
    "/mcp/weather",
    "/.well-known/oauth-protected-resource/mcp/weather",
    "/",
    "/connect/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "/login",
    "/login/links",
    "/healthz",
    "/readyz",
    "/assets/usher.css",
    "/api/v1/interactions",
    "/api/v1/interactions/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
    "/api/v1/interactions/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/cancel",
    "/api/v1/interactions/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/complete",
    "/api/openapi.json",
    "/api/nowhere",
    "/nowhere",
];

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}"#;

/// Sends an otherwise good request to every route, by GET and by POST, with these headers; `hosts` stand in for the right one.
async fn everywhere(stage: &Stage, hosts: &[&str], headers: &[(&str, &str)]) -> Vec<(String, Answer)> {
    let bearer = format!("Bearer {}", stage.token);
    let mut answers = Vec::new();
    for route in ROUTES {
        for (method, body) in [("GET", ""), ("POST", INITIALIZE)] {
            let mut all: Vec<(&str, &str)> = hosts.iter().map(|host| ("Host", *host)).collect();
            all.extend([("Authorization", bearer.as_str()), ("Content-Type", "application/json")]);
            all.push(("Accept", "application/json, text/event-stream"));
            all.extend(headers);
            let line = format!("{method} {route}");
            let answer = exchange(&stage.origin, request(&line, &all, body)).await;
            answers.push((line, answer));
        }
    }
    answers
}

/// R-SEC-08, R-ID-02, R-ID-05: without a token of ours nobody gets further, and is told what is missing.
#[tokio::test]
async fn without_a_right_bearer_token_nothing_passes() {
    let stage = Stage::free(Upstream::start().await).await;
    let host = address(&stage.origin);
    let control = ControlFile::load(&stage.folder.path().join("usher.control")).unwrap();
    let token = &stage.token;
    let wrong = [
        None,
        Some(String::new()),
        Some("Bearer".to_owned()),
        Some("Bearer ".to_owned()),
        Some("Bearer wrong-wrong-wrong-wrong-wrong-wrong".to_owned()),
        Some(format!("Bearer {}", &token[1..])),
        Some(format!("Bearer {token}x")),
        Some(format!("Bearer {}", token.to_uppercase())),
        Some(format!("Basic {token}")),
        Some(format!("Token {token}")),
        Some(token.clone()),
        Some(format!("Bearer {}", control.token.expose_secret())),
    ];
    for authorization in &wrong {
        for method in ["POST", "GET", "DELETE", "PUT"] {
            let mut headers = vec![("Host", host.as_str()), ("Content-Type", "application/json"), ("Accept", "*/*")];
            headers.extend(authorization.as_ref().map(|value| ("Authorization", value.as_str())));
            let line = format!("{method} /mcp/weather?access_token={token}");
            let answer = exchange(&stage.origin, request(&line, &headers, INITIALIZE)).await;
            assert_eq!(answer.status, 401, "{authorization:?} {method}: {}", answer.text);
            assert_eq!(answer.header("www-authenticate"), Some("Bearer realm=\"usher\""));
            assert!(!answer.text.contains(token.as_str()), "{}", answer.text);
        }
    }
    assert!(stage.upstream.requests().is_empty());
}

/// RFC 9110, 11.1: the scheme is read without regard to case.
#[tokio::test]
async fn the_scheme_of_the_token_may_be_written_in_any_case() {
    let stage = Stage::free(Upstream::start().await).await;
    let client = stage.modern();
    for scheme in ["bearer", "BEARER", "Bearer"] {
        let authorization = format!("{scheme} {}", stage.token);
        let reply = client.request("tools/list", "{}").header("authorization", &authorization).send().await;
        assert_eq!(reply.status, 200, "{scheme}");
    }
}

/// R-SEC-08: each client of the tokens file gets in with its own token.
#[tokio::test]
async fn every_token_of_the_file_is_good() {
    let setup = Setup { free: true, second: true, ..Setup::default() };
    let stage = Stage::with(setup, Upstream::start().await).await;
    assert_eq!(stage.modern().call("tools/list", "{}").await.status, 200);
    assert_eq!(stage.modern().token(SECOND).call("tools/list", "{}").await.status, 200);
}

/// R-SEC-08: DNS rebinding: a page that has our address under another name gets nothing.
#[tokio::test]
async fn a_request_for_another_host_is_refused_on_every_route() {
    let stage = Stage::free(Upstream::start().await).await;
    let host = address(&stage.origin);
    let port = host.split(':').nth(1).unwrap();
    let (local, evil, dot) =
        (format!("localhost:{port}"), format!("evil.example:{port}"), format!("127.0.0.1.:{port}"));
    let foreign: [&[&str]; 9] =
        [&[], &[""], &["127.0.0.1"], &["127.0.0.1:1"], &[&local], &[&evil], &[&dot], &[&host, &evil], &[&host, &host]];
    for hosts in foreign {
        for (line, answer) in everywhere(&stage, hosts, &[]).await {
            assert_eq!(answer.status, 421, "{hosts:?} {line}: {}", answer.text);
        }
    }
    assert!(stage.upstream.requests().is_empty());
}

/// R-SEC-08: the target of a request counts as much as its Host header.
#[tokio::test]
async fn a_target_of_another_host_is_refused_and_our_own_is_not() {
    let stage = Stage::free(Upstream::start().await).await;
    let host = address(&stage.origin);
    let headers = [("Host", host.as_str())];
    for route in ROUTES {
        for line in [format!("GET http://evil.example{route}"), format!("GET http://evil@{host}{route}")] {
            let answer = exchange(&stage.origin, request(&line, &headers, "")).await;
            assert!([400, 421].contains(&answer.status), "{line}: {}", answer.text);
        }
    }
    for line in ["CONNECT evil.example:80", "GET *"] {
        let answer = exchange(&stage.origin, request(line, &headers, "")).await;
        assert!((400..500).contains(&answer.status), "{line}: {}", answer.text);
    }
    let answer = exchange(&stage.origin, request(&format!("GET {}/healthz", stage.origin), &headers, "")).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
}

/// R-SEC-08: a page of another origin gets nothing, not even what needs no token.
#[tokio::test]
async fn a_page_of_another_origin_is_refused_on_every_route() {
    let stage = Stage::free(Upstream::start().await).await;
    let host = address(&stage.origin);
    let port = host.split(':').nth(1).unwrap();
    let (local, tls, longer) =
        (format!("http://localhost:{port}"), format!("https://{host}"), format!("{}.evil.example", stage.origin));
    let slash = format!("{}/", stage.origin);
    let foreign: [&[(&str, &str)]; 8] = [
        &[("Origin", "https://evil.example")],
        &[("Origin", "null")],
        &[("Origin", "")],
        &[("Origin", &local)],
        &[("Origin", &tls)],
        &[("Origin", &longer)],
        &[("Origin", &slash)],
        &[("Origin", &stage.origin), ("Origin", "https://evil.example")],
    ];
    for origins in foreign {
        for (line, answer) in everywhere(&stage, &[&host], origins).await {
            assert_eq!(answer.status, 403, "{origins:?} {line}: {}", answer.text);
            assert_eq!(answer.header("access-control-allow-origin"), None);
        }
    }
    assert!(stage.upstream.requests().is_empty());
    for (line, answer) in everywhere(&stage, &[&host], &[("Origin", &stage.origin)]).await {
        assert_ne!(answer.status, 0, "{line}");
        assert!(!answer.text.contains("another origin"), "{line}: {}", answer.text);
    }
}

/// R-SEC-08: identity mode local is for one machine; what a proxy hands on came from elsewhere.
#[tokio::test]
async fn a_request_that_came_through_a_proxy_is_refused_on_every_route() {
    let stage = Stage::free(Upstream::start().await).await;
    let host = address(&stage.origin);
    for (name, value) in [
        ("Forwarded", "for=192.0.2.1"),
        ("X-Forwarded-For", "127.0.0.1"),
        ("x-forwarded-host", host.as_str()),
        ("X-FORWARDED-PROTO", "http"),
        ("X-Forwarded-Anything", ""),
    ] {
        for (line, answer) in everywhere(&stage, &[&host], &[(name, value)]).await {
            assert_eq!(answer.status, 403, "{name} {line}: {}", answer.text);
        }
    }
    assert!(stage.upstream.requests().is_empty());
}

/// R-SEC-07, R-SEC-08: only who can read the control file gets a sign-in link.
#[tokio::test]
async fn a_sign_in_link_is_made_for_the_control_token_alone() {
    let stage = Stage::free(Upstream::start().await).await;
    let host = address(&stage.origin);
    let control = ControlFile::load(&stage.folder.path().join("usher.control")).unwrap();
    let right = format!("Bearer {}", control.token.expose_secret());
    let other = format!("Bearer {}", stage.token);
    let basic = format!("Basic {}", control.token.expose_secret());
    for authorization in [None, Some(&other), Some(&basic)] {
        let mut headers = vec![("Host", host.as_str())];
        headers.extend(authorization.map(|value| ("Authorization", value.as_str())));
        let answer = exchange(&stage.origin, request("POST /login/links", &headers, "")).await;
        assert_eq!(answer.status, 401, "{authorization:?}: {}", answer.text);
        assert!(!answer.text.contains("/login?token="));
    }
    let headers = [("Host", host.as_str()), ("Authorization", right.as_str())];
    assert_eq!(exchange(&stage.origin, request("GET /login/links", &headers, "")).await.status, 405);
    let answer = exchange(&stage.origin, request("POST /login/links", &headers, "")).await;
    assert_eq!(answer.status, 201, "{}", answer.text);
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let made: serde_json::Value = serde_json::from_str(answer.body()).unwrap();
    let person = usher_testkit::person::Person::new(&stage.origin);
    assert_eq!(person.sign_in(made["url"].as_str().unwrap()).await.status, 200);
    assert_eq!(person.get("/").await.status, 200);
}

/// R-SEC-08: an upstream is reached under its exact name, and only after the token was looked at.
#[tokio::test]
async fn a_name_that_is_no_upstream_is_not_found() {
    let stage = Stage::free(Upstream::start().await).await;
    let host = address(&stage.origin);
    let bearer = format!("Bearer {}", stage.token);
    let known = [("Host", host.as_str()), ("Content-Type", "application/json"), ("Authorization", bearer.as_str())];
    for path in
        ["/mcp/other", "/mcp/WEATHER", "/mcp/weather%00", "/mcp/weather%2f", "/mcp/..%2fweather", "/mcp/weather/"]
    {
        let answer = exchange(&stage.origin, request(&format!("POST {path}"), &known, PING)).await;
        assert_eq!(answer.status, 404, "{path}: {}", answer.text);
    }
    let answer = exchange(&stage.origin, request("POST /mcp/other", &known[..2], PING)).await;
    assert_eq!(answer.status, 401, "{}", answer.text);
    assert!(stage.upstream.requests().is_empty());
}
