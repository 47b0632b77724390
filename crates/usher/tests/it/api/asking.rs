//! A server asks a person for a credential.

use serde_json::json;
use usher::clock::Clock as _;
use usher_store::AuditAction;

use super::{INTERACTIONS, Server, audited, stage, waiting};
use crate::harness::{KEY, answered};

/// The design, section 1: asked, shown, connected, and there from then on. No answer holds the credential (R-OAUTH-01).
#[tokio::test]
async fn a_question_is_asked_shown_and_answered() {
    let stage = stage("").await;
    let server = Server::weather(&stage).await;
    let body = json!({ "provider": "weather", "client": "claude", "client_name": "Claude\u{202e} Desktop" });
    let asked = server.post(INTERACTIONS, body.to_string()).await;

    assert_eq!(asked.status, 201, "{asked:?}");
    assert_eq!(asked.header("location"), asked.path());
    assert_eq!(asked.header("cache-control"), "no-store");
    let url = asked.member("url");
    assert_eq!(url, format!("{}/connect/{}", stage.origin, asked.member("id")), "the link carries the id alone");
    assert_eq!((asked.member("state").as_str(), asked.member("reason").as_str()), ("created", "missing"));
    let stored = stage.interaction(&url).await;
    assert_eq!(stored.principal.client.as_str(), "claude");
    assert_eq!(stored.destination.upstream, "weather");
    assert_eq!(stored.client_claim.as_deref(), Some("Claude‹U+202E› Desktop"), "a claim is made harmless");
    assert_eq!(audited(&stage, &server.key, AuditAction::ApiInteractionAsked).await, 1);

    let person = stage.person().await;
    let page = person.get(&url).await;
    assert!(page.describe().contains("claude"), "{}", page.describe());
    let text = page.text();
    assert!(text.contains("named by the server, not verified by Usher"), "R-ID-02: {text}");
    assert!(!text.contains("verified by its"), "{text}");
    assert_eq!(server.get(&asked.path()).await.member("state"), "opened");
    let done = person.connect(&url, &[("api_key", KEY)]).await;
    assert_eq!(done.heading().as_deref(), Some("Connected"), "{}", done.describe());

    let seen = server.get(&asked.path()).await;
    assert_eq!(seen.member("state"), "completed");
    let again = server.ask("claude").await;
    assert_eq!((again.status.as_u16(), again.json()), (200, json!({ "state": "completed", "provider": "weather" })));
    for answer in [&asked, &seen, &again] {
        assert!(!answer.text.contains(KEY));
    }
    assert!(waiting(&stage).await.is_empty(), "nobody is asked for what is there");
}

/// What is connected for a client at a server is so for both ways of asking: behind Usher, and beside it.
#[tokio::test]
async fn what_is_connected_through_the_gateway_is_connected_for_the_api() {
    let stage = stage("").await;
    stage.connected().await;
    let server = Server::weather(&stage).await;
    assert_eq!(server.ask("default").await.status, 200);
    // Another client is allowed first (R-OAUTH-04), and another server too (R-GW-04).
    assert_eq!(server.asked("another").await.member("reason"), "new-client");
    let other = Server::named(&stage, "other", &usher_store::ApiScope::ALL).await;
    assert_eq!(other.asked("default").await.member("reason"), "new-client");
    let asked = stage.modern().call("tools/call", r#"{"name":"get_forecast"}"#).await;
    assert!(answered(&asked), "{}", asked.text());
}

/// R-SEC-01: the same question is one page, which lasts longer when it is asked again.
#[tokio::test]
async fn the_same_question_is_joined() {
    let stage = stage("").await;
    let server = Server::weather(&stage).await;
    let asked = server.asked("claude").await;
    stage.clock.forward(60);
    let joined = server.ask("claude").await;
    assert_eq!(joined.status, 200);
    assert_eq!(joined.member("id"), asked.member("id"));
    assert!(joined.member("expires_at") > asked.member("expires_at"));
    assert_ne!(server.asked("other").await.member("id"), asked.member("id"), "another client is another question");
    assert_eq!(audited(&stage, &server.key, AuditAction::ApiInteractionAsked).await, 2);
}

#[tokio::test]
async fn a_person_has_as_long_as_the_server_says() {
    let stage = stage("").await;
    let server = Server::weather(&stage).await;
    let body = json!({ "provider": "weather", "client": "claude", "expires_in": 60 });
    let asked = server.post(INTERACTIONS, body.to_string()).await;
    let left = stage.interaction(&asked.member("url")).await.expires_at.duration_since(stage.clock.now());
    assert!((50..=60).contains(&left.as_secs()), "{left}");
    stage.clock.forward(61);
    assert_eq!(server.get(&asked.path()).await.member("state"), "expired");
    assert_eq!(server.asked("claude").await.status, 201, "and may be asked anew");
}

/// RFC 9457: all that is wrong is told at once, each with its place (RFC 6901).
#[tokio::test]
async fn all_faults_are_told_at_once() {
    let stage = stage("").await;
    let server = Server::weather(&stage).await;
    let body = json!({
        "provider": "unused", "user": { "issuer": "https://a.example", "email": "a@example" }, "client": "",
        "client_name": 1, "expires_in": 59, "redirect_uri": "https://a.example", "a/b~c": 1,
    });
    let refused = server.post(INTERACTIONS, body.to_string()).await;
    let mut faults = refused.faults();
    faults.sort();
    let expected = [
        "/a~1b~0c",
        "/client",
        "/client_name",
        "/expires_in",
        "/provider",
        "/redirect_uri",
        "/user/email",
        "/user/subject",
    ];
    assert_eq!(faults, expected, "{}", refused.text);
    let text = "the server weather has no need on the provider unused; it needs weather, confirm, pay";
    assert!(refused.text.contains(text), "{}", refused.text);
    assert!(waiting(&stage).await.is_empty());

    assert_eq!(server.post(INTERACTIONS, "{}").await.faults(), ["/provider", "/client"]);
    assert_eq!(server.post(INTERACTIONS, "[]").await.faults(), [""]);
}

/// Mode local has one user: a question for anybody else could never be answered.
#[tokio::test]
async fn only_the_owner_is_asked_in_mode_local() {
    let stage = stage("").await;
    let server = Server::weather(&stage).await;
    let ask = async |issuer: &str, subject: &str| {
        let user = json!({ "issuer": issuer, "subject": subject });
        server.post(INTERACTIONS, json!({ "provider": "weather", "client": "claude", "user": user }).to_string()).await
    };
    assert_eq!(ask("urn:usher:local", "somebody").await.faults(), ["/user"]);
    assert_eq!(ask("https://issuer.example", "owner").await.faults(), ["/user"]);
    assert_eq!(ask("urn:usher:local", "owner").await.status, 201);
}

/// R-SEC-01: a question that was declined rests, whoever asks it.
#[tokio::test]
async fn a_declined_question_rests() {
    let stage = stage("").await;
    let server = Server::weather(&stage).await;
    let asked = server.asked("claude").await;
    stage.person().await.decline(&asked.member("url")).await;
    assert_eq!(server.get(&asked.path()).await.member("state"), "declined");

    let refused = server.ask("claude").await;

    refused.problem(429, "declined");
    assert!((1..=120).contains(&refused.retry_after()), "{refused:?}");
    stage.clock.forward(121);
    assert_eq!(server.asked("claude").await.status, 201);
}
