use usher_store::{
    AuditAction, AuditEntry, Event, FailureReason, InteractionState, NewInteraction, Outcome, Pruned, Step,
};

use crate::samples::{
    DAY, HOUR, LONGEST, at, browsing, completed, connect, consented, done, question, random_token, session, user,
};
use crate::setup::Database;

/// R-SEC-01, R-SEC-07: state expires, and is deleted when it has.
pub(crate) async fn what_is_overdue_expires_and_what_is_old_goes(database: Database) {
    let store = database.store().await;
    let new_session = session();
    let key = new_session.id.key();
    store.create_session(new_session, at(0)).await.unwrap();
    let open = store.ask(&[question("user-1")], Some(&key), at(0)).await.unwrap().remove(0);
    let failing = consented(&store, question("user-2")).await;
    let step = Step::Fail(FailureReason::ProviderRefused);
    let failed = done(store.advance(failing, step, at(3)).await.unwrap());
    let completed = completed(&store, question("user-3"), connect("s-1")).await;
    store.create_login_link(&random_token(), &user("user-1"), at(600), at(0)).await.unwrap();
    let link = random_token();
    store.create_login_link(&link, &user("user-1"), at(600), at(0)).await.unwrap();
    store.use_login_link(&link, browsing(&random_token(), at(80 * DAY)), at(1)).await.unwrap();
    let (id, session) = (random_token(), random_token());
    store.use_sign_in(&id, at(600), &user("user-1"), browsing(&session, at(2 * DAY)), at(1)).await.unwrap();
    let mut events = store.events();

    let pruned = store.prune(at(HOUR)).await.unwrap();

    assert_eq!(
        pruned,
        Pruned { interactions_expired: 2, sessions: 1, notices: 1, login_links: 1, sign_ins: 1, ..Pruned::default() }
    );
    for id in [&open.id, &failed.id] {
        let read = store.interaction(id, at(0)).await.unwrap().unwrap();
        assert_eq!(read.state, InteractionState::Expired);
    }
    let read = store.interaction(&completed.id, at(0)).await.unwrap().unwrap();
    assert_eq!(read, completed);
    let mut told = Vec::new();
    while let Ok(event) = events.try_recv() {
        told.push(event);
    }
    for event in [Event::Interaction(open.id.clone()), Event::Interaction(failed.id), Event::Session(key)] {
        assert!(told.contains(&event), "{event:?}");
    }
    assert_eq!(told.len(), 3);

    let pruned = store.prune(at(31 * DAY)).await.unwrap();
    assert_eq!(pruned, Pruned { interactions_deleted: 3, browser_sessions: 2, ..Pruned::default() });
    assert!(store.interaction(&open.id, at(0)).await.unwrap().is_none());
    assert!(store.credential(&user("user-3"), "weather").await.unwrap().is_some());

    let lines = store.audit_of(&user("user-1"), 100).await.unwrap().len();
    assert!(lines > 0);
    let pruned = store.prune(at(401 * DAY)).await.unwrap();
    assert!(pruned.audit > 0);
    assert!(store.audit_of(&user("user-1"), 100).await.unwrap().is_empty());
}

pub(crate) async fn pruning_goes_on_until_nothing_is_left(database: Database) {
    let store = database.store().await;
    let many: Vec<_> = (0..1201)
        .map(|number| NewInteraction { provider: format!("provider-{number}"), ..question("user-1") })
        .collect();
    store.ask(&many, None, at(0)).await.unwrap();

    assert_eq!(store.prune(at(HOUR)).await.unwrap().interactions_expired, 1201);
    assert_eq!(store.prune(at(HOUR)).await.unwrap(), Pruned::default());
    assert_eq!(store.prune(at(40 * DAY)).await.unwrap().interactions_deleted, 1201);
    assert_eq!(store.prune(at(401 * DAY)).await.unwrap().audit, 1201);
}

pub(crate) async fn pruning_leaves_what_is_alive(database: Database) {
    let store = database.store().await;
    let new_session = session();
    let (session_id, key) = (new_session.id.clone(), new_session.id.key());
    store.create_session(new_session, at(0)).await.unwrap();
    store.ask(&[question("user-1")], Some(&key), at(0)).await.unwrap();
    let (link, unused, browser) = (random_token(), random_token(), random_token());
    store.create_login_link(&link, &user("user-1"), at(600), at(0)).await.unwrap();
    store.create_login_link(&unused, &user("user-1"), at(600), at(0)).await.unwrap();
    store.use_login_link(&link, browsing(&browser, at(DAY)), at(1)).await.unwrap();
    let id = random_token();
    let new = browsing(&id, at(DAY));
    assert!(store.use_sign_in(&id, at(600), &user("user-1"), new, at(1)).await.unwrap());
    store.audit(AuditEntry::new(AuditAction::TokenRefused, Outcome::Refused), at(0)).await.unwrap();

    assert_eq!(store.prune(at(599)).await.unwrap(), Pruned::default());

    assert_eq!(store.waiting_interactions(&user("user-1"), at(599)).await.unwrap().len(), 1);
    assert!(store.session(&session_id, at(599)).await.unwrap().is_some());
    assert!(store.browser_session(&browser, LONGEST, at(599)).await.unwrap().is_some());
    let used = store.use_login_link(&unused, browsing(&random_token(), at(DAY)), at(599)).await.unwrap();
    assert_eq!(used, Some(user("user-1")));
    let again = browsing(&link, at(DAY));
    assert!(!store.use_sign_in(&id, at(600), &user("user-1"), again, at(599)).await.unwrap());
}
