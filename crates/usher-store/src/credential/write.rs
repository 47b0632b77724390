//! Storing a credential within the transaction that completes its interaction.

use jiff::Timestamp;
use sqlx::{AnyConnection, Row as _};

use super::content::Content;
use super::row::{self, place};
use super::{Approval, Completion, Credential, CredentialKey, CredentialStatus, FIND_ANY};
use crate::audit::{AuditAction, AuditEntry, Outcome};
use crate::credential::find::of_provider;
use crate::interaction::Interaction;
use crate::lookup::user_key;
use crate::time::micros;
use crate::{Store, StoreError, key_notes};

const INSERT: &str = "INSERT INTO credentials (id, credential_key, user_key, issuer, subject, provider, \
     version, status, created_at, updated_at, sealed, refresh_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $9, $10, $7, $7, $8, $11) \
     ON CONFLICT (credential_key) DO NOTHING";
/// Who is refreshing it goes on.
const UPDATE: &str = "UPDATE credentials SET version = version + 1, status = $4, updated_at = $5, \
     sealed = $3 WHERE id = $1 AND version = $2";
/// Whoever is refreshing the one of before has nothing to refresh any more.
const REPLACE: &str = "UPDATE credentials SET version = version + 1, status = $4, updated_at = $5, sealed = $3, \
     refresh_at = $6, lease_owner = NULL, lease_until = NULL, attempts = 0 WHERE id = $1 AND version = $2";
const DELETE: &str = "DELETE FROM credentials WHERE id = $1 AND version = $2";

/// Why a provider did not end what was being let go: its owner connected anew before it was told.
const NOT_TRIED: &str = "not-tried";

/// What is there before an interaction completes.
enum Stored {
    Nothing,
    Readable(Box<Credential>),
    /// It cannot be read, or is being let go: its owner can only put another in its place.
    Gone {
        id: String,
        version: i64,
        /// It was being let go, and its provider may list what it granted: nobody will tell it any more.
        listed: bool,
    },
}

/// What became of an attempt to store a credential.
pub(crate) enum Change {
    Stored,
    /// There is nothing that could be allowed.
    NoCredential,
    /// Another transaction was first: begin again.
    Overtaken,
}

impl Store {
    pub(crate) async fn change_credential(
        &self,
        connection: &mut AnyConnection,
        interaction: &Interaction,
        completion: &Completion,
        now: Timestamp,
    ) -> Result<Change, StoreError> {
        let stored = self.stored(connection, interaction).await?;
        let mut content = Content::default();
        let mut status = CredentialStatus::Working;
        if let Stored::Readable(current) = &stored {
            content = Content::of(current);
            status = current.status;
        }
        match completion {
            Completion::Connect { secrets } => {
                content.secrets.clone_from(secrets);
                content.grant = None;
                status = CredentialStatus::Working;
            }
            Completion::Grant { secrets, grant } => {
                content.secrets.clone_from(secrets);
                status = grant.status();
                content.grant = Some(grant.as_ref().clone());
            }
            Completion::Allow if !matches!(stored, Stored::Readable(_)) => return Ok(Change::NoCredential),
            Completion::Allow => {}
            // It has no credential: see `interaction::once`.
            Completion::Once { .. } => return Ok(Change::Stored),
        }
        let approval =
            Approval { client: interaction.principal.client.clone(), destination: interaction.destination.clone() };
        content.approve(approval, now);

        let changed = match stored {
            Stored::Readable(current) if matches!(completion, Completion::Allow) => {
                self.update(connection, &current, &content, status, now).await?
            }
            Stored::Readable(current) => self.replace(connection, &current, &content, status, now).await?,
            Stored::Nothing => self.insert(connection, interaction, &content, (1, status), now).await?,
            Stored::Gone { id, version, listed } => {
                // If somebody else is first, their row is still there and the insertion finds it.
                let gone = sqlx::query(DELETE).bind(id).bind(version).execute(&mut *connection).await?;
                if listed && gone.rows_affected() > 0 {
                    let (user, provider) = (&interaction.principal.user, &interaction.provider);
                    let entry = of_provider(AuditAction::GrantRevoked, Outcome::Failure, user, provider);
                    AuditEntry { detail: Some(NOT_TRIED), ..entry }.insert(&mut *connection, now).await?;
                }
                // Not from 1: a call that used the old secret must not have the new one taken for rejected.
                let next = version.saturating_add(1).max(1);
                self.insert(connection, interaction, &content, (next, status), now).await?
            }
        };
        Ok(if changed == 0 { Change::Overtaken } else { Change::Stored })
    }

    async fn stored(&self, connection: &mut AnyConnection, interaction: &Interaction) -> Result<Stored, StoreError> {
        let (user, provider) = (&interaction.principal.user, &interaction.provider);
        let row =
            sqlx::query(FIND_ANY).bind(CredentialKey::of(user, provider).0).fetch_optional(&mut *connection).await?;
        let Some(row) = row else { return Ok(Stored::Nothing) };
        let read = match row::credential(&row, user, provider, &self.shared.vault) {
            Err(error) => Err(key_notes::behind(connection, error).await),
            read => read,
        };
        match read {
            // What its owner gave up is not theirs to go on with: neither what was allowed, nor the row, which goes.
            Ok(credential) if credential.status == CredentialStatus::Leaving => {
                let listed = credential.grant.is_some();
                Ok(Stored::Gone { id: credential.id, version: credential.version, listed })
            }
            Ok(credential) => Ok(Stored::Readable(Box::new(credential))),
            Err(error) if error.is_unopened() => {
                tracing::warn!(provider, %error, "a stored credential cannot be read");
                let listed = row::status(&row).is_ok_and(|status| status == CredentialStatus::Leaving);
                Ok(Stored::Gone { id: row.try_get("id")?, version: row.try_get("version")?, listed })
            }
            Err(error) => Err(error),
        }
    }

    async fn insert(
        &self,
        connection: &mut AnyConnection,
        interaction: &Interaction,
        content: &Content,
        (version, status): (i64, CredentialStatus),
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let user = &interaction.principal.user;
        let provider = &interaction.provider;
        let id = self.new_record_id(now);
        let sealed = self.seal(&place(&id, user, &[provider]), content)?;
        let result = sqlx::query(INSERT)
            .bind(id)
            .bind(CredentialKey::of(user, provider).0)
            .bind(user_key(user))
            .bind(user.issuer().to_owned())
            .bind(user.subject().to_owned())
            .bind(provider.clone())
            .bind(micros(now))
            .bind(sealed.clone())
            .bind(version)
            .bind(status.as_str())
            .bind(content.refresh_at())
            .execute(&mut *connection)
            .await?;
        self.stored_as(connection, &sealed, result.rows_affected()).await
    }

    /// Other secrets, or another grant, if it is still the version that was read: 1, else 0.
    pub(super) async fn replace(
        &self,
        connection: &mut AnyConnection,
        current: &Credential,
        content: &Content,
        status: CredentialStatus,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        self.rewrite(connection, current, content, (REPLACE, status), now).await
    }

    /// What is said and agreed of the same secrets, if it is still the version that was read: 1, else 0.
    pub(super) async fn update(
        &self,
        connection: &mut AnyConnection,
        current: &Credential,
        content: &Content,
        status: CredentialStatus,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        self.rewrite(connection, current, content, (UPDATE, status), now).await
    }

    async fn rewrite(
        &self,
        connection: &mut AnyConnection,
        current: &Credential,
        content: &Content,
        (statement, status): (&'static str, CredentialStatus),
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let place = [current.provider.as_str()];
        let sealed = self.seal(&row::place(&current.id, &current.user, &place), content)?;
        let query = sqlx::query(statement)
            .bind(current.id.clone())
            .bind(current.version)
            .bind(sealed.clone())
            .bind(status.as_str())
            .bind(micros(now));
        // The other leaves the time of the next refresh as it is.
        let query = if statement == REPLACE { query.bind(content.refresh_at()) } else { query };
        let result = query.execute(&mut *connection).await?;
        self.stored_as(connection, &sealed, result.rows_affected()).await
    }

    /// Notes the master key in the same transaction, so that a start with a file that lacks it is refused.
    async fn stored_as(&self, connection: &mut AnyConnection, sealed: &[u8], changed: u64) -> Result<u64, StoreError> {
        if changed > 0 {
            key_notes::note(connection, &self.shared.vault, sealed).await?;
        }
        Ok(changed)
    }

    fn seal(&self, record: &crate::vault::Record<'_>, content: &Content) -> Result<Vec<u8>, StoreError> {
        let bytes = content.to_bytes().map_err(|_| StoreError::Unsealed(crate::KeyError::Malformed))?;
        self.shared.vault.seal(record, &bytes).map_err(StoreError::Unsealed)
    }

    /// A UUID of version 7: unique, and near its neighbours in the index.
    fn new_record_id(&self, now: Timestamp) -> String {
        let mut tail = [0_u8; 10];
        self.shared.random.fill(&mut tail);
        let millis = u64::try_from(now.as_millisecond()).unwrap_or(0);
        uuid::Builder::from_unix_timestamp_millis(millis, &tail).into_uuid().to_string()
    }
}
