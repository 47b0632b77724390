//! Consent and credentials, with several users and several clients (R-OAUTH-04).

use crate::harness::{CALLS, KEY, Setup, Stage};
use usher_testkit::client::Reply;

/// A call as this user through this client.
async fn as_of(stage: &Stage, user: &str, client: &str) -> Reply {
    let (method, params) = CALLS[0];
    stage.modern_with(&stage.token_of(user, client)).call(method, params).await
}

/// R-OAUTH-04, R-ID-01: what one person connected for one client is used for no other person, and no other client.
#[tokio::test]
async fn what_is_connected_is_used_for_that_person_and_the_client_they_allowed() {
    let stage = Stage::oidc(Setup::default()).await;
    let asked = as_of(&stage, "user-1", "editor").await;
    assert!(asked.is_input_required(), "{}", asked.text());
    stage.connect_elsewhere(&asked.url(), KEY).await;
    assert_eq!(as_of(&stage, "user-1", "editor").await.content_text(), "sunny");

    // The same person through another client, and others through either, are asked: each with a question of their own.
    let mut links = vec![asked.url()];
    for (user, client) in [("user-1", "terminal"), ("user-2", "editor"), ("user-2", "terminal")] {
        let asked = as_of(&stage, user, client).await;
        assert!(asked.is_input_required(), "{user} {client}: {}", asked.text());
        assert!(!links.contains(&asked.url()), "{user} {client}");
        links.push(asked.url());
    }
    let used = stage.upstream.requests_of("tools/call").len();
    assert_eq!(used, 1, "nothing was sent for anybody else");
    assert_eq!(as_of(&stage, "user-1", "editor").await.content_text(), "sunny", "and still is for the first");
}

/// R-MRTR-02, R-ID-01: a round is of the one whom it was sent to.
#[tokio::test]
async fn a_round_of_somebody_else_is_refused() {
    let stage = Stage::oidc(Setup::default()).await;
    let (method, params) = CALLS[0];
    let asked = as_of(&stage, "user-1", "editor").await;
    let (state, answers) = (asked.request_state(), asked.answer_all(r#"{"action":"accept"}"#));
    for (user, client) in [("user-2", "editor"), ("user-1", "terminal")] {
        let other = stage.modern_with(&stage.token_of(user, client));
        let reply = other.retry(method, params, Some(&answers), state.as_deref()).await;
        assert_eq!(reply.error_code(), -32602, "{user} {client}: {}", reply.text());
    }
}
