//! Tokens are renewed before anybody needs it: spread, a few at a time, and with what their provider wants in mind.

use std::path::Path;

use elicit::{ClientId, Principal, SystemRandom, UserId};
use futures_util::{StreamExt as _, stream};
use jiff::SignedDuration;
use sqlx::{AnyConnection, Connection as _, Executor as _};
use usher::clock::Clock as _;
use usher_store::{AskReason, Destination, DueRefresh, Grant, InteractionId, NewInteraction};
use usher_testkit::{
    DEADLINE,
    oauth::{Endpoint, Trouble},
    upstream::Gate,
    within,
};

use super::scene::{HOUR, Scene, grant, granted, store_grant};

/// How many of one provider are renewed at a time.
pub(super) const AT_A_TIME: usize = 8;

/// When the tokens of a crowd are due, in seconds.
pub(super) const DUE: i64 = 1800;

/// Nobody calls, and the token is renewed: two commits, and the next time is later.
#[tokio::test]
async fn what_is_due_is_renewed_ahead_at_the_cost_of_two_commits() {
    let scene = Scene::connected().await;
    let before = scene.stored().await;
    let commits = commits(scene.stage.folder.path());
    scene.stage.clock.forward(HOUR - 120);
    within(DEADLINE, "nothing is renewed", async {
        while scene.stored().await.version == before.version {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(self::commits(scene.stage.folder.path()) - commits, 2);
    let (old, new) = (before.grant.unwrap(), scene.stored().await.grant.unwrap());
    assert!(new.refresh_at > old.refresh_at && new.expires_at > old.expires_at);
    assert_eq!(scene.hub.counts().refreshes, 1);
    assert!(scene.stage.upstream.requests_of("tools/call").is_empty());
    scene.assert_clean();
}

/// How many commits stand in the log of the store: frames that say how large the database is after them.
pub(super) fn commits(folder: &Path) -> usize {
    let log = std::fs::read(folder.join("usher.db-wal")).unwrap();
    let page = u32::from_be_bytes(log[8..12].try_into().unwrap()) as usize;
    let salt = &log[16..24];
    log[32..].chunks_exact(24 + page).filter(|frame| frame[8..16] == *salt && frame[4..8] != [0; 4]).count()
}

/// What nobody has used for a month is not kept alive for them; when they come again, it is renewed then.
#[tokio::test]
async fn what_nobody_uses_is_renewed_when_it_is_used_again() {
    let scene = Scene::connected().await;
    scene.stage.clock.forward(31 * 24 * HOUR);
    within(DEADLINE, "it is still due", async {
        while scene.stored().await.grant.unwrap().refresh_at.is_some() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(scene.hub.count(Endpoint::Refresh), 0);
    scene.goes_through().await;
    assert_eq!(scene.hub.counts().refreshes, 1);
    assert!(scene.stored().await.grant.unwrap().refresh_at.is_some(), "and is kept alive again");
}

/// Makes so many people who connected, all of whose tokens are due in half an hour.
pub(super) async fn crowd(scene: &Scene, count: usize) {
    let people = stream::iter(0..count);
    people.for_each_concurrent(8, |number| somebody(scene, number)).await;
}

/// One of them.
pub(super) fn one_of_crowd(number: usize) -> UserId {
    UserId::new("https://issuer.example", format!("user-{number}")).unwrap()
}

async fn somebody(scene: &Scene, number: usize) {
    let (store, now) = (&scene.stage.app().store, scene.stage.clock.now());
    let granted = granted(&scene.hub, "user-1").await;
    let grant = Grant { refresh_at: Some(now + SignedDuration::from_secs(DUE)), ..grant(&scene.hub, &granted, now) };
    let question = NewInteraction {
        id: InteractionId::new(&SystemRandom),
        principal: Principal { user: one_of_crowd(number), client: ClientId::new("client").unwrap() },
        client_claim: None,
        asked_by: None,
        provider: "hub".to_owned(),
        destination: Destination { upstream: "weather".to_owned(), target: scene.stage.upstream.url() },
        reason: AskReason::Missing,
        operation: None,
        expires_at: now + SignedDuration::from_mins(10),
    };
    let asked = store.ask(&[question], None, now).await.unwrap();
    store_grant(store, asked[0].id.as_str(), &granted, grant, now).await;
}

/// R-SEC-04: a crowd that is due at once is renewed a few at a time, each once.
#[tokio::test]
async fn a_crowd_is_renewed_a_few_at_a_time() {
    let scene = Scene::new().await;
    let gate = Gate::new();
    scene.hub.trouble(Endpoint::Refresh, Trouble::ReplyHeld(gate.clone()));
    crowd(&scene, 60).await;
    scene.stage.clock.forward(DUE);
    scene.hub.wait_for(Endpoint::Refresh, AT_A_TIME).await;
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(scene.hub.count(Endpoint::Refresh), AT_A_TIME, "the others wait");
    gate.open();
    scene.hub.wait_until("all are renewed", |hub| hub.counts().refreshes == 60).await;
    within(DEADLINE, "some are still due", async {
        while !due(&scene).await.is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(scene.hub.count(Endpoint::Refresh), 60);
    scene.assert_clean();
}

/// What nobody can open, and what is nobody's, is left alone, and holds up nobody.
#[tokio::test]
async fn what_cannot_be_read_is_not_due_for_ever() {
    let scene = Scene::new().await;
    crowd(&scene, 3).await;
    sqlx::any::install_default_drivers();
    let database = format!("sqlite:{}", scene.stage.folder.path().join("usher.db").display());
    let mut connection = AnyConnection::connect(&database).await.unwrap();
    for change in [
        "UPDATE credentials SET sealed = x'00' WHERE subject = 'user-0'",
        "UPDATE credentials SET credential_key = 'nobody' WHERE subject = 'user-1'",
    ] {
        let changed = connection.execute(change).await.unwrap();
        assert_eq!(changed.rows_affected(), 1, "{change}");
    }
    connection.close().await.unwrap();
    scene.stage.clock.forward(DUE);
    super::until("nothing is due any more", || async { due(&scene).await.is_empty() }).await;
    assert_eq!(scene.hub.counts().refreshes, 1, "that of the third");
}

pub(super) async fn due(scene: &Scene) -> Vec<DueRefresh> {
    scene.stage.app().store.due_refreshes("hub", scene.stage.clock.now(), 1000).await.unwrap()
}

/// One that says that it has enough is left alone altogether: those under way end, and no other begins before the time that it
/// said.
#[tokio::test]
async fn a_provider_that_has_enough_is_left_alone_altogether() {
    let scene = Scene::new().await;
    scene.hub.trouble(Endpoint::Refresh, Trouble::Limited("600".to_owned()));
    crowd(&scene, 40).await;
    scene.stage.clock.forward(DUE);
    scene.hub.wait_for(Endpoint::Refresh, 1).await;
    // Another one, of somebody who calls: not asked for either.
    let now = scene.stage.clock.now();
    let granted = granted(&scene.hub, "user-1").await;
    let new = Grant { refresh_at: Some(now), ..grant(&scene.hub, &granted, now) };
    scene.connect_with(&granted, new).await;
    scene.stage.clock.forward(500);
    scene.goes_through().await;
    let asked = scene.hub.count(Endpoint::Refresh);
    // What one of them alone is told says nothing of the others; what two are told does.
    assert!(asked < 2 * AT_A_TIME, "{asked}");
    scene.hub.well(Endpoint::Refresh);
    scene.stage.clock.forward(200);
    scene.hub.wait_until("all are renewed", |hub| hub.counts().refreshes >= 40).await;
}
