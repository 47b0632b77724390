use std::sync::Arc;

use elicit::SystemRandom;
use secrecy::ExposeSecret as _;
use usher_store::{Completion, KeyFile, Kind, NewInteraction, Step, Store, StoreError};

use crate::samples::{
    DAY, LONGEST, at, browsing, client, completed, connect, consent, question, random_token, session, user,
};
use crate::setup::Database;

/// A second key file, and one with both keys, the second one active.
pub(crate) fn rotated(database: &Database) -> (Arc<KeyFile>, Arc<KeyFile>) {
    let path = database.directory.join("second.keys");
    let second = KeyFile::create(&path, &SystemRandom, at(0)).unwrap();
    let first_text = std::fs::read_to_string(database.directory.join("usher.keys")).unwrap();
    let second_text = std::fs::read_to_string(path).unwrap();
    let both = format!("{}{second_text}", first_text.replace(" active", " older"));
    (Arc::new(second), Arc::new(KeyFile::parse(&both).unwrap()))
}

pub(crate) async fn a_key_file_that_lacks_a_needed_key_is_refused(database: Database) {
    let (second, both) = rotated(&database);
    let store = database.store().await;
    store.create_session(session(), at(0)).await.unwrap();
    store.close().await;
    // Nothing lasting was sealed yet: any key will do.
    database.open(Arc::clone(&second)).await.unwrap().close().await;

    let store = database.store().await;
    completed(&store, question("user-1"), connect("s-1")).await;
    store.close().await;

    let error = database.open(second).await.unwrap_err();
    let StoreError::MissingKey { ids } = error else { panic!("{error}") };
    assert_eq!(ids, database.keys.key_ids());
    database.open(both).await.unwrap();
}

pub(crate) async fn an_older_key_still_opens_and_the_active_one_seals(database: Database) {
    let (second, both) = rotated(&database);
    let store = database.store().await;
    completed(&store, question("user-1"), connect("s-1")).await;
    store.close().await;

    let store = database.open(both).await.unwrap();
    let owner = store.credential(&user("user-1"), "weather").await.unwrap().unwrap();
    assert_eq!(owner.secrets["api_key"].expose_secret(), "s-1");
    let mut other = question("user-1");
    other.principal.client = client("client-2");
    completed(&store, other, Completion::Allow).await;
    store.close().await;

    // Allowing has sealed anew, so nothing needs the first key any more.
    let store = database.open(second).await.unwrap();
    let owner = store.credential(&user("user-1"), "weather").await.unwrap().unwrap();
    assert_eq!(owner.secrets["api_key"].expose_secret(), "s-1");
}

pub(crate) async fn a_session_whose_key_is_gone_is_unknown(database: Database) {
    let (second, _) = rotated(&database);
    let new = session();
    let store = database.store().await;
    store.create_session(new.clone(), at(0)).await.unwrap();
    store.close().await;

    let store = database.open(second).await.unwrap();

    assert!(store.session(&new.id, at(1)).await.unwrap().is_none());
    let other = NewInteraction { provider: "maps".to_owned(), ..question("user-1") };
    completed(&store, other, connect("s-2")).await;
}

/// The right id over other bytes: nothing would open, so the file is refused by name.
pub(crate) async fn another_key_under_a_needed_id_is_refused(database: Database) {
    let (second, _) = rotated(&database);
    let text = std::fs::read_to_string(database.directory.join("second.keys")).unwrap();
    let wrong = text.replace(&second.key_ids()[0], &database.keys.key_ids()[0]);
    let wrong = Arc::new(KeyFile::parse(&wrong).unwrap());
    // As long as nothing is stored it is as good as any other.
    database.store().await.close().await;
    database.open(Arc::clone(&wrong)).await.unwrap().close().await;
    let store = database.store().await;
    completed(&store, question("user-1"), connect("s-1")).await;
    store.close().await;

    let error = database.open(Arc::clone(&wrong)).await.unwrap_err();

    assert!(matches!(&error, StoreError::WrongKey { ids } if *ids == database.keys.key_ids()), "{error}");
    let mut inspection = Store::inspect(&database.url).await.unwrap().unwrap();
    assert!(matches!(inspection.check_keys(&*wrong).await, Err(StoreError::WrongKey { .. })));
    inspection.check_keys(&*database.keys).await.unwrap();
    inspection.close().await;
    // Once it is disconnected, nobody needs the key that was noted.
    let store = database.store().await;
    assert!(store.disconnect(&user("user-1"), "weather", at(9)).await.unwrap());
    store.close().await;
    let store = database.open(wrong.clone()).await.unwrap();
    completed(&store, question("user-1"), connect("s-2")).await;
    store.close().await;
    database.open(wrong).await.unwrap();
}

/// A replica whose file is behind has not lost a credential: its owner is not asked to connect anew, and what is stored
/// stays.
pub(crate) async fn a_replica_that_lacks_a_key_fails_clearly_and_replaces_nothing(database: Database) {
    let (_, both) = rotated(&database);
    let behind = database.store().await;
    let ahead = database.open(both.clone()).await.unwrap();
    completed(&ahead, question("user-1"), connect("s-1")).await;

    let owner = user("user-1");
    for error in [
        behind.credential(&owner, "weather").await.map(drop).unwrap_err(),
        behind.connections(&owner).await.map(drop).unwrap_err(),
        {
            let asked = behind.ask(&[question("user-1")], None, at(0)).await.unwrap().remove(0);
            let consented = consent(&behind, asked).await;
            behind.complete(consented, connect("s-2"), at(4)).await.map(drop).unwrap_err()
        },
        {
            let other = NewInteraction { provider: "maps".to_owned(), ..question("user-1") };
            let asked = ahead.ask(&[other], None, at(0)).await.unwrap().remove(0);
            behind.advance(asked, Step::Open, at(4)).await.map(drop).unwrap_err()
        },
    ] {
        assert!(matches!(&error, StoreError::MissingKey { ids } if *ids == both.key_ids()[..1]), "{error}");
        assert!(!error.is_unopened() && !error.is_tampered(), "{error}");
    }
    let credential = ahead.credential(&owner, "weather").await.unwrap().unwrap();
    assert_eq!(credential.secrets["api_key"].expose_secret(), "s-1");

    // What was given up is nobody's: it makes way.
    behind.close().await;
    ahead.close().await;
    Store::give_up_key(&database.url, &both.key_ids()[0]).await.unwrap();
    let store = database.store().await;
    assert!(store.credential(&owner, "weather").await.unwrap_err().is_unopened());
    completed(&store, NewInteraction { principal: principal_of("client-2"), ..question("user-1") }, connect("s-3"))
        .await;
    let credential = store.credential(&owner, "weather").await.unwrap().unwrap();
    assert_eq!(credential.secrets["api_key"].expose_secret(), "s-3");
}

fn principal_of(name: &str) -> elicit::Principal {
    elicit::Principal { user: user("user-1"), client: client(name) }
}

/// No forgery, and no error for as long as the cookie lasts: the person signs in again.
pub(crate) async fn a_sign_in_whose_key_is_gone_is_none(database: Database) {
    let (second, _) = rotated(&database);
    let (link, unused, browser) = (random_token(), random_token(), random_token());
    let store = database.store().await;
    for token in [&link, &unused] {
        store.create_login_link(token, &user("user-1"), at(600), at(0)).await.unwrap();
    }
    store.use_login_link(&link, browsing(&browser, at(DAY)), at(1)).await.unwrap();
    store.close().await;

    let store = database.open(second).await.unwrap();

    assert!(store.browser_session(&browser, LONGEST, at(2)).await.unwrap().is_none());
    assert!(store.use_login_link(&unused, browsing(&random_token(), at(DAY)), at(2)).await.unwrap().is_none());
    let rows = store.audit_of(&user("user-1"), 10).await.unwrap();
    assert_eq!(rows.len(), 1, "the first sign-in alone: {rows:?}");
}

/// A new key file is right only for a store that needs none. Asking makes and changes nothing.
pub(crate) async fn a_store_says_which_keys_it_needs_before_it_is_opened(database: Database) {
    let needed = || Store::needed_keys(&database.url);
    assert!(needed().await.unwrap().is_empty(), "nothing is there");
    if database.kind == Kind::Sqlite {
        let path = database.directory.join("usher.db");
        assert!(!path.exists(), "asking makes no file");
        std::fs::write(&path, "").unwrap();
        assert!(needed().await.unwrap().is_empty(), "a start that was cut short");
    }
    let store = database.store().await;
    store.ask(&[question("user-1")], None, at(0)).await.unwrap();
    assert!(needed().await.unwrap().is_empty(), "nothing lasting was sealed");

    completed(&store, question("user-1"), connect("s-1")).await;

    assert_eq!(needed().await.unwrap(), database.keys.key_ids(), "while it is open");
    store.close().await;
    assert_eq!(needed().await.unwrap(), database.keys.key_ids(), "and after it was closed");
}
