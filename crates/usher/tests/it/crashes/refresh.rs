//! Crashes on the way of a renewal: nothing is sent twice while somebody may be at it, and what was lost with a reply ends in one
//! attempt with the old refresh token, and then in a question.

use usher::identity::tokens::local_user;
use usher_store::{CredentialStatus, FailPoint};
use usher_testkit::oauth::{Endpoint, settings::Rotation};

use super::scene::broke;
use crate::{
    database::Database,
    harness::{CALLS, answered},
    refresh::house::House,
};

/// A provider that replaces refresh tokens at once.
pub(super) async fn renews(database: Database, point: FailPoint) {
    is_killed(database, point, Rotation::AtOnce).await;
}

/// One that takes the old one for a while.
pub(super) async fn renews_within_a_grace_time(database: Database, point: FailPoint) {
    is_killed(database, point, Rotation::Grace(3600)).await;
}

async fn is_killed(database: Database, point: FailPoint, rotation: Rotation) {
    let mut house = House::new(database, 1).await;
    house.hub.set(|settings| settings.refreshing.rotation = rotation);
    house.start(0, None).await;
    house.connect_expired().await;
    house.stop(0);
    house.start(0, Some(point)).await;
    let client = house.modern(0);
    let crashing = house.process(0);
    tokio::join!(broke(client.request(CALLS[0].0, CALLS[0].1).try_stream()), crashing.crash());
    let (sent, stored) = match point {
        FailPoint::RefreshLeased => (0, false),
        FailPoint::Refreshed => (1, true),
        _ => (1, false),
    };
    assert_eq!(house.hub.count(Endpoint::Refresh), sent);
    let left = house.stored().await;
    assert_eq!((left.version, left.status), (if stored { 2 } else { 1 }, CredentialStatus::Working));

    // Whoever was at it may be alive: nobody sends anything before the lease has ended.
    house.end_lease().await;
    house.start(0, None).await;
    let reply = house.modern(0).call(CALLS[0].0, CALLS[0].1).await;
    let counts = house.hub.counts();
    if sent == 1 && !stored && rotation == Rotation::AtOnce {
        assert!(reply.is_input_required(), "{}", reply.text());
        assert_eq!((counts.refreshes, counts.refresh_tokens_again), (1, 1), "once more, and not again");
        let store = house.database.store().await;
        let stored = store.credential(&local_user(), "hub").await.unwrap().unwrap();
        store.close().await;
        assert_eq!(stored.status, CredentialStatus::Rejected);
        assert!(stored.grant.is_some(), "the record stays");
    } else {
        assert!(answered(&reply), "{}", reply.text());
        assert_eq!(counts.refreshes, if sent == 1 && !stored { 2 } else { 1 });
        assert_eq!((house.stored().await.version, counts.refresh_tokens_again), (2, 0));
    }
    house.upstream.assert_clean();
}
