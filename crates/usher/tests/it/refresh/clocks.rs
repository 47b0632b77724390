//! A clock that is wrong by hours, or jumps: no token is renewed again and again, and none is used for ever.

use usher_store::CredentialStatus;
use usher_testkit::{
    oauth::{Endpoint, Trouble},
    provider::Behaviour,
};

use super::scene::{HOUR, Scene};

/// A clock that jumps ahead by hours: one renewal, and then none until that token is old.
#[tokio::test]
async fn a_clock_that_jumps_ahead_makes_one_renewal() {
    let scene = Scene::connected().await;
    scene.stage.clock.forward(5 * HOUR);
    for _ in 0..10 {
        scene.goes_through().await;
    }
    scene.stage.clock.forward(HOUR / 2);
    scene.goes_through().await;
    assert_eq!(scene.hub.counts().refreshes, 1);
    scene.assert_clean();
}

/// A clock that is set back takes what has expired for good: until the server refuses it, which renews it once.
#[tokio::test]
async fn a_clock_that_was_set_back_uses_nothing_for_ever() {
    let scene = Scene::connected().await;
    scene.stage.clock.forward(5 * HOUR);
    scene.goes_through().await;
    scene.stage.clock.forward(-5 * HOUR);
    for _ in 0..3 {
        scene.goes_through().await;
    }
    assert_eq!(scene.hub.counts().refreshes, 1, "it is still good");
    scene.hub.set(|settings| settings.ahead = 2 * HOUR);
    for _ in 0..10 {
        scene.goes_through().await;
    }
    assert_eq!(scene.hub.counts().refreshes, 2);
    let stored = scene.stored().await;
    assert_eq!(stored.status, CredentialStatus::Working);
}

/// A clock that is behind by hours takes each new token for one that lasts, and each old one for one that does: the server knows.
#[tokio::test]
async fn a_clock_that_is_behind_renews_no_more_often_than_tokens_end() {
    let scene = Scene::new().await;
    scene.stage.clock.forward(-5 * HOUR);
    scene.connect().await;
    for hours in 1..=3 {
        scene.hub.set(|settings| settings.ahead = hours * HOUR + 1);
        for _ in 0..5 {
            scene.goes_through().await;
        }
    }
    assert_eq!(scene.hub.counts().refreshes, 3);
}

/// A pause that was noted by a clock that was ahead holds nobody up once it is right.
#[tokio::test]
async fn a_pause_of_a_wrong_clock_ends_with_it() {
    let mut scene = Scene::connected().await;
    scene.stage.clock.forward(30 * HOUR);
    scene.hub.trouble_next(Endpoint::Refresh, Trouble::Instead(Behaviour::Status(503)));
    assert!(scene.call().await.is_tool_error());
    scene.stage.clock.forward(-28 * HOUR);
    scene.goes_through().await;
    assert_eq!(scene.hub.counts().refreshes, 1);
    // The same after a new start, with what the store knows of it.
    scene.stage.clock.forward(30 * HOUR);
    scene.hub.trouble_next(Endpoint::Refresh, Trouble::Instead(Behaviour::Status(503)));
    assert!(scene.call().await.is_tool_error());
    scene.stage.clock.forward(-28 * HOUR);
    scene.stage.restart().await;
    scene.goes_through().await;
    assert_eq!(scene.hub.counts().refreshes, 2);
}

/// A provider whose tokens have ended before they are there: each is used all the same, and not renewed by every call.
#[tokio::test]
async fn tokens_that_live_for_seconds_are_not_renewed_by_every_call() {
    let scene = Scene::expired().await;
    scene.hub.set(|settings| {
        settings.tokens.expiry = usher_testkit::oauth::settings::Expiry::In;
        settings.refreshing.members = serde_json::json!({ "expires_in": 1 });
    });
    let began = tokio::time::Instant::now();
    for _ in 0..50 {
        scene.goes_through().await;
    }
    let at_most = 1 + usize::try_from(began.elapsed().as_secs() / 5).unwrap();
    assert!(scene.hub.counts().refreshes <= at_most, "{:?}", scene.hub.counts());
}
