//! Each user's own token and no other, whatever becomes of it (R-OAUTH-01, R-ID-01).

use std::sync::Arc;

use elicit::UserId;
use jiff::SignedDuration;
use usher::clock::Clock as _;
use usher_store::CredentialStatus;
use usher_testkit::{client::Modern, idp::Idp, upstream::Upstream};

use super::scene::{HOUR, Scene, grant, granted, store_grant};
use crate::{
    harness::{CALLS, Setup, answered},
    needs_modern::ask,
};

async fn scene() -> Scene {
    let setup = Setup { issuer: Some(Arc::new(Idp::start().await)), ..Setup::default() };
    Scene::with(setup, Upstream::start().await).await
}

fn client(scene: &Scene, user: &str) -> Modern {
    scene.stage.modern_with(&scene.stage.token_of(user, "editor"))
}

/// `user` connects the account of the same name, with a token that lasts for so many seconds.
async fn connect(scene: &Scene, user: &str, lasts: i64) {
    let asked = ask(&client(scene, user), CALLS[0]).await;
    let (granted, now) = (granted(&scene.hub, user).await, scene.stage.clock.now());
    let mut new = grant(&scene.hub, &granted, now);
    new.expires_at = Some(now + SignedDuration::from_secs(lasts));
    store_grant(&scene.stage.app().store, &asked.url(), &granted, new, now).await;
}

/// Whose tokens the server saw, in their order.
fn seen(scene: &Scene) -> Vec<String> {
    let (book, requests) = (scene.hub.token_book(), scene.stage.upstream.requests());
    let tokens = requests.iter().filter_map(|request| request.header("authorization")?.strip_prefix("Bearer "));
    tokens.map(|token| book.look_up(token).map_or("nobody".to_owned(), |token| token.subject)).collect()
}

/// Of two users one is dead at the provider: that one is asked, and the other goes on, each with their own alone.
#[tokio::test]
async fn what_ends_for_one_user_goes_on_for_the_other() {
    let scene = scene().await;
    for user in ["user-1", "user-2"] {
        connect(&scene, user, 0).await;
    }
    scene.hub.revoke_grants_of("user-1");
    for call in CALLS {
        ask(&client(&scene, "user-1"), call).await;
        let reply = client(&scene, "user-2").call(call.0, call.1).await;
        assert!(answered(&reply), "{}", reply.text());
    }
    assert_eq!(seen(&scene), ["user-2", "user-2", "user-2"]);
    let counts = scene.hub.counts();
    assert_eq!((counts.refreshes, counts.refreshes_tried), (1, 2));
    let store = &scene.stage.app().store;
    let status = async |subject: &str| {
        let user = UserId::new(scene.stage.idp().issuer(), subject).unwrap();
        store.credential(&user, "hub").await.unwrap().unwrap().status
    };
    assert_eq!(
        (status("user-1").await, status("user-2").await),
        (CredentialStatus::Rejected, CredentialStatus::Working)
    );
    scene.hub.assert_clean();
}

/// What whoever runs the service connected is theirs, and used for nobody else, also when it is fresh and theirs is not.
#[tokio::test]
async fn what_one_user_connected_is_used_for_no_other() {
    let scene = scene().await;
    connect(&scene, "user-1", HOUR).await;
    for call in CALLS {
        ask(&client(&scene, "user-2"), call).await;
    }
    connect(&scene, "user-2", HOUR).await;
    scene.hub.revoke_grants_of("user-2");
    for call in CALLS {
        ask(&client(&scene, "user-2"), call).await;
        assert!(answered(&client(&scene, "user-1").call(call.0, call.1).await));
    }
    assert!(seen(&scene).iter().all(|who| who == "user-1" || who == "nobody"), "{:?}", seen(&scene));
    let sent = scene.stage.upstream.requests_of("tools/call");
    assert_eq!(sent.len(), 2, "of user-2 the one that was refused");
}

/// Calls of both at once, both expired: each gets their own.
#[tokio::test]
async fn two_users_at_once_get_their_own() {
    let scene = scene().await;
    for user in ["user-1", "user-2"] {
        connect(&scene, user, 0).await;
    }
    let calls = (0..20).map(|count| {
        let client = client(&scene, if count % 2 == 0 { "user-1" } else { "user-2" });
        async move { client.call(CALLS[0].0, CALLS[0].1).await }
    });
    let replies = futures_util::future::join_all(calls).await;
    assert!(replies.iter().all(answered));
    assert_eq!(scene.hub.counts().refreshes, 2);
    let seen = seen(&scene);
    assert_eq!(seen.iter().filter(|who| *who == "user-1").count(), 10);
    assert_eq!(seen.iter().filter(|who| *who == "user-2").count(), 10);
}
