//! Letting go of a credential in two commits, so that its provider can be told in between.
//!
//! The first takes it away from everybody: [`Store::credential`] finds nothing any more, no refresh can bring it back. The
//! second deletes it. What stands between the two for long, because the process was killed, is ended by [`Store::still_leaving`].

use elicit::UserId;
use jiff::{SignedDuration, Timestamp};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row as _};

use super::row::{self, columns};
use super::{Credential, CredentialKey};
use crate::audit::{AuditAction, AuditEntry, Outcome};
use crate::browser::user_of;
use crate::credential::find::of_provider;
use crate::lookup::user_key;
use crate::time::micros;
use crate::{Event, Kind, Store, StoreError, fail_point, key_notes};

const TABLE: &str = "credentials";

/// How long whoever lets one thing go has to tell its provider and to delete it: well over the time of both.
pub const LEAVING_LASTS: SignedDuration = SignedDuration::from_mins(2);

/// `refresh_at` is when somebody else ends what is left: nothing that leaves is refreshed.
macro_rules! leave {
    ($where:literal, $of:literal) => {
        concat!(
            "UPDATE credentials SET status = 'leaving', version = version + 1, updated_at = $1, refresh_at = $2, \
             lease_owner = NULL, lease_until = NULL WHERE ",
            $where,
            $of,
            " RETURNING issuer, subject, ",
            columns!()
        )
    };
}
/// First what is leaving already, then what begins to.
macro_rules! both {
    ($where:literal) => {
        [leave!($where, " AND status = 'leaving'"), leave!($where, " AND status <> 'leaving'")]
    };
}

/// Also by what is listed: a row whose key was changed is found by nothing else.
pub(crate) const LEAVE_OWN: [&str; 2] = both!("(credential_key = $3 OR (user_key = $4 AND provider = $5))");
pub(crate) const LEAVE_ONE: [&str; 2] = both!("id = $3");
pub(crate) const LEAVE_ALL: [&str; 2] = both!("user_key = $3");
/// All lock them in the order of their ids who change several.
const LOCK_ALL: &str = "SELECT id FROM credentials WHERE user_key = $1 ORDER BY id COLLATE \"C\" FOR UPDATE";
/// Whoever takes these has the same time for them as the one who was killed.
pub(crate) const STILL_LEAVING: [&str; 2] = [
    leave!(
        "id IN (SELECT id FROM credentials WHERE status = 'leaving' AND refresh_at <= $1 ORDER BY refresh_at LIMIT 100)",
        ""
    ),
    leave!(
        "id IN (SELECT id FROM credentials WHERE status = 'leaving' AND refresh_at <= $1 ORDER BY refresh_at \
         LIMIT 100 FOR UPDATE SKIP LOCKED)",
        ""
    ),
];
pub(crate) const IS_LEAVING: &str = "SELECT id FROM credentials WHERE id = $1 AND status = 'leaving'";
/// What was connected anew meanwhile is another record.
pub(crate) const DELETE_LEFT: &str = "DELETE FROM credentials WHERE id = $1 AND status = 'leaving'";

/// Which credentials are let go, and by whose word.
#[derive(Debug, Clone, Copy)]
pub enum Leave<'a> {
    /// A user's own for a provider, by their word.
    Own {
        /// Whose.
        user: &'a UserId,
        /// For which provider.
        provider: &'a str,
    },
    /// The record with this id, by the operator's word.
    One(&'a str),
    /// All of a user, who is about to be [forgotten](Store::forget_user).
    All(&'a UserId),
}

/// A credential that nobody can use any more, to tell its provider.
#[derive(Debug)]
pub struct Leaving {
    /// The record's id.
    pub id: String,
    /// Whose it was.
    pub user: UserId,
    /// For which provider.
    pub provider: String,
    /// What it held; `None` where that cannot be read.
    pub credential: Option<Box<Credential>>,
}

/// What became of the access at its provider, for the audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtProvider {
    /// Nothing was granted there.
    Nothing,
    /// It has ended there.
    Ended,
    /// It may still be listed there. Why, in fixed words.
    StillListed(&'static str),
}

impl Store {
    /// Takes credentials away from everybody, for good: from this commit on no call uses them, and no refresh that is under way
    /// can be stored. What was taken away before and is still there is given once more, so that its provider can be told again.
    ///
    /// Each is to be [`left`](Self::left) within [`LEAVING_LASTS`].
    pub async fn leave(&self, which: Leave<'_>, now: Timestamp) -> Result<Vec<Leaving>, StoreError> {
        self.leave_for(which, LEAVING_LASTS, now).await
    }

    /// The same by whoever needs longer: nobody else takes them up for `lasts`.
    pub async fn leave_for(
        &self,
        which: Leave<'_>,
        lasts: SignedDuration,
        now: Timestamp,
    ) -> Result<Vec<Leaving>, StoreError> {
        fail_point!(Leaving);
        let (sql, keys, action) = match which {
            Leave::Own { user, provider } => {
                let key = CredentialKey::of(user, provider).as_str().to_owned();
                let keys = vec![key, user_key(user), provider.to_owned()];
                (LEAVE_OWN, keys, Some(AuditAction::CredentialDisconnected))
            }
            Leave::One(id) => (LEAVE_ONE, vec![id.to_owned()], Some(AuditAction::CredentialRevoked)),
            Leave::All(user) => (LEAVE_ALL, vec![user_key(user)], None),
        };
        let rows = Self::within(async {
            let mut transaction = self.begin().await?;
            if let Leave::All(user) = which
                && self.kind() == Kind::Postgres
            {
                sqlx::query(LOCK_ALL).bind(user_key(user)).fetch_all(&mut *transaction).await?;
            }
            let [again, anew] = sql;
            let until = now.saturating_add(lasts).unwrap_or(Timestamp::MAX);
            let mut rows = mark(&mut transaction, again, &keys, now, until).await?;
            let begun = mark(&mut transaction, anew, &keys, now, until).await?;
            for row in &begun {
                if let (Some(action), Ok(user)) = (action, user_of(row, TABLE)) {
                    let entry = of_provider(action, Outcome::Success, &user, row.try_get("provider")?);
                    entry.insert(&mut transaction, now).await?;
                }
            }
            transaction.commit().await?;
            rows.extend(begun);
            Ok(rows)
        })
        .await?;
        let leaving = self.opened(rows).await?;
        fail_point!(Left);
        Ok(leaving)
    }

    /// The same of what somebody else began to let go and did not end, a hundred at most, the oldest first: their process was
    /// killed, or the store was away. Nobody else takes these up for `lasts`. What is nobody's is deleted.
    pub async fn still_leaving(&self, lasts: SignedDuration, now: Timestamp) -> Result<Vec<Leaving>, StoreError> {
        let [sqlite, postgres] = STILL_LEAVING;
        let sql = if self.kind() == Kind::Postgres { postgres } else { sqlite };
        let rows = Self::within(async {
            let mut transaction = self.begin().await?;
            let until = now.saturating_add(lasts).unwrap_or(Timestamp::MAX);
            let (rows, nobodys): (Vec<_>, Vec<_>) = mark(&mut transaction, sql, &[], now, until)
                .await?
                .into_iter()
                .partition(|row| user_of(row, TABLE).is_ok());
            for row in &nobodys {
                let id: String = row.try_get("id")?;
                tracing::warn!(id, "a credential that was being let go belongs to a user that is none, and is deleted");
                sqlx::query(DELETE_LEFT).bind(id).execute(&mut *transaction).await?;
            }
            transaction.commit().await?;
            Ok(rows)
        })
        .await?;
        self.opened(rows).await
    }

    /// What the rows hold, which are committed.
    async fn opened(&self, rows: Vec<AnyRow>) -> Result<Vec<Leaving>, StoreError> {
        for row in &rows {
            if let Some(key) = CredentialKey::parse(row.try_get("credential_key")?) {
                self.publish(Event::Credential(key));
            }
        }
        Self::within(async {
            let mut leaving = Vec::with_capacity(rows.len());
            for row in &rows {
                leaving.extend(self.leaving(row).await?);
            }
            Ok(leaving)
        })
        .await
    }

    /// `None` for a row that is nobody's: there is nobody to tell.
    async fn leaving(&self, row: &AnyRow) -> Result<Option<Leaving>, StoreError> {
        let (id, provider): (String, String) = (row.try_get("id")?, row.try_get("provider")?);
        let Ok(user) = user_of(row, TABLE) else {
            tracing::warn!(id, provider, "a stored credential belongs to a user that is none");
            return Ok(None);
        };
        let in_place = row.try_get::<String, _>("credential_key")? == CredentialKey::of(&user, &provider).as_str();
        let credential = match row::credential(row, &user, &provider, &self.shared.vault) {
            Ok(credential) => in_place.then(|| Box::new(credential)),
            Err(error) => {
                let error = key_notes::behind(&mut *self.shared.reader.acquire().await?, error).await;
                // One that cannot be read is no reason to keep it, or the others.
                if !error.is_unopened() && !matches!(error, StoreError::ImpossibleRow { .. }) {
                    return Err(error);
                }
                None
            }
        };
        Ok(Some(Leaving { id, user, provider, credential }))
    }

    /// Whether it still stands there, being let go: where it does not, it has ended, or its user connected anew, and what its
    /// provider was told now could end the new one.
    pub async fn is_leaving(&self, leaving: &Leaving) -> Result<bool, StoreError> {
        Self::within(async {
            let row = sqlx::query(IS_LEAVING).bind(leaving.id.clone()).fetch_optional(&self.shared.reader).await?;
            Ok(row.is_some())
        })
        .await
    }

    /// Deletes what was let go, after its provider was told or could not be: true if it was still there. What its user connected
    /// anew meanwhile stays.
    pub async fn left(&self, leaving: &Leaving, there: AtProvider, now: Timestamp) -> Result<bool, StoreError> {
        let deleted = Self::within(async {
            let mut transaction = self.begin().await?;
            let deleted =
                sqlx::query(DELETE_LEFT).bind(leaving.id.clone()).execute(&mut *transaction).await?.rows_affected();
            if let Some(entry) = there.entry(leaving).filter(|_| deleted > 0) {
                entry.insert(&mut transaction, now).await?;
            }
            transaction.commit().await?;
            Ok(deleted > 0)
        })
        .await?;
        fail_point!(LetGo);
        if deleted {
            self.publish(Event::Credential(CredentialKey::of(&leaving.user, &leaving.provider)));
        }
        Ok(deleted)
    }
}

async fn mark(
    connection: &mut AnyConnection,
    sql: &'static str,
    keys: &[String],
    now: Timestamp,
    until: Timestamp,
) -> Result<Vec<AnyRow>, StoreError> {
    let mut query = sqlx::query(sql).bind(micros(now)).bind(micros(until));
    for key in keys {
        query = query.bind(key.clone());
    }
    Ok(query.fetch_all(connection).await?)
}

impl AtProvider {
    /// The line that tells it; none where there is nothing to tell.
    pub fn entry(self, leaving: &Leaving) -> Option<AuditEntry> {
        let (outcome, detail) = match self {
            Self::Nothing => return None,
            Self::Ended => (Outcome::Success, None),
            Self::StillListed(why) => (Outcome::Failure, Some(why)),
        };
        let entry = of_provider(AuditAction::GrantRevoked, outcome, &leaving.user, &leaving.provider);
        Some(AuditEntry { detail, ..entry })
    }
}
