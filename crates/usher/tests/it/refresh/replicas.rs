//! Two real processes on one PostgreSQL: one of them renews, whoever asks.

use futures_util::future::join_all;
use usher_store::FailPoint;
use usher_testkit::{
    oauth::{Endpoint, Trouble},
    upstream::Gate,
};

use super::house::House;
use crate::{
    database::{Database, on_postgres},
    harness::{CALLS, answered},
};

async fn two(database: Database) -> House {
    let mut house = House::new(database, 2).await;
    for replica in [0, 1] {
        house.start(replica, None).await;
    }
    house.connect_expired().await;
    house
}

/// R-GW-03: many calls at both, and the provider sees one refresh; each call is answered with what came of it.
#[test]
#[ignore = "needs a PostgreSQL server, its URL in USHER_TEST_POSTGRES"]
fn many_calls_at_two_replicas_make_one_refresh() {
    on_postgres(async |database| {
        let house = two(database).await;
        let gate = Gate::new();
        house.hub.trouble(Endpoint::Refresh, Trouble::ReplyHeld(gate.clone()));
        let calls = (0..40).map(|number| {
            let client = house.modern(number % 2);
            async move { client.call(CALLS[0].0, CALLS[0].1).await }
        });
        let opens = async {
            house.hub.wait_for(Endpoint::Refresh, 1).await;
            gate.open();
        };
        let (replies, ()) = tokio::join!(join_all(calls), opens);
        for reply in &replies {
            assert!(answered(reply), "{}", reply.text());
        }
        assert_eq!((house.hub.count(Endpoint::Refresh), house.stored().await.version), (1, 2));
        assert_eq!(house.upstream.requests_of(CALLS[0].0).len(), 40);
        // And from now on both use it.
        for replica in [0, 1] {
            assert!(answered(&house.modern(replica).call(CALLS[0].0, CALLS[0].1).await));
        }
        assert_eq!(house.hub.count(Endpoint::Refresh), 1);
        house.hub.assert_clean();
        house.upstream.assert_clean();
    });
}

/// A token that the server refuses at both at once: one refresh.
#[test]
#[ignore = "needs a PostgreSQL server, its URL in USHER_TEST_POSTGRES"]
fn a_token_that_is_refused_at_two_replicas_is_renewed_once() {
    on_postgres(async |database| {
        let house = two(database).await;
        for replica in [0, 1] {
            assert!(answered(&house.modern(replica).call(CALLS[0].0, CALLS[0].1).await));
        }
        house.hub.end_access_tokens_of("user-1");
        let calls = (0..10).map(|number| {
            let client = house.modern(number % 2);
            async move { client.call(CALLS[0].0, CALLS[0].1).await }
        });
        assert!(join_all(calls).await.iter().all(answered));
        assert_eq!((house.hub.counts().refreshes, house.stored().await.version), (2, 3));
        house.hub.assert_clean();
    });
}

/// One dies while it has the lease: the other takes over when that has ended, and not before.
#[test]
#[ignore = "needs a PostgreSQL server, its URL in USHER_TEST_POSTGRES"]
fn a_replica_takes_over_from_one_that_died() {
    on_postgres(async |database| {
        let mut house = House::new(database, 2).await;
        house.start(0, None).await;
        house.connect_expired().await;
        house.stop(0);
        house.start(0, Some(FailPoint::RefreshLeased)).await;
        house.start(1, None).await;
        let (dying, client) = (house.modern(0), house.modern(1));
        let process = house.process(0);
        let (broken, ()) = tokio::join!(dying.request(CALLS[0].0, CALLS[0].1).try_stream(), process.crash());
        assert!(broken.is_err());
        let mut waiting = std::pin::pin!(client.call(CALLS[0].0, CALLS[0].1));
        let looks = async {
            for _ in 0..30 {
                assert_eq!(house.stored().await.version, 1);
            }
        };
        tokio::select! {
            reply = &mut waiting => panic!("somebody else has the lease: {}", reply.text()),
            () = looks => {}
        }
        assert_eq!(house.hub.count(Endpoint::Refresh), 0);
        house.end_lease().await;
        let reply = waiting.await;
        assert!(answered(&reply), "{}", reply.text());
        assert_eq!((house.hub.count(Endpoint::Refresh), house.stored().await.version), (1, 2));
    });
}

/// What is due ahead is renewed by one of the two, for both.
#[test]
#[ignore = "needs a PostgreSQL server, its URL in USHER_TEST_POSTGRES"]
fn what_is_due_is_renewed_by_one_of_two() {
    on_postgres(async |database| {
        let house = two(database).await;
        house.due_now().await;
        house.hub.wait_until("it is renewed", |hub| hub.counts().refreshes == 1).await;
        super::until("it is stored", || async { house.stored().await.version == 2 }).await;
        for replica in [0, 1] {
            assert!(answered(&house.modern(replica).call(CALLS[0].0, CALLS[0].1).await));
        }
        assert_eq!(house.hub.count(Endpoint::Refresh), 1);
    });
}
