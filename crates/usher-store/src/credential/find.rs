//! Reading credentials, and the small changes that leave the sealed part alone.

use elicit::UserId;
use jiff::{SignedDuration, Timestamp};
use sqlx::Row as _;

use super::row::{self, columns};
use super::{Connections, Credential, CredentialKey};
use crate::audit::{AuditAction, AuditEntry, Outcome};
use crate::lookup::user_key;
use crate::time::{micros, micros_before};
use crate::{Event, Store, StoreError, fail_point, key_notes};

/// `last_used_at` is written at most this often.
const TOUCH_EVERY: SignedDuration = SignedDuration::from_mins(1);

/// What is being let go is found by nobody any more.
pub(crate) const FIND: &str =
    concat!("SELECT ", columns!(), " FROM credentials WHERE credential_key = $1 AND status <> 'leaving'");
/// The same of whatever stands there, to put another in its place.
pub(crate) const FIND_ANY: &str = concat!("SELECT ", columns!(), " FROM credentials WHERE credential_key = $1");
pub(crate) const OF_USER: &str = concat!("SELECT ", columns!(), " FROM credentials WHERE user_key = $1");
const REJECT: &str = "UPDATE credentials SET status = 'rejected', refresh_at = NULL, version = version + 1, \
     updated_at = $3 WHERE credential_key = $1 AND version = $2";
const TOUCH: &str = "UPDATE credentials SET last_used_at = $2 \
     WHERE credential_key = $1 AND (last_used_at IS NULL OR last_used_at <= $3)";
/// Also by what is listed: a row whose key was changed is found by nothing else.
pub(crate) const DELETE: &str =
    "DELETE FROM credentials WHERE credential_key = $1 OR (user_key = $2 AND provider = $3)";

impl Store {
    /// A user's credential for a provider, unless it is [being let go](Store::leave). One that is there and does not open is an
    /// error of which [`StoreError::is_unopened`] is true.
    pub async fn credential(&self, user: &UserId, provider: &str) -> Result<Option<Credential>, StoreError> {
        Self::within(async {
            let row =
                sqlx::query(FIND).bind(CredentialKey::of(user, provider).0).fetch_optional(&self.shared.reader).await?;
            let Some(row) = row else { return Ok(None) };
            match row::credential(&row, user, provider, &self.shared.vault) {
                Ok(credential) => Ok(Some(credential)),
                Err(error) => Err(key_notes::behind(&mut *self.shared.reader.acquire().await?, error).await),
            }
        })
        .await
    }

    /// All credentials of a user, by provider, those too that are being let go; apart from them those that are there and cannot
    /// be read.
    pub async fn connections(&self, user: &UserId) -> Result<Connections, StoreError> {
        Self::within(async {
            let mut found = Connections::default();
            for row in sqlx::query(OF_USER).bind(user_key(user)).fetch_all(&self.shared.reader).await? {
                let provider: String = row.try_get("provider")?;
                // A row is found by its key alone: what it says of itself counts for nothing.
                if row.try_get::<String, _>("credential_key")? != CredentialKey::of(user, &provider).0 {
                    tracing::warn!(provider, "a stored credential stands in another's place");
                    found.unreadable.push(provider);
                    continue;
                }
                let read = match row::credential(&row, user, &provider, &self.shared.vault) {
                    Err(error) => Err(key_notes::behind(&mut *self.shared.reader.acquire().await?, error).await),
                    read => read,
                };
                match read {
                    Ok(credential) => found.readable.push(credential),
                    Err(error) if error.is_unopened() => {
                        tracing::warn!(provider, %error, "a stored credential cannot be read");
                        found.unreadable.push(provider);
                    }
                    Err(error) => return Err(error),
                }
            }
            found.readable.sort_by(|one, other| one.provider.cmp(&other.provider));
            found.unreadable.sort();
            Ok(found)
        })
        .await
    }

    /// Notes that a credential was rejected, if it is still the version that was
    /// used: true if so. One that was replaced in the meantime is left alone.
    pub async fn reject_credential(
        &self,
        user: &UserId,
        provider: &str,
        version: i64,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let key = CredentialKey::of(user, provider);
        let changed = Self::within(async {
            let mut transaction = self.begin().await?;
            let changed = sqlx::query(REJECT)
                .bind(key.0.clone())
                .bind(version)
                .bind(micros(now))
                .execute(&mut *transaction)
                .await?
                .rows_affected();
            if changed > 0 {
                let action = AuditAction::CredentialRejected;
                of_provider(action, Outcome::Failure, user, provider).insert(&mut transaction, now).await?;
            }
            transaction.commit().await?;
            Ok(changed > 0)
        })
        .await?;
        if changed {
            self.publish(Event::Credential(key));
        }
        Ok(changed)
    }

    /// Notes that a credential was used. Written at most once a minute.
    pub async fn touch_credential(&self, user: &UserId, provider: &str, now: Timestamp) -> Result<(), StoreError> {
        Self::within(async {
            sqlx::query(TOUCH)
                .bind(CredentialKey::of(user, provider).0)
                .bind(micros(now))
                .bind(micros_before(now, TOUCH_EVERY))
                .execute(&self.shared.writer)
                .await?;
            Ok(())
        })
        .await
    }

    /// Deletes a credential: true if there was one. Never opens it, so it ends all that [`Store::connections`] lists,
    /// also what cannot be read.
    pub async fn disconnect(&self, user: &UserId, provider: &str, now: Timestamp) -> Result<bool, StoreError> {
        let key = CredentialKey::of(user, provider);
        fail_point!(Disconnecting);
        let deleted = Self::within(async {
            let mut transaction = self.begin().await?;
            let deleted = sqlx::query(DELETE)
                .bind(key.0.clone())
                .bind(user_key(user))
                .bind(provider.to_owned())
                .execute(&mut *transaction)
                .await?
                .rows_affected();
            if deleted > 0 {
                let action = AuditAction::CredentialDisconnected;
                of_provider(action, Outcome::Success, user, provider).insert(&mut transaction, now).await?;
            }
            fail_point!(DisconnectUncommitted);
            transaction.commit().await?;
            fail_point!(Disconnected);
            Ok(deleted > 0)
        })
        .await?;
        if deleted {
            self.publish(Event::Credential(key));
        }
        Ok(deleted)
    }
}

/// A line about a user's credential.
pub(super) fn of_provider(action: AuditAction, outcome: Outcome, user: &UserId, provider: &str) -> AuditEntry {
    AuditEntry { provider: Some(provider.to_owned()), ..AuditEntry::of_user(action, outcome, user) }
}
