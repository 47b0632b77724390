//! Letting go: kind 23.

use usher_testkit::oauth::Trouble;
use usher_testkit::oauth::settings::Revocation;
use usher_testkit::provider::Behaviour;

use super::*;

#[tokio::test]
async fn kind_23_a_grant_ends_in_the_provider_s_way() {
    let delete = "[provider.revocation]\nendpoint = \"@issuer/applications/{client_id}/grant\"\nmethod = \"DELETE\"\n\
                  request = \"json\"\ntoken = \"access_token\"\nparameter = \"access_token\"\nproof = \"client_basic\"";
    for (way, lines) in [
        (Revocation::Standard, "[provider.revocation]\nendpoint = \"@revoke\""),
        (Revocation::Query, "[provider.revocation]\nendpoint = \"@revoke\"\nproof = \"off\"\nrequest = \"query\""),
        (Revocation::Delete, delete),
        (
            Revocation::Bearer,
            "[provider.revocation]\nendpoint = \"@revoke\"\ntoken = \"access_token\"\nproof = \"bearer\"",
        ),
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
        (Behaviour::Status(404), true, false),
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
