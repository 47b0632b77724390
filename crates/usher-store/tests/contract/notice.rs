use elicit::SystemRandom;
use usher_store::{NewInteraction, Pruned, SessionId, SessionKey, Store};

use crate::samples::{at, connect, consent, done, question, session};
use crate::setup::Database;

fn key() -> SessionKey {
    SessionId::new(&SystemRandom).key()
}

async fn complete(store: &Store, asked: usher_store::Interaction) {
    let consented = consent(store, asked).await;
    done(store.complete(consented, connect("s-1"), at(3)).await.unwrap());
}

/// R-DONE-01: told when it completes, and once.
pub(crate) async fn a_notice_is_due_once_its_interaction_is_completed(database: Database) {
    let store = database.store().await;
    let session = key();
    let asked = store.ask(&[question("user-1")], Some(&session), at(0)).await.unwrap().remove(0);
    let id = asked.id.clone();
    assert!(store.due_notices(&session).await.unwrap().is_empty());

    complete(&store, asked).await;

    assert_eq!(store.due_notices(&session).await.unwrap(), std::slice::from_ref(&id));
    assert!(!store.claim_notice(&id, &key()).await.unwrap(), "another session was not asked");
    assert!(store.claim_notice(&id, &session).await.unwrap());
    assert!(!store.claim_notice(&id, &session).await.unwrap());
    assert!(store.due_notices(&session).await.unwrap().is_empty());
}

/// R-DONE-01: a question that two sessions asked is told to both, and to no other.
pub(crate) async fn each_session_that_asked_is_owed_a_notice(database: Database) {
    let store = database.store().await;
    let (one, two) = (key(), key());
    let mut asked = Vec::new();
    for session in [Some(&one), Some(&two), Some(&one), None] {
        asked = store.ask(&[question("user-1")], session, at(0)).await.unwrap();
    }
    let id = asked[0].id.clone();

    let mut sessions = store.notice_sessions(&id).await.unwrap();

    sessions.sort();
    let mut expected = [one.clone(), two.clone()];
    expected.sort();
    assert_eq!(sessions, expected);
    complete(&store, asked.remove(0)).await;
    assert!(store.claim_notice(&id, &one).await.unwrap());
    assert_eq!(store.due_notices(&two).await.unwrap(), [id]);
}

pub(crate) async fn a_session_that_ended_is_owed_nothing(database: Database) {
    let store = database.store().await;
    let new = session();
    let key = new.id.key();
    store.create_session(new, at(0)).await.unwrap();
    let asked = store.ask(&[question("user-1")], Some(&key), at(0)).await.unwrap().remove(0);

    store.delete_session(&key).await.unwrap();

    assert!(store.notice_sessions(&asked.id).await.unwrap().is_empty());
    assert!(!store.claim_notice(&asked.id, &key).await.unwrap());
}

/// R-DONE-01: whoever asks again makes the question last longer, also for those who asked before.
pub(crate) async fn a_notice_is_owed_for_as_long_as_the_question_can_complete(database: Database) {
    let store = database.store().await;
    let (one, two) = (key(), key());
    let until = |seconds| NewInteraction { expires_at: at(seconds), ..question("user-1") };
    let asked = store.ask(&[until(600)], Some(&one), at(0)).await.unwrap().remove(0);
    let id = asked.id.clone();
    store.ask(&[until(900)], Some(&two), at(300)).await.unwrap();
    store.ask(&[until(1200)], None, at(300)).await.unwrap();

    assert_eq!(store.prune(at(1199)).await.unwrap(), Pruned::default());

    let open = store.interaction(&id, at(1199)).await.unwrap().unwrap();
    complete(&store, open).await;
    for session in [&one, &two] {
        assert_eq!(store.due_notices(session).await.unwrap(), std::slice::from_ref(&id));
    }
    assert_eq!(store.prune(at(1200)).await.unwrap(), Pruned { notices: 2, ..Pruned::default() });
}

/// R-DONE-01: a notice that was claimed and could not be delivered is due again, to its session alone, and once.
pub(crate) async fn a_notice_that_was_not_delivered_is_given_back(database: Database) {
    let store = database.store().await;
    let new = session();
    let key = new.id.key();
    store.create_session(new, at(0)).await.unwrap();
    let asked = store.ask(&[question("user-1")], Some(&key), at(0)).await.unwrap().remove(0);
    let id = asked.id.clone();
    complete(&store, asked).await;
    for _ in 0..2 {
        assert!(store.claim_notice(&id, &key).await.unwrap());
        store.owe_notice(&id, &key).await.unwrap();
        store.owe_notice(&id, &key).await.unwrap();
        assert_eq!(store.due_notices(&key).await.unwrap(), std::slice::from_ref(&id));
    }
    assert!(store.claim_notice(&id, &key).await.unwrap());

    store.delete_session(&key).await.unwrap();
    store.owe_notice(&id, &key).await.unwrap();

    assert!(store.due_notices(&key).await.unwrap().is_empty(), "a session that is over is owed nothing");
}
