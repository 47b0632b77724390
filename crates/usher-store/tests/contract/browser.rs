use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::SignedDuration;
use secrecy::{ExposeSecret, SecretString};
use usher_store::{AuditAction, BrowserTimes, NewBrowserSession, Store};

use crate::samples::{DAY, HOUR, LONGEST, at, browsing, random_token, user};
use crate::setup::Database;

pub(crate) async fn a_link_signs_in_once(database: Database) {
    let store = database.store().await;
    let (link, session) = (random_token(), random_token());
    store.create_login_link(&link, &user("user-1"), at(600), at(0)).await.unwrap();

    let first = store.use_login_link(&link, browsing(&session, at(DAY)), at(1)).await.unwrap();
    let second = store.use_login_link(&link, browsing(&random_token(), at(DAY)), at(2)).await.unwrap();

    assert_eq!(first, Some(user("user-1")));
    assert_eq!(second, None);
    let found = store.browser_session(&session, LONGEST, at(3)).await.unwrap().unwrap();
    assert_eq!(found.user, user("user-1"));
    assert_eq!((found.created_at, found.expires_at), (at(1), at(DAY)));
    assert!(store.browser_session(&random_token(), LONGEST, at(3)).await.unwrap().is_none());
    assert!(store.browser_session(&link, LONGEST, at(3)).await.unwrap().is_none());
    let audit = store.audit_of(&user("user-1"), 10).await.unwrap();
    assert_eq!(audit.len(), 1);
    assert_eq!(audit[0].action, Some(AuditAction::BrowserSignedIn));
}

pub(crate) async fn a_link_that_expired_signs_nobody_in(database: Database) {
    let store = database.store().await;
    let (link, session) = (random_token(), random_token());
    store.create_login_link(&link, &user("user-1"), at(600), at(0)).await.unwrap();

    let late = store.use_login_link(&link, browsing(&session, at(DAY)), at(600)).await.unwrap();

    assert_eq!(late, None);
    assert!(store.browser_session(&session, LONGEST, at(601)).await.unwrap().is_none());
    let unknown = store.use_login_link(&random_token(), browsing(&session, at(DAY)), at(1)).await.unwrap();
    assert_eq!(unknown, None);
}

pub(crate) async fn a_session_ends_when_idle(database: Database) {
    let store = database.store().await;
    let (link, session) = (random_token(), random_token());
    store.create_login_link(&link, &user("user-1"), at(600), at(0)).await.unwrap();
    store.use_login_link(&link, browsing(&session, at(80 * DAY)), at(0)).await.unwrap();

    for day in [29, 58] {
        assert!(store.browser_session(&session, LONGEST, at(day * DAY)).await.unwrap().is_some());
    }
    assert!(store.browser_session(&session, LONGEST, at(88 * DAY)).await.unwrap().is_none());
    let store_again = store.browser_session(&session, LONGEST, at(59 * DAY)).await.unwrap();
    assert!(store_again.is_some(), "being refused is not being seen, nor an end");
}

pub(crate) async fn a_session_ends_at_its_latest_however_it_is_used(database: Database) {
    let store = database.store().await;
    let (link, session) = (random_token(), random_token());
    store.create_login_link(&link, &user("user-1"), at(600), at(0)).await.unwrap();
    store.use_login_link(&link, browsing(&session, at(365 * DAY)), at(0)).await.unwrap();

    for day in [20, 40, 60, 80] {
        let found = store.browser_session(&session, LONGEST, at(day * DAY)).await.unwrap().unwrap();
        assert_eq!(found.expires_at, at(90 * DAY));
    }
    assert!(store.browser_session(&session, LONGEST, at(90 * DAY)).await.unwrap().is_none());
}

pub(crate) async fn being_seen_is_written_once_a_minute(database: Database) {
    use sqlx::Row as _;

    let store = database.store().await;
    let (link, session) = (random_token(), random_token());
    store.create_login_link(&link, &user("user-1"), at(600), at(0)).await.unwrap();
    store.use_login_link(&link, browsing(&session, at(DAY)), at(0)).await.unwrap();
    let mut raw = database.raw().await;

    for (seen, written) in [(59, 0), (60, 60), (119, 60), (200, 200)] {
        store.browser_session(&session, LONGEST, at(seen)).await.unwrap().unwrap();
        let row = sqlx::query("SELECT last_seen_at FROM browser_sessions").fetch_one(&mut raw).await.unwrap();
        let micros: i64 = row.try_get(0).unwrap();
        assert_eq!(micros, at(written).as_microsecond(), "seen at {seen}");
    }
}

pub(crate) async fn signing_out_ends_the_session_and_is_audited(database: Database) {
    let store = database.store().await;
    let (link, session) = (random_token(), random_token());
    store.create_login_link(&link, &user("user-1"), at(600), at(0)).await.unwrap();
    store.use_login_link(&link, browsing(&session, at(DAY)), at(0)).await.unwrap();

    store.delete_browser_session(&session, at(1)).await.unwrap();
    store.delete_browser_session(&session, at(2)).await.unwrap();

    assert!(store.browser_session(&session, LONGEST, at(3)).await.unwrap().is_none());
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
        store.use_login_link(&other, browsing(&random_token(), at(DAY)), at(1)).await.unwrap();
        store.create_login_link(&link, &user("user-1"), at(600), at(0)).await.unwrap();
        let change = change.replace("OWN", &hash(&own));
        assert_eq!(database.run(&format!("UPDATE login_links SET {change}")).await, 1);
        let presented = if change.contains("token_hash") { &own } else { &link };
        let before = refusals(&store, owner).await;
        let session = random_token();

        let used = store.use_login_link(presented, browsing(&session, at(DAY)), at(2)).await.unwrap();

        assert_eq!(used, None, "{change}");
        assert!(store.browser_session(&session, LONGEST, at(3)).await.unwrap().is_none(), "{change}");
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
        store.use_login_link(&link, browsing(&session, at(DAY)), at(1)).await.unwrap();
        store.create_login_link(&random_token(), &user("user-1"), at(600), at(0)).await.unwrap();
        assert!(store.browser_session(&session, LONGEST, at(2)).await.unwrap().is_some());
        let change = change.replace("OWN", &hash(&own));
        assert_eq!(database.run(&format!("UPDATE browser_sessions SET {change}")).await, 1);
        let presented = if change.contains("token_hash") { &own } else { &session };
        let before = refusals(&store, owner).await;

        for _ in 0..2 {
            assert!(store.browser_session(presented, LONGEST, at(2)).await.unwrap().is_none(), "{change}");
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

/// What a sign-in needs to sign out one day.
const KEPT: &str = "kept-for-the-sign-out";

pub(crate) async fn a_sign_in_is_used_once_and_begins_a_session(database: Database) {
    let store = database.store().await;
    let (id, session, second) = (random_token(), random_token(), random_token());

    let first = store.use_sign_in(&id, at(600), &user("user-1"), browsing(&session, at(DAY)), at(1)).await.unwrap();
    let again = store.use_sign_in(&id, at(600), &user("user-2"), browsing(&second, at(DAY)), at(2)).await.unwrap();

    assert_eq!((first, again), (true, false));
    let found = store.browser_session(&session, LONGEST, at(3)).await.unwrap().unwrap();
    assert_eq!((found.user, found.expires_at), (user("user-1"), at(DAY)));
    assert!(store.browser_session(&second, LONGEST, at(3)).await.unwrap().is_none());
    assert_eq!(actions(&store, "user-1").await, [AuditAction::BrowserSignedIn]);
    assert!(actions(&store, "user-2").await.is_empty());
}

/// R-ID-03: the session of before cannot be used on, whoever knows it.
pub(crate) async fn a_new_session_ends_the_one_before_it(database: Database) {
    let store = database.store().await;
    let (before, after, other) = (random_token(), random_token(), random_token());
    for session in [&before, &other] {
        let new = browsing(session, at(DAY));
        assert!(store.use_sign_in(&random_token(), at(600), &user("user-1"), new, at(1)).await.unwrap());
    }

    let new = NewBrowserSession { before: Some(&before), ..browsing(&after, at(DAY)) };
    assert!(store.use_sign_in(&random_token(), at(600), &user("user-2"), new, at(2)).await.unwrap());

    assert!(store.browser_session(&before, LONGEST, at(3)).await.unwrap().is_none());
    assert!(store.browser_session(&other, LONGEST, at(3)).await.unwrap().is_some(), "another browser's");
    assert_eq!(store.browser_session(&after, LONGEST, at(3)).await.unwrap().unwrap().user, user("user-2"));
    assert_eq!(actions(&store, "user-1").await[0], AuditAction::BrowserSignedOut);
}

pub(crate) async fn a_used_sign_in_leaves_the_session_before_it_alone(database: Database) {
    let store = database.store().await;
    let (id, before, after) = (random_token(), random_token(), random_token());
    assert!(store.use_sign_in(&id, at(600), &user("user-1"), browsing(&before, at(DAY)), at(1)).await.unwrap());

    let new = NewBrowserSession { before: Some(&before), ..browsing(&after, at(DAY)) };
    assert!(!store.use_sign_in(&id, at(600), &user("user-2"), new, at(2)).await.unwrap());

    assert!(store.browser_session(&before, LONGEST, at(3)).await.unwrap().is_some());
}

/// What is kept in a session comes back when it ends, once, and only as it was kept.
pub(crate) async fn what_a_session_keeps_comes_back_when_it_ends(database: Database) {
    let store = database.store().await;
    let kept = SecretString::from(KEPT);
    for change in [None, Some("UPDATE browser_sessions SET expires_at = expires_at + 1")] {
        let session = random_token();
        let new = NewBrowserSession { kept: Some(&kept), ..browsing(&session, at(DAY)) };
        assert!(store.use_sign_in(&random_token(), at(600), &user("user-1"), new, at(1)).await.unwrap());
        if let Some(change) = change {
            assert_eq!(database.run(change).await, 1);
        }

        let ended = store.delete_browser_session(&session, at(2)).await.unwrap().unwrap();

        assert!(!format!("{ended:?}").contains(KEPT));
        let came_back = ended.kept.as_ref().map(ExposeSecret::expose_secret);
        assert_eq!(came_back, change.is_none().then_some(KEPT), "{change:?}");
        assert!(store.delete_browser_session(&session, at(2)).await.unwrap().is_none());
    }
}

/// R-SEC-04: what the operator makes shorter counts for sessions that began before.
pub(crate) async fn a_session_ends_by_the_times_of_the_look_up(database: Database) {
    let store = database.store().await;
    let session = random_token();
    let new = browsing(&session, at(30 * DAY));
    store.use_sign_in(&random_token(), at(600), &user("user-1"), new, at(0)).await.unwrap();
    let times = |idle, lifetime| BrowserTimes {
        idle: SignedDuration::from_secs(idle),
        lifetime: SignedDuration::from_secs(lifetime),
    };

    for (times, now, alive) in [
        (times(HOUR, DAY), HOUR - 1, true),
        (times(HOUR, DAY), 2 * HOUR - 2, true),
        (times(HOUR, DAY), 3 * HOUR, false),
        (times(DAY, 3 * HOUR), 3 * HOUR, false),
        (times(DAY, 3 * HOUR + 1), 3 * HOUR, true),
        (times(365 * DAY, 365 * DAY), 30 * DAY, false),
    ] {
        assert_eq!(store.browser_session(&session, times, at(now)).await.unwrap().is_some(), alive, "{times:?} {now}");
    }
}

async fn actions(store: &Store, subject: &str) -> Vec<AuditAction> {
    let rows = store.audit_of(&user(subject), 100).await.unwrap();
    rows.iter().map(|row| row.action.unwrap()).collect()
}
