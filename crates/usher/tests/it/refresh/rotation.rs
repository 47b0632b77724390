//! Refresh tokens that are replaced, that stay, that get lost on their way, and that are dead.

use secrecy::ExposeSecret as _;
use usher_store::{AskReason, AuditAction, CredentialStatus};
use usher_testkit::oauth::{
    Endpoint, Trouble,
    settings::{DeadToken, Reuse, Rotation},
};

use super::scene::{HOUR, Scene, grant, granted};
use crate::{
    harness::{CALLS, answered, told},
    needs_modern::ask,
};

async fn refresh_token(scene: &Scene) -> String {
    scene.stored().await.grant.unwrap().refresh_token.unwrap().expose_secret().to_owned()
}

/// What comes in place of a refresh token is used the next time; where nothing comes, the old one stays.
#[tokio::test]
async fn a_new_refresh_token_replaces_the_old_and_none_keeps_it() {
    for (rotation, changes) in
        [(Rotation::AtOnce, true), (Rotation::Grace(60), true), (Rotation::Kept, false), (Rotation::Omitted, false)]
    {
        let scene = Scene::connected().await;
        scene.hub.set(|settings| settings.refreshing.rotation = rotation);
        let first = refresh_token(&scene).await;
        for _ in 0..3 {
            scene.stage.clock.forward(HOUR);
            scene.goes_through().await;
        }
        assert_eq!(scene.hub.counts().refreshes, 3, "{rotation:?}");
        assert_eq!(refresh_token(&scene).await != first, changes, "{rotation:?}");
        scene.assert_clean();
    }
}

/// A reply that is lost after the rotation: the old refresh token is tried once more. Within the grace time that heals it.
#[tokio::test]
async fn a_lost_reply_heals_within_the_grace_time() {
    let scene = Scene::expired().await;
    scene.hub.set(|settings| settings.refreshing.rotation = Rotation::Grace(3600));
    scene.hub.trouble_next(Endpoint::Refresh, Trouble::ReplyLost);
    let text = told(CALLS[0].0, &scene.call().await);
    assert!(text.contains("Hub") && text.contains("try again in"), "{text}");
    scene.stage.clock.forward(10);
    scene.goes_through().await;
    assert_eq!((scene.hub.counts().refreshes, scene.hub.counts().refresh_tokens_again), (2, 0));
    assert_eq!(scene.stored().await.status, CredentialStatus::Working);
    scene.stage.clock.forward(HOUR);
    scene.goes_through().await;
    scene.assert_clean();
}

/// Without a grace time the second attempt finds out that the old one is dead, and the person signs in again: the record stays,
/// and nothing is tried a third time.
#[tokio::test]
async fn a_lost_reply_without_a_grace_time_ends_in_a_question() {
    for reuse in [Reuse::Refused, Reuse::EndsGrant] {
        let scene = Scene::expired().await;
        scene.hub.set(|settings| settings.refreshing.reuse = reuse);
        scene.hub.trouble_next(Endpoint::Refresh, Trouble::ReplyLost);
        assert!(scene.call().await.is_tool_error());
        scene.stage.clock.forward(10);
        let asked = ask(&scene.stage.modern(), CALLS[0]).await;
        ask(&scene.stage.modern(), CALLS[1]).await;
        assert_eq!(scene.stage.interaction(&asked.url()).await.reason, AskReason::Rejected);
        let counts = scene.hub.counts();
        assert_eq!((counts.refreshes_tried, counts.refresh_tokens_again), (2, 1), "{reuse:?}");
        assert_eq!(scene.stored().await.status, CredentialStatus::Rejected);
    }
}

/// R-GW-03: a refresh token that is dead, however its provider says so, leads to a question in the same call, and is tried once.
/// After the person has signed in again everything goes on.
#[tokio::test]
async fn a_dead_refresh_token_leads_to_a_question() {
    for dead in [
        DeadToken::InvalidGrant,
        DeadToken::Code("invalid_request"),
        DeadToken::Says(400, "text/plain", "Token has been expired or revoked."),
        DeadToken::Says(400, "text/html", "<p>unknown token</p>"),
        DeadToken::Says(400, "application/json", ""),
    ] {
        let scene = Scene::expired().await;
        scene.hub.set(|settings| settings.refreshing.dead = dead.clone());
        scene.hub.revoke_grants_of("user-1");
        for call in CALLS {
            let asked = ask(&scene.stage.modern(), call).await;
            assert_eq!(scene.stage.interaction(&asked.url()).await.reason, AskReason::Rejected, "{dead:?}");
        }
        assert_eq!(scene.hub.count(Endpoint::Refresh), 1, "{dead:?}");
        let stored = scene.stored().await;
        assert_eq!(stored.status, CredentialStatus::Rejected, "{dead:?}");
        assert!(stored.grant.is_some(), "the record stays");
        assert_eq!(scene.stage.audited(AuditAction::CredentialDead).await, 1);
        let granted = granted(&scene.hub, "user-1").await;
        let new = grant(&scene.hub, &granted, usher::clock::Clock::now(&*scene.stage.clock));
        scene.connect_with(&granted, new).await;
        scene.goes_through().await;
    }
}

/// R-GW-03: the same in the legacy era: the question comes on the call's own stream.
#[tokio::test]
async fn a_dead_refresh_token_leads_to_a_question_in_a_legacy_call() {
    let scene = Scene::expired().await;
    scene.hub.revoke_grants_of("user-1");
    let client = scene.stage.ready().await;
    let mut stream = client.open(CALLS[0].0, CALLS[0].1).await;
    let question = stream.expect("elicitation/create").await;
    client.respond(question.id().unwrap(), crate::harness::ACCEPT).await;
    let url = question.string(&["params", "url"]).unwrap();
    let granted = granted(&scene.hub, "user-1").await;
    let now = usher::clock::Clock::now(&*scene.stage.clock);
    let new = grant(&scene.hub, &granted, now);
    super::scene::store_grant(&scene.stage.app().store, &url, &granted, new, now).await;
    let reply = stream.reply().await;
    assert!(answered(&reply), "{}", reply.text());
}

/// What else a refresh says is taken over, and what it does not say stays.
#[tokio::test]
async fn other_metadata_of_a_refresh_is_merged() {
    let scene = Scene::expired().await;
    scene.hub.set(|settings| settings.refreshing.members = serde_json::json!({ "scope": "read write" }));
    scene.goes_through().await;
    let grant = scene.stored().await.grant.unwrap();
    assert_eq!(grant.scopes.iter().map(String::as_str).collect::<Vec<_>>(), ["read", "write"]);
    assert_eq!(grant.account.as_deref(), Some("user-1"));
    scene.hub.set(|settings| settings.refreshing.members = serde_json::json!({ "scope": null }));
    scene.stage.clock.forward(HOUR);
    scene.goes_through().await;
    assert_eq!(scene.stored().await.grant.unwrap().scopes.len(), 2);
}
