//! A database for each test, dropped when the test is over.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use elicit::{Random as _, SystemRandom};
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::{AnyConnection, AssertSqlSafe, Connection as _, Executor as _};
use usher_store::{KeyFile, Kind, Store, StoreError, Vault};

/// A fresh database, and the keys for it.
#[derive(Clone)]
pub(crate) struct Database {
    pub kind: Kind,
    pub url: SecretString,
    pub keys: Arc<KeyFile>,
    pub directory: PathBuf,
}

impl Database {
    pub(crate) async fn store(&self) -> Store {
        self.open(Arc::clone(&self.keys)).await.unwrap()
    }

    pub(crate) async fn open(&self, keys: Arc<KeyFile>) -> Result<Store, StoreError> {
        let random = Arc::new(SystemRandom);
        let vault = Arc::new(Vault::new(keys, random.clone()));
        Store::open(&self.url, vault, random).await
    }

    /// Past the store, as somebody who can write to the database.
    pub(crate) async fn raw(&self) -> AnyConnection {
        sqlx::any::install_default_drivers();
        AnyConnection::connect(self.url.expose_secret()).await.unwrap()
    }

    /// Runs one statement past the store; returns the number of rows changed.
    pub(crate) async fn run(&self, sql: &str) -> u64 {
        let mut raw = self.raw().await;
        let done = raw.execute(AssertSqlSafe(sql.to_owned())).await.unwrap();
        raw.close().await.unwrap();
        done.rows_affected()
    }
}

pub(crate) fn on_sqlite<F, T>(test: F)
where
    F: FnOnce(Database) -> T,
    T: Future<Output = ()> + Send + 'static,
{
    let directory = directory();
    let path = directory.join("usher.db");
    let database = Database {
        kind: Kind::Sqlite,
        url: format!("sqlite:{}", path.display()).into(),
        keys: keys(&directory),
        directory: directory.clone(),
    };
    let outcome = run(test(database));
    std::fs::remove_dir_all(directory).unwrap();
    pass_on(outcome);
}

#[allow(clippy::disallowed_methods, reason = "a test has no main to be told by")]
pub(crate) fn on_postgres<F, T>(test: F)
where
    F: FnOnce(Database) -> T,
    T: Future<Output = ()> + Send + 'static,
{
    let Ok(server) = std::env::var("USHER_TEST_POSTGRES") else {
        panic!("set USHER_TEST_POSTGRES to the URL of a server where databases may be created");
    };
    let name = format!("usher_test_{}", random_hex());
    let directory = directory();
    administer(&server, format!("CREATE DATABASE {name}"));
    let database = Database {
        kind: Kind::Postgres,
        url: with_database(&server, &name).into(),
        keys: keys(&directory),
        directory: directory.clone(),
    };
    let outcome = run(test(database));
    administer(&server, format!("DROP DATABASE {name} WITH (FORCE)"));
    std::fs::remove_dir_all(directory).unwrap();
    pass_on(outcome);
}

/// The runtime is gone when this returns, and with it all connections.
fn run(test: impl Future<Output = ()> + Send + 'static) -> Result<(), tokio::task::JoinError> {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async { tokio::spawn(test).await })
}

/// The test's own panic, not one about it.
fn pass_on(outcome: Result<(), tokio::task::JoinError>) {
    if let Err(error) = outcome {
        std::panic::resume_unwind(error.into_panic());
    }
}

fn administer(server: &str, sql: String) {
    sqlx::any::install_default_drivers();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let mut connection = AnyConnection::connect(server).await.unwrap();
        connection.execute(AssertSqlSafe(sql)).await.unwrap();
        connection.close().await.unwrap();
    });
}

fn with_database(server: &str, name: &str) -> String {
    let (base, query) = match server.split_once('?') {
        Some((base, query)) => (base, format!("?{query}")),
        None => (server, String::new()),
    };
    let authority = base.find("://").map_or(0, |at| at + 3);
    let end = base[authority..].find('/').map_or(base.len(), |at| authority + at);
    format!("{}/{name}{query}", &base[..end])
}

fn directory() -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("store-{}", random_hex()));
    std::fs::create_dir_all(&path).unwrap();
    path
}

fn keys(directory: &Path) -> Arc<KeyFile> {
    Arc::new(KeyFile::create(&directory.join("usher.keys"), &SystemRandom, jiff::Timestamp::UNIX_EPOCH).unwrap())
}

fn random_hex() -> String {
    let mut bytes = [0_u8; 8];
    SystemRandom.fill(&mut bytes);
    format!("{:016x}", u64::from_be_bytes(bytes))
}
