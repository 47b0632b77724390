//! A database for each story, on SQLite and on PostgreSQL, and a look into it past the service.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::Path,
    sync::Arc,
};

use elicit::{Random as _, SystemRandom};
use secrecy::SecretString;
use sqlx::{AnyConnection, AssertSqlSafe, Connection as _, Executor as _};
use url::Url;
use usher::clock::{Clock as _, SystemClock};
use usher_store::{KeyFile, Store, Vault};

use crate::harness::{Folder, SECOND};

/// The token of the first client, where a test writes the file itself.
pub const TOKEN: &str = "token-of-the-first-client-0123456789abc";

/// A fresh database, with keys and tokens beside it.
pub struct Database {
    pub folder: Folder,
    /// Where it is.
    pub url: String,
}

impl Database {
    fn new(url: impl FnOnce(&Folder) -> String) -> Self {
        let folder = Folder::new();
        KeyFile::create(&folder.path().join("usher.keys"), &SystemRandom, SystemClock.now()).unwrap();
        let tokens = folder.path().join("usher.tokens");
        std::fs::write(&tokens, format!("default = \"{TOKEN}\"\nsecond = \"{SECOND}\"\n")).unwrap();
        std::fs::set_permissions(&tokens, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        let url = url(&folder);
        Self { folder, url }
    }

    /// Lines for the end of a configuration that has its store at `url`.
    pub fn section(url: &str) -> String {
        format!("[store]\nurl = {}\n", usher_testkit::quote(url))
    }
}

/// The store at `url`, with the keys in a folder.
pub async fn open(url: &str, folder: &Path) -> Store {
    let keys = Arc::new(KeyFile::load(&folder.join("usher.keys")).unwrap());
    let random = Arc::new(SystemRandom);
    let vault = Arc::new(Vault::new(keys, random.clone()));
    Store::open(&SecretString::from(url.to_owned()), vault, random).await.unwrap()
}

/// Plays a story on SQLite.
pub fn on_sqlite<T: Future<Output = ()>>(story: impl FnOnce(Database) -> T) {
    let database = Database::new(|folder| format!("sqlite:{}", folder.path().join("usher.db").display()));
    runtime().block_on(story(database));
}

/// Plays a story on the PostgreSQL of the test run.
#[allow(clippy::disallowed_methods, reason = "a test has no main to be told by")]
pub fn on_postgres<T: Future<Output = ()>>(story: impl FnOnce(Database) -> T) {
    let server = std::env::var("USHER_TEST_POSTGRES")
        .expect("USHER_TEST_POSTGRES is the URL of a server where databases may be created");
    let mut bytes = [0; 8];
    SystemRandom.fill(&mut bytes);
    let name = format!("usher_it_{:016x}", u64::from_be_bytes(bytes));
    let administer = |sql: String| {
        sqlx::any::install_default_drivers();
        runtime().block_on(async {
            let mut connection = AnyConnection::connect(&server).await.unwrap();
            connection.execute(AssertSqlSafe(sql)).await.unwrap();
        });
    };
    administer(format!("CREATE DATABASE {name}"));
    let mut url = Url::parse(&server).unwrap();
    url.set_path(&name);
    let database = Database::new(|_| url.to_string());
    // The runtime is gone when this returns, and with it all connections.
    let told = catch_unwind(AssertUnwindSafe(|| runtime().block_on(story(database))));
    administer(format!("DROP DATABASE {name} WITH (FORCE)"));
    told.unwrap_or_else(|panic| resume_unwind(panic));
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}
