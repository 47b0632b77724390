//! What proves that a link or a session is as we made it.

use elicit::UserId;
use sqlx::Row as _;
use sqlx::any::{Any, AnyArguments, AnyRow};
use sqlx::query::Query;
use zeroize::Zeroizing;

use crate::vault::{Record, RecordKind};
use crate::{KeyError, Store, StoreError};

/// What signs a browser in, and what its row must be sealed with.
pub(super) struct Pass<'a> {
    pub(super) kind: RecordKind,
    pub(super) hash: &'a str,
    pub(super) user: &'a UserId,
    pub(super) created_at: i64,
    pub(super) expires_at: i64,
}

/// What the seal of a row says of it.
pub(super) enum Seal {
    /// As we made it, with what was kept in it.
    Genuine(Zeroizing<Vec<u8>>),
    /// Somebody wrote or changed it in the database.
    Forged,
    /// Its master key is gone. The person signs in again.
    KeyGone,
}

impl Store {
    /// Seals `kept` into a row.
    pub(super) fn seal_pass(&self, pass: &Pass<'_>, kept: &[u8]) -> Result<Vec<u8>, StoreError> {
        pass.in_record(|record| self.shared.vault.seal(record, kept)).map_err(StoreError::Unsealed)
    }

    pub(super) fn check_pass(&self, table: &'static str, pass: &Pass<'_>, row: &AnyRow) -> Result<Seal, StoreError> {
        let seal: Vec<u8> = row.try_get("seal")?;
        match pass.in_record(|record| self.shared.vault.open(record, &seal)) {
            Ok(kept) => Ok(Seal::Genuine(kept)),
            Err(KeyError::UnknownKey(key_id)) => {
                tracing::warn!(table, key_id, "the master key of a sign-in is gone");
                Ok(Seal::KeyGone)
            }
            Err(error) if error.is_tampering() => {
                tracing::error!(table, "a sign-in was changed in the store, and is refused");
                Ok(Seal::Forged)
            }
            Err(source) => Err(StoreError::Unopened { table, id: pass.hash.to_owned(), source }),
        }
    }
}

impl Pass<'_> {
    /// Binds the columns that a link and a session have in common, in the order of both tables.
    pub(super) fn bind<'q>(&self, query: Query<'q, Any, AnyArguments>, seal: Vec<u8>) -> Query<'q, Any, AnyArguments> {
        query
            .bind(self.hash.to_owned())
            .bind(self.user.issuer().to_owned())
            .bind(self.user.subject().to_owned())
            .bind(self.created_at)
            .bind(self.expires_at)
            .bind(seal)
    }

    fn in_record<T>(&self, work: impl FnOnce(&Record<'_>) -> T) -> T {
        let times = [self.created_at, self.expires_at].map(|time| time.to_string());
        let [created_at, expires_at] = &times;
        work(&Record { kind: self.kind, id: self.hash, user: self.user, scope: &[created_at, expires_at] })
    }
}
