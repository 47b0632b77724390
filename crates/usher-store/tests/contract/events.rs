use usher_store::{CredentialKey, Event, FailureReason, Step};

use crate::samples::{at, completed, connect, consented, done, question, user};
use crate::setup::Database;

pub(crate) async fn a_completion_is_told_after_it_can_be_read(database: Database) {
    let store = database.store().await;
    let interaction = consented(&store, question("user-1")).await;
    let id = interaction.id.clone();
    let mut events = store.events();
    let waiter = tokio::spawn({
        let store = store.clone();
        async move {
            while events.recv().await.unwrap() != Event::Interaction(id.clone()) {}
            let read = store.interaction(&id, at(4)).await.unwrap().unwrap();
            let credential = store.credential(&user("user-1"), "weather").await.unwrap();
            (read, credential.is_some())
        }
    });

    let done = done(store.complete(interaction, connect("s-1"), at(3)).await.unwrap());

    assert_eq!(waiter.await.unwrap(), (done, true));
}

pub(crate) async fn every_change_tells_those_who_listen(database: Database) {
    let store = database.store().await;
    let owner = user("user-1");
    let credential = Event::Credential(CredentialKey::of(&owner, "weather"));
    let mut events = store.events();

    let one = completed(&store, question("user-1"), connect("s-1")).await;
    for expected in [
        Event::Interaction(one.id.clone()),
        Event::Interaction(one.id.clone()),
        credential.clone(),
        Event::Interaction(one.id),
    ] {
        assert_eq!(events.recv().await.unwrap(), expected);
    }
    store.reject_credential(&owner, "weather", 1, at(4)).await.unwrap();
    assert_eq!(events.recv().await.unwrap(), credential);
    store.disconnect(&owner, "weather", at(5)).await.unwrap();
    assert_eq!(events.recv().await.unwrap(), credential);

    let two = store.ask(&[question("user-1")], None, at(6)).await.unwrap().remove(0);
    let step = Step::Fail(FailureReason::StoreTrouble);
    let failed = done(store.advance(two, step, at(7)).await.unwrap());
    assert_eq!(events.recv().await.unwrap(), Event::Interaction(failed.id));
}

pub(crate) async fn asking_and_no_change_tell_nobody(database: Database) {
    let store = database.store().await;
    let interaction = consented(&store, question("user-1")).await;
    let mut events = store.events();

    store.ask(&[question("user-1")], None, at(3)).await.unwrap();
    done(store.advance(interaction.clone(), Step::Open, at(4)).await.unwrap());
    done(store.advance(interaction, Step::Consent, at(4)).await.unwrap());
    store.reject_credential(&user("user-1"), "weather", 1, at(5)).await.unwrap();
    store.disconnect(&user("user-1"), "weather", at(6)).await.unwrap();

    assert!(events.try_recv().is_err());
}
