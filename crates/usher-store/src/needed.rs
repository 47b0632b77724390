//! What a store needs before it is opened.

use std::str::FromStr as _;

use secrecy::{ExposeSecret as _, SecretString};
use sqlx::any::AnyConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AnyConnection, ConnectOptions as _, Connection as _, Row as _};

use crate::connect::{KEY_IDS, check_file, connect, kind_of, place};
use crate::{Kind, Store, StoreError};

const TABLE_SQLITE: &str = "SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'key_ids'";
const TABLE_POSTGRES: &str = "SELECT CAST(to_regclass('key_ids') AS TEXT) AS name";

impl Store {
    /// Ids of the master keys that the store at `url` needs, in order; none if it is new or has stored no credential.
    ///
    /// For whoever finds no key file: a new one is right only for a store that needs none. Nothing is made or changed.
    pub async fn needed_keys(url: &SecretString) -> Result<Vec<String>, StoreError> {
        sqlx::any::install_default_drivers();
        let url = url.expose_secret();
        let kind = kind_of(url)?;
        if kind == Kind::Sqlite && !is_there(url)? {
            return Ok(Vec::new());
        }
        let place = place(kind, url)?;
        let options = AnyConnectOptions::from_str(url)?.disable_statement_logging();
        Self::within(async move {
            let mut connection = connect(&options).await.map_err(|error| error.at(&place))?;
            let ids = read(kind, &mut connection).await;
            connection.close().await?;
            ids
        })
        .await
    }
}

async fn read(kind: Kind, connection: &mut AnyConnection) -> Result<Vec<String>, StoreError> {
    let table = match kind {
        Kind::Sqlite => TABLE_SQLITE,
        Kind::Postgres => TABLE_POSTGRES,
    };
    let known = match sqlx::query(table).fetch_optional(&mut *connection).await? {
        Some(row) => row.try_get::<Option<String>, _>("name")?.is_some(),
        None => false,
    };
    if !known {
        return Ok(Vec::new());
    }
    let mut ids = Vec::new();
    for row in sqlx::query(KEY_IDS).fetch_all(connection).await? {
        ids.push(row.try_get("id")?);
    }
    ids.sort();
    Ok(ids)
}

/// Connecting to a file that is not there could make it.
fn is_there(url: &str) -> Result<bool, StoreError> {
    let options = SqliteConnectOptions::from_str(url)?;
    let path = options.get_filename();
    check_file(path)?;
    path.try_exists().map_err(|source| StoreError::File { path: path.display().to_string(), source })
}
