//! Making, rotating and revoking keys.

use elicit::ClientId;
use jiff::{SignedDuration, Timestamp};
use secrecy::SecretString;
use sqlx::AnyConnection;

use super::find::FIND;
use super::row::{self, Genuine, Hashes, Row};
use super::text::new_secret;
use super::{ApiKey, ApiKeyId, NewApiKey, actor};
use crate::audit::{AuditAction, AuditEntry, Outcome};
use crate::time::{micros, whole_micros};
use crate::{Store, StoreError};

const CREATE: &str = "INSERT INTO api_keys (id, server, name, scopes, secret_hash, created_at, expires_at, seal) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
/// If it is still the secret that was read.
pub(crate) const ROTATE: &str = "UPDATE api_keys SET secret_hash = $3, former_hash = $4, former_until = $5, \
     rotated_at = $6, seal = $7 WHERE id = $1 AND secret_hash = $2";
const REVOKE: &str = "DELETE FROM api_keys WHERE id = $1 RETURNING server";

impl Store {
    /// Makes a key, and returns it with its text, which is told nowhere again.
    pub async fn create_api_key(&self, new: NewApiKey, now: Timestamp) -> Result<(ApiKey, SecretString), StoreError> {
        let id = ApiKeyId::new(&*self.shared.random);
        let (text, hash) = new_secret(&id, &*self.shared.random);
        let key = ApiKey {
            id,
            server: new.server,
            name: new.name,
            scopes: new.scopes,
            created_at: whole_micros(now),
            rotated_at: None,
            former_until: None,
            expires_at: new.expires_at.map(whole_micros),
            last_used_at: None,
        };
        let hashes = Hashes { current: hash, former: None };
        let seal = row::seal(&self.shared.vault, &key, &hashes)?;
        Self::within(async {
            let mut transaction = self.begin().await?;
            sqlx::query(CREATE)
                .bind(key.id.as_str().to_owned())
                .bind(key.server.clone())
                .bind(key.name.clone())
                .bind(key.scopes.to_string())
                .bind(hashes.current)
                .bind(micros(key.created_at))
                .bind(key.expires_at.map(micros))
                .bind(seal)
                .execute(&mut *transaction)
                .await?;
            note(&mut transaction, AuditAction::ApiKeyCreated, &key.id, &key.server, now).await?;
            transaction.commit().await?;
            Ok((key, text))
        })
        .await
    }

    /// Gives a key another secret, and returns it with its new text. The secret before works for `keep` still; one from
    /// before that no longer.
    ///
    /// `None` if there is no such key, it has expired, or its row is not as we made it.
    pub async fn rotate_api_key(
        &self,
        id: &ApiKeyId,
        keep: SignedDuration,
        now: Timestamp,
    ) -> Result<Option<(ApiKey, SecretString)>, StoreError> {
        let (text, hash) = new_secret(id, &*self.shared.random);
        Self::within(async {
            let mut transaction = self.begin().await?;
            let found = sqlx::query(FIND).bind(id.as_str().to_owned()).fetch_optional(&mut *transaction).await?;
            let found = found.map(|row| Row::read(&row)).transpose()?;
            let Some(Row { key, hashes, .. }) = usable(found, self, now)? else {
                transaction.rollback().await?;
                return Ok(None);
            };
            let keeps = keep > SignedDuration::ZERO;
            let former = keeps.then(|| hashes.current.clone());
            let former_until = keeps.then(|| whole_micros(now.checked_add(keep).unwrap_or(Timestamp::MAX)));
            let key = ApiKey { rotated_at: Some(whole_micros(now)), former_until, ..key };
            let next = Hashes { current: hash, former };
            let seal = row::seal(&self.shared.vault, &key, &next)?;
            let swapped = sqlx::query(ROTATE)
                .bind(id.as_str().to_owned())
                .bind(hashes.current)
                .bind(next.current)
                .bind(next.former)
                .bind(key.former_until.map(micros))
                .bind(micros(now))
                .bind(seal)
                .execute(&mut *transaction)
                .await?;
            if swapped.rows_affected() == 0 {
                transaction.rollback().await?;
                return Err(StoreError::Contended);
            }
            note(&mut transaction, AuditAction::ApiKeyRotated, id, &key.server, now).await?;
            transaction.commit().await?;
            Ok(Some((key, text)))
        })
        .await
    }

    /// Ends a key at once, whatever its row says; false if there is none.
    pub async fn revoke_api_key(&self, id: &ApiKeyId, now: Timestamp) -> Result<bool, StoreError> {
        Self::within(async {
            let mut transaction = self.begin().await?;
            let revoked = delete(&mut transaction, id).await?;
            if let Some(server) = &revoked {
                note(&mut transaction, AuditAction::ApiKeyRevoked, id, server, now).await?;
            }
            transaction.commit().await?;
            Ok(revoked.is_some())
        })
        .await
    }
}

/// A key whose secret may be exchanged.
fn usable(found: Option<Row>, store: &Store, now: Timestamp) -> Result<Option<Row>, StoreError> {
    let Some(row) = found.filter(|row| !row.key.is_expired(now)) else { return Ok(None) };
    // Else a row that was changed would get a seal that is right.
    Ok((row.genuine(&store.shared.vault)? == Genuine::Yes).then_some(row))
}

/// The server of the key that was there.
async fn delete(connection: &mut AnyConnection, id: &ApiKeyId) -> Result<Option<String>, StoreError> {
    use sqlx::Row as _;

    let row = sqlx::query(REVOKE).bind(id.as_str().to_owned()).fetch_optional(connection).await?;
    row.map(|row| Ok(row.try_get("server")?)).transpose()
}

async fn note(
    connection: &mut AnyConnection,
    action: AuditAction,
    id: &ApiKeyId,
    server: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    entry(action, Outcome::Success, id, server).insert(connection, now).await
}

fn entry(action: AuditAction, outcome: Outcome, id: &ApiKeyId, server: &str) -> AuditEntry {
    AuditEntry {
        principal: actor(id).map(|actor| (actor, None::<ClientId>)),
        upstream: Some(server.to_owned()),
        ..AuditEntry::new(action, outcome)
    }
}

/// Audited by whoever deletes it, so once.
pub(super) async fn drop_forged(store: &Store, key: &ApiKey, now: Timestamp) -> Result<(), StoreError> {
    let mut transaction = store.begin().await?;
    if let Some(server) = delete(&mut transaction, &key.id).await? {
        let entry = AuditEntry {
            detail: Some("a key that was changed in the store"),
            ..entry(AuditAction::ApiKeyRefused, Outcome::Refused, &key.id, &server)
        };
        entry.insert(&mut transaction, now).await?;
    }
    transaction.commit().await?;
    Ok(())
}
