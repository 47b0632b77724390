//! Letting go: kind 23.

use usher_testkit::oauth::Trouble;
use usher_testkit::oauth::settings::Revocation;
use usher_testkit::provider::Behaviour;

use super::*;

const DELETE: &str = "[provider.revocation]\nendpoint = \"@issuer/applications/{client_id}/grant\"\nmethod = \"DELETE\"\n\
     request = \"json\"\ntoken = \"access_token\"\nparameter = \"access_token\"\nproof = \"client_basic\"";
const BEARER: &str = "[provider.revocation]\nendpoint = \"@revoke\"\ntoken = \"access_token\"\nproof = \"bearer\"";

#[tokio::test]
async fn kind_23_a_grant_ends_in_the_provider_s_way() {
    for (way, lines) in [
        (Revocation::Standard, "[provider.revocation]\nendpoint = \"@revoke\""),
        (Revocation::Query, "[provider.revocation]\nendpoint = \"@revoke\"\nproof = \"off\"\nrequest = \"query\""),
        (Revocation::Delete, DELETE),
        (Revocation::Bearer, BEARER),
    ] {
        let lines = format!("client_authentication = \"client_secret_post\"\n{lines}");
        let scene = Scene::new(|settings| settings.server.revocation = way, &lines).await;
        let tokens = scene.connected().await;
        assert_eq!(scene.provider.grants_of("user-1"), 1);
        scene.revoke(&tokens).await.unwrap();
        assert_eq!(scene.provider.grants_of("user-1"), 0, "{way:?}");
        assert!(!scene.is_good(&tokens), "{way:?}");
        // What is gone is gone, however the provider says so.
        let again = scene.revoke(&tokens).await;
        assert!(matches!(again, Ok(()) | Err(RevokeError::Refused(_))), "{way:?}: {again:?}");
        scene.provider.assert_clean();
    }
}

/// An access token that has ended says nothing of the grant: the one that renews it ends with it, or the grant stays listed.
#[tokio::test]
async fn kind_23_an_access_token_that_has_ended_is_renewed_to_end_its_grant() {
    for (way, lines) in [(Revocation::Delete, DELETE), (Revocation::Bearer, BEARER)] {
        for known in [false, true] {
            let scene = Scene::new(|settings| settings.server.revocation = way, lines).await;
            let mut tokens = scene.connected().await;
            scene.provider.end_access_tokens_of("user-1");
            // What is known to have expired is not sent.
            tokens.expires_at = known.then(|| SystemClock.now());
            scene.revoke(&tokens).await.unwrap();
            assert_eq!(scene.provider.grants_of("user-1"), 0, "{way:?}");
            assert_eq!(scene.provider.count(Endpoint::Refresh), 1, "{way:?}");
            assert_eq!(scene.provider.count(Endpoint::Revocation), if known { 1 } else { 2 }, "{way:?}");
            // Nothing renews it any more, so that it has ended.
            scene.revoke(&tokens).await.unwrap();
        }
    }
}

/// What cannot be renewed is not said to have ended.
#[tokio::test]
async fn kind_23_an_access_token_that_cannot_be_renewed_leaves_the_grant_listed() {
    for (trouble, transient) in [
        (Behaviour::Status(503), true),
        (Behaviour::Drop, true),
        (Behaviour::Body(401, r#"{"error":"invalid_client"}"#.to_owned()), false),
        (Behaviour::Body(400, r#"{"error":"whatever"}"#.to_owned()), false),
        (Behaviour::Status(404), false),
    ] {
        let scene = Scene::new(|settings| settings.server.revocation = Revocation::Delete, DELETE).await;
        let tokens = scene.connected().await;
        scene.provider.end_access_tokens_of("user-1");
        scene.provider.trouble(Endpoint::Refresh, Trouble::Instead(trouble.clone()));
        scene.provider.trouble(Endpoint::Revocation, Trouble::Instead(Behaviour::Status(404)));
        let error = scene.revoke(&tokens).await.unwrap_err();
        assert_eq!(error.is_transient(), transient, "{trouble:?}: {error:?}");
        // An endpoint that is not there is no answer about any token.
        scene.provider.well(Endpoint::Refresh);
        assert!(matches!(scene.revoke(&tokens).await, Err(RevokeError::Refused(_))), "{trouble:?}");
    }
}

#[tokio::test]
async fn kind_23_some_have_no_way() {
    let scene = Scene::new(|settings| settings.server.revocation = Revocation::None, "").await;
    let tokens = scene.connected().await;
    assert_eq!(scene.revoke(&tokens).await, Err(RevokeError::Unsupported));
}

#[tokio::test]
async fn kind_23_what_may_pass_is_told_from_what_does_not() {
    let scene = Scene::new(|_| {}, "[provider.revocation]\nendpoint = \"@revoke\"").await;
    let tokens = scene.connected().await;
    let repeats = format!(r#"{{"error":"{}"}}"#, access_token(&tokens));
    for (trouble, fine, transient) in [
        (Behaviour::Body(400, repeats), false, false),
        (Behaviour::Status(503), false, true),
        (Behaviour::Status(429), false, true),
        (Behaviour::Drop, false, true),
        (Behaviour::Huge(1 << 20), false, true),
        (Behaviour::Body(401, r#"{"error":"invalid_client"}"#.to_owned()), false, false),
        (Behaviour::Body(200, r#"{"ok":false,"error":"unknown_method"}"#.to_owned()), false, false),
        (Behaviour::Redirect("http://127.0.0.1:1/".to_owned()), false, false),
        (Behaviour::Body(200, r#"{"ok":false,"error":"token_revoked"}"#.to_owned()), true, false),
        (Behaviour::Body(400, r#"{"error":"invalid_token"}"#.to_owned()), true, false),
        (Behaviour::Status(404), false, false),
        (Behaviour::Status(410), false, false),
        (Behaviour::Status(204), true, false),
    ] {
        scene.provider.trouble_next(Endpoint::Revocation, Trouble::Instead(trouble.clone()));
        let found = scene.revoke(&tokens).await;
        assert_eq!(found.is_ok(), fine, "{trouble:?}: {found:?}");
        if let Err(error) = found {
            assert_eq!(error.is_transient(), transient, "{trouble:?}: {error:?}");
            scene.assert_silent(&format!("{error} {error:?}"));
        }
    }
}
