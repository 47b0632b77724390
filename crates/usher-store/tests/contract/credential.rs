use secrecy::ExposeSecret as _;
use usher_store::{
    Advanced, AuditAction, Completion, CredentialStatus, KeyError, NewInteraction, Obstacle, StoreError,
};

use crate::samples::{at, client, completed, connect, consented, destination, done, question, user};
use crate::setup::Database;

/// R-ID-01, R-OAUTH-01: a credential is bound to the verified user.
pub(crate) async fn what_is_connected_comes_back_to_its_user_alone(database: Database) {
    let store = database.store().await;
    completed(&store, question("ada"), connect("s-1")).await;

    let credential = store.credential(&user("ada"), "weather").await.unwrap().unwrap();

    assert_eq!(credential.secrets["api_key"].expose_secret(), "s-1");
    assert_eq!(credential.user, user("ada"));
    assert_eq!(credential.version, 1);
    assert_eq!(credential.status, CredentialStatus::Working);
    assert_eq!((credential.created_at, credential.updated_at), (at(3), at(3)));
    assert_eq!(credential.last_used_at, None);
    assert!(store.credential(&user("ben"), "weather").await.unwrap().is_none());
    assert!(store.credential(&user("ada"), "maps").await.unwrap().is_none());
}

pub(crate) async fn connecting_again_replaces_the_secrets_and_keeps_the_approvals(database: Database) {
    let store = database.store().await;
    completed(&store, question("ada"), connect("s-1")).await;
    let first = store.credential(&user("ada"), "weather").await.unwrap().unwrap();
    assert!(store.reject_credential(&user("ada"), "weather", 1, at(4)).await.unwrap());
    let mut other = question("ada");
    other.principal.client = client("client-2");

    completed(&store, other, connect("s-2")).await;

    let second = store.credential(&user("ada"), "weather").await.unwrap().unwrap();
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
    completed(&store, question("ada"), connect("s-1")).await;
    let mut other = NewInteraction { destination: destination("almanac"), ..question("ada") };
    other.principal.client = client("client-2");

    completed(&store, other.clone(), Completion::Allow).await;
    completed(&store, other, Completion::Allow).await;

    let credential = store.credential(&user("ada"), "weather").await.unwrap().unwrap();
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
    moved.target = "https://elsewhere.example".to_owned();
    assert!(!credential.allows(&client("client-1"), &moved));
}

pub(crate) async fn allowing_needs_a_stored_credential(database: Database) {
    let store = database.store().await;
    let interaction = consented(&store, question("ada")).await;

    let refused = store.complete(interaction.clone(), Completion::Allow, at(3)).await.unwrap();

    let Advanced::Refused(error) = refused else { panic!("{refused:?}") };
    assert_eq!(error.obstacle, Obstacle::NoCredential);
    let read = store.interaction(&interaction.id, at(4)).await.unwrap().unwrap();
    assert_eq!(read, interaction, "it can still be connected");
    done(store.complete(read, connect("s-1"), at(5)).await.unwrap());
}

pub(crate) async fn a_rejection_counts_only_for_the_version_that_was_used(database: Database) {
    let store = database.store().await;
    let ada = user("ada");
    completed(&store, question("ada"), connect("s-1")).await;
    completed(&store, question("ada"), connect("s-2")).await;

    assert!(!store.reject_credential(&ada, "weather", 1, at(5)).await.unwrap());
    let kept = store.credential(&ada, "weather").await.unwrap().unwrap();
    assert_eq!(kept.status, CredentialStatus::Working);

    assert!(store.reject_credential(&ada, "weather", 2, at(6)).await.unwrap());
    assert!(!store.reject_credential(&ada, "weather", 2, at(7)).await.unwrap());
    let rejected = store.credential(&ada, "weather").await.unwrap().unwrap();
    assert_eq!(rejected.status, CredentialStatus::Rejected);
    assert_eq!(rejected.updated_at, at(6));
    let audit = store.audit_of(&ada, 1).await.unwrap();
    assert_eq!(audit[0].action, Some(AuditAction::CredentialRejected));
}

pub(crate) async fn use_is_written_once_a_minute(database: Database) {
    let store = database.store().await;
    let ada = user("ada");
    completed(&store, question("ada"), connect("s-1")).await;

    for (used, written) in [(100, 100), (159, 100), (160, 160), (150, 160)] {
        store.touch_credential(&ada, "weather", at(used)).await.unwrap();
        let credential = store.credential(&ada, "weather").await.unwrap().unwrap();
        assert_eq!(credential.last_used_at, Some(at(written)), "used at {used}");
        assert_eq!(credential.version, 1, "use is no new version");
    }
}

pub(crate) async fn disconnecting_deletes_and_is_audited(database: Database) {
    let store = database.store().await;
    let ada = user("ada");
    completed(&store, question("ada"), connect("s-1")).await;

    assert!(!store.disconnect(&user("ben"), "weather", at(4)).await.unwrap());
    assert!(store.disconnect(&ada, "weather", at(4)).await.unwrap());

    assert!(store.credential(&ada, "weather").await.unwrap().is_none());
    assert!(!store.disconnect(&ada, "weather", at(5)).await.unwrap());
    let audit = store.audit_of(&ada, 10).await.unwrap();
    assert_eq!(audit[0].action, Some(AuditAction::CredentialDisconnected));
    assert_eq!(audit[0].provider.as_deref(), Some("weather"));
    assert_ne!(audit[1].action, Some(AuditAction::CredentialDisconnected));
}

pub(crate) async fn connections_are_listed_by_provider(database: Database) {
    let store = database.store().await;
    for (subject, provider) in [("ada", "weather"), ("ada", "maps"), ("ben", "atlas")] {
        let new = NewInteraction { provider: provider.to_owned(), ..question(subject) };
        completed(&store, new, connect("s-1")).await;
    }

    let connections = store.connections(&user("ada")).await.unwrap();

    let providers: Vec<_> = connections.iter().map(|one| one.provider.as_str()).collect();
    assert_eq!(providers, ["maps", "weather"]);
}

/// R-OAUTH-01: whoever can write to the database cannot give one user's credential
/// to another user, provider or record.
pub(crate) async fn a_moved_row_does_not_open(database: Database) {
    let store = database.store().await;
    let (ada, ben) = (user("ada"), user("ben"));
    completed(&store, question("ada"), connect("of ada")).await;
    completed(&store, question("ben"), connect("of ben")).await;

    // To another user: all columns of ben's row but the sealed one and the id.
    let stolen = "UPDATE credentials SET (id, sealed) = \
         (SELECT ada.id || 'x', ada.sealed FROM credentials ada WHERE ada.subject = 'ada') \
         WHERE subject = 'ben'";
    database.run(stolen).await;
    assert_tampered(store.credential(&ben, "weather").await);
    assert_tampered(store.connections(&ben).await);

    // With its id, too, in the place of ben's.
    database
        .run(
            "CREATE TABLE moved AS SELECT ada.id AS id, ben.credential_key AS credential_key, \
             ben.user_key AS user_key FROM credentials ada, credentials ben \
             WHERE ada.subject = 'ada' AND ben.subject = 'ben'",
        )
        .await;
    database.run("DELETE FROM credentials WHERE subject = 'ben'").await;
    let moved = database
        .run(
            "UPDATE credentials SET subject = 'ben', \
             credential_key = (SELECT credential_key FROM moved), \
             user_key = (SELECT user_key FROM moved)",
        )
        .await;
    assert_eq!(moved, 1);
    assert_tampered(store.credential(&ben, "weather").await);
    assert_tampered(store.connections(&ben).await);
    assert!(store.credential(&ada, "weather").await.unwrap().is_none());

    // To another provider.
    completed(&store, question("cyn"), connect("of cyn")).await;
    database.run("UPDATE credentials SET provider = 'maps' WHERE subject = 'cyn'").await;
    assert_tampered(store.credential(&user("cyn"), "weather").await);

    // What does not open can still be disconnected.
    assert!(store.disconnect(&ben, "weather", at(9)).await.unwrap());
    assert!(store.credential(&ben, "weather").await.unwrap().is_none());
}

/// R-GW-04: destinations and approvals lie inside the envelope, and any edit closes it.
pub(crate) async fn an_edited_envelope_does_not_open(database: Database) {
    use sqlx::Row as _;

    let store = database.store().await;
    let ada = user("ada");
    completed(&store, question("ada"), connect("s-1")).await;
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
        let error = store.credential(&ada, "weather").await.unwrap_err();
        assert!(matches!(error, StoreError::Unopened { .. }), "{position}: {error}");
    }
    for length in [0, 1, 5, sealed.len() - 1] {
        sqlx::query("UPDATE credentials SET sealed = $1")
            .bind(sealed[..length].to_vec())
            .execute(&mut raw)
            .await
            .unwrap();
        let error = store.credential(&ada, "weather").await.unwrap_err();
        assert!(matches!(error, StoreError::Unopened { .. }), "{length}: {error}");
    }
}

fn assert_tampered<T: std::fmt::Debug>(result: Result<T, StoreError>) {
    match result {
        Err(StoreError::Unopened { source: KeyError::Tampered, .. }) => {}
        other => panic!("it opened, or failed otherwise: {other:?}"),
    }
}
