//! Letting go: what is taken away is found by nobody, and stays until its provider was told.

use std::collections::{BTreeMap, BTreeSet};

use secrecy::{ExposeSecret as _, SecretString};
use usher_store::{
    AtProvider, AuditAction, Completion, CredentialStatus, Grant, GrantClient, GrantServer, LEAVING_LASTS, Lease,
    Leave, NewInteraction, Outcome, Store,
};

use crate::samples::{at, client, completed, connect, consented, done, question, random_token, user};
use crate::setup::Database;

fn grant() -> Grant {
    Grant {
        refresh_token: Some("refresh-1".into()),
        expires_at: Some(at(3600)),
        refresh_at: Some(at(3000)),
        scopes: BTreeSet::from(["read".to_owned()]),
        asked: BTreeSet::new(),
        demanded: BTreeSet::new(),
        account: Some("ada".to_owned()),
        values: BTreeMap::new(),
        server: GrantServer {
            issuer: "https://id.example".to_owned(),
            token_endpoint: None,
            revocation_endpoint: None,
            resource: None,
            client: GrantClient {
                id: "usher".to_owned(),
                secret: None,
                method: "none".to_owned(),
                redirect_uri: "https://usher.example/callback/weather".to_owned(),
            },
        },
    }
}

/// Asks `user-1`, and stores what a provider granted.
async fn granted(store: &Store) {
    let consented = consented(store, question("user-1")).await;
    let (state, kept) = (random_token(), SecretString::from("verifier"));
    assert!(store.begin_flow(&consented.id, &state, "browser", &kept, at(3)).await.unwrap());
    let flow = store.claim_flow(&consented.id, &state, "browser", at(3)).await.unwrap().unwrap();
    let secrets = BTreeMap::from([("access_token".to_owned(), "access-1".into())]);
    done(
        store.complete(flow.interaction, Completion::Grant { secrets, grant: Box::new(grant()) }, at(3)).await.unwrap(),
    );
}

async fn actions(store: &Store) -> Vec<(AuditAction, Outcome)> {
    let rows = store.audit_of(&user("user-1"), 100).await.unwrap();
    rows.into_iter().filter_map(|row| Some((row.action?, row.outcome))).collect()
}

/// From the first commit on nobody finds it, and its owner sees it, until it was told and deleted.
pub(crate) async fn what_is_let_go_is_found_by_nobody_and_listed_until_it_is_deleted(database: Database) {
    let store = database.store().await;
    let owner = user("user-1");
    completed(&store, question("user-1"), connect("s-1")).await;
    completed(&store, question("user-2"), connect("s-2")).await;

    let own = Leave::Own { user: &owner, provider: "weather" };
    let leaving = store.leave(own, at(10)).await.unwrap();

    assert_eq!(leaving.len(), 1);
    let held = leaving[0].credential.as_ref().unwrap();
    assert_eq!(held.secrets["api_key"].expose_secret(), "s-1", "to tell its provider with");
    assert!(store.credential(&owner, "weather").await.unwrap().is_none());
    let listed = store.connections(&owner).await.unwrap().readable;
    assert_eq!(listed.iter().map(|one| one.status).collect::<Vec<_>>(), [CredentialStatus::Leaving]);
    assert!(!store.reject_credential(&owner, "weather", 1, at(11)).await.unwrap(), "a call that was sent with it");
    assert!(store.credential(&user("user-2"), "weather").await.unwrap().is_some(), "nobody else loses anything");

    // Killed here, it is given once more, and said once.
    let again = store.leave(own, at(12)).await.unwrap();
    assert_eq!(again[0].id, leaving[0].id);
    assert!(store.left(&again[0], AtProvider::StillListed("provider-refused"), at(13)).await.unwrap());
    assert!(!store.left(&leaving[0], AtProvider::Ended, at(13)).await.unwrap(), "it is gone");
    assert!(store.connections(&owner).await.unwrap().readable.is_empty());
    let said = actions(&store).await;
    let count = |wanted| said.iter().filter(|one| **one == wanted).count();
    assert_eq!(count((AuditAction::CredentialDisconnected, Outcome::Success)), 1);
    assert_eq!(count((AuditAction::GrantRevoked, Outcome::Failure)), 1);
    assert_eq!(count((AuditAction::GrantRevoked, Outcome::Success)), 0);
    assert!(store.leave(own, at(14)).await.unwrap().is_empty());
}

/// What is connected anew meanwhile is another record, with nothing of what was allowed before.
pub(crate) async fn what_is_connected_while_the_old_one_leaves_stays(database: Database) {
    let store = database.store().await;
    let owner = user("user-1");
    completed(&store, question("user-1"), connect("s-1")).await;
    let leaving = store.leave(Leave::Own { user: &owner, provider: "weather" }, at(10)).await.unwrap();
    let mut other = question("user-1");
    other.principal.client = client("client-2");

    completed(&store, other, connect("s-2")).await;

    assert!(!store.left(&leaving[0], AtProvider::Ended, at(20)).await.unwrap());
    let new = store.credential(&owner, "weather").await.unwrap().unwrap();
    assert_eq!(new.secrets["api_key"].expose_secret(), "s-2");
    assert_eq!(new.clients().len(), 1, "what was given up is not allowed any more");
    assert!(
        new.version > leaving[0].credential.as_ref().unwrap().version,
        "a call that used the old one marks nothing"
    );
}

/// A refresh that was under way brings nothing back, and none begins.
pub(crate) async fn a_refresh_brings_nothing_back(database: Database) {
    let store = database.store().await;
    let owner = user("user-1");
    granted(&store).await;
    let Lease::Held(held) = store.lease_refresh(&owner, "weather", 1, "test", at(10)).await.unwrap() else {
        panic!("a lease");
    };
    let secrets = held.credential.secrets.clone();

    let leaving = store.leave(Leave::Own { user: &owner, provider: "weather" }, at(11)).await.unwrap();

    assert!(store.refreshed(held, secrets, grant(), at(12)).await.unwrap().is_none());
    let version = leaving[0].credential.as_ref().unwrap().version;
    let none = store.lease_refresh(&owner, "weather", version, "test", at(12)).await.unwrap();
    assert!(matches!(none, Lease::Gone), "{none:?}");
    assert!(store.due_refreshes("weather", at(1_000_000), 10).await.unwrap().is_empty());
    assert!(store.credential(&owner, "weather").await.unwrap().is_none());
}

/// All of a user at once, and one by its id; the operator's word is said as such.
pub(crate) async fn all_of_a_user_and_one_by_its_id(database: Database) {
    let store = database.store().await;
    let owner = user("user-1");
    let maps = NewInteraction { provider: "maps".to_owned(), ..question("user-1") };
    completed(&store, maps, connect("s-1")).await;
    completed(&store, question("user-1"), connect("s-2")).await;
    let id = store.credential(&owner, "maps").await.unwrap().unwrap().id;

    let one = store.leave(Leave::One(&id), at(10)).await.unwrap();

    assert_eq!((one.len(), one[0].provider.as_str()), (1, "maps"));
    assert!(actions(&store).await.contains(&(AuditAction::CredentialRevoked, Outcome::Success)));
    assert!(store.credential(&owner, "weather").await.unwrap().is_some());
    assert_eq!(store.leave(Leave::All(&owner), at(11)).await.unwrap().len(), 2);
    assert!(store.credential(&owner, "weather").await.unwrap().is_none());
    assert!(store.leave(Leave::All(&user("user-2")), at(11)).await.unwrap().is_empty());
    assert_eq!(store.forget_user(&owner, at(12)).await.unwrap().connections, 2);
}

/// What nobody ended is found after its time, by one at a time.
pub(crate) async fn what_nobody_ended_is_found_after_its_time(database: Database) {
    let store = database.store().await;
    let owner = user("user-1");
    completed(&store, question("user-1"), connect("s-1")).await;
    store.leave(Leave::Own { user: &owner, provider: "weather" }, at(10)).await.unwrap();

    assert!(store.still_leaving(at(11)).await.unwrap().is_empty(), "somebody is at it");
    let later = at(10) + LEAVING_LASTS;
    let found = store.still_leaving(later).await.unwrap();

    assert_eq!(found.len(), 1);
    assert!(store.still_leaving(later).await.unwrap().is_empty(), "it was taken");
    assert!(store.left(&found[0], AtProvider::Nothing, later).await.unwrap());
    assert!(!actions(&store).await.iter().any(|(action, _)| *action == AuditAction::GrantRevoked));
}
