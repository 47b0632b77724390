//! What people see and end of their own, and what an operator does for those who have left.

use secrecy::SecretString;
use usher_store::{
    Advanced, AuditAction, AuditCursor, AuditEntry, BrowserId, ConnectionFilter, DeclinedBy, Event, Holdings,
    InteractionState, NewBrowserSession, NewInteraction, Outcome, Step, Store,
};

use crate::samples::{
    DAY, HOUR, LONGEST, at, browsing, client, completed, connect, consented, destination, done, principal, question,
    random_token, session, user,
};
use crate::setup::Database;

/// Signs a browser in at `now`, which says `agent` of itself.
async fn sign_in(store: &Store, subject: &str, agent: &str, now: i64) -> SecretString {
    let (link, token) = (random_token(), random_token());
    store.create_login_link(&link, &user(subject), at(now + 600), at(now)).await.unwrap();
    let browser = NewBrowserSession { agent, ..browsing(&token, at(now + 80 * DAY)) };
    store.use_login_link(&link, browser, at(now)).await.unwrap().unwrap();
    token
}

/// A question of this client.
fn of_client(subject: &str, id: &str) -> NewInteraction {
    let mut new = question(subject);
    new.principal.client = client(id);
    new
}

async fn actions(store: &Store, subject: &str) -> Vec<AuditAction> {
    let rows = store.audit_of(&user(subject), 100).await.unwrap();
    rows.iter().map(|row| row.action.unwrap()).collect()
}

/// R-SEC-06: a person sees their own browsers and nobody else's, and what is shown of one signs nobody in.
pub(crate) async fn signed_in_browsers_are_listed_to_their_owner(database: Database) {
    let store = database.store().await;
    let old = sign_in(&store, "user-1", "Old\u{202e}/1.0\n", 0).await;
    let new = sign_in(&store, "user-1", &"x".repeat(5_000), 60).await;
    sign_in(&store, "user-2", "Other", 0).await;
    store.browser_session(&old, LONGEST, at(HOUR)).await.unwrap().unwrap();

    let listed = store.browser_sessions(&user("user-1"), LONGEST, at(HOUR)).await.unwrap();

    let ids: Vec<_> = listed.iter().map(|browser| browser.id.clone()).collect();
    assert_eq!(ids, [BrowserId::of(&old), BrowserId::of(&new)], "the one that was seen last comes first");
    assert_eq!((listed[0].created_at, listed[0].last_seen_at), (at(0), at(HOUR)));
    assert!(listed[0].agent.starts_with("Old‹U+202E›/1.0"), "{}", listed[0].agent);
    assert_eq!(listed[1].agent.chars().count(), 256);
    let shown = SecretString::from(ids[0].as_str());
    assert!(store.browser_session(&shown, LONGEST, at(HOUR)).await.unwrap().is_none());
    assert_eq!(BrowserId::parse(ids[0].as_str()), Some(ids[0].clone()));
    assert!(
        store.browser_sessions(&user("user-1"), LONGEST, at(40 * DAY)).await.unwrap().is_empty(),
        "what is idle has ended"
    );
}

pub(crate) async fn a_browser_is_signed_out_from_another_one(database: Database) {
    let store = database.store().await;
    let mut tokens = Vec::new();
    for second in 0..3 {
        tokens.push(sign_in(&store, "user-1", "", second).await);
    }
    let stranger = sign_in(&store, "user-2", "", 0).await;
    let ended = async |token: &SecretString| {
        store.end_browser_session(&user("user-1"), &BrowserId::of(token), at(10)).await.unwrap()
    };

    assert!(!ended(&stranger).await, "another user's is none");
    assert!(ended(&tokens[0]).await);
    assert!(!ended(&tokens[0]).await);
    let kept = BrowserId::of(&tokens[2]);
    assert_eq!(store.end_other_browser_sessions(&user("user-1"), &kept, at(11)).await.unwrap(), 1);
    assert_eq!(store.end_other_browser_sessions(&user("user-1"), &kept, at(12)).await.unwrap(), 0);

    for (token, there) in [(&tokens[0], false), (&tokens[1], false), (&tokens[2], true), (&stranger, true)] {
        assert_eq!(store.browser_session(token, LONGEST, at(12)).await.unwrap().is_some(), there);
    }
    let lines = store.audit_of(&user("user-1"), 2).await.unwrap();
    let told: Vec<_> = lines.iter().map(|line| (line.action.unwrap(), line.detail.as_deref().unwrap())).collect();
    let out = AuditAction::BrowserSignedOut;
    assert_eq!(told, [(out, "all other browsers"), (out, "from another browser")]);
    assert!(!actions(&store, "user-2").await.contains(&out));
}

/// R-ID-03: a session that was moved to another user in the database is listed to neither, and signs nobody in.
pub(crate) async fn a_browser_that_was_moved_is_listed_to_nobody(database: Database) {
    let store = database.store().await;
    let other = sign_in(&store, "user-2", "", 0).await;
    for change in [
        "subject = 'user-2'",
        "user_key = 'OTHER'",
        "subject = 'user-2', user_key = 'OTHER'",
        "expires_at = 1 + expires_at",
    ] {
        let token = sign_in(&store, "user-1", "Mine", 0).await;
        let change =
            change.replace("'OTHER'", "(SELECT user_key FROM browser_sessions WHERE subject = 'user-2' LIMIT 1)");
        let id = BrowserId::of(&token);
        assert_eq!(database.run(&format!("UPDATE browser_sessions SET {change} WHERE token_hash = '{id}'")).await, 1);

        for subject in ["user-1", "user-2"] {
            let listed = store.browser_sessions(&user(subject), LONGEST, at(1)).await.unwrap();
            assert!(listed.iter().all(|browser| browser.id != id), "{change}: {subject}");
        }
        assert!(store.browser_session(&token, LONGEST, at(1)).await.unwrap().is_none(), "{change}");
    }
    assert!(store.browser_session(&other, LONGEST, at(1)).await.unwrap().is_some());
}

/// Rows of before the column was there get it at the next start.
pub(crate) async fn browsers_of_an_earlier_version_are_found_by_their_owner(database: Database) {
    let store = database.store().await;
    for subject in ["user-1", "user-1", "user-2"] {
        sign_in(&store, subject, "", 0).await;
    }
    assert_eq!(database.run("UPDATE browser_sessions SET user_key = ''").await, 3);
    assert!(store.browser_sessions(&user("user-1"), LONGEST, at(1)).await.unwrap().is_empty());

    let again = database.store().await;

    assert_eq!(again.browser_sessions(&user("user-1"), LONGEST, at(1)).await.unwrap().len(), 2);
}

/// R-SEC-03: pages follow one another without a gap, and a cursor leads to lines of whoever asks.
pub(crate) async fn the_audit_log_is_read_page_by_page(database: Database) {
    let store = database.store().await;
    for (second, subject) in ["user-1", "user-2", "user-1", "user-1", "user-2", "user-1", "user-1"].iter().enumerate() {
        let entry = AuditEntry {
            principal: Some((user(subject), None)),
            ..AuditEntry::new(AuditAction::PageRefused, Outcome::Refused)
        };
        store.audit(entry, at(i64::try_from(second).unwrap())).await.unwrap();
    }
    let mut seen = Vec::new();
    let mut before = None;
    loop {
        let page = store.audit_page(&user("user-1"), before, 2).await.unwrap();
        seen.extend(page.rows.iter().map(|row| row.at));
        let Some(older) = page.older else { break };
        before = AuditCursor::parse(&older.to_string());
        assert_eq!(before, Some(older));
    }
    assert_eq!(seen, [6, 5, 3, 2, 0].map(at));
    let exact = store.audit_page(&user("user-2"), None, 2).await.unwrap();
    assert_eq!((exact.rows.len(), exact.older), (2, None));

    let first = store.audit_page(&user("user-1"), None, 1).await.unwrap().older;
    let others = store.audit_page(&user("user-2"), first, 10).await.unwrap();
    assert!(others.rows.iter().all(|row| row.user == user("user-2")));
    for wrong in ["", "x", "-1", "0", "99999999999999999999"] {
        assert_eq!(AuditCursor::parse(wrong), None, "{wrong}");
    }
}

/// R-OAUTH-04: nothing of a revoked client is left, and all of the others'.
pub(crate) async fn a_revoked_client_may_use_nothing(database: Database) {
    let store = database.store().await;
    completed(&store, of_client("user-1", "client-1"), connect("s-1")).await;
    completed(&store, of_client("user-1", "client-2"), connect("s-2")).await;
    let maps = NewInteraction { provider: "maps".into(), ..of_client("user-1", "client-1") };
    completed(&store, maps, connect("s-3")).await;
    completed(&store, question("user-2"), connect("s-4")).await;
    let almanac = NewInteraction { destination: destination("almanac"), ..of_client("user-1", "client-1") };
    let open = store.ask(&[almanac], None, at(0)).await.unwrap().remove(0);
    let others = of_client("user-1", "client-2");
    let kept = store.ask(&[NewInteraction { provider: "maps".into(), ..others }], None, at(0)).await.unwrap().remove(0);
    let before = store.credential(&user("user-1"), "weather").await.unwrap().unwrap();
    let mut events = store.events();

    let withdrawn = store.revoke_client(&user("user-1"), &client("client-1"), at(9)).await.unwrap();

    assert_eq!((withdrawn.providers.len(), withdrawn.questions), (2, 1));
    let after = store.credential(&user("user-1"), "weather").await.unwrap().unwrap();
    assert_eq!(after.clients().into_iter().cloned().collect::<Vec<_>>(), [client("client-2")]);
    assert_eq!((after.version, after.updated_at), (before.version + 1, at(9)));
    assert_eq!(after.secrets.len(), 1, "what was entered stays");
    assert!(store.credential(&user("user-1"), "maps").await.unwrap().unwrap().approvals.is_empty());
    assert!(
        store.credential(&user("user-2"), "weather").await.unwrap().unwrap().clients().contains(&client("client-1"))
    );
    let state = async |id| store.interaction(id, at(9)).await.unwrap().unwrap().state;
    assert_eq!(state(&open.id).await, InteractionState::Expired);
    assert_eq!(state(&kept.id).await, InteractionState::Created);
    let mut told = Vec::new();
    while let Ok(event) = events.try_recv() {
        told.push(event);
    }
    assert!(told.contains(&Event::Credential(after.key())) && told.contains(&Event::Interaction(open.id)), "{told:?}");
    let lines = actions(&store, "user-1").await;
    assert_eq!(lines.iter().filter(|action| **action == AuditAction::ClientRevoked).count(), 2);
    assert!(store.revoke_client(&user("user-1"), &client("client-1"), at(10)).await.unwrap().is_empty());
    assert!(store.revoke_client(&user("user-1"), &client("client-9"), at(10)).await.unwrap().is_empty());
}

/// R-OAUTH-04: whoever completes at the same moment does not bring the client back.
pub(crate) async fn a_completion_does_not_undo_a_revocation(database: Database) {
    let store = database.store().await;
    for round in 0..10 {
        let subject = format!("user-{round}");
        let maps = NewInteraction { provider: "maps".into(), ..question(&subject) };
        completed(&store, maps, connect("s-1")).await;
        completed(&store, of_client(&subject, "client-2"), connect("s-1")).await;
        let consented = consented(&store, question(&subject)).await;
        let (owner, client) = (user(&subject), client("client-1"));

        let (completion, revocation) = tokio::join!(
            store.complete(consented, connect("s-2"), at(3)),
            store.revoke_client(&owner, &client, at(3)),
        );

        assert!(matches!(completion.unwrap(), Advanced::Done(_) | Advanced::Lost));
        assert!(!revocation.unwrap().is_empty());
        for provider in ["maps", "weather"] {
            let credential = store.credential(&owner, provider).await.unwrap().unwrap();
            assert!(!credential.clients().contains(&client), "{provider}, round {round}");
        }
    }
}

pub(crate) async fn an_approval_is_kept_with_its_time(database: Database) {
    let store = database.store().await;
    completed(&store, question("user-1"), connect("s-1")).await;
    let again = consented(&store, NewInteraction { expires_at: at(HOUR), ..question("user-1") }).await;
    done(store.complete(again, connect("s-2"), at(60)).await.unwrap());

    let credential = store.credential(&user("user-1"), "weather").await.unwrap().unwrap();

    assert_eq!(credential.approved_at[&credential.approvals[0]], at(3), "the first time counts");
    assert_eq!(
        store.client_claim(&user("user-1"), &client("client-1")).await.unwrap().as_deref(),
        Some("Example Host 1.0")
    );
    assert_eq!(store.client_claim(&user("user-2"), &client("client-1")).await.unwrap(), None);
}

/// Whoever declined by mistake need not wait for up to an hour.
pub(crate) async fn what_rests_can_be_released_by_its_owner(database: Database) {
    let store = database.store().await;
    let decline = async |now: i64| {
        let new = NewInteraction { expires_at: at(now + 600), ..question("user-1") };
        let asked = store.ask(&[new], None, at(now)).await.unwrap().remove(0);
        done(store.advance(asked, Step::Decline { by: DeclinedBy::Page }, at(now)).await.unwrap())
    };
    decline(0).await;
    let declined = decline(1).await;
    assert!(store.resting(&user("user-2"), at(2)).await.unwrap().is_empty());
    let resting = store.resting(&user("user-1"), at(2)).await.unwrap();
    assert_eq!(resting.len(), 1, "each question once");
    assert_eq!((&resting[0].interaction.id, resting[0].until), (&declined.id, at(601)));

    assert_eq!(store.release(&user("user-2"), &declined.id, at(2)).await.unwrap(), None, "another user's is none");
    let released = store.release(&user("user-1"), &declined.id, at(2)).await.unwrap().unwrap();

    assert_eq!(released.id, declined.id);
    assert!(store.resting(&user("user-1"), at(2)).await.unwrap().is_empty());
    assert_eq!(store.release(&user("user-1"), &declined.id, at(3)).await.unwrap(), None);
    assert_eq!(actions(&store, "user-1").await[0], AuditAction::InteractionReleased);
    let third = decline(3).await;
    assert_eq!(store.rest_of(&third.id, at(3)).await.unwrap(), Some(at(3 + HOUR)), "the declines before still count");
}

/// No secret is in it, and what cannot be read is listed as well.
pub(crate) async fn an_operator_lists_connections_of_all(database: Database) {
    let store = database.store().await;
    for subject in ["user-1", "user-2", "user-3"] {
        completed(&store, question(subject), connect("hunter2")).await;
    }
    let maps = NewInteraction { provider: "maps".into(), destination: destination("almanac"), ..question("user-1") };
    completed(&store, maps, connect("hunter2")).await;
    database.run("UPDATE credentials SET sealed = (SELECT sealed FROM credentials WHERE subject = 'user-1' AND provider = 'maps') WHERE subject = 'user-3'").await;
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let page = store.list_connections(ConnectionFilter::default(), after.as_deref(), 2).await.unwrap();
        all.extend(page.connections);
        let Some(next) = page.after else { break };
        after = Some(next);
    }

    let listed: Vec<_> =
        all.iter().map(|one| (one.user.subject(), one.provider.as_str(), one.approvals.is_some())).collect();

    let mut sorted = listed.clone();
    sorted.sort_unstable();
    let weather = |subject, readable| (subject, "weather", readable);
    assert_eq!(
        sorted,
        [("user-1", "maps", true), weather("user-1", true), weather("user-2", true), weather("user-3", false)]
    );
    assert!(!format!("{all:?}").contains("hunter2"));
    let count = async |filter| store.list_connections(filter, None, 100).await.unwrap().connections.len();
    let filter = ConnectionFilter::default();
    let first = user("user-1");
    assert_eq!(count(ConnectionFilter { user: Some(&first), ..filter }).await, 2);
    assert_eq!(count(ConnectionFilter { provider: Some("weather"), ..filter }).await, 3);
    assert_eq!(count(ConnectionFilter { upstream: Some("forecast"), ..filter }).await, 2);
    assert_eq!(count(ConnectionFilter { user: Some(&first), provider: Some("weather"), ..filter }).await, 1);
    assert_eq!(count(ConnectionFilter { user: Some(&first), upstream: Some("nowhere"), ..filter }).await, 0);
}

/// Also one that nobody can read.
pub(crate) async fn an_operator_ends_one_connection(database: Database) {
    let store = database.store().await;
    for subject in ["user-1", "user-2"] {
        completed(&store, question(subject), connect("s-1")).await;
    }
    let moved = "UPDATE credentials SET sealed = (SELECT sealed FROM credentials WHERE subject = 'user-2') \
                 WHERE subject = 'user-1'";
    assert_eq!(database.run(moved).await, 1);
    let all = store.list_connections(ConnectionFilter::default(), None, 10).await.unwrap().connections;
    let mine = all.iter().find(|one| one.user == user("user-1")).unwrap();
    let mut events = store.events();

    let revoked = store.revoke_connection(&mine.id, at(5)).await.unwrap();

    assert_eq!(revoked, Some((user("user-1"), "weather".to_owned())));
    assert!(matches!(events.try_recv(), Ok(Event::Credential(_))));
    assert_eq!(store.revoke_connection(&mine.id, at(6)).await.unwrap(), None);
    assert_eq!(store.revoke_connection("", at(6)).await.unwrap(), None);
    assert!(store.credential(&user("user-1"), "weather").await.unwrap().is_none());
    assert!(store.credential(&user("user-2"), "weather").await.unwrap().is_some());
    assert_eq!(actions(&store, "user-1").await[0], AuditAction::CredentialRevoked);
}

/// All of a person, and of nobody else, goes at once; what was done stays in the audit log.
pub(crate) async fn a_user_is_forgotten_whole(database: Database) {
    let store = database.store().await;
    let mut browsers = Vec::new();
    for subject in ["user-1", "user-2"] {
        completed(&store, question(subject), connect("s-1")).await;
        let mut session = session();
        session.principal = principal(subject);
        let key = session.id.key();
        store.create_session(session, at(0)).await.unwrap();
        let almanac = NewInteraction { destination: destination("almanac"), ..question(subject) };
        let open = store.ask(&[almanac], Some(&key), at(0)).await.unwrap().remove(0);
        done(store.advance(open, Step::Decline { by: DeclinedBy::Page }, at(1)).await.unwrap());
        browsers.push(sign_in(&store, subject, "", 0).await);
        store.create_login_link(&random_token(), &user(subject), at(600), at(0)).await.unwrap();
    }
    let held = Holdings { connections: 1, questions: 2, sessions: 1, browser_sessions: 1, login_links: 1 };
    assert_eq!(store.holdings(&user("user-1")).await.unwrap(), held);
    let mut events = store.events();

    let forgotten = store.forget_user(&user("user-1"), at(9)).await.unwrap();

    assert_eq!(forgotten, held);
    assert!(store.holdings(&user("user-1")).await.unwrap().is_empty());
    assert_eq!(store.holdings(&user("user-2")).await.unwrap(), held);
    assert!(store.browser_session(&browsers[0], LONGEST, at(9)).await.unwrap().is_none());
    assert!(store.browser_session(&browsers[1], LONGEST, at(9)).await.unwrap().is_some());
    for (table, left) in [
        ("credentials", 1),
        ("interactions", 2),
        ("declines", 1),
        ("mcp_sessions", 1),
        ("notices", 1),
        ("login_links", 1),
    ] {
        assert_eq!(database.run(&format!("DELETE FROM {table}")).await, left, "{table}");
    }
    let mut told = Vec::new();
    while let Ok(event) = events.try_recv() {
        told.push(std::mem::discriminant(&event));
    }
    assert_eq!(told.len(), 4, "a credential, two questions, a session");
    let lines = actions(&store, "user-1").await;
    assert_eq!(lines[0], AuditAction::UserForgotten);
    assert!(lines.contains(&AuditAction::CredentialConnected), "what was done can still be said");
    assert!(store.forget_user(&user("user-1"), at(10)).await.unwrap().is_empty());
    assert_eq!(actions(&store, "user-1").await.len(), lines.len(), "nobody is forgotten twice");
}

/// R-SEC-04: a few statements, however much there is; one for each row would not end in time.
pub(crate) async fn a_user_of_whom_very_much_is_stored_is_forgotten(database: Database) {
    const MANY: u64 = 40_000;
    let store = database.store().await;
    completed(&store, question("user-1"), connect("s-1")).await;
    store.create_session(session(), at(0)).await.unwrap();
    let many = async |table: &str, columns: &str, values: &str, from: &str| {
        let sql = format!(
            "INSERT INTO {table} ({columns}) \
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {MANY}) SELECT {values} FROM n, {from}"
        );
        assert_eq!(database.run(&sql).await, MANY, "{table}");
    };
    let same = "user_key, issuer, subject, client, upstream, created_at, expires_at";
    let asked = "provider, target, reason, state, state_at, version, seal";
    many(
        "interactions",
        &format!("id, ask_key, {same}, {asked}"),
        &format!("'i' || CAST(i AS TEXT), 'k' || CAST(i AS TEXT), {same}, {asked}"),
        "interactions",
    )
    .await;
    many("declines", "ask_key, times, rests_until, expires_at", "'k' || CAST(i AS TEXT), 1, 1, 1", "facts").await;
    let begun = "sealed, revision, capabilities, initialize_params, begun, client_key";
    many(
        "mcp_sessions",
        &format!("session_key, {same}, {begun}"),
        &format!("'s' || CAST(i AS TEXT), {same}, {begun}"),
        "mcp_sessions",
    )
    .await;
    many("notices", "interaction_id, session_key, expires_at", "'i', 's' || CAST(i AS TEXT), 1", "facts").await;

    let forgotten = store.forget_user(&user("user-1"), at(9)).await.unwrap();

    assert_eq!((forgotten.questions, forgotten.sessions), (MANY + 1, MANY + 1));
    for table in ["interactions", "declines", "mcp_sessions", "notices"] {
        assert_eq!(database.run(&format!("DELETE FROM {table}")).await, 0, "{table}");
    }
}

pub(crate) async fn everybody_of_whom_something_is_stored_is_listed_once(database: Database) {
    let store = database.store().await;
    completed(&store, question("user-1"), connect("s-1")).await;
    sign_in(&store, "user-1", "", 0).await;
    sign_in(&store, "user-2", "", 7).await;
    store.create_session(session(), at(0)).await.unwrap();
    store.ask(&[question("user-3")], None, at(0)).await.unwrap();
    store
        .audit(
            AuditEntry {
                principal: Some((user("user-4"), None)),
                ..AuditEntry::new(AuditAction::PageRefused, Outcome::Refused)
            },
            at(0),
        )
        .await
        .unwrap();
    let (mut users, mut after) = (Vec::new(), None);
    loop {
        let page = store.users(after.as_deref(), 2).await.unwrap();
        users.extend(page.users);
        let Some(next) = page.after else { break };
        after = Some(next);
    }

    users.sort_by(|one, other| one.user.cmp(&other.user));

    let names: Vec<_> = users.iter().map(|one| one.user.subject()).collect();
    assert_eq!(names, ["user-1", "user-2", "user-3"]);
    let first = Holdings { connections: 1, questions: 1, sessions: 1, browser_sessions: 1, login_links: 0 };
    assert_eq!((users[0].holdings, users[1].last_seen_at), (first, Some(at(7))));
    assert_eq!(users[2].last_seen_at, None);
    database.run("UPDATE interactions SET subject = 'user-9' WHERE subject = 'user-3'").await;
    assert_eq!(store.users(None, 10).await.unwrap().users.len(), 2, "a row that names somebody else counts for nobody");
}
