use elicit::{Mode, SystemRandom};
use usher_store::{Event, NewSession, SessionId, StoreError};

use crate::samples::{HOUR, at, principal, session};
use crate::setup::Database;

/// R-GW-08, R-ID-01: any replica finds the session, with the principal that it is bound to.
pub(crate) async fn a_session_comes_back_whole(database: Database) {
    let new = session();
    database.store().await.create_session(new.clone(), at(0)).await.unwrap();

    let other_replica = database.store().await;
    let found = other_replica.session(&new.id, at(1)).await.unwrap().unwrap();

    assert_eq!(found.key, new.id.key());
    assert_eq!(found.upstream, new.upstream);
    assert_eq!(found.upstream_session, new.upstream_session);
    assert_eq!(found.principal, principal("user-1"));
    assert_eq!(found.revision, new.revision);
    assert!(found.capabilities.modes(found.revision).supports(Mode::Url));
    assert_eq!(found.capabilities.as_str(), new.capabilities);
    assert_eq!(found.client_claim, new.client_claim);
    assert_eq!(found.initialize, new.initialize);
    assert_eq!((found.created_at, found.expires_at), (at(0), at(HOUR)));
    let unknown = SessionId::new(&SystemRandom);
    assert!(other_replica.session(&unknown, at(1)).await.unwrap().is_none());

    let mut bare = session();
    bare.upstream_session = None;
    bare.client_claim = None;
    other_replica.create_session(bare.clone(), at(0)).await.unwrap();
    let found = other_replica.session(&bare.id, at(1)).await.unwrap().unwrap();
    assert_eq!((found.upstream_session, found.client_claim), (None, None));
}

pub(crate) async fn an_ended_session_is_unknown(database: Database) {
    let store = database.store().await;
    let new = session();
    store.create_session(new.clone(), at(0)).await.unwrap();

    assert!(store.session(&new.id, at(HOUR - 1)).await.unwrap().is_some());
    assert!(store.session(&new.id, at(HOUR)).await.unwrap().is_none());
}

/// R-GW-09: a pending elicitation keeps its session alive, and nothing shortens it.
pub(crate) async fn extending_never_shortens_and_revives_nothing(database: Database) {
    let store = database.store().await;
    let new = session();
    let key = new.id.key();
    store.create_session(new.clone(), at(0)).await.unwrap();

    for (until, lasts) in [(2 * HOUR, 2 * HOUR), (HOUR, 2 * HOUR), (60, 2 * HOUR)] {
        store.extend_session(&key, at(until), at(1)).await.unwrap();
        let found = store.session(&new.id, at(2)).await.unwrap().unwrap();
        assert_eq!(found.expires_at, at(lasts));
    }
    store.extend_session(&key, at(9 * HOUR), at(2 * HOUR)).await.unwrap();
    assert!(store.session(&new.id, at(2 * HOUR)).await.unwrap().is_none());
}

pub(crate) async fn a_deleted_session_is_unknown_and_told(database: Database) {
    let store = database.store().await;
    let new = session();
    store.create_session(new.clone(), at(0)).await.unwrap();
    let mut events = store.events();

    store.delete_session(&new.id.key()).await.unwrap();
    store.delete_session(&new.id.key()).await.unwrap();

    assert!(store.session(&new.id, at(1)).await.unwrap().is_none());
    assert_eq!(events.try_recv().unwrap(), Event::Session(new.id.key()));
    assert!(events.try_recv().is_err(), "told once");
}

/// R-ID-01: whoever can write to the database cannot give a session to another principal.
pub(crate) async fn a_session_moved_to_another_principal_does_not_open(database: Database) {
    let store = database.store().await;
    for upstream_session in [Some("upstream-session-secret"), Some(""), None] {
        for change in ["subject = 'user-2'", "client = 'client-2'", "upstream = 'almanac'"] {
            let new = NewSession { upstream_session: upstream_session.map(str::to_owned), ..session() };
            store.create_session(new.clone(), at(0)).await.unwrap();
            let found = store.session(&new.id, at(1)).await.unwrap().unwrap();
            assert_eq!(found.upstream_session, new.upstream_session);
            let key = new.id.key();
            database.run(&format!("UPDATE mcp_sessions SET {change} WHERE session_key = '{key}'")).await;
            let error = store.session(&new.id, at(1)).await.unwrap_err();
            assert!(matches!(error, StoreError::Unopened { .. }), "{change}: {error}");
        }
    }
}

/// R-GW-06, R-GW-08: a session that began without its upstream gets one upstream session, whichever replica is first.
pub(crate) async fn the_upstream_side_begins_once(database: Database) {
    let (store, other_replica) = (database.store().await, database.store().await);
    let mut new = session();
    (new.upstream_session, new.begun) = (None, false);
    store.create_session(new.clone(), at(0)).await.unwrap();
    let found = store.session(&new.id, at(1)).await.unwrap().unwrap();
    assert!(!found.begun);

    let mut events = store.events();
    assert!(store.begin_session(&found, Some("first")).await.unwrap());
    assert!(!other_replica.begin_session(&found, Some("second")).await.unwrap());

    let found = other_replica.session_of(&found.key, at(1)).await.unwrap().unwrap();
    assert!(found.begun);
    assert_eq!(found.upstream_session.as_deref(), Some("first"));
    assert!(matches!(events.recv().await.unwrap(), Event::Session(key) if key == found.key));
}
