//! SQLite's file is held by another program for a while: a backup, or a person with a shell.

use std::time::Duration;

use sqlx::{AnyConnection, Connection as _, Executor as _};
use usher_testkit::within;

use crate::{
    database::{Database, on_sqlite},
    harness::{CALLS, KEY, Setup, Stage, answered},
};

/// Longer than the service waits for the file.
const TOLD: Duration = Duration::from_secs(12);

async fn staged(database: Database) -> (Stage, String) {
    let setup = Setup { more: Database::section(&database.url), ..Setup::default() };
    let Database { folder, url } = database;
    let api = usher_testkit::provider::Api::start("x-api-key", KEY).await;
    let upstream = usher_testkit::upstream::Upstream::start().await;
    (Stage::furnished(&setup, folder, upstream, api).await, url)
}

/// Another program begins to write.
async fn hold(url: &str) -> AnyConnection {
    let mut other = AnyConnection::connect(url).await.unwrap();
    other.execute("BEGIN IMMEDIATE").await.unwrap();
    other
}

/// R-SEC-04: for a moment: it is waited for. For longer: the person is told, after the five seconds that it is waited for,
/// and nothing is stored twice.
#[test]
fn a_file_that_another_program_holds_is_waited_for() {
    on_sqlite(|database| async {
        let (stage, url) = staged(database).await;
        let asked = stage.modern().call(CALLS[0].0, CALLS[0].1).await;
        let person = stage.person().await;
        let page = person.get(&asked.url()).await;

        let mut other = hold(&url).await;
        let visit = person.agreement(&page, &[("api_key", KEY)]);
        let told = within(TOLD, "nobody is told", visit.try_send()).await.unwrap();
        assert_eq!(told.status, 503, "{}", told.describe());
        other.execute("ROLLBACK").await.unwrap();

        let page = person.get(&asked.url()).await;
        let mut other = hold(&url).await;
        let mut submitted = tokio::spawn(person.agreement(&page, &[("api_key", KEY)]).try_send());
        assert!(tokio::time::timeout(Duration::from_millis(300), &mut submitted).await.is_err(), "it waits");
        other.execute("ROLLBACK").await.unwrap();
        let done = submitted.await.unwrap().unwrap();
        assert_eq!(done.heading().as_deref(), Some("Connected"), "{}", done.describe());
        assert!(answered(&stage.modern().call(CALLS[0].0, CALLS[0].1).await));
        assert_eq!(stage.audited(usher_store::AuditAction::InteractionCompleted).await, 1);
    });
}
