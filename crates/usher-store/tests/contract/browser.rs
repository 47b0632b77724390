use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret as _, SecretString};
use usher_store::{AuditAction, Store};

use crate::samples::{DAY, at, random_token, user};
use crate::setup::Database;

pub(crate) async fn a_link_signs_in_once(database: Database) {
    let store = database.store().await;
    let (link, session) = (random_token(), random_token());
    store.create_login_link(&link, &user("user-1"), at(600), at(0)).await.unwrap();

    let first = store.use_login_link(&link, &session, at(DAY), at(1)).await.unwrap();
    let second = store.use_login_link(&link, &random_token(), at(DAY), at(2)).await.unwrap();

    assert_eq!(first, Some(user("user-1")));
    assert_eq!(second, None);
    let found = store.browser_session(&session, at(3)).await.unwrap().unwrap();
    assert_eq!(found.user, user("user-1"));
    assert_eq!((found.created_at, found.expires_at), (at(1), at(DAY)));
    assert!(store.browser_session(&random_token(), at(3)).await.unwrap().is_none());
    assert!(store.browser_session(&link, at(3)).await.unwrap().is_none());
    let audit = store.audit_of(&user("user-1"), 10).await.unwrap();
    assert_eq!(audit.len(), 1);
    assert_eq!(audit[0].action, Some(AuditAction::BrowserSignedIn));
}

pub(crate) async fn a_link_that_expired_signs_nobody_in(database: Database) {
    let store = database.store().await;
    let (link, session) = (random_token(), random_token());
    store.create_login_link(&link, &user("user-1"), at(600), at(0)).await.unwrap();

    let late = store.use_login_link(&link, &session, at(DAY), at(600)).await.unwrap();

    assert_eq!(late, None);
    assert!(store.browser_session(&session, at(601)).await.unwrap().is_none());
    let unknown = store.use_login_link(&random_token(), &session, at(DAY), at(1)).await.unwrap();
    assert_eq!(unknown, None);
}

pub(crate) async fn a_session_ends_when_idle(database: Database) {
    let store = database.store().await;
    let (link, session) = (random_token(), random_token());
    store.create_login_link(&link, &user("user-1"), at(600), at(0)).await.unwrap();
    store.use_login_link(&link, &session, at(80 * DAY), at(0)).await.unwrap();

    for day in [29, 58] {
        assert!(store.browser_session(&session, at(day * DAY)).await.unwrap().is_some());
    }
    assert!(store.browser_session(&session, at(88 * DAY)).await.unwrap().is_none());
    let store_again = store.browser_session(&session, at(59 * DAY)).await.unwrap();
    assert!(store_again.is_some(), "being refused is not being seen, nor an end");
}

pub(crate) async fn a_session_ends_at_its_latest_however_it_is_used(database: Database) {
    let store = database.store().await;
    let (link, session) = (random_token(), random_token());
    store.create_login_link(&link, &user("user-1"), at(600), at(0)).await.unwrap();
    store.use_login_link(&link, &session, at(365 * DAY), at(0)).await.unwrap();

    for day in [20, 40, 60, 80] {
        let found = store.browser_session(&session, at(day * DAY)).await.unwrap().unwrap();
        assert_eq!(found.expires_at, at(90 * DAY));
    }
    assert!(store.browser_session(&session, at(90 * DAY)).await.unwrap().is_none());
}

pub(crate) async fn being_seen_is_written_once_a_minute(database: Database) {
    use sqlx::Row as _;

    let store = database.store().await;
    let (link, session) = (random_token(), random_token());
    store.create_login_link(&link, &user("user-1"), at(600), at(0)).await.unwrap();
    store.use_login_link(&link, &session, at(DAY), at(0)).await.unwrap();
    let mut raw = database.raw().await;

    for (seen, written) in [(59, 0), (60, 60), (119, 60), (200, 200)] {
        store.browser_session(&session, at(seen)).await.unwrap().unwrap();
        let row = sqlx::query("SELECT last_seen_at FROM browser_sessions").fetch_one(&mut raw).await.unwrap();
        let micros: i64 = row.try_get(0).unwrap();
        assert_eq!(micros, at(written).as_microsecond(), "seen at {seen}");
    }
}

pub(crate) async fn signing_out_ends_the_session_and_is_audited(database: Database) {
    let store = database.store().await;
    let (link, session) = (random_token(), random_token());
    store.create_login_link(&link, &user("user-1"), at(600), at(0)).await.unwrap();
    store.use_login_link(&link, &session, at(DAY), at(0)).await.unwrap();

    store.delete_browser_session(&session, at(1)).await.unwrap();
    store.delete_browser_session(&session, at(2)).await.unwrap();

    assert!(store.browser_session(&session, at(3)).await.unwrap().is_none());
    let audit = store.audit_of(&user("user-1"), 10).await.unwrap();
    let actions: Vec<_> = audit.iter().map(|row| row.action.unwrap()).collect();
    assert_eq!(actions, [AuditAction::BrowserSignedOut, AuditAction::BrowserSignedIn]);
}

/// R-ID-03, R-SEC-03: whoever can write to the database cannot sign in as somebody with a link of their own.
pub(crate) async fn a_link_that_was_written_or_changed_in_the_database_signs_nobody_in(database: Database) {
    let store = database.store().await;
    for (change, owner) in [
        ("subject = 'user-2'", "user-2"),
        ("expires_at = expires_at + 1", "user-1"),
        ("created_at = created_at + 1", "user-1"),
        ("seal = (SELECT seal FROM browser_sessions)", "user-1"),
        ("token_hash = 'OWN', subject = 'user-2'", "user-2"),
        ("token_hash = 'OWN'", "user-1"),
    ] {
        database.run("DELETE FROM browser_sessions").await;
        let (other, link, own) = (random_token(), random_token(), random_token());
        store.create_login_link(&other, &user("user-1"), at(600), at(0)).await.unwrap();
        store.use_login_link(&other, &random_token(), at(DAY), at(1)).await.unwrap();
        store.create_login_link(&link, &user("user-1"), at(600), at(0)).await.unwrap();
        let change = change.replace("OWN", &hash(&own));
        assert_eq!(database.run(&format!("UPDATE login_links SET {change}")).await, 1);
        let presented = if change.contains("token_hash") { &own } else { &link };
        let before = refusals(&store, owner).await;
        let session = random_token();

        let used = store.use_login_link(presented, &session, at(DAY), at(2)).await.unwrap();

        assert_eq!(used, None, "{change}");
        assert!(store.browser_session(&session, at(3)).await.unwrap().is_none(), "{change}");
        assert_eq!(refusals(&store, owner).await, before + 1, "{change}");
        assert_eq!(database.run("DELETE FROM login_links").await, 0, "{change}: it is used up");
    }
}

/// R-ID-03, R-SEC-03: nor with a session of their own, nor make one last.
pub(crate) async fn a_session_that_was_written_or_changed_in_the_database_is_none(database: Database) {
    let store = database.store().await;
    for (change, owner) in [
        ("subject = 'user-2'", "user-2"),
        ("expires_at = expires_at + 1", "user-1"),
        ("created_at = created_at + 1", "user-1"),
        ("seal = (SELECT seal FROM login_links)", "user-1"),
        ("token_hash = 'OWN', subject = 'user-2'", "user-2"),
        ("token_hash = 'OWN'", "user-1"),
    ] {
        database.run("DELETE FROM login_links").await;
        let (link, session, own) = (random_token(), random_token(), random_token());
        store.create_login_link(&link, &user("user-1"), at(600), at(0)).await.unwrap();
        store.use_login_link(&link, &session, at(DAY), at(1)).await.unwrap();
        store.create_login_link(&random_token(), &user("user-1"), at(600), at(0)).await.unwrap();
        assert!(store.browser_session(&session, at(2)).await.unwrap().is_some());
        let change = change.replace("OWN", &hash(&own));
        assert_eq!(database.run(&format!("UPDATE browser_sessions SET {change}")).await, 1);
        let presented = if change.contains("token_hash") { &own } else { &session };
        let before = refusals(&store, owner).await;

        for _ in 0..2 {
            assert!(store.browser_session(presented, at(2)).await.unwrap().is_none(), "{change}");
        }

        assert_eq!(refusals(&store, owner).await, before + 1, "{change}: audited once");
        assert_eq!(database.run("DELETE FROM browser_sessions").await, 0, "{change}: it is gone");
    }
}

/// How a token lies in the database, as anybody can work it out.
fn hash(token: &SecretString) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, token.expose_secret().as_bytes()))
}

async fn refusals(store: &Store, subject: &str) -> usize {
    let rows = store.audit_of(&user(subject), 1000).await.unwrap();
    rows.iter().filter(|row| row.action == Some(AuditAction::BrowserRefused)).count()
}
