//! Who may ask: keys, their scopes, their ends.

use http::Method;
use jiff::SignedDuration;
use secrecy::ExposeSecret as _;
use usher::clock::Clock as _;
use usher_store::{ApiScope, AuditAction, NewApiKey};

use super::{INTERACTIONS, Server, audited, send, stage};
use crate::{
    harness::Stage,
    raw::{address, exchange, request},
};

async fn status(stage: &Stage, text: &str) -> u16 {
    let headers = [("Host", address(&stage.origin)), ("Authorization", format!("Bearer {text}"))];
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let path = format!("GET {INTERACTIONS}/{}", "A".repeat(43));
    exchange(&stage.origin, request(&path, &headers, "")).await.status
}

/// R-SEC-08: without a key nobody learns anything, and is told what is missing (RFC 6750).
#[tokio::test]
async fn without_a_key_nothing_passes() {
    let stage = stage("").await;
    let server = Server::weather(&stage).await;
    let text = server.text.expose_secret();
    let secret = text.rsplit_once(server.key.id.as_str()).unwrap().1;
    let wrong = [
        vec![],
        vec![String::new()],
        vec!["Bearer".to_owned()],
        vec!["Bearer ".to_owned()],
        vec![text.to_owned()],
        vec![format!("Basic {text}")],
        vec![format!("Bearer\t{text}")],
        vec![format!("Bearer {}", text.to_uppercase())],
        vec![format!("Bearer {text}x")],
        vec![format!("Bearer {}", &text[..text.len() - 1])],
        vec![format!("Bearer usher_aaaaaaaaaaaa{secret}")],
        vec![format!("Bearer {}", stage.token)],
        vec![format!("Bearer {text}"), format!("Bearer {text}")],
        vec![format!("Bearer {text}, Bearer {text}")],
    ];
    for values in &wrong {
        for (method, path) in [
            ("POST", INTERACTIONS.to_owned()),
            ("GET", format!("{INTERACTIONS}/{}?key={text}", "A".repeat(43))),
            ("POST", format!("{INTERACTIONS}/{}/cancel", "A".repeat(43))),
        ] {
            let host = address(&stage.origin);
            let mut headers = vec![("Host", host.as_str()), ("Content-Type", "application/json")];
            headers.extend(values.iter().map(|value| ("Authorization", value.as_str())));
            let answer = exchange(&stage.origin, request(&format!("{method} {path}"), &headers, "{}")).await;
            assert_eq!(answer.status, 401, "{values:?} {method}: {}", answer.text);
            let challenge = answer.header("www-authenticate").unwrap();
            assert!(challenge.starts_with("Bearer realm=\"usher-api\""), "{challenge}");
            assert_eq!(challenge.contains("invalid_token"), !values.is_empty(), "{challenge}");
            assert!(answer.text.contains("urn:usher:problem:unauthenticated") && !answer.text.contains(secret));
        }
    }
    // A key of the API is no token of the MCP side.
    let mcp = send(server.request(Method::POST, "/mcp/weather").body("{}")).await;
    assert_eq!(mcp.status, 401);
}

#[tokio::test]
async fn a_key_does_what_its_scopes_say() {
    let stage = stage("").await;
    let reads = Server::named(&stage, "weather", &[ApiScope::InteractionsRead]).await;
    let writes = Server::named(&stage, "weather", &[ApiScope::InteractionsWrite]).await;
    let asked = writes.asked("claude").await;
    assert_eq!(reads.get(&asked.path()).await.status, 200);
    let refused = [
        (writes.get(&asked.path()).await, "interactions:read"),
        (reads.ask("claude").await, "interactions:write"),
        (reads.post(&format!("{}/cancel", asked.path()), "{}").await, "interactions:write"),
    ];
    for (answer, scope) in refused {
        answer.problem(403, "insufficient-scope");
        let challenge = answer.header("www-authenticate");
        assert_eq!(challenge, format!("Bearer realm=\"usher-api\", error=\"insufficient_scope\", scope=\"{scope}\""));
    }
    assert_eq!(audited(&stage, &reads.key, AuditAction::ApiKeyRefused).await, 1, "once a minute");
}

/// A key that has ended is like none, at once.
#[tokio::test]
async fn revoked_expired_and_rotated_keys_open_nothing() {
    let stage = stage("").await;
    let store = &stage.app().store;
    let server = Server::weather(&stage).await;
    let text = server.text.expose_secret();
    assert_eq!(status(&stage, text).await, 404);

    let keep = SignedDuration::from_mins(1);
    let (_, second) = store.rotate_api_key(&server.key.id, keep, stage.clock.now()).await.unwrap().unwrap();
    assert_eq!((status(&stage, text).await, status(&stage, second.expose_secret()).await), (404, 404));
    stage.clock.forward(61);
    assert_eq!((status(&stage, text).await, status(&stage, second.expose_secret()).await), (401, 404));
    store.revoke_api_key(&server.key.id, stage.clock.now()).await.unwrap();
    assert_eq!(status(&stage, second.expose_secret()).await, 401);

    let expires_at = Some(stage.clock.now() + SignedDuration::from_mins(1));
    let new = NewApiKey {
        server: "weather".to_owned(),
        name: String::new(),
        scopes: ApiScope::ALL.into_iter().collect(),
        expires_at,
    };
    let (_, text) = store.create_api_key(new, stage.clock.now()).await.unwrap();
    assert_eq!(status(&stage, text.expose_secret()).await, 404);
    stage.clock.forward(61);
    assert_eq!(status(&stage, text.expose_secret()).await, 401);
}

/// A server that was taken out of the configuration takes its keys along.
#[tokio::test]
async fn a_key_of_a_server_that_is_not_configured_does_nothing() {
    let stage = stage("").await;
    let gone = Server::named(&stage, "gone", &ApiScope::ALL).await;
    gone.ask("claude").await.problem(403, "no-server");
    gone.get(&format!("{INTERACTIONS}/{}", "A".repeat(43))).await.problem(403, "no-server");
}

/// R-SEC-03, R-SEC-01: refusals are audited, and a flood of them fills nothing.
#[tokio::test]
async fn a_flood_of_wrong_keys_is_refused() {
    let stage = stage("").await;
    for number in 0..100 {
        let text = format!("usher_{number:012}_{}", "A".repeat(43));
        assert_eq!(status(&stage, &text).await, 401);
    }
    let server = Server::weather(&stage).await;
    assert_eq!(server.asked("claude").await.status, 201);
}

/// R-SEC-08: Host and Origin are checked on these routes as well, and say so in their own form.
#[tokio::test]
async fn requests_of_other_pages_and_hosts_are_refused() {
    let stage = stage("").await;
    let server = Server::weather(&stage).await;
    let foreign = server.request(Method::GET, "/api/openapi.json").header("origin", "https://evil.example");
    send(foreign).await.problem(403, "forbidden");
    let host = server.request(Method::GET, "/api/openapi.json").header("host", "evil.example");
    send(host).await.problem(421, "misdirected");
    let proxied = server.request(Method::GET, "/api/openapi.json").header("x-forwarded-for", "203.0.113.1");
    send(proxied).await.problem(403, "forbidden");
    let own = server.request(Method::GET, "/api/openapi.json").header("origin", &stage.origin);
    assert_eq!(send(own).await.status, 200);
}
