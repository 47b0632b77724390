//! Users and clients: who is who, and what is whose.

use serde_json::json;
use usher_testkit::client::Legacy;

use super::{called, is_invalid, opens};
use crate::harness::{Setup, Stage};

/// R-ID-01: the same claim on both sides makes the user.
#[tokio::test]
async fn a_user_is_what_the_configured_claim_says() {
    let setup = Setup { free: true, identity: "user_claim = \"oid\"".to_owned(), ..Setup::default() };
    let stage = Stage::oidc(setup).await;
    is_invalid(&stage, &stage.token, "without the claim").await;
    for wrong in [json!(7), json!(["o"]), json!(""), json!("a\nb")] {
        is_invalid(&stage, &stage.access("user-1", "editor").claim("oid", wrong).mint(), "no string").await;
    }
    opens(&stage, &stage.access("pairwise-1", "editor").claim("oid", "object-1").mint(), "with it").await;
}

/// A client without a person could ask nobody, and would use what no person allowed it.
#[tokio::test]
async fn a_token_of_a_client_itself_is_refused() {
    let stage = Stage::oidc(Setup { free: true, ..Setup::default() }).await;
    for token in [
        stage.access("editor", "editor"),
        stage.access("editor@clients", "editor"),
        stage.access("7", "editor").claim("idtyp", "app"),
    ] {
        let reply = called(&stage, &token.mint()).await;
        assert_eq!((reply.status.as_u16(), reply.header("www-authenticate")), (403, None), "{}", reply.text());
        assert!(reply.error_message().contains("this service is for people"));
    }
    assert!(stage.upstream.requests().is_empty());
}

/// R-ID-01, R-ID-02: a session is its user's and its client's, whoever else knows its id.
#[tokio::test]
async fn a_session_of_somebody_else_is_none() {
    let stage = Stage::oidc(Setup { free: true, ..Setup::default() }).await;
    let client = stage.ready().await;
    let session = client.session().unwrap();
    for (user, client) in [("user-2", "editor"), ("user-1", "terminal"), ("user-2", "terminal")] {
        let other = Legacy::new(stage.endpoint()).token(stage.token_of(user, client)).with_session(&session);
        let reply = other.call("tools/list", "{}").await;
        assert_eq!(reply.status, 404, "{user} {client}: {}", reply.text());
    }
    let again = Legacy::new(stage.endpoint()).token(stage.token_of("user-1", "editor")).with_session(&session);
    assert_eq!(again.call("tools/list", "{}").await.status, 200, "a new token of the same is good");
}
