//! Opening a store: connections, schema, keys.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _};
use std::path::Path;
use std::str::FromStr as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use elicit::Random;
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::any::{AnyConnectOptions, AnyPoolOptions};
use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AnyConnection, AnyPool, ConnectOptions as _, Connection as _, Executor as _, Row as _};
use tokio::sync::broadcast;
use tokio::task::JoinSet;

use crate::store::Shared;
use crate::{Kind, Schema, Store, StoreError, Vault, listen, migrations, silence};

/// How long a call waits for a free connection, and a connection for its server.
const ACQUIRE: Duration = Duration::from_secs(5);
/// A connection that idled for longer is asked whether it is still there.
const IDLE: Duration = Duration::from_secs(1);
/// How long an answer to that may take.
const PING: Duration = Duration::from_secs(1);
/// A connection that is older is replaced when it comes back.
const LIVES: Duration = Duration::from_mins(30);
const SQLITE_READERS: u32 = 4;
const POSTGRES_CONNECTIONS: u32 = 16;
/// Hints kept for a slow receiver before it is told to read everything.
const EVENTS: usize = 4096;

/// For every connection. FULL: a commit that was reported survives a power cut.
const SQLITE_WRITER: &str = "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; \
     PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864;";
const SQLITE_READER: &str = "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; \
     PRAGMA synchronous = FULL; PRAGMA query_only = ON;";
/// What a replica that vanished holds is free again after this, not after hours. And a
/// statement that was planned while the tables were small keeps to its index as they grow.
const POSTGRES: &str = "SET statement_timeout = '15s'; SET idle_in_transaction_session_timeout = '15s'; \
     SET enable_seqscan = off;";

impl Store {
    /// Opens the store at `url` and brings its schema up to date.
    ///
    /// `sqlite:PATH` makes the file if there is none, with mode 0600 (R-SEC-07), and
    /// is for one process; `postgres://…` is a database for any number of replicas.
    /// Refused are a store with a newer schema ([`StoreError::NewerSchema`]) and one
    /// whose credentials need keys that the vault lacks ([`StoreError::MissingKey`], [`StoreError::WrongKey`]).
    pub async fn open(url: &SecretString, vault: Arc<Vault>, random: Arc<dyn Random>) -> Result<Self, StoreError> {
        Self::open_with(url, vault, random, Migrate::Yes).await
    }

    /// Opens a store as it is, for a command beside a service: replicas of an earlier version may be running, and would not
    /// start again with a newer schema. Refused is also a store with an older one ([`StoreError::OlderSchema`]), which is left as
    /// it is.
    pub async fn open_as_is(
        url: &SecretString,
        vault: Arc<Vault>,
        random: Arc<dyn Random>,
    ) -> Result<Self, StoreError> {
        let found = match Self::inspect(url).await? {
            Some(mut inspection) => {
                let schema = inspection.schema().await;
                inspection.close().await;
                schema?
            }
            None => Schema::None,
        };
        match found {
            Schema::Current { .. } => Self::open_with(url, vault, random, Migrate::No).await,
            Schema::None => Err(StoreError::OlderSchema { found: 0, known: migrations::newest() }),
            Schema::Older { found, known } => Err(StoreError::OlderSchema { found, known }),
            Schema::Newer { found, known } => Err(StoreError::NewerSchema { found, known }),
        }
    }

    async fn open_with(
        url: &SecretString,
        vault: Arc<Vault>,
        random: Arc<dyn Random>,
        migrate: Migrate,
    ) -> Result<Self, StoreError> {
        sqlx::any::install_default_drivers();
        let url = url.expose_secret();
        let kind = kind_of(url)?;
        let place = place(kind, url)?;
        if kind == Kind::Sqlite {
            prepare_file(url)?;
        }
        let options = AnyConnectOptions::from_str(url)?.disable_statement_logging();
        // A pool would try again and again, and then say only that it took too long.
        connect(&options).await.map_err(|error| error.at(&place))?.close().await?;

        if let Migrate::Yes = migrate {
            bring_up_to_date(kind, options.clone()).await?;
        }

        let (reader, writer) = pools(kind, options).await?;
        let instance = match instance(&reader, &writer, &*random, &place).await {
            Ok(instance) => instance,
            Err(error) => {
                writer.close().await;
                reader.close().await;
                return Err(error);
            }
        };

        let (events, _) = broadcast::channel(EVENTS);
        let mut tasks = JoinSet::new();
        let outbox = match kind {
            Kind::Sqlite => None,
            Kind::Postgres => {
                let options = PgConnectOptions::from_str(url)?.disable_statement_logging();
                Some(listen::start(&mut tasks, &options, &writer, &events, &*random).await?)
            }
        };
        let store = Self {
            shared: Arc::new(Shared {
                kind,
                instance,
                vault,
                random,
                reader,
                writer,
                events,
                outbox: Mutex::new(outbox),
                tasks: Mutex::new(tasks),
            }),
        };
        // A store whose credentials nobody could open would ask every user again, and hide that the key file is the
        // wrong one.
        let ready = async {
            store.check_keys(store.shared.vault.keys()).await?;
            store.name_browsers().await
        };
        if let Err(error) = ready.await {
            store.close().await;
            return Err(error);
        }
        Ok(store)
    }
}

pub(crate) fn kind_of(url: &str) -> Result<Kind, StoreError> {
    if url.starts_with("sqlite:") {
        Ok(Kind::Sqlite)
    } else if url.starts_with("postgres:") || url.starts_with("postgresql:") {
        Ok(Kind::Postgres)
    } else {
        // The URL may carry a password, so the text does not repeat it.
        Err(StoreError::Url("it must begin with sqlite: or postgres:".to_owned()))
    }
}

/// Where a store is, without a user's name or password: the path of a file, or `PostgreSQL at HOST:PORT`.
pub(crate) fn place(kind: Kind, url: &str) -> Result<String, StoreError> {
    Ok(match kind {
        Kind::Sqlite => SqliteConnectOptions::from_str(url)?.get_filename().display().to_string(),
        Kind::Postgres => {
            let options = PgConnectOptions::from_str(url)?;
            match options.get_socket() {
                Some(socket) => format!("PostgreSQL at {}", socket.display()),
                None => format!("PostgreSQL at {}:{}", options.get_host(), options.get_port()),
            }
        }
    })
}

/// One connection, in bounded time.
pub(crate) async fn connect(options: &AnyConnectOptions) -> Result<AnyConnection, StoreError> {
    match tokio::time::timeout(ACQUIRE, AnyConnection::connect_with(options)).await {
        Ok(connected) => Ok(connected?),
        Err(_) => Err(StoreError::Unavailable(format!("no answer within {} seconds", ACQUIRE.as_secs()))),
    }
}

/// Whether opening may change the schema.
enum Migrate {
    Yes,
    No,
}

async fn bring_up_to_date(kind: Kind, options: AnyConnectOptions) -> Result<(), StoreError> {
    // Without a limit to the time of a statement: a migration may take long.
    let settings = match kind {
        Kind::Sqlite => SQLITE_WRITER,
        Kind::Postgres => "",
    };
    let migrator = pool(1, settings, options).await?;
    let migrated = migrations::run(kind, &migrator).await;
    // Closed also on failure: the migration's lock goes with the connection.
    migrator.close().await;
    migrated
}

/// SQLite would say of another file only later, and in its own words, that it is none of its own.
pub(crate) fn check_file(path: &Path) -> Result<(), StoreError> {
    const HEAD: &[u8; 16] = b"SQLite format 3\0";
    let fault = |source| StoreError::File { path: path.display().to_string(), source };
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        opened => opened.map_err(fault)?,
    };
    let mut head = Vec::new();
    file.take(16).read_to_end(&mut head).map_err(fault)?;
    // An empty one is a database without a table.
    if head.is_empty() || head == HEAD {
        return Ok(());
    }
    Err(StoreError::NotADatabase { path: path.display().to_string() })
}

/// Makes the file before the database does, so that its mode is never wider than
/// 0600. SQLite gives its companions, `-wal` and `-shm`, the mode of the file; those that are
/// there already keep theirs, so they are looked at as well.
fn prepare_file(url: &str) -> Result<(), StoreError> {
    let options = SqliteConnectOptions::from_str(url)?;
    let path = options.get_filename();
    if url.contains(":memory:") || url.contains("mode=memory") || path.as_os_str().is_empty() {
        return Err(StoreError::Url("it must name a file".to_owned()));
    }
    check_file(path)?;
    let fault = |source| StoreError::File { path: path.display().to_string(), source };
    let mut open = OpenOptions::new();
    open.write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        open.mode(0o600);
    }
    open.open(path).map_err(fault)?;
    tighten(path).map_err(fault)?;
    for suffix in ["-wal", "-shm"] {
        let mut companion = path.as_os_str().to_owned();
        companion.push(suffix);
        let companion = Path::new(&companion);
        match tighten(companion) {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                return Err(StoreError::File { path: companion.display().to_string(), source });
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(unix)]
fn tighten(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    let mut permissions = std::fs::metadata(path)?.permissions();
    if permissions.mode() & 0o077 != 0 {
        permissions.set_mode(0o600);
        std::fs::set_permissions(path, permissions)?;
        tracing::info!(path = %path.display(), "a store file was readable by others; its mode is now 0600");
    }
    Ok(())
}

#[cfg(not(unix))]
fn tighten(_: &Path) -> std::io::Result<()> {
    Ok(())
}

async fn pools(kind: Kind, options: AnyConnectOptions) -> Result<(AnyPool, AnyPool), StoreError> {
    Ok(match kind {
        Kind::Sqlite => {
            (pool(SQLITE_READERS, SQLITE_READER, options.clone()).await?, pool(1, SQLITE_WRITER, options).await?)
        }
        Kind::Postgres => {
            let pool = pool(POSTGRES_CONNECTIONS, POSTGRES, options).await?;
            (pool.clone(), pool)
        }
    })
}

/// Whether a connection answers at once.
async fn answers(connection: &mut AnyConnection) -> bool {
    matches!(tokio::time::timeout(PING, connection.ping()).await, Ok(Ok(())))
}

/// Whether a connection answers at once. One that does not is dropped, which closes its socket without a word, and a stand-in
/// that has no server is left for the pool to close: the pool says goodbye without a limit of time, and over TLS a goodbye
/// waits for the other end. The place of a connection to a machine that is gone would never be free again.
async fn answers_or_goes(connection: &mut AnyConnection) -> bool {
    if answers(connection).await {
        return true;
    }
    match AnyConnection::connect("sqlite::memory:").await {
        Ok(stand_in) => *connection = stand_in,
        Err(error) => tracing::warn!(%error, "a connection that does not answer can only be closed in good order"),
    }
    false
}

async fn pool(connections: u32, settings: &'static str, options: AnyConnectOptions) -> Result<AnyPool, StoreError> {
    let pool = AnyPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(ACQUIRE)
        .test_before_acquire(false)
        // Looked at below: the pool itself would say goodbye to an old one before it is known to answer.
        .max_lifetime(None)
        .before_acquire(|connection, meta| {
            // A connection that was just used is alive; asking it each time is a round trip more.
            let fresh = meta.idle_for < IDLE;
            Box::pin(async move { Ok(fresh || answers_or_goes(connection).await) })
        })
        .after_release(|connection, meta| {
            let old = meta.age > LIVES;
            // The pool itself asks without a limit, and would keep the place of a connection that stands still.
            let doubtful = old || silence::is_suspected();
            Box::pin(async move { Ok(!doubtful || answers_or_goes(connection).await && !old) })
        })
        .after_connect(move |connection, _| Box::pin(async move { connection.execute(settings).await.map(drop) }))
        .connect_with(options)
        .await?;
    Ok(pool)
}

async fn instance(reader: &AnyPool, writer: &AnyPool, random: &dyn Random, place: &str) -> Result<String, StoreError> {
    const FIND: &str = "SELECT value FROM facts WHERE name = 'instance'";
    if let Some(row) = sqlx::query(FIND).fetch_optional(reader).await? {
        return Ok(row.try_get("value")?);
    }
    // Replicas that start together all try; the first one's stays.
    let made = sqlx::query("INSERT INTO facts (name, value) VALUES ('instance', $1) ON CONFLICT (name) DO NOTHING")
        .bind(random_name(random, 8))
        .execute(writer)
        .await?;
    if made.rows_affected() > 0 {
        tracing::info!("new store: {place}");
    }
    Ok(sqlx::query(FIND).fetch_one(writer).await?.try_get("value")?)
}

/// So many random lower-case letters and digits.
pub(crate) fn random_name(random: &dyn Random, length: usize) -> String {
    const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let mut text = String::with_capacity(length);
    while text.len() < length {
        let mut bytes = [0_u8; 16];
        random.fill(&mut bytes);
        for byte in bytes {
            // 252 = 7 × 36: above it some letters would come more often.
            if byte < 252 && text.len() < length {
                text.push(char::from(LETTERS[usize::from(byte % 36)]));
            }
        }
    }
    text
}
