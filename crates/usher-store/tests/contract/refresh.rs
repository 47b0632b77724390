//! Keeping a grant alive: one at a time over all replicas, and whoever comes too late changes nothing.

use std::collections::BTreeSet;

use jiff::SignedDuration;
use secrecy::ExposeSecret as _;
use sqlx::{AssertSqlSafe, Executor as _, Row as _};
use usher_store::{
    AuditAction, Completion, Credential, CredentialKey, CredentialStatus, Event, HeldLease, Kind, Lease,
    NewInteraction, REFRESH_LEASE, RefreshFailed, Store,
};

use crate::race::{RIVALS, rivals};
use crate::samples::{
    HOUR, access, at, client, completed, connect, connected, consented, destination, done, exchanging, grant, granted,
    question, scopes, user,
};
use crate::setup::Database;

/// When the grants of the tests are due.
pub(crate) const DUE: i64 = 3000;

async fn stored(store: &Store) -> Credential {
    store.credential(&user("user-1"), "weather").await.unwrap().unwrap()
}

fn access_token(credential: &Credential) -> &str {
    credential.secrets["access_token"].expose_secret()
}

pub(crate) async fn lease(store: &Store, version: i64, seconds: i64) -> Lease {
    store.lease_refresh(&user("user-1"), "weather", version, "replica", at(seconds)).await.unwrap()
}

pub(crate) async fn held(store: &Store, version: i64, seconds: i64) -> HeldLease {
    match lease(store, version, seconds).await {
        Lease::Held(held) => held,
        other => panic!("not held: {other:?}"),
    }
}

/// The end of a lease, by the clock that counts.
pub(crate) async fn after_the_lease(database: &Database, began: i64) -> i64 {
    let lasts = i64::try_from(REFRESH_LEASE.as_micros()).unwrap();
    if database.kind == Kind::Postgres {
        database.run(&format!("UPDATE credentials SET lease_until = lease_until - {lasts}")).await;
    }
    began + REFRESH_LEASE.as_secs()
}

/// Of all that want to refresh at once one does; the others hear of it.
pub(crate) async fn of_many_who_want_to_refresh_one_does(database: Database) {
    let store = database.store().await;
    connected(&store, question("user-1"), 1).await;

    let results = rivals(&database, |_, store| async move {
        match lease(&store, 1, DUE).await {
            Lease::Held(held) => {
                assert_eq!(access_token(&held.credential), "access-token-1");
                true
            }
            Lease::Busy { until } => {
                assert!(until > at(DUE) && until <= at(DUE) + REFRESH_LEASE, "{until}");
                false
            }
            other => panic!("{other:?}"),
        }
    })
    .await;

    assert_eq!((results.iter().filter(|held| **held).count(), results.len()), (1, RIVALS));
    assert!(store.due_refreshes("weather", at(DUE), 10).await.unwrap().is_empty(), "it is being done");
}

/// A refresh stores other tokens and nothing else, and tells so.
pub(crate) async fn a_refresh_replaces_the_tokens(database: Database) {
    let store = database.store().await;
    connected(&store, question("user-1"), 1).await;
    let before = stored(&store).await;
    let lease = held(&store, 1, DUE).await;
    let mut events = store.events();

    let returned = store.refreshed(lease.clone(), access(2), grant(2), at(DUE + 1)).await.unwrap().unwrap();
    // As whoever had no answer would try again.
    assert!(store.refreshed(lease, access(2), grant(2), at(DUE + 1)).await.unwrap().is_none(), "it is stored once");

    assert_eq!(events.try_recv().unwrap(), Event::Credential(before.key()));
    let read = stored(&store).await;
    for credential in [&returned, &read] {
        assert_eq!(access_token(credential), "access-token-2");
        assert_eq!((credential.version, credential.updated_at, credential.attempts), (2, at(DUE + 1), 0));
        assert_eq!((&credential.id, &credential.approvals), (&before.id, &before.approvals));
        assert_eq!((credential.created_at, credential.status), (before.created_at, CredentialStatus::Working));
        let grant = credential.grant.as_ref().unwrap();
        assert_eq!(grant.refresh_token.as_ref().unwrap().expose_secret(), "refresh-token-2");
    }
    let last = store.audit_of(&user("user-1"), 1).await.unwrap();
    assert_eq!(last[0].action, Some(AuditAction::InteractionCompleted), "it is nothing to tell a person");
    // Whoever saw the version of before gets what is there now.
    let Lease::Changed(now) = self::lease(&store, 1, DUE + 2).await else { panic!("it has changed") };
    assert_eq!((now.version, access_token(&now)), (2, "access-token-2"));
    held(&store, 2, DUE + 2).await;
}

/// A process that died holds nothing up.
pub(crate) async fn a_lease_ends_by_itself(database: Database) {
    let store = database.store().await;
    connected(&store, question("user-1"), 1).await;
    held(&store, 1, DUE).await;
    assert!(matches!(lease(&store, 1, DUE + 44).await, Lease::Busy { .. }));

    let over = after_the_lease(&database, DUE).await;

    assert_eq!(store.due_refreshes("weather", at(over), 10).await.unwrap().len(), 1);
    held(&store, 1, over).await;
}

/// A loser never overwrites and never deletes a winner's grant.
pub(crate) async fn a_refresh_that_comes_late_changes_nothing(database: Database) {
    let store = database.store().await;
    connected(&store, question("user-1"), 1).await;
    let mut leases = Vec::new();
    let mut seconds = DUE;
    for _ in 0..4 {
        leases.push(held(&store, 1, seconds).await);
        seconds = after_the_lease(&database, seconds).await;
    }
    let [first, second, third, last]: [_; 4] = leases.try_into().unwrap();
    let later = RefreshFailed::Later { at: at(9 * HOUR) };
    assert!(!store.refresh_failed(first, later, at(seconds)).await.unwrap(), "another one has the lease");

    // It came late, and nobody was first: what the provider gave is not thrown away.
    let kept = store.refreshed(second, access(2), grant(2), at(seconds)).await.unwrap().unwrap();
    assert_eq!((access_token(&kept), kept.attempts), ("access-token-2", 0));

    assert!(store.refreshed(third, access(3), grant(3), at(seconds + 1)).await.unwrap().is_none());
    assert!(!store.refresh_failed(last, RefreshFailed::Dead, at(seconds + 2)).await.unwrap());
    let read = stored(&store).await;
    assert_eq!((access_token(&read), read.version, read.attempts), ("access-token-2", 2, 0));
    assert_eq!((read.status, read.grant.unwrap().refresh_at), (CredentialStatus::Working, Some(at(DUE))));
}

/// What their user does counts for more than what a refresh brings, however it ends.
pub(crate) async fn connecting_anew_wins_over_a_refresh(database: Database) {
    let store = database.store().await;
    let reconnect = async |number| {
        let ready = exchanging(&store, consented(&store, question("user-1")).await).await;
        done(store.complete(ready, granted(number), at(3)).await.unwrap());
    };
    connected(&store, question("user-1"), 1).await;
    let lease = held(&store, 1, DUE).await;
    reconnect(2).await;
    assert!(store.refreshed(lease, access(3), grant(3), at(DUE + 2)).await.unwrap().is_none());
    assert_eq!(access_token(&stored(&store).await), "access-token-2");

    let lease = held(&store, 2, DUE + 3).await;
    reconnect(4).await;
    assert!(!store.refresh_failed(lease, RefreshFailed::Dead, at(DUE + 4)).await.unwrap());
    let read = stored(&store).await;
    assert_eq!((access_token(&read), read.status, read.attempts), ("access-token-4", CredentialStatus::Working, 0));

    let lease = held(&store, 3, DUE + 5).await;
    completed(&store, question("user-1"), connect("s-1")).await;
    assert!(store.refreshed(lease, access(5), grant(5), at(DUE + 6)).await.unwrap().is_none());
    assert!(stored(&store).await.secrets.contains_key("api_key"));

    reconnect(6).await;
    let lease = held(&store, 5, DUE + 7).await;
    assert!(store.disconnect(&user("user-1"), "weather", at(DUE + 8)).await.unwrap());
    assert!(store.refreshed(lease, access(7), grant(7), at(DUE + 9)).await.unwrap().is_none());
    assert!(store.credential(&user("user-1"), "weather").await.unwrap().is_none(), "it does not come back");
    assert!(matches!(self::lease(&store, 5, DUE + 10).await, Lease::Gone));
}

/// R-OAUTH-04: what is agreed to, taken back, or said of a grant during its refresh is not undone by it, and does not
/// cost it its new tokens.
pub(crate) async fn what_is_agreed_to_during_a_refresh_stays(database: Database) {
    let store = database.store().await;
    let owner = user("user-1");
    connected(&store, question("user-1"), 1).await;
    let lease = held(&store, 1, DUE).await;
    let mut other = question("user-1");
    other.principal.client = client("client-2");
    completed(&store, other, Completion::Allow).await;
    store.revoke_client(&owner, &client("client-1"), at(DUE)).await.unwrap();
    assert!(store.demand_scopes(&owner, "weather", 3, &scopes(&["write", "admin"]), at(DUE)).await.unwrap());
    assert!(matches!(self::lease(&store, 4, DUE + 1).await, Lease::Busy { .. }), "it is still being refreshed");
    let mut wider = grant(2);
    wider.scopes = scopes(&["read", "write"]);

    let refreshed = store.refreshed(lease, access(2), wider, at(DUE + 2)).await.unwrap().unwrap();

    for read in [refreshed, stored(&store).await] {
        assert_eq!((access_token(&read), read.version), ("access-token-2", 5));
        assert!(read.allows(&client("client-2"), &destination("forecast")));
        assert!(!read.allows(&client("client-1"), &destination("forecast")));
        assert_eq!(read.status, CredentialStatus::Narrow);
        assert_eq!(read.grant.unwrap().demanded, scopes(&["admin"]), "what is granted now is demanded no longer");
    }

    // The old token was refused while the new one was on its way: it has its chance.
    let lease = held(&store, 5, DUE + 3).await;
    assert!(store.reject_credential(&owner, "weather", 5, at(DUE + 4)).await.unwrap());
    let read = store.refreshed(lease, access(3), grant(3), at(DUE + 5)).await.unwrap().unwrap();
    assert_eq!((read.status, access_token(&read)), (CredentialStatus::Narrow, "access-token-3"));
}

/// The lease is one commit, and what came of it another.
pub(crate) async fn a_refresh_costs_two_commits(database: Database) {
    let store = database.store().await;
    connected(&store, question("user-1"), 1).await;
    let mut commits = Commits::watch(&database).await;

    let lease = held(&store, 1, DUE).await;
    assert_eq!(commits.count().await, 1);
    store.refreshed(lease, access(2), grant(2), at(DUE + 1)).await.unwrap().unwrap();
    assert_eq!(commits.count().await, 2);

    let lease = held(&store, 2, DUE + 2).await;
    assert!(matches!(self::lease(&store, 2, DUE + 3).await, Lease::Busy { .. }));
    assert!(matches!(self::lease(&store, 1, DUE + 3).await, Lease::Changed(_)));
    assert_eq!(commits.count().await, 3, "who gets no lease writes nothing");
    assert!(store.refresh_failed(lease, RefreshFailed::Dead, at(DUE + 4)).await.unwrap());
    assert_eq!(commits.count().await, 4);
}

/// Counts the transactions that wrote something.
struct Commits<'a> {
    database: &'a Database,
    before: usize,
}

impl<'a> Commits<'a> {
    async fn watch(database: &'a Database) -> Self {
        if database.kind == Kind::Postgres {
            let mut raw = database.raw().await;
            raw.execute(
                "CREATE TABLE commits (xid TEXT PRIMARY KEY); \
                 CREATE FUNCTION note_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
                 INSERT INTO commits VALUES (pg_current_xact_id()::text) ON CONFLICT DO NOTHING; RETURN NULL; END $$",
            )
            .await
            .unwrap();
            for table in ["credentials", "interactions", "audit", "key_ids", "oauth_clients"] {
                let sql = format!(
                    "CREATE TRIGGER note_commit AFTER INSERT OR UPDATE OR DELETE ON {table} \
                     FOR EACH ROW EXECUTE FUNCTION note_commit()"
                );
                raw.execute(AssertSqlSafe(sql)).await.unwrap();
            }
        }
        let mut commits = Self { database, before: 0 };
        commits.before = commits.all().await;
        commits
    }

    /// Since it watches.
    async fn count(&mut self) -> usize {
        self.all().await - self.before
    }

    async fn all(&self) -> usize {
        match self.database.kind {
            Kind::Sqlite => commit_frames(&std::fs::read(self.database.directory.join("usher.db-wal")).unwrap()),
            Kind::Postgres => {
                let mut raw = self.database.raw().await;
                let row = sqlx::query("SELECT COUNT(*) FROM commits").fetch_one(&mut raw).await.unwrap();
                usize::try_from(row.get::<i64, _>(0)).unwrap()
            }
        }
    }
}

/// In a write-ahead log of SQLite the last frame of a transaction, and no other, names the size of the database.
fn commit_frames(log: &[u8]) -> usize {
    let word = |at: usize| u32::from_be_bytes(log[at..at + 4].try_into().unwrap());
    let (page, salts) = (word(8) as usize, &log[16..24]);
    let frames = (32..log.len()).step_by(page + 24).take_while(|frame| &log[frame + 8..frame + 16] == salts);
    frames.filter(|frame| word(frame + 4) > 0).count()
}

/// A grant that its provider takes no longer is kept for its user to see, and refreshed no more.
pub(crate) async fn a_dead_grant_is_kept_and_not_refreshed(database: Database) {
    let store = database.store().await;
    connected(&store, question("user-1"), 1).await;
    let lease = held(&store, 1, DUE).await;
    let mut events = store.events();

    assert!(store.refresh_failed(lease, RefreshFailed::Dead, at(DUE + 1)).await.unwrap());

    assert_eq!(events.try_recv().unwrap(), Event::Credential(CredentialKey::of(&user("user-1"), "weather")));
    let dead = stored(&store).await;
    assert_eq!((dead.status, dead.version, dead.updated_at), (CredentialStatus::Rejected, 2, at(DUE + 1)));
    assert_eq!((access_token(&dead), dead.attempts, dead.approvals.len()), ("access-token-1", 1, 1));
    assert!(dead.grant.unwrap().refresh_token.is_some());
    let audit = store.audit_of(&user("user-1"), 1).await.unwrap();
    assert_eq!(audit[0].action, Some(AuditAction::CredentialDead));
    assert!(store.due_refreshes("weather", at(9 * HOUR), 10).await.unwrap().is_empty());
    assert!(matches!(self::lease(&store, 2, DUE + 2).await, Lease::Gone));
    assert!(matches!(self::lease(&store, 1, DUE + 2).await, Lease::Changed(_)));

    connected(&store, question("user-1"), 2).await;
    let again = stored(&store).await;
    assert_eq!((again.status, again.attempts, again.version), (CredentialStatus::Working, 0, 3));
}

/// What an upstream refused is not refreshed either: its user is asked.
pub(crate) async fn a_rejected_grant_is_not_refreshed(database: Database) {
    let store = database.store().await;
    connected(&store, question("user-1"), 1).await;
    assert!(store.reject_credential(&user("user-1"), "weather", 1, at(4)).await.unwrap());
    assert!(store.due_refreshes("weather", at(9 * HOUR), 10).await.unwrap().is_empty());
    assert!(matches!(lease(&store, 2, DUE).await, Lease::Gone));

    completed(&store, NewInteraction { provider: "maps".to_owned(), ..question("user-1") }, connect("s-1")).await;
    let other = store.lease_refresh(&user("user-1"), "maps", 1, "replica", at(DUE)).await.unwrap();
    assert!(matches!(other, Lease::Gone), "it is no grant");
    let none = store.lease_refresh(&user("user-1"), "elsewhere", 1, "replica", at(DUE)).await.unwrap();
    assert!(matches!(none, Lease::Gone));
    let read = store.credential(&user("user-1"), "maps").await.unwrap().unwrap();
    assert_eq!(read.version, 1);
}

/// A provider that is away or limits us is left alone for a while, by all replicas, and then tried again.
pub(crate) async fn a_refresh_that_failed_rests(database: Database) {
    let store = database.store().await;
    connected(&store, question("user-1"), 1).await;
    for (number, now) in [(1, DUE), (2, DUE + 100)] {
        let lease = held(&store, 1, now).await;
        let failed = RefreshFailed::Later { at: at(now + 100) };
        assert!(store.refresh_failed(lease, failed, at(now + 1)).await.unwrap());

        let read = stored(&store).await;
        assert_eq!((read.attempts, read.version, read.status), (number, 1, CredentialStatus::Working));
        assert_eq!(read.grant.unwrap().refresh_at, Some(at(now + 100)));
        let Lease::Resting { until } = self::lease(&store, 1, now + 99).await else { panic!("it rests") };
        assert_eq!(until, at(now + 100));
        assert!(store.due_refreshes("weather", at(now + 99), 10).await.unwrap().is_empty());
        assert_eq!(store.due_refreshes("weather", at(now + 100), 10).await.unwrap().len(), 1);
    }
    let lease = held(&store, 1, DUE + 200).await;
    assert_eq!(lease.credential.attempts, 2);
    let mut ahead = grant(2);
    ahead.refresh_at = Some(at(DUE + 900));
    let read = store.refreshed(lease, access(2), ahead, at(DUE + 201)).await.unwrap().unwrap();
    assert_eq!(read.attempts, 0);
    // What is due later may be refreshed before: its token may have been refused.
    held(&store, 2, DUE + 300).await;
}

/// What is put off is due at another time, or never, and nobody who uses it waits for that.
pub(crate) async fn what_is_put_off_keeps_nobody_from_it(database: Database) {
    let store = database.store().await;
    connected(&store, question("user-1"), 1).await;
    let failed = RefreshFailed::Later { at: at(DUE + 100) };
    assert!(store.refresh_failed(held(&store, 1, DUE).await, failed, at(DUE)).await.unwrap());
    let mut due = store.due_refreshes("weather", at(DUE + 100), 10).await.unwrap();
    let due = due.pop().unwrap();
    assert!(!store.put_off_refresh(&due, None, at(DUE + 99)).await.unwrap(), "it is not due: somebody tried meanwhile");
    for (until, count) in [(Some(at(DUE + 200)), 1), (None, 0)] {
        assert!(store.put_off_refresh(&due, until, at(DUE + 200)).await.unwrap());
        let read = stored(&store).await;
        assert_eq!((read.version, read.attempts, read.grant.unwrap().refresh_at), (1, 0, until));
        assert!(store.due_refreshes("weather", at(DUE + 199), 10).await.unwrap().is_empty());
        assert_eq!(store.due_refreshes("weather", at(DUE + 200), 10).await.unwrap().len(), count);
    }
    held(&store, 1, DUE + 1).await;
    assert!(!store.put_off_refresh(&due, None, at(DUE + 200)).await.unwrap(), "it is not due any more");
}

/// What was written by a clock that was ahead by hours holds nothing up once that is right.
pub(crate) async fn a_clock_that_was_ahead_holds_nothing_up(database: Database) {
    let store = database.store().await;
    connected(&store, question("user-1"), 1).await;
    let ahead = DUE + 5 * HOUR;
    let failed = RefreshFailed::Later { at: at(ahead + 60) };
    assert!(store.refresh_failed(held(&store, 1, ahead).await, failed, at(ahead)).await.unwrap());
    let lease = held(&store, 1, DUE).await;
    assert!(store.refresh_failed(lease, RefreshFailed::Later { at: at(DUE + 3600) }, at(DUE)).await.unwrap());
    assert!(matches!(self::lease(&store, 1, DUE).await, Lease::Resting { .. }), "an hour is the most");
    // On PostgreSQL leases are by the clock of the server, which is every replica's.
    if database.kind == Kind::Sqlite {
        held(&store, 1, ahead).await;
        held(&store, 1, DUE + 3600).await;
        assert!(matches!(self::lease(&store, 1, DUE + 3601).await, Lease::Busy { .. }));
    }
}

/// By index, the longest overdue first, and no more than are asked for: however many there are.
pub(crate) async fn what_is_due_is_found_among_thousands(database: Database) {
    let store = database.store().await;
    connected(&store, question("user-1"), 1).await;
    completed(&store, question("user-2"), connect("s-1")).await;
    connected(&store, question("user-3"), 3).await;
    let mut raw = database.raw().await;
    // Copies of one row: to be due needs no opening.
    let numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)";
    let sql = format!(
        "INSERT INTO credentials (id, credential_key, user_key, issuer, subject, provider, version, status, \
         created_at, updated_at, sealed, refresh_at) {numbers} SELECT 'id-' || i, 'key-' || i, 'user-' || i, issuer, 'many-' || i, \
         provider, version, status, created_at, updated_at, sealed, {} + i * CAST(1000000 AS BIGINT) \
         FROM n, credentials WHERE subject = 'user-1'",
        at(DUE + 10).as_microsecond()
    );
    let sql = if database.kind == Kind::Sqlite { sql } else { sql.replace("|| i", "|| CAST(i AS TEXT)") };
    raw.execute(AssertSqlSafe(sql)).await.unwrap();
    raw.execute("ANALYZE credentials").await.unwrap();
    held(&store, 1, DUE).await;

    let due = store.due_refreshes("weather", at(DUE), 10).await.unwrap();
    let [due] = &due[..] else { panic!("{due:?}") };
    assert_eq!((&due.user, due.provider.as_str(), due.version), (&user("user-3"), "weather", 1));
    let due = store.due_refreshes("weather", at(DUE + 20), 5).await.unwrap();
    let subjects: Vec<_> = due.iter().map(|due| due.user.subject()).collect();
    assert_eq!(subjects, ["user-3", "many-1", "many-2", "many-3", "many-4"]);
    assert_eq!(store.due_refreshes("weather", at(DUE + 9 * HOUR), 100).await.unwrap().len(), 100);
    assert!(store.due_refreshes("weather", at(DUE - 1), 100).await.unwrap().is_empty());
    assert!(store.due_refreshes("maps", at(DUE + 20), 5).await.unwrap().is_empty(), "another provider's");

    if database.kind == Kind::Postgres {
        raw.execute("SET enable_seqscan = off").await.unwrap();
        let sql = "EXPLAIN SELECT issuer FROM credentials WHERE provider = 'weather' AND refresh_at <= 1 \
             AND status <> 'rejected' AND (lease_until IS NULL OR lease_until <= 1) ORDER BY refresh_at LIMIT 10";
        let plan = sqlx::query(sql).fetch_all(&mut raw).await.unwrap();
        let plan: Vec<String> = plan.iter().map(|row| row.get(0)).collect();
        assert!(plan.iter().any(|step| step.contains("Index Scan using credentials_due")), "{plan:?}");
        assert!(!plan.iter().any(|step| step.contains("Sort")), "{plan:?}");
    }
}

/// What cannot be read does not stand in front of the others for ever.
pub(crate) async fn what_cannot_be_read_is_not_due(database: Database) {
    let store = database.store().await;
    connected(&store, question("user-1"), 1).await;
    database.run("UPDATE credentials SET provider = 'maps'").await;
    let key = CredentialKey::of(&user("user-1"), "maps");
    database.run(&format!("UPDATE credentials SET credential_key = '{key}'")).await;
    let due = store.due_refreshes("maps", at(DUE), 10).await.unwrap().remove(0);

    let error = store.lease_refresh(&due.user, &due.provider, due.version, "replica", at(DUE)).await.unwrap_err();

    assert!(error.is_unopened(), "{error}");
    assert!(store.due_refreshes("weather", at(9 * HOUR), 10).await.unwrap().is_empty());
    let other = database.run("UPDATE credentials SET version = version WHERE lease_until IS NULL").await;
    assert_eq!(other, 1, "the record itself stays");
}

/// Refreshes of many users get in nobody's way.
pub(crate) async fn refreshes_of_many_users_do_not_wait_for_each_other(database: Database) {
    let store = database.store().await;
    for number in 0..RIVALS {
        connected(&store, question(&format!("user-{number}")), 1).await;
    }
    rivals(&database, |number, store| async move {
        for round in 1..=5_i64 {
            let owner = user(&format!("user-{number}"));
            let now = at(DUE + round);
            let lease = store.lease_refresh(&owner, "weather", round, "replica", now).await.unwrap();
            let Lease::Held(lease) = lease else { panic!("{lease:?}") };
            let (secrets, grant) = (access(u32::try_from(round).unwrap() + 1), grant(2));
            store.refreshed(lease, secrets, grant, now + SignedDuration::from_millis(1)).await.unwrap().unwrap();
        }
    })
    .await;
    let due: BTreeSet<_> =
        store.due_refreshes("weather", at(9 * HOUR), 100).await.unwrap().into_iter().map(|due| due.version).collect();
    assert_eq!(due, BTreeSet::from([6]));
}
