//! What was granted belongs to an issuer (R-OAUTH-05).

use usher_testkit::oauth::{Endpoint, Provider, settings::Registration};

use super::scene::{CALL, Scene, text, went};
use crate::{harness::ACCEPT, needs_modern::retry};

/// R-OAUTH-05: another authorization server gets neither the grant nor the registration of the old one, and the server not the
/// token; each person is asked anew.
#[tokio::test]
async fn a_changed_issuer_gets_nothing_of_the_old_one() {
    let scene = Scene::new().await;
    let client = scene.connected().await;
    let old = scene.sent().pop().flatten().unwrap();
    let other = Provider::start().await;
    other.set(|settings| settings.registry.registration = Registration::Open);
    scene.stage.upstream.change_guard(|guard| guard.move_to(&other));
    scene.stage.clock.forward(301);
    let before = scene.sent().len();

    let asked = scene.asked(&client).await;
    assert_eq!(scene.sent().len(), before, "the old token was not sent");
    let refreshes = scene.provider.counts().refreshes_tried;
    let person = scene.stage.person().await;
    let left = scene.leave(&person, &asked.url()).await;
    assert!(left.refresh().unwrap().starts_with(&other.url(Endpoint::Authorization)));
    let back = person.at_issuer(&left, "user-1").await;
    assert_eq!(person.come_back(&back).await.heading().as_deref(), Some("Connected"));
    assert!(went(&retry(&client, CALL, &asked, ACCEPT).await));

    let new = scene.sent().pop().flatten().unwrap();
    assert_ne!(new, old);
    assert_eq!(other.counts().registrations, 1);
    assert_eq!(scene.provider.counts().refreshes_tried, refreshes);
    let seen: String = other.requests().iter().map(|request| text(&request.body)).collect();
    assert!(scene.provider.secrets().iter().all(|secret| !seen.contains(secret.as_str())));
    assert_eq!(scene.credential().await.unwrap().grant.unwrap().server.issuer, other.issuer());
    other.assert_clean();
    scene.assert_clean();
}

/// R-OAUTH-05: nothing is refreshed at an issuer that the server names no longer.
#[tokio::test]
async fn a_grant_of_another_issuer_is_not_refreshed() {
    let scene = Scene::new().await;
    let client = scene.connected().await;
    let other = Provider::start().await;
    other.set(|settings| settings.registry.registration = Registration::Open);
    scene.stage.upstream.change_guard(|guard| guard.move_to(&other));
    // Long enough for the token to expire.
    scene.stage.clock.forward(7200);
    scene.asked(&client).await;
    assert_eq!(scene.provider.counts().refreshes_tried, 0);
}

/// A server that comes back to its old authorization server finds the old grants.
#[tokio::test]
async fn a_grant_is_used_again_when_its_issuer_is_named_again() {
    let scene = Scene::new().await;
    let client = scene.connected().await;
    let other = Provider::start().await;
    scene.stage.upstream.change_guard(|guard| guard.move_to(&other));
    scene.stage.clock.forward(301);
    scene.asked(&client).await;
    scene.stage.upstream.change_guard(|guard| guard.move_to(&scene.provider));
    scene.stage.clock.forward(301);
    assert!(went(&client.call(CALL.0, CALL.1).await));
}

/// An authorization server that is away keeps nobody from using what they have.
#[tokio::test]
async fn metadata_that_cannot_be_read_stop_no_call() {
    let scene = Scene::new().await;
    let client = scene.connected().await;
    scene.stage.upstream.change_guard(|guard| guard.metadata.places.clear());
    for _ in 0..2 {
        scene.stage.clock.forward(301);
        assert!(went(&client.call(CALL.0, CALL.1).await));
    }
}
