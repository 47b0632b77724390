use std::time::Duration;

use elicit::UserId;
use jiff::SignedDuration;
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::Row as _;
use usher_store::{ApiKey, ApiKeyId, ApiKeyText, ApiScope, ApiScopes, AuditAction, NewApiKey, Outcome, Pruned, Store};

use crate::samples::{DAY, HOUR, at};
use crate::setup::Database;

pub(crate) fn reading() -> NewApiKey {
    NewApiKey {
        server: "forecast".to_owned(),
        name: "production".to_owned(),
        scopes: ApiScopes::from_iter([ApiScope::InteractionsRead]),
        expires_at: None,
    }
}

fn presented(text: &SecretString) -> ApiKeyText {
    ApiKeyText::parse(text.expose_secret()).unwrap()
}

async fn opens(store: &Store, text: &SecretString, seconds: i64) -> Option<ApiKey> {
    store.api_key(&presented(text), at(seconds)).await.unwrap()
}

async fn audited(store: &Store, key: &ApiKey) -> Vec<(AuditAction, Outcome)> {
    let rows = store.audit_of(&key.actor().unwrap(), 100).await.unwrap();
    assert!(rows.iter().all(|row| row.upstream.as_deref() == Some("forecast")), "{rows:?}");
    rows.into_iter().rev().map(|row| (row.action.unwrap(), row.outcome)).collect()
}

pub(crate) async fn a_key_opens_for_its_server_alone(database: Database) {
    let store = database.store().await;
    let (made, text) = store.create_api_key(reading(), at(0)).await.unwrap();
    let (other, other_text) =
        store.create_api_key(NewApiKey { server: "maps".to_owned(), ..reading() }, at(1)).await.unwrap();

    let found = opens(&store, &text, 2).await.unwrap();

    assert_eq!(found, made);
    assert_eq!((found.server.as_str(), found.name.as_str(), found.created_at), ("forecast", "production", at(0)));
    assert!(found.scopes.allow(ApiScope::InteractionsRead) && !found.scopes.allow(ApiScope::InteractionsWrite));
    assert_eq!(opens(&store, &other_text, 2).await.unwrap().server, "maps");
    // The secret of the one with the id of the other.
    let secret = text.expose_secret().rsplit_once(made.id.as_str()).unwrap().1;
    let mixed = SecretString::from(format!("usher_{}{secret}", other.id));
    assert!(opens(&store, &mixed, 2).await.is_none());
    let unknown = SecretString::from(format!("usher_aaaaaaaaaaaa{secret}"));
    assert!(opens(&store, &unknown, 2).await.is_none());
    let listed = store.api_keys().await.unwrap();
    assert!(listed.iter().all(|listed| listed.genuine));
    assert_eq!(
        listed.iter().map(|listed| listed.id.as_str()).collect::<Vec<_>>(),
        [other.id.as_str(), made.id.as_str()],
        "newest first"
    );
    assert_eq!(audited(&store, &made).await, [(AuditAction::ApiKeyCreated, Outcome::Success)]);
}

pub(crate) async fn a_rotated_key_opens_with_both_secrets_for_a_while(database: Database) {
    let store = database.store().await;
    let (made, first) = store.create_api_key(reading(), at(0)).await.unwrap();
    let keep = SignedDuration::from_hours(1);

    let (rotated, second) = store.rotate_api_key(&made.id, keep, at(10)).await.unwrap().unwrap();

    assert_eq!((&rotated.id, rotated.rotated_at, rotated.former_until), (&made.id, Some(at(10)), Some(at(10 + HOUR))));
    assert!(opens(&store, &first, 9 + HOUR).await.is_some());
    assert!(opens(&store, &first, 10 + HOUR).await.is_none(), "its time is over");
    assert_eq!(opens(&store, &second, 10 + HOUR).await.unwrap().id, made.id);
    // Of several, the last two work at most.
    let (_, third) = store.rotate_api_key(&made.id, keep, at(20)).await.unwrap().unwrap();
    assert!(opens(&store, &first, 21).await.is_none());
    assert!(opens(&store, &second, 21).await.is_some() && opens(&store, &third, 21).await.is_some());
    // Where nothing is kept, at once.
    let (_, fourth) = store.rotate_api_key(&made.id, SignedDuration::ZERO, at(30)).await.unwrap().unwrap();
    assert!(opens(&store, &third, 30).await.is_none());
    assert!(opens(&store, &fourth, 30).await.is_some());
    assert!(store.rotate_api_key(&ApiKeyId::parse("aaaaaaaaaaaa").unwrap(), keep, at(40)).await.unwrap().is_none());
    let rotations = audited(&store, &made).await.iter().filter(|one| one.0 == AuditAction::ApiKeyRotated).count();
    assert_eq!(rotations, 3);
}

pub(crate) async fn of_two_rotations_at_once_no_secret_is_lost(database: Database) {
    let store = database.store().await;
    let (made, _) = store.create_api_key(reading(), at(0)).await.unwrap();
    let keep = SignedDuration::from_hours(1);

    let both = tokio::join!(store.rotate_api_key(&made.id, keep, at(1)), store.rotate_api_key(&made.id, keep, at(1)));

    // One may be told to try once more; whoever was given a secret has one that works.
    let given: Vec<_> = [both.0, both.1].into_iter().flatten().collect();
    assert!(!given.is_empty());
    for rotated in given {
        assert!(opens(&store, &rotated.unwrap().1, 2).await.is_some());
    }
}

pub(crate) async fn an_expired_key_opens_nothing_and_goes_later(database: Database) {
    let store = database.store().await;
    let (made, text) =
        store.create_api_key(NewApiKey { expires_at: Some(at(HOUR)), ..reading() }, at(0)).await.unwrap();
    let (_, endless) = store.create_api_key(reading(), at(0)).await.unwrap();

    assert!(opens(&store, &text, HOUR - 1).await.is_some());
    assert!(opens(&store, &text, HOUR).await.is_none());
    let late = store.rotate_api_key(&made.id, SignedDuration::ZERO, at(HOUR)).await.unwrap();
    assert!(late.is_none(), "a new secret would open nothing either");
    assert_eq!(store.prune(at(HOUR + 29 * DAY)).await.unwrap(), Pruned::default());
    assert_eq!(store.api_keys().await.unwrap().len(), 2, "listed for a while, so that it can be seen why");
    assert_eq!(store.prune(at(HOUR + 30 * DAY)).await.unwrap().api_keys, 1);
    assert!(opens(&store, &endless, HOUR + 31 * DAY).await.is_some());
}

pub(crate) async fn a_revoked_key_opens_nothing_at_once(database: Database) {
    let store = database.store().await;
    let (made, first) = store.create_api_key(reading(), at(0)).await.unwrap();
    let keep = SignedDuration::from_hours(1);
    let (_, second) = store.rotate_api_key(&made.id, keep, at(1)).await.unwrap().unwrap();

    assert!(store.revoke_api_key(&made.id, at(2)).await.unwrap());

    assert!(opens(&store, &first, 2).await.is_none() && opens(&store, &second, 2).await.is_none());
    assert!(!store.revoke_api_key(&made.id, at(3)).await.unwrap());
    let last = audited(&store, &made).await.pop().unwrap();
    assert_eq!(last, (AuditAction::ApiKeyRevoked, Outcome::Success));
}

pub(crate) async fn use_of_a_key_is_written_once_a_minute(database: Database) {
    let store = database.store().await;
    let (_, text) = store.create_api_key(reading(), at(0)).await.unwrap();
    let mut raw = database.raw().await;

    for (used, written) in [(5, 5), (64, 5), (65, 65), (124, 65), (200, 200)] {
        opens(&store, &text, used).await.unwrap();
        let row = sqlx::query("SELECT last_used_at FROM api_keys").fetch_one(&mut raw).await.unwrap();
        assert_eq!(row.get::<i64, _>(0), at(written).as_microsecond(), "used at {used}");
    }
}

/// R-GW-04: whoever can write to the database can have no key speak for another server, do more, or last longer.
pub(crate) async fn a_key_that_was_changed_in_the_database_is_none(database: Database) {
    let store = database.store().await;
    for change in [
        "server = 'maps'",
        "name = 'test'",
        "scopes = 'interactions:read interactions:write'",
        "expires_at = NULL",
        "expires_at = expires_at + 1",
        "former_until = former_until + 1",
        "former_hash = secret_hash",
        "created_at = created_at - 1",
        "secret_hash = former_hash, former_hash = secret_hash",
        "id = 'aaaaaaaaaaaa'",
    ] {
        let new = NewApiKey { expires_at: Some(at(DAY)), ..reading() };
        let (made, _) = store.create_api_key(new, at(0)).await.unwrap();
        let keep = SignedDuration::from_hours(1);
        let (_, text) = store.rotate_api_key(&made.id, keep, at(0)).await.unwrap().unwrap();
        assert!(opens(&store, &text, 1).await.is_some());
        assert_eq!(database.run(&format!("UPDATE api_keys SET {change}")).await, 1);
        let text = text
            .expose_secret()
            .replace(made.id.as_str(), if change.contains("id = 'a") { "aaaaaaaaaaaa" } else { made.id.as_str() });
        let text = SecretString::from(text);
        assert!(store.api_keys().await.unwrap().iter().all(|listed| !listed.genuine), "{change}");
        let claimed = presented(&text).id().clone();
        assert!(store.rotate_api_key(&claimed, keep, at(1)).await.unwrap().is_none(), "{change}: resealed");

        for _ in 0..2 {
            assert!(opens(&store, &text, 2).await.is_none(), "{change}");
        }

        assert_eq!(database.run("DELETE FROM api_keys").await, 0, "{change}: it is gone");
        let actor = UserId::new("urn:usher:api-key", claimed.as_str()).unwrap();
        let rows = store.audit_of(&actor, 100).await.unwrap();
        let refused = rows.iter().filter(|row| row.action == Some(AuditAction::ApiKeyRefused)).count();
        assert_eq!(refused, 1, "{change}: audited once");
    }
}

/// What no version of ours writes is no key, and no failure that would tell anything.
pub(crate) async fn an_impossible_key_is_none(database: Database) {
    let store = database.store().await;
    let (_, text) = store.create_api_key(reading(), at(0)).await.unwrap();
    database.run("UPDATE api_keys SET scopes = 'everything'").await;
    assert!(opens(&store, &text, 1).await.is_none());
}

/// R-GW-04: one row that is none does not hide the others, nor itself.
pub(crate) async fn what_is_no_key_is_listed_and_can_be_revoked(database: Database) {
    let store = database.store().await;
    let (right, _) = store.create_api_key(reading(), at(0)).await.unwrap();
    let (wrong, _) = store.create_api_key(reading(), at(1)).await.unwrap();
    database.run(&format!("UPDATE api_keys SET scopes = 'everything' WHERE id = '{}'", wrong.id)).await;

    let listed = store.api_keys().await.unwrap();

    assert_eq!(
        listed.iter().map(|one| (one.id.as_str(), one.genuine)).collect::<Vec<_>>(),
        [(right.id.as_str(), true), (wrong.id.as_str(), false)]
    );
    assert!(listed[1].key.is_none());
    assert!(store.revoke_api_key(&wrong.id, at(2)).await.unwrap());
    assert_eq!(store.api_keys().await.unwrap().len(), 1);
}

/// What a key needs of a master key is wrapped anew like all else, and is told before the key goes.
pub(crate) async fn a_key_outlives_the_rotation_of_its_master_key(database: Database) {
    let (second, both) = crate::keys::rotated(&database);
    let store = database.store().await;
    let (made, first) = store.create_api_key(reading(), at(0)).await.unwrap();
    let keep = Duration::from_mins(5).try_into().unwrap();
    let (_, text) = store.rotate_api_key(&made.id, keep, at(0)).await.unwrap().unwrap();
    store.close().await;

    let store = database.open(both).await.unwrap();
    assert_eq!(store.rewrap(10).await.unwrap().rewrapped, 1);
    store.close().await;

    let store = database.open(second).await.unwrap();
    assert!(opens(&store, &text, 1).await.is_some() && opens(&store, &first, 1).await.is_some());
}
