//! From a row to a credential.

use elicit::UserId;
use sqlx::Row as _;
use sqlx::any::AnyRow;

use super::content::Content;
use super::{Credential, CredentialStatus, Grant};
use crate::time::timestamp;
use crate::vault::{Record, RecordKind, Vault};
use crate::{KeyError, StoreError};

const TABLE: &str = "credentials";

macro_rules! columns {
    () => {
        "id, credential_key, provider, version, status, created_at, updated_at, last_used_at, refresh_at, \
         attempts, sealed"
    };
}
pub(super) use columns;

/// The place of a sealed credential.
pub(super) fn place<'a>(id: &'a str, user: &'a UserId, provider: &'a [&'a str; 1]) -> Record<'a> {
    Record { kind: RecordKind::Credential, id, user, scope: provider }
}

/// Opens a row for the user and the provider that are asked for, whatever the row says
/// of itself: one that was moved to them does not open.
pub(super) fn credential(row: &AnyRow, user: &UserId, provider: &str, vault: &Vault) -> Result<Credential, StoreError> {
    let id: String = row.try_get("id")?;
    let sealed: Vec<u8> = row.try_get("sealed")?;
    let content = open(&place(&id, user, &[provider]), &sealed, vault).map_err(|source| StoreError::Unopened {
        table: TABLE,
        id: id.clone(),
        source,
    })?;
    let time = |column: &str| -> Result<Option<_>, StoreError> {
        let micros: Option<i64> = row.try_get(column)?;
        micros.map(|micros| timestamp(micros, TABLE)).transpose()
    };
    let refresh_at = time("refresh_at")?;
    Ok(Credential {
        id,
        user: user.clone(),
        provider: provider.to_owned(),
        version: row.try_get("version")?,
        status: status(row)?,
        created_at: timestamp(row.try_get("created_at")?, TABLE)?,
        updated_at: timestamp(row.try_get("updated_at")?, TABLE)?,
        last_used_at: time("last_used_at")?,
        secrets: content.secrets,
        approvals: content.approvals,
        approved_at: content.approved_at,
        grant: content.grant.map(|grant| Grant { refresh_at, ..grant }),
        attempts: u32::try_from(row.try_get::<i64, _>("attempts")?)
            .map_err(|_| StoreError::impossible(TABLE, "a number of attempts that is none"))?,
    })
}

/// Whether it works.
pub(super) fn status(row: &AnyRow) -> Result<CredentialStatus, StoreError> {
    CredentialStatus::parse(row.try_get("status")?)
        .ok_or_else(|| StoreError::impossible(TABLE, "a status of another name"))
}

fn open(record: &Record<'_>, sealed: &[u8], vault: &Vault) -> Result<Content, KeyError> {
    let bytes = vault.open(record, sealed)?;
    // The parser's own error could quote a secret.
    Content::parse(&bytes).map_err(|_| KeyError::Malformed)
}
