//! What became of a refresh. Whoever comes too late changes nothing.

use std::collections::BTreeMap;

use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::AnyConnection;

use super::content::Content;
use super::find::of_provider;
use super::row;
use super::{Credential, FIND, Grant, HeldLease};
use crate::audit::{AuditAction, Outcome};
use crate::time::{micros, whole_micros};
use crate::{Event, Store, StoreError, fail_point, key_notes};

/// Others can be first only as often as they change this one credential.
const ATTEMPTS: usize = 8;

/// A lease is another one each time, and gone as soon as the grant is another: its owner stands for both.
pub(crate) const LATER: &str = "UPDATE credentials SET attempts = attempts + 1, refresh_at = $3, lease_owner = NULL, \
     lease_until = NULL WHERE id = $1 AND lease_owner = $2";
pub(crate) const DEAD: &str = "UPDATE credentials SET status = 'rejected', version = version + 1, updated_at = $3, \
     attempts = attempts + 1, refresh_at = NULL, lease_owner = NULL, lease_until = NULL \
     WHERE id = $1 AND lease_owner = $2";

/// How a refresh failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefreshFailed {
    /// It may work later: the provider is away, or limits us. The grant stays as it is.
    Later {
        /// Nobody tries again before, unless the user connects anew.
        at: Timestamp,
    },
    /// The provider takes it no longer. The record stays, rejected, until its user connects anew or disconnects.
    Dead,
}

/// What a refresh ends with.
enum Ended {
    Stored(Box<Credential>),
    /// The grant is another one by now, or gone.
    Late,
}

impl Store {
    /// Stores what a refresh brought, and gives the lease back: the credential as it is now, or `None` where the grant that was
    /// refreshed is not what is stored any more: it was connected anew, disconnected, or refreshed by another one whose lease
    /// began after this one had ended. Then nothing is changed, and what is stored counts. One commit.
    ///
    /// What was agreed to or demanded meanwhile stays: only the secrets and the grant are exchanged. Scopes that are granted now
    /// count as demanded no longer.
    pub async fn refreshed(
        &self,
        lease: HeldLease,
        secrets: BTreeMap<String, SecretString>,
        grant: Grant,
        now: Timestamp,
    ) -> Result<Option<Credential>, StoreError> {
        let grant = grant.stored();
        let ended = Self::within(async {
            for _ in 0..ATTEMPTS {
                if let Some(ended) = self.try_refreshed(&lease.credential, &secrets, &grant, now).await? {
                    return Ok(ended);
                }
            }
            Err(StoreError::Contended)
        })
        .await?;
        let Ended::Stored(credential) = ended else { return Ok(None) };
        fail_point!(Refreshed);
        self.publish(Event::Credential(credential.key()));
        Ok(Some(*credential))
    }

    /// `None` if another transaction changed the credential first.
    async fn try_refreshed(
        &self,
        held: &Credential,
        secrets: &BTreeMap<String, SecretString>,
        grant: &Grant,
        now: Timestamp,
    ) -> Result<Option<Ended>, StoreError> {
        let mut transaction = self.begin().await?;
        let Some(current) = self.same_grant(&mut transaction, held).await? else {
            transaction.rollback().await?;
            return Ok(Some(Ended::Late));
        };
        let mut content = Content::of(&current);
        content.secrets.clone_from(secrets);
        let mut grant = grant.clone();
        if let Some(before) = &current.grant {
            grant.asked.extend(before.asked.iter().cloned());
            let fresh = |scope: &String| grant.scopes.contains(scope) && !before.scopes.contains(scope);
            grant.demanded = before.demanded.union(&grant.demanded).filter(|scope| !fresh(scope)).cloned().collect();
        }
        let status = grant.status();
        content.grant = Some(grant);
        if self.replace(&mut transaction, &current, &content, status, now).await? == 0 {
            transaction.rollback().await?;
            return Ok(None);
        }
        fail_point!(RefreshUncommitted);
        transaction.commit().await?;
        Ok(Some(Ended::Stored(Box::new(Credential {
            version: current.version + 1,
            status,
            updated_at: whole_micros(now),
            attempts: 0,
            secrets: content.secrets,
            grant: content.grant,
            ..current
        }))))
    }

    /// What is stored now, if its grant is still the one that was leased.
    async fn same_grant(
        &self,
        connection: &mut AnyConnection,
        held: &Credential,
    ) -> Result<Option<Credential>, StoreError> {
        let row = sqlx::query(FIND).bind(held.key().as_str().to_owned()).fetch_optional(&mut *connection).await?;
        let Some(row) = row else { return Ok(None) };
        match row::credential(&row, &held.user, &held.provider, &self.shared.vault) {
            Ok(current) => Ok(Some(current).filter(|current| is_same(current, held))),
            Err(error) => Err(key_notes::behind(connection, error).await),
        }
    }

    /// Notes that a refresh failed, and gives the lease back. False where it was lost meanwhile: somebody else took it after its
    /// end, or the grant is another one. Then nothing is changed: read again what is stored.
    pub async fn refresh_failed(
        &self,
        lease: HeldLease,
        failed: RefreshFailed,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let HeldLease { credential, owner } = lease;
        let (sql, at) = match failed {
            RefreshFailed::Later { at } => (LATER, at),
            RefreshFailed::Dead => (DEAD, now),
        };
        let noted = Self::within(async {
            let mut transaction = self.begin().await?;
            let query = sqlx::query(sql).bind(credential.id.clone()).bind(owner).bind(micros(at));
            let noted = query.execute(&mut *transaction).await?.rows_affected() > 0;
            if noted && failed == RefreshFailed::Dead {
                of_provider(AuditAction::CredentialDead, Outcome::Failure, &credential.user, &credential.provider)
                    .insert(&mut transaction, now)
                    .await?;
            }
            transaction.commit().await?;
            Ok(noted)
        })
        .await?;
        if noted {
            self.publish(Event::Credential(credential.key()));
        }
        Ok(noted)
    }
}

/// Whether both hold the same grant, whatever was agreed to or said of it meanwhile.
fn is_same(current: &Credential, held: &Credential) -> bool {
    let token = |credential: &Credential| -> Option<Option<String>> {
        let grant = credential.grant.as_ref()?;
        Some(grant.refresh_token.as_ref().map(|token| token.expose_secret().to_owned()))
    };
    let is_same = |(one, other): ((&String, &SecretString), (&String, &SecretString))| {
        one.0 == other.0 && one.1.expose_secret() == other.1.expose_secret()
    };
    current.id == held.id
        && current.secrets.len() == held.secrets.len()
        && current.secrets.iter().zip(&held.secrets).all(is_same)
        && current.grant.is_some()
        && token(current) == token(held)
}
