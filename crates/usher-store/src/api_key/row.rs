//! A key as its row, and the seal of that.

use elicit::UserId;
use jiff::Timestamp;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row as _};

use super::{ApiKey, ApiKeyId, ApiScopes, TABLE};
use crate::time::timestamp;
use crate::vault::{Record, RecordKind, Vault};
use crate::{KeyError, StoreError};

/// The issuer of what a server owns, in the place of a user. The subject is the server's name.
macro_rules! server_issuer {
    () => {
        "urn:usher:server"
    };
}

macro_rules! columns {
    () => {
        "id, server, name, scopes, secret_hash, former_hash, former_until, created_at, rotated_at, expires_at, \
         last_used_at, seal"
    };
}

/// What wrapping anew reads: the row's place and owner, its seal, and all that the seal is about.
pub(crate) const REWRAP: &str = concat!(
    "SELECT id AS place, CAST('",
    server_issuer!(),
    "' AS TEXT) AS issuer, server AS subject, name, scopes, secret_hash, former_hash, former_until, created_at, expires_at, \
     seal AS sealed FROM api_keys WHERE key_id = $1 AND id > $2 ORDER BY id LIMIT 100"
);

pub(crate) const USED: &str =
    "UPDATE api_keys SET last_used_at = $2 WHERE id = $1 AND (last_used_at IS NULL OR last_used_at < $2)";

pub(super) use columns;

/// A row that was read.
pub(super) struct Row {
    pub(super) key: ApiKey,
    pub(super) hashes: Hashes,
    seal: Vec<u8>,
}

/// The secrets that open a key.
#[derive(Clone)]
pub(super) struct Hashes {
    pub(super) current: String,
    pub(super) former: Option<String>,
}

/// What the seal of a row says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Genuine {
    Yes,
    /// Somebody wrote or changed it in the database.
    Forged,
    /// Its master key is gone.
    KeyGone,
}

impl Row {
    pub(super) fn read(row: &AnyRow) -> Result<Self, StoreError> {
        let at = |column: &str| -> Result<Option<Timestamp>, StoreError> {
            let micros: Option<i64> = row.try_get(column)?;
            micros.map(|micros| timestamp(micros, TABLE)).transpose()
        };
        Ok(Self {
            key: ApiKey {
                id: ApiKeyId::parse(row.try_get("id")?)
                    .map_err(|_| StoreError::impossible(TABLE, "an id that is none"))?,
                server: row.try_get("server")?,
                name: row.try_get("name")?,
                scopes: ApiScopes::parse(row.try_get("scopes")?)
                    .ok_or_else(|| StoreError::impossible(TABLE, "scopes of other names"))?,
                created_at: timestamp(row.try_get("created_at")?, TABLE)?,
                rotated_at: at("rotated_at")?,
                former_until: at("former_until")?,
                expires_at: at("expires_at")?,
                last_used_at: at("last_used_at")?,
            },
            hashes: Hashes { current: row.try_get("secret_hash")?, former: row.try_get("former_hash")? },
            seal: row.try_get("seal")?,
        })
    }

    /// Whether the row is as we made it.
    pub(super) fn genuine(&self, vault: &Vault) -> Result<Genuine, StoreError> {
        let Ok(owner) = owner(&self.key.server) else { return Ok(Genuine::Forged) };
        let scope = scope(&self.key, &self.hashes);
        match vault.open(&record(&self.key.id, &owner, &scope.each_ref().map(String::as_str)), &self.seal) {
            // The seal has nothing in it: to open is to be genuine.
            Ok(_) => Ok(Genuine::Yes),
            Err(KeyError::UnknownKey(_)) => Ok(Genuine::KeyGone),
            Err(error) if error.is_tampering() => Ok(Genuine::Forged),
            Err(source) => Err(StoreError::Unopened { table: TABLE, id: self.key.id.to_string(), source }),
        }
    }
}

/// The seal of a row that is about to be written.
pub(super) fn seal(vault: &Vault, key: &ApiKey, hashes: &Hashes) -> Result<Vec<u8>, StoreError> {
    let owner = owner(&key.server)?;
    let scope = scope(key, hashes);
    vault.seal(&record(&key.id, &owner, &scope.each_ref().map(String::as_str)), &[]).map_err(StoreError::Unsealed)
}

fn owner(server: &str) -> Result<UserId, StoreError> {
    UserId::new(server_issuer!(), server).map_err(|_| StoreError::impossible(TABLE, "a server that is none"))
}

fn record<'a>(id: &'a ApiKeyId, owner: &'a UserId, scope: &'a [&'a str]) -> Record<'a> {
    Record { kind: RecordKind::ApiKey, id: id.as_str(), user: owner, scope }
}

/// All that a key allows and what opens it, in the order of [`sealed_columns`].
fn scope(key: &ApiKey, hashes: &Hashes) -> [String; 7] {
    let micros = |at: Option<Timestamp>| at.map(|at| crate::time::micros(at).to_string()).unwrap_or_default();
    [
        key.name.clone(),
        key.scopes.to_string(),
        hashes.current.clone(),
        hashes.former.clone().unwrap_or_default(),
        micros(key.former_until),
        micros(Some(key.created_at)),
        micros(key.expires_at),
    ]
}

/// The same out of the columns of [`REWRAP`].
pub(crate) fn sealed_columns(row: &AnyRow) -> Result<Vec<String>, sqlx::Error> {
    let micros = |column: &str| -> Result<String, sqlx::Error> {
        let micros: Option<i64> = row.try_get(column)?;
        Ok(micros.map(|micros| micros.to_string()).unwrap_or_default())
    };
    Ok(vec![
        row.try_get("name")?,
        row.try_get("scopes")?,
        row.try_get("secret_hash")?,
        row.try_get::<Option<String>, _>("former_hash")?.unwrap_or_default(),
        micros("former_until")?,
        micros("created_at")?,
        micros("expires_at")?,
    ])
}

/// Notes that a key was used.
pub(super) async fn used(connection: &mut AnyConnection, id: &ApiKeyId, now: Timestamp) -> Result<(), StoreError> {
    sqlx::query(USED).bind(id.as_str().to_owned()).bind(crate::time::micros(now)).execute(connection).await?;
    Ok(())
}
