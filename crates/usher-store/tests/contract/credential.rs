use elicit::{SystemRandom, UserId};
use secrecy::ExposeSecret as _;
use usher_store::{
    Advanced, AuditAction, Completion, CredentialKey, CredentialStatus, DeclinedBy, InteractionId, KeyError,
    NewInteraction, Obstacle, Step, Store, StoreError,
};

use crate::samples::{at, client, completed, connect, consented, destination, done, question, user};
use crate::setup::Database;

/// R-ID-01, R-OAUTH-01: a credential is bound to the verified user.
pub(crate) async fn what_is_connected_comes_back_to_its_user_alone(database: Database) {
    let store = database.store().await;
    completed(&store, question("user-1"), connect("s-1")).await;

    let credential = store.credential(&user("user-1"), "weather").await.unwrap().unwrap();

    assert_eq!(credential.secrets["api_key"].expose_secret(), "s-1");
    assert_eq!(credential.user, user("user-1"));
    assert_eq!(credential.version, 1);
    assert_eq!(credential.status, CredentialStatus::Working);
    assert_eq!((credential.created_at, credential.updated_at), (at(3), at(3)));
    assert_eq!(credential.last_used_at, None);
    assert!(store.credential(&user("user-2"), "weather").await.unwrap().is_none());
    assert!(store.credential(&user("user-1"), "maps").await.unwrap().is_none());
}

pub(crate) async fn connecting_again_replaces_the_secrets_and_keeps_the_approvals(database: Database) {
    let store = database.store().await;
    completed(&store, question("user-1"), connect("s-1")).await;
    let first = store.credential(&user("user-1"), "weather").await.unwrap().unwrap();
    assert!(store.reject_credential(&user("user-1"), "weather", 1, at(4)).await.unwrap());
    let mut other = question("user-1");
    other.principal.client = client("client-2");

    completed(&store, other, connect("s-2")).await;

    let second = store.credential(&user("user-1"), "weather").await.unwrap().unwrap();
    assert_eq!(second.id, first.id);
    assert_eq!(second.version, 3);
    assert_eq!(second.status, CredentialStatus::Working);
    assert_eq!(second.secrets["api_key"].expose_secret(), "s-2");
    assert!(second.allows(&client("client-1"), &destination("forecast")));
    assert!(second.allows(&client("client-2"), &destination("forecast")));
}

/// R-OAUTH-04, R-GW-04: a client that is allowed here is not allowed there.
pub(crate) async fn approvals_are_pairs_of_client_and_destination(database: Database) {
    let store = database.store().await;
    completed(&store, question("user-1"), connect("s-1")).await;
    let mut other = NewInteraction { destination: destination("almanac"), ..question("user-1") };
    other.principal.client = client("client-2");

    completed(&store, other.clone(), Completion::Allow).await;
    other.id = InteractionId::new(&SystemRandom);
    completed(&store, other, Completion::Allow).await;

    let credential = store.credential(&user("user-1"), "weather").await.unwrap().unwrap();
    assert_eq!(credential.secrets["api_key"].expose_secret(), "s-1");
    assert_eq!(credential.version, 3);
    assert_eq!(credential.approvals.len(), 2);
    assert_eq!(credential.clients().len(), 2);
    assert_eq!(credential.destinations().len(), 2);
    for (client_id, upstream, allowed) in [
        ("client-1", "forecast", true),
        ("client-2", "almanac", true),
        ("client-1", "almanac", false),
        ("client-2", "forecast", false),
    ] {
        assert_eq!(credential.allows(&client(client_id), &destination(upstream)), allowed);
    }
    let mut moved = destination("forecast");
    "https://elsewhere.example".clone_into(&mut moved.target);
    assert!(!credential.allows(&client("client-1"), &moved));
}

pub(crate) async fn allowing_needs_a_stored_credential(database: Database) {
    let store = database.store().await;
    let interaction = consented(&store, question("user-1")).await;

    let refused = store.complete(interaction.clone(), Completion::Allow, at(3)).await.unwrap();

    let Advanced::Refused(error) = refused else { panic!("{refused:?}") };
    assert_eq!(error.obstacle, Obstacle::NoCredential);
    let read = store.interaction(&interaction.id, at(4)).await.unwrap().unwrap();
    assert_eq!(read, interaction, "it can still be connected");
    done(store.complete(read, connect("s-1"), at(5)).await.unwrap());
}

pub(crate) async fn a_rejection_counts_only_for_the_version_that_was_used(database: Database) {
    let store = database.store().await;
    let owner = user("user-1");
    completed(&store, question("user-1"), connect("s-1")).await;
    completed(&store, question("user-1"), connect("s-2")).await;

    assert!(!store.reject_credential(&owner, "weather", 1, at(5)).await.unwrap());
    let kept = store.credential(&owner, "weather").await.unwrap().unwrap();
    assert_eq!(kept.status, CredentialStatus::Working);

    assert!(store.reject_credential(&owner, "weather", 2, at(6)).await.unwrap());
    assert!(!store.reject_credential(&owner, "weather", 2, at(7)).await.unwrap());
    let rejected = store.credential(&owner, "weather").await.unwrap().unwrap();
    assert_eq!(rejected.status, CredentialStatus::Rejected);
    assert_eq!(rejected.updated_at, at(6));
    let audit = store.audit_of(&owner, 1).await.unwrap();
    assert_eq!(audit[0].action, Some(AuditAction::CredentialRejected));
}

pub(crate) async fn use_is_written_once_a_minute(database: Database) {
    let store = database.store().await;
    let owner = user("user-1");
    completed(&store, question("user-1"), connect("s-1")).await;

    for (used, written) in [(100, 100), (159, 100), (160, 160), (150, 160)] {
        store.touch_credential(&owner, "weather", at(used)).await.unwrap();
        let credential = store.credential(&owner, "weather").await.unwrap().unwrap();
        assert_eq!(credential.last_used_at, Some(at(written)), "used at {used}");
        assert_eq!(credential.version, 1, "use is no new version");
    }
}

pub(crate) async fn disconnecting_deletes_and_is_audited(database: Database) {
    let store = database.store().await;
    let owner = user("user-1");
    completed(&store, question("user-1"), connect("s-1")).await;

    assert!(!store.disconnect(&user("user-2"), "weather", at(4)).await.unwrap());
    assert!(store.disconnect(&owner, "weather", at(4)).await.unwrap());

    assert!(store.credential(&owner, "weather").await.unwrap().is_none());
    assert!(!store.disconnect(&owner, "weather", at(5)).await.unwrap());
    let audit = store.audit_of(&owner, 10).await.unwrap();
    assert_eq!(audit[0].action, Some(AuditAction::CredentialDisconnected));
    assert_eq!(audit[0].provider.as_deref(), Some("weather"));
    assert_ne!(audit[1].action, Some(AuditAction::CredentialDisconnected));
}

pub(crate) async fn connections_are_listed_by_provider(database: Database) {
    let store = database.store().await;
    for (subject, provider) in [("user-1", "weather"), ("user-1", "maps"), ("user-2", "atlas")] {
        let new = NewInteraction { provider: provider.to_owned(), ..question(subject) };
        completed(&store, new, connect("s-1")).await;
    }

    let connections = store.connections(&user("user-1")).await.unwrap();

    let providers: Vec<_> = connections.readable.iter().map(|one| one.provider.as_str()).collect();
    assert_eq!(providers, ["maps", "weather"]);
    assert!(connections.unreadable.is_empty());
}

/// R-OAUTH-01: whoever can write to the database cannot give one user's credential
/// to another user, provider or record.
pub(crate) async fn a_moved_row_does_not_open(database: Database) {
    let store = database.store().await;
    let (owner, stranger) = (user("user-1"), user("user-2"));
    completed(&store, question("user-1"), connect("of user-1")).await;
    completed(&store, question("user-2"), connect("of user-2")).await;

    // To another user: all columns of stranger's row but the sealed one and the id.
    let stolen = "UPDATE credentials SET (id, sealed) = \
         (SELECT owner.id || 'x', owner.sealed FROM credentials owner WHERE owner.subject = 'user-1') \
         WHERE subject = 'user-2'";
    database.run(stolen).await;
    assert_tampered(store.credential(&stranger, "weather").await);
    assert_unreadable(&store, &stranger, &["weather"]).await;

    // With its id, too, in the place of stranger's.
    database
        .run(
            "CREATE TABLE moved AS SELECT owner.id AS id, stranger.credential_key AS credential_key, \
             stranger.user_key AS user_key FROM credentials owner, credentials stranger \
             WHERE owner.subject = 'user-1' AND stranger.subject = 'user-2'",
        )
        .await;
    database.run("DELETE FROM credentials WHERE subject = 'user-2'").await;
    let moved = database
        .run(
            "UPDATE credentials SET subject = 'user-2', \
             credential_key = (SELECT credential_key FROM moved), \
             user_key = (SELECT user_key FROM moved)",
        )
        .await;
    assert_eq!(moved, 1);
    assert_tampered(store.credential(&stranger, "weather").await);
    assert_unreadable(&store, &stranger, &["weather"]).await;
    assert!(store.credential(&owner, "weather").await.unwrap().is_none());

    // To another provider.
    completed(&store, question("user-3"), connect("of user-3")).await;
    let key = CredentialKey::of(&user("user-3"), "maps");
    database.run(&format!("UPDATE credentials SET credential_key = '{key}' WHERE subject = 'user-3'")).await;
    assert_tampered(store.credential(&user("user-3"), "maps").await);
    assert_unreadable(&store, &user("user-3"), &["weather"]).await;
    database.run("UPDATE credentials SET provider = 'maps' WHERE subject = 'user-3'").await;
    assert_tampered(store.credential(&user("user-3"), "maps").await);
    assert_unreadable(&store, &user("user-3"), &["maps"]).await;

    // What does not open can still be disconnected.
    assert!(store.disconnect(&stranger, "weather", at(9)).await.unwrap());
    assert!(store.credential(&stranger, "weather").await.unwrap().is_none());
}

/// R-GW-04: whoever can write to the database cannot send the secret for one provider to where the user agreed to
/// send another's.
pub(crate) async fn two_rows_that_were_swapped_do_not_open(database: Database) {
    let store = database.store().await;
    let owner = user("user-1");
    for provider in ["weather", "maps"] {
        let new = NewInteraction { provider: provider.to_owned(), ..question("user-1") };
        completed(&store, new, connect(&format!("of {provider}"))).await;
    }
    let [weather, maps] = ["weather", "maps"].map(|provider| CredentialKey::of(&owner, provider).to_string());
    let refused = async |what| {
        for provider in ["weather", "maps"] {
            assert_tampered(store.credential(&owner, provider).await);
        }
        assert_unreadable(&store, &owner, &["maps", "weather"]).await;
        let interaction = consented(&store, question("user-1")).await;
        let allowed = store.complete(interaction, Completion::Allow, at(3)).await.unwrap();
        let Advanced::Refused(error) = allowed else { panic!("{what}: {allowed:?}") };
        assert_eq!(error.obstacle, Obstacle::NoCredential, "{what}");
    };

    // The keys alone, then the names as well, so that each row agrees with itself.
    swap(&database, "credential_key", &weather, &maps).await;
    refused("keys").await;
    swap(&database, "provider", "weather", "maps").await;
    refused("keys and names").await;

    // Put back, they open: nothing else was changed.
    swap(&database, "credential_key", &weather, &maps).await;
    swap(&database, "provider", "weather", "maps").await;
    let credential = store.credential(&owner, "maps").await.unwrap().unwrap();
    assert_eq!(credential.secrets["api_key"].expose_secret(), "of maps");
}

async fn swap(database: &Database, column: &str, one: &str, other: &str) {
    for (from, to) in [(one, "aside"), (other, one), ("aside", other)] {
        let sql = format!("UPDATE credentials SET {column} = '{to}' WHERE {column} = '{from}'");
        assert_eq!(database.run(&sql).await, 1);
    }
}

/// One credential that cannot be read keeps its owner from nothing: the others are listed, and it can be connected
/// anew, with fresh approvals.
pub(crate) async fn what_cannot_be_read_can_be_connected_anew(database: Database) {
    let store = database.store().await;
    let owner = user("user-1");
    completed(&store, NewInteraction { provider: "maps".to_owned(), ..question("user-1") }, connect("of maps")).await;
    for (change, tampered) in [
        ("sealed = (SELECT sealed FROM credentials WHERE provider = 'maps')", true),
        ("id = 'another'", true),
        ("status = 'sung'", false),
        ("created_at = 9223372036854775807", false),
    ] {
        completed(&store, question("user-1"), connect("before")).await;
        let before = store.credential(&owner, "weather").await.unwrap().unwrap();
        assert_eq!(database.run(&format!("UPDATE credentials SET {change} WHERE provider = 'weather'")).await, 1);
        let error = store.credential(&owner, "weather").await.unwrap_err();
        assert!(error.is_unopened(), "{change}: {error}");
        assert_eq!(error.is_tampered(), tampered, "{change}: {error}");
        let connections = store.connections(&owner).await.unwrap();
        assert_eq!(connections.readable.len(), 1, "{change}");
        assert_eq!(connections.readable[0].provider, "maps", "{change}");
        assert_eq!(connections.unreadable, ["weather"], "{change}");

        let mut other = question("user-1");
        other.principal.client = client("client-2");
        completed(&store, other, connect("anew")).await;

        let anew = store.credential(&owner, "weather").await.unwrap().unwrap();
        assert_eq!(anew.secrets["api_key"].expose_secret(), "anew", "{change}");
        assert_eq!(anew.status, CredentialStatus::Working, "{change}");
        assert!(anew.version > before.version, "{change}: a call with the old secret rejects nothing of the new one");
        assert!(anew.allows(&client("client-2"), &destination("forecast")), "{change}");
        assert!(!anew.allows(&client("client-1"), &destination("forecast")), "{change}: approvals are fresh");
        assert!(store.connections(&owner).await.unwrap().unreadable.is_empty(), "{change}");
    }
}

pub(crate) async fn what_cannot_be_read_can_be_disconnected(database: Database) {
    let store = database.store().await;
    let owner = user("user-1");
    completed(&store, NewInteraction { provider: "maps".to_owned(), ..question("user-1") }, connect("of maps")).await;
    for change in ["sealed = (SELECT sealed FROM credentials WHERE provider = 'maps')", "credential_key = 'nobody'"] {
        completed(&store, question("user-1"), connect("before")).await;
        database.run(&format!("UPDATE credentials SET {change} WHERE provider = 'weather'")).await;
        assert_eq!(store.connections(&owner).await.unwrap().unreadable, ["weather"], "{change}");

        assert!(!store.disconnect(&user("user-2"), "weather", at(9)).await.unwrap(), "{change}");
        assert!(store.disconnect(&owner, "weather", at(9)).await.unwrap(), "{change}");

        assert!(store.connections(&owner).await.unwrap().unreadable.is_empty(), "{change}");
    }
    assert!(store.credential(&owner, "maps").await.unwrap().is_some());
}

/// R-GW-04: destinations and approvals lie inside the envelope, and any edit closes it.
pub(crate) async fn an_edited_envelope_does_not_open(database: Database) {
    use sqlx::Row as _;

    let store = database.store().await;
    let owner = user("user-1");
    completed(&store, question("user-1"), connect("s-1")).await;
    let mut raw = database.raw().await;
    let row = sqlx::query("SELECT * FROM credentials").fetch_one(&mut raw).await.unwrap();
    for column in row.columns() {
        use sqlx::Column as _;
        if let Ok(text) = row.try_get::<String, _>(column.name()) {
            assert!(!text.contains("forecast"), "{} names a destination", column.name());
            assert!(!text.contains("client-1"), "{} names a client", column.name());
        }
    }
    let sealed: Vec<u8> = row.try_get("sealed").unwrap();

    // Ends, middle and each part's first byte: version, key id, wrapped key, value.
    let positions = [0, 1, 2, 11, 12, sealed.len() / 2, sealed.len() - 1];
    for position in positions {
        let mut edited = sealed.clone();
        edited[position] ^= 1;
        sqlx::query("UPDATE credentials SET sealed = $1").bind(edited).execute(&mut raw).await.unwrap();
        let error = store.credential(&owner, "weather").await.unwrap_err();
        assert!(matches!(error, StoreError::Unopened { .. }), "{position}: {error}");
    }
    for length in [0, 1, 5, sealed.len() - 1] {
        sqlx::query("UPDATE credentials SET sealed = $1")
            .bind(sealed[..length].to_vec())
            .execute(&mut raw)
            .await
            .unwrap();
        let error = store.credential(&owner, "weather").await.unwrap_err();
        assert!(matches!(error, StoreError::Unopened { .. }), "{length}: {error}");
    }
}

/// R-GW-04, R-SEC-03: whoever can write to the database cannot have a user agree to another
/// destination, client or provider than was asked for, and that somebody tried is audited.
pub(crate) async fn an_edited_question_stores_nothing(database: Database) {
    let store = database.store().await;
    for change in [
        "target = 'https://elsewhere.example'",
        "upstream = 'almanac'",
        "client = 'client-2'",
        "provider = 'maps'",
        "subject = 'user-2'",
    ] {
        let interaction = consented(&store, question("user-1")).await;
        let id = interaction.id.clone();
        database.run(&format!("UPDATE interactions SET {change} WHERE id = '{id}'")).await;
        let edited = store.interaction(&id, at(3)).await.unwrap().unwrap();
        for interaction in [interaction, edited] {
            let person = interaction.principal.user.clone();
            let before = tampered(&store, &person).await;
            assert_tampered(store.complete(interaction, connect("s-1"), at(3)).await);
            assert_eq!(tampered(&store, &person).await, before + 1, "{change}");
        }
        let step = Step::Decline { by: DeclinedBy::Page };
        let edited = store.interaction(&id, at(4)).await.unwrap().unwrap();
        done(store.advance(edited, step, at(4)).await.unwrap());
    }
    assert_eq!(database.run("DELETE FROM credentials").await, 0);
}

/// R-GW-04, R-SEC-03: the page of an edited question does not open in the first place, be it new or opened before.
pub(crate) async fn an_edited_question_is_not_shown(database: Database) {
    let store = database.store().await;
    let changes =
        ["target = 'https://elsewhere.example'", "client = 'client-2'", "provider = 'maps'", "subject = 'user-2'"];
    for (number, change) in changes.into_iter().enumerate() {
        let new = NewInteraction { provider: format!("provider-{number}"), ..question("user-1") };
        let asked = store.ask(&[new], None, at(0)).await.unwrap().remove(0);
        let opened = done(store.advance(asked, Step::Open, at(1)).await.unwrap());
        let again = done(store.advance(opened.clone(), Step::Open, at(2)).await.unwrap());
        assert_eq!(again, opened);
        let id = opened.id;
        for state in ["opened", "created"] {
            database.run(&format!("UPDATE interactions SET {change}, state = '{state}' WHERE id = '{id}'")).await;
            let edited = store.interaction(&id, at(3)).await.unwrap().unwrap();
            let person = edited.principal.user.clone();
            let before = tampered(&store, &person).await;

            let error = store.advance(edited.clone(), Step::Open, at(3)).await.unwrap_err();

            assert!(matches!(error, StoreError::Unopened { table: "interactions", .. }), "{change}: {error}");
            assert!(error.is_tampered(), "{change}: {error}");
            assert_eq!(tampered(&store, &person).await, before + 1, "{change}");
            let read = store.interaction(&id, at(3)).await.unwrap().unwrap();
            assert_eq!(read, edited, "{change}: nothing was written");
        }
    }
}

/// How often a person's audit log says that a question was changed.
async fn tampered(store: &Store, person: &UserId) -> usize {
    let rows = store.audit_of(person, 1000).await.unwrap();
    rows.iter().filter(|row| row.action == Some(AuditAction::InteractionTampered)).count()
}

async fn assert_unreadable(store: &Store, owner: &UserId, expected: &[&str]) {
    let connections = store.connections(owner).await.unwrap();
    assert!(connections.readable.is_empty(), "{connections:?}");
    assert_eq!(connections.unreadable, expected);
}

fn assert_tampered<T: std::fmt::Debug>(result: Result<T, StoreError>) {
    match result {
        Err(StoreError::Unopened { source: KeyError::Tampered, .. }) => {}
        other => panic!("it opened, or failed otherwise: {other:?}"),
    }
}
