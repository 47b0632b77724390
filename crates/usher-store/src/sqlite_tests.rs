//! What SQLite is told and how it goes about it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use elicit::SystemRandom;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AnyPool, AssertSqlSafe, ConnectOptions as _, Row as _};

use crate::token::random_text;
use crate::{KeyFile, Store, StoreError, Vault};

const KEYS: &str = "k1 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA active";

async fn open(url: &str) -> Result<Store, StoreError> {
    let random = Arc::new(SystemRandom);
    let keys = Arc::new(KeyFile::parse(KEYS).unwrap());
    Store::open(&url.into(), Arc::new(Vault::new(keys, random.clone())), random).await
}

struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("usher-store-{}", random_text(&SystemRandom)));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn url(&self) -> String {
        format!("sqlite:{}", self.0.join("usher.db").display())
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

async fn pragma<'r, T>(pool: &AnyPool, name: &str) -> Vec<T>
where
    T: for<'a> sqlx::Decode<'a, sqlx::Any> + sqlx::Type<sqlx::Any>,
{
    // All connections that the pool may have, each asked while the others are held.
    let mut connections = Vec::new();
    for _ in 0..pool.options().get_max_connections() {
        connections.push(pool.acquire().await.unwrap());
    }
    let mut values = Vec::new();
    for connection in &mut connections {
        let sql = AssertSqlSafe(format!("PRAGMA {name}"));
        let row = sqlx::query(sql).fetch_one(&mut **connection).await.unwrap();
        values.push(row.try_get(0).unwrap());
    }
    values
}

#[tokio::test]
async fn every_connection_has_a_log_ahead_full_synchronisation_and_patience() {
    let directory = Directory::new();
    let store = open(&directory.url()).await.unwrap();
    for (pool, connections) in [(&store.shared.reader, 4), (&store.shared.writer, 1)] {
        assert_eq!(pragma::<String>(pool, "journal_mode").await, vec!["wal"; connections]);
        assert_eq!(pragma::<i64>(pool, "synchronous").await, vec![2; connections]);
        assert_eq!(pragma::<i64>(pool, "busy_timeout").await, vec![5000; connections]);
    }
    let write = sqlx::query("DELETE FROM facts").execute(&store.shared.reader).await;
    assert!(write.is_err(), "readers do not write");
}

/// R-SEC-07: local files are 0600, the log and the shared memory as well.
#[cfg(unix)]
#[tokio::test]
async fn all_files_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    let directory = Directory::new();
    let path = directory.0.join("usher.db");
    std::fs::write(&path, "").unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o644)).unwrap();

    let _store = open(&directory.url()).await.unwrap();

    let mut names: Vec<_> = std::fs::read_dir(&directory.0).unwrap().map(|entry| entry.unwrap()).collect();
    names.sort_by_key(std::fs::DirEntry::file_name);
    let modes: Vec<_> =
        names.iter().map(|entry| (entry.file_name().into_string().unwrap(), mode(&entry.path()))).collect();
    assert_eq!(
        modes,
        [("usher.db".to_owned(), 0o600), ("usher.db-shm".to_owned(), 0o600), ("usher.db-wal".to_owned(), 0o600),]
    );
}

/// R-SEC-07: the log of a run that was killed may have been copied back with a wider mode.
#[cfg(unix)]
#[tokio::test]
async fn companions_that_are_there_already_are_tightened() {
    use std::os::unix::fs::PermissionsExt;

    let directory = Directory::new();
    let _store = open(&directory.url()).await.unwrap();
    let companions = ["usher.db-wal", "usher.db-shm"].map(|name| directory.0.join(name));
    for path in &companions {
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o644)).unwrap();
    }

    let _again = open(&directory.url()).await.unwrap();

    for path in &companions {
        let mode = std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", path.display());
    }
}

#[tokio::test]
async fn a_url_that_is_of_no_use_is_refused_without_repeating_it() {
    for url in [
        "mysql://root:hunter2@localhost/usher",
        "sqlite::memory:",
        "sqlite:",
        "sqlite:usher.db?mode=memory",
        "postgres://root:hunter2@[",
        "usher.db",
    ] {
        let error = open(url).await.unwrap_err();
        assert!(matches!(error, StoreError::Url(_)), "{url}: {error}");
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
    }
    let error = open("sqlite:/nowhere/at/all/usher.db").await.unwrap_err();
    assert!(matches!(error, StoreError::File { .. }), "{error}");
}

/// It may be a backup in another format, or somebody's text: it is named, and left as it was.
#[tokio::test]
async fn a_file_that_is_no_database_is_named_and_left_alone() {
    let directory = Directory::new();
    let path = directory.0.join("usher.db");
    for text in ["no", "This is a text of some length, and no database."] {
        std::fs::write(&path, text).unwrap();
        for error in [open(&directory.url()).await.unwrap_err(), {
            Store::needed_keys(&directory.url().as_str().into()).await.unwrap_err()
        }] {
            let expected = format!("{} is not a SQLite database; restore it", path.display());
            assert!(error.to_string().starts_with(&expected), "{error}");
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}

/// A server that is not there is named by its address, and nothing else of the URL is told.
#[tokio::test]
async fn a_server_that_is_not_there_is_named_without_its_user() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let url = format!("postgres://ada:hunter2@{address}/usher");
    for error in [open(&url).await.unwrap_err(), Store::needed_keys(&url.as_str().into()).await.unwrap_err()] {
        let text = error.to_string();
        assert!(
            text.starts_with(&format!("cannot connect to PostgreSQL at {address}: connection refused; ")),
            "{text}"
        );
        assert!(!format!("{text} {error:?}").contains("hunter2") && !text.contains("ada"), "{error:?}");
    }
}

/// A copy that is made while the service writes is whole, opens with the keys, and is for nobody else if its folder is.
#[tokio::test]
async fn a_copy_made_while_it_is_written_opens() {
    let directory = Directory::new();
    let store = open(&directory.url()).await.unwrap();
    let session = |number: i64| {
        let owner = elicit::UserId::new("https://issuer.example", format!("user-{number}")).unwrap();
        let token = secrecy::SecretString::from(random_text(&SystemRandom));
        let store = store.clone();
        async move {
            let [now, end] = [0, 600].map(|at| jiff::Timestamp::from_second(at).unwrap());
            store.create_login_link(&token, &owner, end, now).await.unwrap();
        }
    };
    for number in 0..20 {
        session(number).await;
    }
    let copy = directory.0.join("copy.db");
    let writing = async {
        for number in 20..60 {
            session(number).await;
        }
    };
    let copying = async {
        let options = SqliteConnectOptions::new().filename(directory.0.join("usher.db"));
        let mut connection = options.connect().await.unwrap();
        let sql = AssertSqlSafe(format!("VACUUM INTO '{}'", copy.display()));
        sqlx::query(sql).execute(&mut connection).await.unwrap();
    };
    tokio::join!(writing, copying);

    let store = open(&format!("sqlite:{}", copy.display())).await.unwrap();

    let links =
        sqlx::query("SELECT COUNT(*) AS number FROM login_links").fetch_one(&store.shared.reader).await.unwrap();
    assert!((20..=60).contains(&links.get::<i64, _>("number")));
    let check: Vec<String> = pragma(&store.shared.reader, "integrity_check").await;
    assert!(check.iter().all(|line| line == "ok"), "{check:?}");
}

/// The statements that run while people wait.
const STATEMENTS: &[&str] = &[
    crate::interaction::EXPIRE,
    crate::interaction::INSERT_WITHIN,
    crate::interaction::FIRST_END,
    crate::interaction::RESTS,
    crate::interaction::APPROVALS_OF,
    crate::interaction::REST_OF,
    crate::interaction::FIND,
    crate::interaction::WAITING,
    crate::interaction::ADVANCE,
    crate::interaction::PROVED,
    crate::interaction::MOVE,
    crate::interaction::TAKE_RETURN,
    crate::interaction::KEEP_FLOW,
    crate::interaction::FIND_FLOW,
    crate::interaction::CLAIM_FLOW,
    crate::credential::FIND,
    crate::credential::LEASE[0],
    crate::credential::REMAINING[0],
    crate::credential::DUE[0],
    crate::credential::GIVE_UP,
    crate::credential::PUT_OFF,
    crate::credential::LATER,
    crate::credential::DEAD,
    crate::oauth_client::FIND,
    crate::oauth_client::REPLACE,
    crate::oauth_client::FORGET,
    crate::credential::OF_USER,
    crate::credential::FIND_ANY,
    crate::credential::DELETE,
    crate::credential::LEAVE_OWN[0],
    crate::credential::LEAVE_OWN[1],
    crate::credential::LEAVE_ONE[0],
    crate::credential::LEAVE_ONE[1],
    crate::credential::LEAVE_ALL[0],
    crate::credential::LEAVE_ALL[1],
    crate::credential::STILL_LEAVING[0],
    crate::credential::IS_LEAVING,
    crate::credential::DELETE_LEFT,
    crate::key_notes::IS_NOTED,
    crate::key_notes::IS_NEEDED,
    crate::rewrap::TABLES[0].find,
    crate::rewrap::TABLES[0].swap,
    crate::rewrap::TABLES[1].find,
    crate::rewrap::TABLES[1].swap,
    crate::rewrap::TABLES[2].find,
    crate::rewrap::TABLES[2].swap,
    crate::rewrap::TABLES[3].find,
    crate::rewrap::TABLES[3].swap,
    crate::rewrap::TABLES[4].find,
    crate::rewrap::TABLES[4].swap,
    crate::api_key::FIND,
    crate::api_key::USED,
    crate::api_key::ROTATE,
    crate::session::FIND,
    crate::session::COUNT,
    crate::session::IDLE_OF_USER,
    crate::session::IDLE_OF_CLIENT,
    crate::notice::DUE,
    crate::notice::SESSIONS,
    crate::notice::DELETE_OF_SESSION,
    crate::interaction::DECLINED,
    crate::interaction::RELEASE,
    crate::interaction::CLAIM,
    crate::interaction::WITHDRAW,
    crate::interaction::WITHDRAW_APPROVALS,
    crate::credential::ALL,
    crate::credential::OF_PROVIDER,
    crate::credential::OF_ID,
    crate::credential::REVOKE,
    crate::browser::FIND_SESSION,
    crate::browser::OF_USER,
    crate::browser::END_ONE,
    crate::browser::END_OTHERS,
    crate::browser::UNNAMED,
    crate::audit::OF_USER,
    crate::audit::PAGE,
    crate::users::KEYS,
    crate::users::NAMES[0],
    crate::users::NAMES[1],
    crate::users::NAMES[2],
    crate::users::NAMES[3],
    crate::users::SEEN[0],
    crate::users::SEEN[1],
    crate::users::COUNTS[0],
    crate::users::COUNTS[1],
    crate::users::COUNTS[2],
    crate::users::COUNTS[3],
    crate::users::COUNT_LINKS,
    crate::users::DELETE_QUESTIONS,
    crate::users::DELETE_DECLINES,
    crate::users::DELETE_NOTICES,
    crate::users::DELETE_CREDENTIALS,
    crate::users::DELETE_SESSIONS,
    crate::users::DELETE_BROWSERS,
    crate::users::DELETE_LINKS,
    crate::prune::EXPIRE[0],
    crate::prune::DROP_PROOFS[0],
    crate::prune::DROP_OPERATIONS[0],
    crate::prune::DROP_FLOWS[0],
    crate::prune::DELETE_INTERACTIONS[0],
    crate::prune::DELETE_SESSIONS[0],
    crate::prune::DELETE_NOTICES[0],
    crate::prune::DELETE_DECLINES[0],
    crate::prune::DELETE_LINKS[0],
    crate::prune::DELETE_SIGN_INS[0],
    crate::prune::DELETE_ENDED_BROWSERS[0],
    crate::prune::DELETE_IDLE_BROWSERS[0],
    crate::prune::DELETE_API_KEYS[0],
    crate::prune::DELETE_AUDIT[0],
];

/// No statement that runs while people wait reads a whole table.
#[tokio::test]
async fn every_statement_uses_an_index() {
    let directory = Directory::new();
    let _store = open(&directory.url()).await.unwrap();
    let options = SqliteConnectOptions::new().filename(directory.0.join("usher.db"));
    let mut connection = options.connect().await.unwrap();
    let several = [crate::interaction::find_several(8), crate::interaction::find_operations(8)];
    for sql in STATEMENTS.iter().copied().chain(several.iter().map(String::as_str)) {
        let explain = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
        let rows = sqlx::query(explain).fetch_all(&mut connection).await.unwrap();
        let plan: Vec<String> = rows.iter().map(|row| row.get("detail")).collect();
        assert!(plan.iter().any(|step| step.starts_with("SEARCH ")), "{sql}: {plan:?}");
        // A constant row is no table.
        let reads_all = |step: &String| step.starts_with("SCAN ") && step != "SCAN CONSTANT ROW";
        assert!(!plan.iter().any(reads_all), "{sql}: {plan:?}");
        assert!(!plan.iter().any(|step| step.contains("TEMP B-TREE")), "{sql}: {plan:?}");
    }
}
