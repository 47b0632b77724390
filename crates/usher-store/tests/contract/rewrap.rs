use std::sync::Arc;

use elicit::SystemRandom;
use jiff::SignedDuration;
use secrecy::ExposeSecret as _;
use usher_store::{
    APPROVAL_LASTS, Advanced, Claimed, Completion, Ending, ExactCall, FLOW_LASTS, Inspection, KeyFile, KeyRing,
    KeyUses, Lease, NewInteraction, OPEN_AT_MOST, Operation, Rewrapped, SessionId, Store, Vault,
};

use crate::keys::rotated;
use crate::oauth_client::{BACK, ISSUER, registered};
use crate::samples::{
    DAY, HOUR, LONGEST, access, at, browsing, client, completed, connect, connected, consented, grant, question,
    random_token, session, user,
};
use crate::setup::Database;

fn of(provider: &str) -> NewInteraction {
    NewInteraction { provider: provider.to_owned(), ..question("user-1") }
}

async fn uses(database: &Database, key: &str) -> KeyUses {
    let mut inspection: Inspection = Store::inspect(&database.url).await.unwrap().unwrap();
    let uses = inspection.key_uses(&[key.to_owned()], at(10)).await.unwrap()[key];
    inspection.close().await;
    uses
}

fn ids(both: &KeyFile) -> [String; 2] {
    both.key_ids().try_into().unwrap()
}

/// What was approved for one call is not wrapped anew, and would be lost with its key: until the call comes, and then for as
/// long as its server may ask something of its own.
pub(crate) async fn an_approved_call_needs_its_key_until_it_came(database: Database) {
    let store = database.store().await;
    let operation = Operation::exact("tools/call", Some(r#"{"name":"pay"}"#)).unwrap();
    let digest = *operation.digest().unwrap();
    let about = |provider: &str| NewInteraction { operation: Some(operation.clone()), ..of(provider) };
    for provider in ["confirm", "pay"] {
        completed(&store, about(provider), Completion::Once { lasts: APPROVAL_LASTS }).await;
    }
    let key = database.keys.key_ids().remove(0);
    let until = Some(at(3) + APPROVAL_LASTS);
    assert_eq!(uses(&database, &key).await.approvals, Ending { count: 2, until });
    let new = about("pay");
    let call = ExactCall { principal: &new.principal, destination: &new.destination, digest: &digest, round: "" };
    assert!(matches!(store.claim(call, &["pay"], at(4)).await.unwrap(), Claimed::All(_)));
    let rounds = at(4) + OPEN_AT_MOST + SignedDuration::from_mins(5);
    assert_eq!(uses(&database, &key).await.approvals, Ending { count: 2, until: Some(rounds) });
    store.close().await;
    let mut later: Inspection = Store::inspect(&database.url).await.unwrap().unwrap();
    for (now, count) in [(at(3) + APPROVAL_LASTS, 1), (rounds, 0)] {
        let uses = later.key_uses(std::slice::from_ref(&key), now).await.unwrap()[&key];
        assert_eq!(uses.approvals.count, count, "{now}");
    }
}

/// R-SEC-07: what outlives a rotation is wrapped anew; each value stays what it was.
pub(crate) async fn what_an_older_key_wrapped_is_wrapped_anew(database: Database) {
    let (second, both) = rotated(&database);
    let [_, old] = ids(&both);
    let (link, browser, new) = (random_token(), random_token(), session());
    let store = database.store().await;
    completed(&store, question("user-1"), connect("s-1")).await;
    store.create_session(new.clone(), at(0)).await.unwrap();
    store.create_login_link(&link, &user("user-1"), at(600), at(0)).await.unwrap();
    store.use_login_link(&link, browsing(&browser, at(DAY)), at(1)).await.unwrap();
    store.create_login_link(&random_token(), &user("user-1"), at(500), at(0)).await.unwrap();
    store.ask(&[of("maps")], None, at(0)).await.unwrap();
    let before = store.credential(&user("user-1"), "weather").await.unwrap().unwrap();
    store.close().await;
    let needed = uses(&database, &old).await;
    assert_eq!((needed.credentials, needed.sessions.count, needed.browser_sessions.count), (1, 1, 1));
    assert_eq!(needed.sessions.until, Some(at(HOUR)));
    assert_eq!((needed.questions.count, needed.questions.until), (1, Some(at(600))));
    assert_eq!((needed.login_links.count, needed.login_links.until), (1, Some(at(500))));

    let store = database.open(both).await.unwrap();
    let done = store.rewrap(1000).await.unwrap();
    assert_eq!(done, Rewrapped { rewrapped: 3, unreadable: 0, more: false });
    assert_eq!(store.rewrap(1000).await.unwrap(), Rewrapped::default(), "there is nothing more to do");
    let after = store.credential(&user("user-1"), "weather").await.unwrap().unwrap();
    assert_eq!((after.version, after.updated_at, &after.id), (before.version, before.updated_at, &before.id));
    store.close().await;
    let needed = uses(&database, &old).await;
    assert_eq!((needed.credentials, needed.sessions.count, needed.browser_sessions.count), (0, 0, 0));
    assert!(needed.questions.count == 1 && needed.login_links.count == 1, "these end by themselves: {needed:?}");

    let store = database.open(second).await.unwrap();
    let credential = store.credential(&user("user-1"), "weather").await.unwrap().unwrap();
    assert_eq!(credential.secrets["api_key"].expose_secret(), "s-1");
    assert_eq!(credential.approvals, before.approvals);
    let found = store.session(&new.id, at(2)).await.unwrap().unwrap();
    assert_eq!(found.upstream_session.as_deref(), Some("upstream-session-secret"));
    assert!(store.browser_session(&browser, LONGEST, at(2)).await.unwrap().is_some());
}

/// R-OAUTH-01, R-SEC-07: grants and registrations outlive a rotation; ways back from a provider end before their key goes.
pub(crate) async fn grants_and_registrations_are_wrapped_anew(database: Database) {
    let (second, both) = rotated(&database);
    let [new, old] = ids(&both);
    let store = database.store().await;
    connected(&store, question("user-1"), 1).await;
    store.keep_oauth_client(registered("c-1"), at(0)).await.unwrap();
    let leaving = consented(&store, of("maps")).await;
    store.close().await;
    let store = database.open(both.clone()).await.unwrap();
    // Consented to under the older key, and left under the active one: both are needed to come back.
    let state = random_token();
    assert!(store.begin_flow(&leaving.id, &state, "browser", &"verifier".into(), at(5)).await.unwrap());
    let before = store.credential(&user("user-1"), "weather").await.unwrap().unwrap();
    let held = store.lease_refresh(&user("user-1"), "weather", 1, "replica", at(5)).await.unwrap();
    let Lease::Held(held) = held else { panic!("{held:?}") };
    let needed = uses(&database, &old).await;
    assert_eq!((needed.credentials, needed.oauth_clients, needed.flows.count), (1, 1, 0));
    let needed = uses(&database, &new).await;
    assert_eq!((needed.credentials, needed.oauth_clients), (0, 0));
    assert_eq!(needed.flows, Ending { count: 1, until: Some(at(5) + FLOW_LASTS) });

    let done = store.rewrap(1000).await.unwrap();

    assert_eq!(done, Rewrapped { rewrapped: 2, unreadable: 0, more: false });
    let needed = uses(&database, &old).await;
    assert_eq!((needed.credentials, needed.oauth_clients, needed.flows.count), (0, 0, 0));
    // It held nobody up who was refreshing.
    assert!(store.refreshed(held, access(2), grant(2), at(6)).await.unwrap().is_some());
    assert!(store.claim_flow(&leaving.id, &state, "browser", at(6)).await.unwrap().is_some());
    store.close().await;
    let store = database.open(second).await.unwrap();
    let after = store.credential(&user("user-1"), "weather").await.unwrap().unwrap();
    assert_eq!((after.version, after.approvals), (before.version + 1, before.approvals));
    let client = store.oauth_client(ISSUER, BACK).await.unwrap().unwrap();
    assert_eq!(client.secret.unwrap().expose_secret(), "registered-secret-of-c-1");
}

/// A key that is not active yet is another replica's to come: what it wrapped is left alone, or two replicas would wrap
/// to and fro.
pub(crate) async fn what_a_next_key_wrapped_is_left_alone(database: Database) {
    let (_, both) = rotated(&database);
    let [new, _] = ids(&both);
    let ahead = database.open(both).await.unwrap();
    completed(&ahead, question("user-1"), connect("s-1")).await;

    let first = std::fs::read_to_string(database.directory.join("usher.keys")).unwrap();
    let second = std::fs::read_to_string(database.directory.join("second.keys")).unwrap();
    let text = format!("{first}{}", second.replace(" active", " next"));
    let added = database.open(Arc::new(KeyFile::parse(&text).unwrap())).await.unwrap();

    assert_eq!(added.rewrap(1000).await.unwrap(), Rewrapped::default());
    assert_eq!(uses(&database, &new).await.credentials, 1);
    let credential = added.credential(&user("user-1"), "weather").await.unwrap().unwrap();
    assert_eq!(credential.secrets["api_key"].expose_secret(), "s-1");
}

/// Sessions are the cheapest rows to make many of.
async fn many_sessions(store: &Store, number: usize) -> Vec<SessionId> {
    let mut ids = Vec::with_capacity(number);
    for _ in 0..number {
        let new = session();
        ids.push(new.id.clone());
        store.create_session(new, at(0)).await.unwrap();
    }
    ids
}

/// A run that ends anywhere leaves rows that all open; the next one finds what is left.
pub(crate) async fn a_run_that_was_cut_short_is_taken_up_again(database: Database) {
    let (second, both) = rotated(&database);
    let [_, old] = ids(&both);
    let store = database.store().await;
    let sessions = many_sessions(&store, 250).await;
    store.close().await;

    let store = database.open(both.clone()).await.unwrap();
    let first = store.rewrap(1).await.unwrap();
    assert!(first.more && (1..250).contains(&first.rewrapped), "{first:?}");
    // Killed in the middle of a batch: a transaction that did not commit.
    let cut = store.clone();
    let running = tokio::spawn(async move { cut.rewrap(1000).await });
    tokio::task::yield_now().await;
    running.abort();
    let _ = running.await;
    drop(store);
    let store = database.open(both).await.unwrap();
    for id in &sessions {
        assert!(store.session(id, at(2)).await.unwrap().is_some(), "each opens");
    }
    let rest = store.rewrap(1000).await.unwrap();
    assert!(!rest.more && first.rewrapped + rest.rewrapped <= 250, "{rest:?}");
    store.close().await;

    assert_eq!(uses(&database, &old).await.sessions.count, 0);
    let store = database.open(second).await.unwrap();
    for id in &sessions {
        assert!(store.session(id, at(2)).await.unwrap().is_some(), "each opens with the new key alone");
    }
}

/// Several replicas at once, while sessions end: each row is done once, and none comes back.
pub(crate) async fn several_runs_at_once_do_no_harm(database: Database) {
    let (_, both) = rotated(&database);
    let [_, old] = ids(&both);
    let store = database.store().await;
    let sessions = many_sessions(&store, 250).await;
    store.close().await;
    let one = database.open(both.clone()).await.unwrap();
    // Another process, were it one; on SQLite there is one alone.
    let other =
        if one.kind() == usher_store::Kind::Postgres { database.open(both).await.unwrap() } else { one.clone() };

    let ended = async {
        for id in sessions.iter().step_by(5) {
            one.delete_session(&id.key()).await.unwrap();
        }
    };
    let (first, second, ()) = tokio::join!(one.rewrap(1000), other.rewrap(1000), ended);

    let (first, second) = (first.unwrap(), second.unwrap());
    assert!(first.rewrapped + second.rewrapped <= 250, "{first:?} {second:?}");
    assert_eq!(one.rewrap(1000).await.unwrap(), Rewrapped::default());
    assert_eq!(uses(&database, &old).await.sessions.count, 0);
    for (index, id) in sessions.iter().enumerate() {
        assert_eq!(one.session(id, at(2)).await.unwrap().is_some(), index % 5 != 0, "{index}");
    }
}

/// What was read is no longer what is there: disconnected, connected anew, or rejected meanwhile.
pub(crate) async fn a_credential_that_changes_meanwhile_is_whole(database: Database) {
    let keys = KeyFile::parse(&std::fs::read_to_string(database.directory.join("usher.keys")).unwrap()).unwrap();
    let ring = Arc::new(KeyRing::new(keys));
    let random = Arc::new(SystemRandom);
    let store = Store::open(&database.url, Arc::new(Vault::new(ring.clone(), random.clone())), random).await.unwrap();
    let owner = user("user-1");
    for round in 0..8 {
        completed(&store, question("user-1"), connect("before")).await;
        let mut next = question("user-1");
        next.principal.client = client(&format!("client-{round}"));
        let next = consented(&store, next).await;
        let version = store.credential(&owner, "weather").await.unwrap().unwrap().version;
        let path = database.directory.join("usher.keys");
        usher_store::KeyFileEdit::begin(&path).unwrap().rotate(&SystemRandom, at(round)).unwrap();
        ring.replace(KeyFile::load(&path).unwrap());

        let changed = async {
            match round % 3 {
                0 => assert!(store.disconnect(&owner, "weather", at(4)).await.unwrap()),
                1 => {
                    assert!(
                        store.reject_credential(&owner, "weather", version, at(4)).await.unwrap(),
                        "no new version"
                    );
                }
                _ => {}
            }
            store.complete(next, connect("after"), at(5)).await.unwrap()
        };
        let (rewrapped, changed) = tokio::join!(store.rewrap(1000), changed);

        rewrapped.unwrap();
        assert!(matches!(changed, Advanced::Done(_)), "{round}: {changed:?}");
        let credential = store.credential(&owner, "weather").await.unwrap().unwrap();
        assert_eq!(credential.secrets["api_key"].expose_secret(), "after", "{round}");
        store.rewrap(1000).await.unwrap();
        assert!(store.disconnect(&owner, "weather", at(6)).await.unwrap());
    }
}

/// R-OAUTH-01: a value that was changed does not become right, and holds up nothing else.
pub(crate) async fn what_was_changed_in_the_database_stays_unreadable(database: Database) {
    let (_, both) = rotated(&database);
    let [_, old] = ids(&both);
    let store = database.store().await;
    completed(&store, of("maps"), connect("s-1")).await;
    completed(&store, of("weather"), connect("s-2")).await;
    store.close().await;
    let sealed = "sealed = (SELECT sealed FROM credentials WHERE provider = 'maps')";
    database.run(&format!("UPDATE credentials SET {sealed} WHERE provider = 'weather'")).await;

    let store = database.open(both).await.unwrap();
    let done = store.rewrap(1000).await.unwrap();

    assert_eq!(done, Rewrapped { rewrapped: 1, unreadable: 1, more: false });
    assert_eq!(uses(&database, &old).await.credentials, 1);
    assert!(store.credential(&user("user-1"), "weather").await.unwrap_err().is_tampered());
    assert!(store.credential(&user("user-1"), "maps").await.unwrap().is_some());
}

/// Each credential has its note, whoever stores, rotates and retires at the same time.
pub(crate) async fn a_key_that_is_needed_is_never_forgotten(database: Database) {
    let id = database.keys.key_ids().remove(0);
    let store = database.store().await;
    for round in 0..10 {
        let ready = consented(&store, question("user-1")).await;
        let complete = store.complete(ready, connect("s-1"), at(4));
        let (completed, forgotten) = tokio::join!(complete, Store::forget_key(&database.url, &id));
        assert!(matches!(completed.unwrap(), Advanced::Done(_)));
        forgotten.unwrap();
        assert_eq!(Store::needed_keys(&database.url).await.unwrap(), std::slice::from_ref(&id), "round {round}");
        assert!(!Store::forget_key(&database.url, &id).await.unwrap(), "it is needed");
        assert!(store.disconnect(&user("user-1"), "weather", at(5)).await.unwrap());
        assert!(Store::needed_keys(&database.url).await.unwrap().is_empty());
    }
    assert!(Store::forget_key(&database.url, &id).await.unwrap());
}

/// The column that finds rows says what the value says, also of values that are none.
pub(crate) async fn the_key_of_a_row_is_read_out_of_its_value(database: Database) {
    let store = database.store().await;
    completed(&store, question("user-1"), connect("s-1")).await;
    let key = database.keys.key_ids().remove(0);
    let found = async || uses(&database, &key).await.credentials;
    assert_eq!(found().await, 1);
    for bytes in ["", "01", "0105", "01ff6b31", "0100", "010000", "01036b31ff", "ffffffffffff"] {
        let value = match database.kind {
            usher_store::Kind::Sqlite => format!("x'{bytes}'"),
            usher_store::Kind::Postgres => format!("'\\x{bytes}'"),
        };
        assert_eq!(database.run(&format!("UPDATE credentials SET sealed = {value}")).await, 1, "{bytes}");
        assert_eq!(found().await, 0, "{bytes}");
    }
    assert!(store.credential(&user("user-1"), "weather").await.unwrap_err().is_unopened());
    let allowed = store.complete(consented(&store, question("user-1")).await, Completion::Allow, at(5)).await.unwrap();
    assert!(matches!(allowed, Advanced::Refused(_)));
}
