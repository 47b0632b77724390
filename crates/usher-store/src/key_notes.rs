//! The notes of which master keys stored credentials need, and whether a key file has them.
//!
//! Whoever stores a credential notes its key in the same transaction, so there is no credential without its note. A note
//! without a credential means nothing, and goes.

use sqlx::{Any, AnyConnection, Row as _, Transaction};

use crate::keys::{KeyError, KeyWrap, WrappedKey};
use crate::{Store, StoreError, Vault};

const FIND: &str = "SELECT id, proof FROM key_ids";
pub(crate) const IS_NOTED: &str = "SELECT id FROM key_ids WHERE id = $1";
pub(crate) const IS_NEEDED: &str = "SELECT id FROM credentials WHERE key_id = $1 LIMIT 1";
/// Takes the note's row for this transaction also where it changes nothing: whoever would delete it waits.
const NOTE: &str = "INSERT INTO key_ids (id, proof) VALUES ($1, $2) \
     ON CONFLICT (id) DO UPDATE SET proof = excluded.proof WHERE key_ids.proof IS NULL";
/// Before anything is looked at, so that what others noted until then is seen. Makes the note where there is none, since a
/// row that is not there keeps nobody waiting.
const TAKE: &str = "INSERT INTO key_ids (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET id = excluded.id";
const FORGET: &str = "DELETE FROM key_ids WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM credentials WHERE credentials.key_id = key_ids.id)";
const GIVE_UP: &str = "DELETE FROM key_ids WHERE id = $1";

const PROOF: &[u8] = b"usher key proof 1";

/// A note that a key file does not meet.
pub(crate) enum Unmet {
    /// It has no key of this id.
    Missing(String),
    /// It has another key under this id.
    Wrong(String),
}

impl Unmet {
    pub(crate) fn id(&self) -> &str {
        match self {
            Self::Missing(id) | Self::Wrong(id) => id,
        }
    }
}

/// Notes that a value of `credentials` needs its key. To be the last thing that its transaction does, so that all take
/// rows in one order.
pub(crate) async fn note(connection: &mut AnyConnection, vault: &Vault, sealed: &[u8]) -> Result<(), StoreError> {
    let id = Vault::key_id(sealed).map_err(StoreError::Unsealed)?;
    let proof = vault.wrap(&[0; 32], PROOF).map_err(StoreError::Unsealed)?;
    // The keys may have been exchanged since it was sealed: the next one to note it adds the proof.
    let proof = (proof.key_id == id).then_some(proof.bytes);
    sqlx::query(NOTE).bind(id).bind(proof).execute(connection).await?;
    Ok(())
}

/// All notes that `keys` do not meet, whether or not a credential is behind them.
pub(crate) async fn unmet(connection: &mut AnyConnection, keys: &dyn KeyWrap) -> Result<Vec<Unmet>, StoreError> {
    let mut found = Vec::new();
    for row in sqlx::query(FIND).fetch_all(connection).await? {
        let id: String = row.try_get("id")?;
        let proof: Option<Vec<u8>> = row.try_get("proof")?;
        if !keys.has(&id) {
            found.push(Unmet::Missing(id));
        } else if let Some(bytes) = proof
            && let Err(KeyError::Tampered | KeyError::Malformed) =
                keys.unwrap(&WrappedKey { key_id: id.clone(), bytes }, PROOF)
        {
            found.push(Unmet::Wrong(id));
        }
    }
    Ok(found)
}

/// Whether a credential needs this key.
pub(crate) async fn is_needed(connection: &mut AnyConnection, id: &str) -> Result<bool, StoreError> {
    Ok(sqlx::query(IS_NEEDED).bind(id.to_owned()).fetch_optional(connection).await?.is_some())
}

/// The error for notes that are not met.
pub(crate) fn refusal(unmet: Vec<Unmet>) -> Result<(), StoreError> {
    let (mut missing, mut wrong) = (Vec::new(), Vec::new());
    for one in unmet {
        match one {
            Unmet::Missing(id) => missing.push(id),
            Unmet::Wrong(id) => wrong.push(id),
        }
    }
    missing.sort();
    wrong.sort();
    match (missing.is_empty(), wrong.is_empty()) {
        (true, true) => Ok(()),
        (false, _) => Err(StoreError::MissingKey { ids: missing }),
        (true, false) => Err(StoreError::WrongKey { ids: wrong }),
    }
}

/// Drops the note of a key that no credential needs: false if one does. On PostgreSQL what others have under way is
/// waited for.
pub(crate) async fn forget(transaction: &mut Transaction<'_, Any>, id: &str) -> Result<bool, StoreError> {
    sqlx::query(TAKE).bind(id.to_owned()).execute(&mut **transaction).await?;
    sqlx::query(FORGET).bind(id.to_owned()).execute(&mut **transaction).await?;
    Ok(sqlx::query(IS_NOTED).bind(id.to_owned()).fetch_optional(&mut **transaction).await?.is_none())
}

/// Drops the note of a key that is lost. What needs it stays unreadable.
pub(crate) async fn give_up(transaction: &mut Transaction<'_, Any>, id: &str) -> Result<(), StoreError> {
    sqlx::query(GIVE_UP).bind(id.to_owned()).execute(&mut **transaction).await?;
    Ok(())
}

impl Store {
    /// Fails unless `keys` open what is stored: with [`StoreError::MissingKey`] where stored credentials need a key that
    /// is not among them, and with [`StoreError::WrongKey`] where one of them is another key under the same id.
    pub async fn check_keys(&self, keys: &dyn KeyWrap) -> Result<(), StoreError> {
        Self::within(async {
            let unmet = unmet(&mut *self.shared.reader.acquire().await?, keys).await?;
            let mut needed = Vec::new();
            for one in unmet {
                let mut transaction = self.begin().await?;
                let forgotten = forget(&mut transaction, one.id()).await?;
                transaction.commit().await?;
                if !forgotten {
                    needed.push(one);
                }
            }
            refusal(needed)
        })
        .await
    }
}

/// An error of a value that does not open, told apart: where its key is noted, the key file of this process is behind
/// that of another replica, and nothing is wrong with the value.
pub(crate) async fn behind(connection: &mut AnyConnection, error: StoreError) -> StoreError {
    let StoreError::Unopened { source: KeyError::UnknownKey(id), .. } = &error else { return error };
    match sqlx::query(IS_NOTED).bind(id.clone()).fetch_optional(connection).await {
        Ok(Some(_)) => StoreError::MissingKey { ids: vec![id.clone()] },
        Ok(None) => error,
        Err(fault) => fault.into(),
    }
}
