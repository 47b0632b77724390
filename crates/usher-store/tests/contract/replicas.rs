//! Several replicas on one database: PostgreSQL only.

use std::collections::HashSet;
use std::time::Duration;

use sqlx::Row as _;
use tokio::sync::broadcast::Receiver;
use tokio::time::timeout;
use usher_store::{CredentialKey, Event, Lease, NewInteraction, REFRESH_LEASE};

use crate::refresh::{DUE, after_the_lease, held, lease};
use crate::samples::{HOUR, at, completed, connect, connected, question, session, user};
use crate::setup::Database;

async fn next(events: &mut Receiver<Event>) -> Event {
    timeout(Duration::from_secs(10), events.recv()).await.expect("an event in time").unwrap()
}

/// R-MRTR-06, R-GW-08: a waiter on any replica is woken.
pub(crate) async fn another_replica_hears_of_a_change(database: Database) {
    let (here, there) = (database.store().await, database.store().await);
    let mut events = there.events();

    let interaction = completed(&here, question("user-1"), connect("s-1")).await;

    let told = Event::Interaction(interaction.id.clone());
    let credential = Event::Credential(CredentialKey::of(&user("user-1"), "weather"));
    for expected in [told.clone(), told.clone(), credential, told] {
        assert_eq!(next(&mut events).await, expected);
    }
    let read = there.interaction(&interaction.id, at(4)).await.unwrap();
    assert_eq!(read, Some(interaction));
    here.close().await;
    there.close().await;
}

pub(crate) async fn a_lost_event_connection_is_made_again_and_that_is_told(database: Database) {
    let (here, there) = (database.store().await, database.store().await);
    let new = session();
    here.create_session(new.clone(), at(0)).await.unwrap();
    let mut events = there.events();

    let ended = database
        .run(
            "SELECT CAST(pg_terminate_backend(pid) AS TEXT) FROM pg_stat_activity \
             WHERE query = 'LISTEN \"usher\"' AND datname = current_database()",
        )
        .await;
    assert_eq!(ended, 2);

    assert_eq!(next(&mut events).await, Event::Everything, "back");
    here.delete_session(&new.id.key()).await.unwrap();
    assert_eq!(next(&mut events).await, Event::Session(new.id.key()));
}

pub(crate) async fn replicas_that_start_together_agree(database: Database) {
    let starts: Vec<_> = (0..4)
        .map(|_| {
            let database = database.clone();
            tokio::spawn(async move { database.store().await })
        })
        .collect();

    let mut instances = HashSet::new();
    for start in starts {
        instances.insert(start.await.unwrap().instance().to_owned());
    }

    assert_eq!(instances.len(), 1);
}

/// The cost of asking does not grow with what the store holds. Connections keep their
/// plans, and for a small table PostgreSQL would plan to read all of it.
pub(crate) async fn a_plan_made_while_tables_were_small_keeps_to_its_index(database: Database) {
    database.store().await.close().await;
    database.run("ANALYZE").await;
    let (whole_before, _) = scans(&database).await;
    let store = database.store().await;
    for number in 0..20 {
        let new = NewInteraction { provider: format!("provider-{number}"), ..question("user-1") };
        completed(&store, new, connect("s-1")).await;
        store.waiting_interactions(&user("user-1"), at(4)).await.unwrap();
    }
    store.prune(at(5)).await.unwrap();
    store.close().await;

    // The server counts after a connection has ended.
    let counted = async {
        loop {
            let (whole, indexed) = scans(&database).await;
            if indexed >= 100 {
                return whole;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let whole_after = timeout(Duration::from_secs(10), counted).await.expect("counted in time");
    assert_eq!(whole_after, whole_before);
}

/// How often the interactions were read whole, and by an index.
async fn scans(database: &Database) -> (i64, i64) {
    let mut raw = database.raw().await;
    let row = sqlx::query("SELECT seq_scan, idx_scan FROM pg_stat_user_tables WHERE relname = 'interactions'")
        .fetch_one(&mut raw)
        .await
        .unwrap();
    (row.try_get(0).unwrap(), row.try_get(1).unwrap())
}

/// On PostgreSQL the clock of the server counts: a replica whose own is off by a day takes nobody's lease, and holds none longer.
pub(crate) async fn a_clock_that_is_off_takes_no_lease(database: Database) {
    let store = database.store().await;
    connected(&store, question("user-1"), 1).await;
    held(&store, 1, DUE).await;
    for seconds in [DUE + 24 * HOUR, DUE - 24 * HOUR] {
        let Lease::Busy { until } = lease(&store, 1, seconds).await else { panic!("{seconds}: it is another's") };
        assert!(until <= at(seconds) + REFRESH_LEASE, "{until}: it can be waited for by the clock of the caller");
    }
    assert!(store.due_refreshes("weather", at(DUE + 24 * HOUR), 10).await.unwrap().is_empty());

    after_the_lease(&database, DUE).await;

    held(&store, 1, DUE - 24 * HOUR).await;
}
