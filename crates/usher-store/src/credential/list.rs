//! What an operator sees of all credentials, and ends: never a secret.

use std::collections::BTreeSet;

use elicit::UserId;
use jiff::Timestamp;
use sqlx::Row as _;
use sqlx::any::AnyRow;

use super::row::{self, columns};
use super::{Approval, CredentialKey, CredentialStatus, Grant};
use crate::audit::{AuditAction, Outcome};
use crate::browser::user_of;
use crate::credential::find::of_provider;
use crate::lookup::user_key;
use crate::time::timestamp;
use crate::{Event, Store, StoreError, key_notes};

const TABLE: &str = "credentials";

macro_rules! listed {
    ($where:literal) => {
        concat!(
            "SELECT issuer, subject, ",
            columns!(),
            " FROM credentials WHERE ",
            $where,
            " AND id > $1 ORDER BY id LIMIT $2"
        )
    };
}

pub(crate) const ALL: &str = listed!("id <> ''");
pub(crate) const OF_PROVIDER: &str = listed!("provider = $3");
pub(crate) const OF_ID: &str = listed!("id = $3");
const OF_USER: &str = listed!("user_key = $3");
pub(crate) const REVOKE: &str =
    "DELETE FROM credentials WHERE id = $1 RETURNING issuer, subject, provider, credential_key";

/// Which credentials are listed; all conditions hold.
#[derive(Debug, Clone, Copy, Default)]
pub struct ConnectionFilter<'a> {
    /// The one with this id.
    pub id: Option<&'a str>,
    /// Those of this user.
    pub user: Option<&'a UserId>,
    /// Those for this provider.
    pub provider: Option<&'a str>,
    /// Those that may be sent to this upstream. What cannot be read may be sent nowhere.
    pub upstream: Option<&'a str>,
}

/// A credential without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredConnection {
    /// The record's id.
    pub id: String,
    /// Whose it is.
    pub user: UserId,
    /// For which provider.
    pub provider: String,
    /// Whether it works, as far as known.
    pub status: CredentialStatus,
    /// When it was stored first.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// Which client may have it used where; `None` where it cannot be read.
    pub approvals: Option<Vec<Approval>>,
    /// What a third party granted, where it was, and can be read.
    pub granted: Option<Granted>,
}

/// What a third party granted, without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Granted {
    /// Whose account it is there.
    pub account: Option<String>,
    /// The authorization server, or what stands for one.
    pub issuer: String,
    /// What was granted.
    pub scopes: BTreeSet<String>,
    /// What a server said is lacking.
    pub demanded: BTreeSet<String>,
    /// When the access token expires, where that is known.
    pub expires_at: Option<Timestamp>,
    /// Whether there is something to renew it with.
    pub renewed: bool,
}

/// A part of a long list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionsPage {
    /// In the order of their ids, which is about that of their making.
    pub connections: Vec<StoredConnection>,
    /// After which id the list goes on; `None` at its end.
    pub after: Option<String>,
}

impl Store {
    /// Credentials of all users, or those of a filter, after the id `after`. At most `limit` rows are read, so that a page
    /// can have fewer connections and more follow.
    pub async fn list_connections(
        &self,
        filter: ConnectionFilter<'_>,
        after: Option<&str>,
        limit: u32,
    ) -> Result<ConnectionsPage, StoreError> {
        Self::within(async {
            let (sql, value) = match filter {
                ConnectionFilter { id: Some(id), .. } => (OF_ID, Some(id.to_owned())),
                ConnectionFilter { user: Some(user), .. } => (OF_USER, Some(user_key(user))),
                ConnectionFilter { provider: Some(provider), .. } => (OF_PROVIDER, Some(provider.to_owned())),
                _ => (ALL, None),
            };
            let mut query = sqlx::query(sql).bind(after.unwrap_or_default().to_owned()).bind(i64::from(limit));
            if let Some(value) = value {
                query = query.bind(value);
            }
            let rows = query.fetch_all(&self.shared.reader).await?;
            let last = rows.last().filter(|_| rows.len() >= limit as usize);
            let after = last.map(|row| row.try_get("id")).transpose()?;
            let mut connections = Vec::with_capacity(rows.len());
            for row in &rows {
                if let Some(connection) = self.stored_connection(row).await?.filter(|one| filter.takes(one)) {
                    connections.push(connection);
                }
            }
            Ok(ConnectionsPage { connections, after })
        })
        .await
    }

    /// `None` for a row that is nobody's.
    async fn stored_connection(&self, row: &AnyRow) -> Result<Option<StoredConnection>, StoreError> {
        let (id, provider): (String, String) = (row.try_get("id")?, row.try_get("provider")?);
        let Ok(user) = user_of(row, TABLE) else {
            tracing::warn!(id, provider, "a stored credential belongs to a user that is none");
            return Ok(None);
        };
        let in_place = row.try_get::<String, _>("credential_key")? == CredentialKey::of(&user, &provider).as_str();
        let read = match row::credential(row, &user, &provider, &self.shared.vault) {
            Ok(credential) => in_place.then_some(credential),
            Err(error) => {
                let error = key_notes::behind(&mut *self.shared.reader.acquire().await?, error).await;
                if !error.is_unopened() {
                    return Err(error);
                }
                None
            }
        };
        let last_used: Option<i64> = row.try_get("last_used_at")?;
        let (approvals, grant) = read.map(|credential| (credential.approvals, credential.grant)).unzip();
        Ok(Some(StoredConnection {
            id,
            user,
            provider,
            status: row::status(row)?,
            created_at: timestamp(row.try_get("created_at")?, TABLE)?,
            updated_at: timestamp(row.try_get("updated_at")?, TABLE)?,
            last_used_at: last_used.map(|micros| timestamp(micros, TABLE)).transpose()?,
            approvals,
            granted: grant.flatten().map(Granted::of),
        }))
    }

    /// Deletes a credential by its id, as the operator of this installation: whose it was and for which provider, if there
    /// was one. Never opens it.
    pub async fn revoke_connection(&self, id: &str, now: Timestamp) -> Result<Option<(UserId, String)>, StoreError> {
        let revoked = Self::within(async {
            let mut transaction = self.begin().await?;
            let row = sqlx::query(REVOKE).bind(id.to_owned()).fetch_optional(&mut *transaction).await?;
            let Some(row) = row else {
                transaction.rollback().await?;
                return Ok(None);
            };
            let (user, provider): (_, String) = (user_of(&row, TABLE)?, row.try_get("provider")?);
            let action = AuditAction::CredentialRevoked;
            of_provider(action, Outcome::Success, &user, &provider).insert(&mut transaction, now).await?;
            transaction.commit().await?;
            Ok(Some((user, provider)))
        })
        .await?;
        if let Some((user, provider)) = &revoked {
            self.publish(Event::Credential(CredentialKey::of(user, provider)));
        }
        Ok(revoked)
    }
}

impl Granted {
    fn of(grant: Grant) -> Self {
        Self {
            renewed: grant.is_renewed(),
            account: grant.account,
            issuer: grant.server.issuer,
            scopes: grant.scopes,
            demanded: grant.demanded,
            expires_at: grant.expires_at,
        }
    }
}

impl ConnectionFilter<'_> {
    fn takes(&self, connection: &StoredConnection) -> bool {
        let goes_to = |upstream: &str| {
            connection.approvals.iter().flatten().any(|approval| approval.destination.upstream == upstream)
        };
        self.user.is_none_or(|user| *user == connection.user)
            && self.provider.is_none_or(|provider| provider == connection.provider)
            && self.upstream.is_none_or(goes_to)
    }
}
