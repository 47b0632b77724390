use std::sync::Arc;

use elicit::SystemRandom;
use usher_store::{Kind, Store, StoreError, Vault};

use crate::samples::{at, completed, connect, question, user};
use crate::setup::Database;

pub(crate) async fn the_instance_is_made_once_and_kept(database: Database) {
    let store = database.store().await;
    let instance = store.instance().to_owned();
    assert_eq!(instance.len(), 8);
    assert!(instance.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()));
    assert_eq!(store.kind(), database.kind);
    store.ping().await.unwrap();
    store.close().await;

    assert_eq!(database.store().await.instance(), instance);
}

pub(crate) async fn a_newer_schema_is_refused(database: Database) {
    database.store().await.close().await;
    let checksum = match database.kind {
        Kind::Sqlite => "x'00'",
        Kind::Postgres => "'\\x00'",
    };
    database
        .run(&format!(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
             VALUES (999, 'later', TRUE, {checksum}, 0)"
        ))
        .await;

    let error = database.open(database.keys.clone()).await.unwrap_err();

    assert!(matches!(error, StoreError::NewerSchema { found: 999, .. }), "{error}");
    database.run("DELETE FROM _sqlx_migrations WHERE version = 999").await;
    database.store().await.ping().await.unwrap();
}

/// A newer version's command beside replicas of an earlier one changes nothing: they could not start again.
pub(crate) async fn an_older_schema_is_left_alone_by_commands(database: Database) {
    let as_is = async || {
        let random = Arc::new(SystemRandom);
        Store::open_as_is(&database.url, Arc::new(Vault::new(database.keys.clone(), random.clone())), random).await
    };
    database.store().await.close().await;
    as_is().await.unwrap().close().await;
    let newest = "version = (SELECT MAX(version) FROM _sqlx_migrations)";
    assert_eq!(database.run(&format!("DELETE FROM _sqlx_migrations WHERE {newest}")).await, 1);

    let error = as_is().await.unwrap_err();

    let StoreError::OlderSchema { found, known } = error else { panic!("{error}") };
    assert!(found < known && error.to_string().contains("start the service of this version first"), "{error}");
    let sql = format!("DELETE FROM _sqlx_migrations WHERE version > {found}");
    assert_eq!(database.run(&sql).await, 0, "nothing was migrated");
}

pub(crate) async fn a_closed_store_says_that_it_is_unavailable(database: Database) {
    let store = database.store().await;
    store.close().await;

    for error in [
        store.ping().await.unwrap_err(),
        store.ask(&[question("user-1")], None, at(0)).await.unwrap_err(),
        store.credential(&user("user-1"), "weather").await.unwrap_err(),
    ] {
        assert!(matches!(error, StoreError::Unavailable(_)), "{error}");
    }
    store.close().await;
}

pub(crate) async fn a_store_opens_again_with_what_it_held(database: Database) {
    let store = database.store().await;
    let interaction = completed(&store, question("user-1"), connect("s-1")).await;
    // Not closed: as after a kill, what was reported as done is there.
    drop(store);

    let store = database.store().await;

    let read = store.interaction(&interaction.id, at(4)).await.unwrap().unwrap();
    assert_eq!(read, interaction);
    assert!(store.credential(&user("user-1"), "weather").await.unwrap().is_some());
}
