//! A look at a store from beside the service that uses it.

mod uses;

use std::str::FromStr as _;
use std::time::Duration;

use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::any::AnyConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AnyConnection, ConnectOptions as _, Connection as _, Row as _};

pub use self::uses::{Ending, KeyUses};
use crate::connect::{check_file, connect, kind_of, place};
use crate::key_notes::{self, Unmet};
use crate::keys::KeyWrap;
use crate::time::timestamp;
use crate::{Kind, Store, StoreError, migrations};

const TABLE_SQLITE: &str = "SELECT name FROM sqlite_master WHERE type = 'table' AND name = $1";
const TABLE_POSTGRES: &str = "SELECT CAST(to_regclass($1) AS TEXT) AS name";
const KEY_IDS: &str = "SELECT id FROM key_ids";
const VERSION: &str = "SELECT MAX(version) AS version FROM _sqlx_migrations";
const CLOCK: &str = "SELECT CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000) AS BIGINT) AS micros";

/// How long a connection of another process to the same SQLite file is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// One connection to a store, which a service may be using at the same time. It reads; nothing is made, migrated or
/// changed. On SQLite the file is opened read-only.
pub struct Inspection {
    kind: Kind,
    place: String,
    connection: AnyConnection,
}

/// How the schema of a store compares with this version of Usher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schema {
    /// There is none yet: the first start makes it.
    None,
    /// The next start brings it up to date.
    Older {
        /// Its version.
        found: i64,
        /// The newest that is known here.
        known: i64,
    },
    /// It is the newest that is known here.
    Current {
        /// Its version.
        version: i64,
    },
    /// A newer version of Usher has used the store: this one refuses it.
    Newer {
        /// Its version.
        found: i64,
        /// The newest that is known here.
        known: i64,
    },
}

impl Store {
    /// Ids of the master keys that the store at `url` needs, in order; none if it is new or holds no credential.
    ///
    /// For whoever finds no key file: a new one is right only for a store that needs none. Nothing is made or changed.
    pub async fn needed_keys(url: &SecretString) -> Result<Vec<String>, StoreError> {
        let Some(mut inspection) = Self::inspect(url).await? else { return Ok(Vec::new()) };
        let ids = inspection.needed_keys().await;
        inspection.close().await;
        ids
    }

    /// Looks at the store at `url`; `None` where there is no SQLite file yet.
    pub async fn inspect(url: &SecretString) -> Result<Option<Inspection>, StoreError> {
        sqlx::any::install_default_drivers();
        let url = url.expose_secret();
        let kind = kind_of(url)?;
        if kind == Kind::Sqlite && !is_there(url)? {
            return Ok(None);
        }
        let place = place(kind, url)?;
        let connection = beside(kind, url, "ro", &place).await?;
        Ok(Some(Inspection { kind, place, connection }))
    }

    /// Drops the note that the store at `url` needs the key `id`: false if a credential does need it. What another
    /// process has under way is waited for.
    pub async fn forget_key(url: &SecretString, id: &str) -> Result<bool, StoreError> {
        Self::change_notes(url, id, false).await
    }

    /// Drops the note all the same, for a key that is lost: credentials that need it stay unreadable, and their users are
    /// asked to connect anew.
    pub async fn give_up_key(url: &SecretString, id: &str) -> Result<(), StoreError> {
        Self::change_notes(url, id, true).await.map(drop)
    }

    async fn change_notes(url: &SecretString, id: &str, lost: bool) -> Result<bool, StoreError> {
        sqlx::any::install_default_drivers();
        let url = url.expose_secret();
        let kind = kind_of(url)?;
        if kind == Kind::Sqlite && !is_there(url)? {
            return Ok(true);
        }
        let mut connection = beside(kind, url, "rw", &place(kind, url)?).await?;
        Self::within(async move {
            let mut transaction = match kind {
                Kind::Sqlite => connection.begin_with("BEGIN IMMEDIATE").await?,
                Kind::Postgres => connection.begin().await?,
            };
            let forgotten = if lost {
                key_notes::give_up(&mut transaction, id).await.map(|()| true)?
            } else {
                key_notes::forget(&mut transaction, id).await?
            };
            transaction.commit().await?;
            connection.close().await?;
            Ok(forgotten)
        })
        .await
    }
}

impl Inspection {
    /// Which database it is.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Where it is, without a user's name or password.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Ids of the master keys that stored credentials need, in order.
    pub async fn needed_keys(&mut self) -> Result<Vec<String>, StoreError> {
        let exact = self.schema().await?.has_key_columns();
        let (kind, connection) = (self.kind, &mut self.connection);
        Store::within(async move {
            let mut ids = Vec::new();
            if !has_table(kind, connection, "key_ids").await? {
                return Ok(ids);
            }
            for row in sqlx::query(KEY_IDS).fetch_all(&mut *connection).await? {
                let id: String = row.try_get("id")?;
                // An older schema does not tell which are needed no longer.
                if !exact || key_notes::is_needed(connection, &id).await? {
                    ids.push(id);
                }
            }
            ids.sort();
            Ok(ids)
        })
        .await
    }

    /// How its schema compares with this version.
    pub async fn schema(&mut self) -> Result<Schema, StoreError> {
        let connection = &mut self.connection;
        Store::within(async {
            if !has_table(self.kind, connection, "_sqlx_migrations").await? {
                return Ok(Schema::None);
            }
            let row = sqlx::query(VERSION).fetch_one(connection).await?;
            Ok(Schema::of(row.try_get("version")?))
        })
        .await
    }

    /// The time at the database's server; `None` on SQLite, which has no clock of its own.
    pub async fn clock(&mut self) -> Result<Option<Timestamp>, StoreError> {
        if self.kind == Kind::Sqlite {
            return Ok(None);
        }
        let connection = &mut self.connection;
        Store::within(async {
            let row = sqlx::query(CLOCK).fetch_one(connection).await?;
            Ok(Some(timestamp(row.try_get("micros")?, "the clock")?))
        })
        .await
    }

    /// Fails unless `keys` open what is stored, like [`Store::check_keys`], and changes nothing.
    pub async fn check_keys(&mut self, keys: &dyn KeyWrap) -> Result<(), StoreError> {
        if !self.schema().await?.has_key_columns() {
            let ids = self.needed_keys().await?;
            return key_notes::refusal(ids.into_iter().filter(|id| !keys.has(id)).map(Unmet::Missing).collect());
        }
        let connection = &mut self.connection;
        Store::within(async {
            let mut needed = Vec::new();
            for unmet in key_notes::unmet(connection, keys).await? {
                if key_notes::is_needed(connection, unmet.id()).await? {
                    needed.push(unmet);
                }
            }
            key_notes::refusal(needed)
        })
        .await
    }

    /// Ends the connection.
    pub async fn close(self) {
        // What cannot be closed ends with the process.
        let _ = self.connection.close().await;
    }
}

impl Schema {
    fn of(found: Option<i64>) -> Self {
        let known = migrations::newest();
        match found {
            None => Self::None,
            Some(found) if found < known => Self::Older { found, known },
            Some(found) if found > known => Self::Newer { found, known },
            Some(version) => Self::Current { version },
        }
    }

    /// Since its second version a row tells which key it needs.
    fn has_key_columns(self) -> bool {
        match self {
            Self::None => false,
            Self::Older { found, .. } => found >= 2,
            Self::Current { .. } | Self::Newer { .. } => true,
        }
    }
}

async fn beside(kind: Kind, url: &str, mode: &str, place: &str) -> Result<AnyConnection, StoreError> {
    let url = match kind {
        Kind::Sqlite => format!("{url}{}mode={mode}", if url.contains('?') { '&' } else { '?' }),
        Kind::Postgres => url.to_owned(),
    };
    let options = AnyConnectOptions::from_str(&url)?.disable_statement_logging();
    let mut connection = connect(&options).await.map_err(|error| error.at(place))?;
    if kind == Kind::Sqlite {
        let patience = format!("PRAGMA busy_timeout = {}", PATIENCE.as_millis());
        sqlx::query(sqlx::AssertSqlSafe(patience)).execute(&mut connection).await?;
    }
    Ok(connection)
}

async fn has_table(kind: Kind, connection: &mut AnyConnection, name: &str) -> Result<bool, StoreError> {
    let sql = match kind {
        Kind::Sqlite => TABLE_SQLITE,
        Kind::Postgres => TABLE_POSTGRES,
    };
    Ok(match sqlx::query(sql).bind(name.to_owned()).fetch_optional(connection).await? {
        Some(row) => row.try_get::<Option<String>, _>("name")?.is_some(),
        None => false,
    })
}

/// Connecting to a file that is not there could make it.
fn is_there(url: &str) -> Result<bool, StoreError> {
    let options = SqliteConnectOptions::from_str(url)?;
    let path = options.get_filename();
    check_file(path)?;
    path.try_exists().map_err(|source| StoreError::File { path: path.display().to_string(), source })
}
