//! The lease of a refresh: one at a time refreshes a grant, over all replicas.

use elicit::UserId;
use jiff::{SignedDuration, Timestamp};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row as _};

use super::row::{self, columns};
use super::{Credential, CredentialKey, CredentialStatus};
use crate::browser::user_of;
use crate::connect::random_name;
use crate::time::micros;
use crate::{Kind, Store, StoreError, fail_point, key_notes};

/// [`REFRESH_LEASE`] in microseconds.
macro_rules! refresh_lease {
    () => {
        45_000_000
    };
}

/// How long a lease lasts: longer than the deadline of the request that it is for. After it another one may try, since whoever
/// had it is taken for gone.
pub const REFRESH_LEASE: SignedDuration = SignedDuration::from_micros(refresh_lease!());

/// [`RESTS_AT_MOST`] in microseconds.
macro_rules! rests_at_most {
    () => {
        3_600_000_000
    };
}

/// How long a grant rests at most after a refresh that failed. A longer rest was written by a clock that was ahead, and counts
/// for nothing.
pub const RESTS_AT_MOST: SignedDuration = SignedDuration::from_micros(rests_at_most!());

/// Nobody has the lease: it has ended, or would last for longer than any does, since the clock was set back.
macro_rules! free {
    ($clock:expr) => {
        concat!(
            "(lease_until IS NULL OR lease_until <= ",
            $clock,
            " OR lease_until > ",
            $clock,
            " + ",
            refresh_lease!(),
            ")"
        )
    };
}

/// Somebody else can come between only as often as leases end.
const ATTEMPTS: usize = 8;

const TABLE: &str = "credentials";

/// By which clock leases are measured on PostgreSQL: the one that all replicas share. On SQLite there is one process, and the time
/// is its own.
macro_rules! shared_clock {
    () => {
        "CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000) AS BIGINT)"
    };
}

macro_rules! lease {
    ($clock:expr) => {
        concat!(
            "UPDATE credentials SET lease_owner = $3, lease_until = ",
            $clock,
            " + ",
            refresh_lease!(),
            " WHERE credential_key = $1 AND version = $2 AND status NOT IN ('rejected', 'leaving') AND ",
            free!($clock),
            " AND (attempts = 0 OR refresh_at IS NULL OR refresh_at <= $4 OR refresh_at > $4 + ",
            rests_at_most!(),
            ") RETURNING ",
            columns!()
        )
    };
}

macro_rules! remaining {
    ($clock:expr) => {
        concat!(
            "SELECT ",
            columns!(),
            ", lease_until - ",
            $clock,
            " AS remaining FROM credentials WHERE credential_key = $1 AND status <> 'leaving'"
        )
    };
}

macro_rules! due {
    ($clock:expr) => {
        concat!(
            "SELECT id, issuer, subject, provider, version FROM credentials WHERE provider = $3 AND refresh_at <= $1 \
             AND status NOT IN ('rejected', 'leaving') AND ",
            free!($clock),
            " ORDER BY refresh_at LIMIT $2"
        )
    };
}

pub(crate) const LEASE: [&str; 2] = [lease!("$4"), lease!(shared_clock!())];
pub(crate) const REMAINING: [&str; 2] = [remaining!("$2"), remaining!(shared_clock!())];
pub(crate) const DUE: [&str; 2] = [due!("$1"), due!(shared_clock!())];
/// What cannot be refreshed would be due for ever.
pub(crate) const GIVE_UP: &str =
    "UPDATE credentials SET refresh_at = NULL, lease_owner = NULL, lease_until = NULL WHERE credential_key = $1";

/// Whoever failed before is not made to wait for what was put off. By the row, which may be nobody's; and only what is due still:
/// somebody else may have tried meanwhile, and noted when to try again.
pub(crate) const PUT_OFF: &str =
    "UPDATE credentials SET refresh_at = $3, attempts = 0 WHERE id = $1 AND version = $2 AND refresh_at <= $4";

/// What came of asking to be the one who refreshes.
#[derive(Debug)]
#[must_use]
#[allow(clippy::large_enum_variant, reason = "made one at a time, and matched at once")]
pub enum Lease {
    /// It is the caller's, who sends the request now. Committed.
    Held(HeldLease),
    /// Somebody else is at it. Wait for the credential's [event](crate::Event::Credential), and ask again at this time at the
    /// latest (by the caller's clock).
    Busy {
        /// When their lease ends by itself.
        until: Timestamp,
    },
    /// An attempt failed a while ago, and the next one is not to come before this time. What is stored may be used for as
    /// long as it is good.
    Resting {
        /// From when on it may be tried again.
        until: Timestamp,
    },
    /// It is not the version that was seen: somebody refreshed, replaced or rejected it. This is what there is now.
    Changed(Box<Credential>),
    /// There is nothing to refresh: it was disconnected or rejected, or is no grant. The user is asked.
    Gone,
}

/// The right to refresh one grant, once. A copy of it is the same one, for what is tried again.
#[derive(Debug, Clone)]
pub struct HeldLease {
    /// The credential as it was when the lease was taken: what is refreshed.
    pub credential: Credential,
    pub(super) owner: String,
}

/// A grant that wants to be refreshed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DueRefresh {
    /// The row.
    id: String,
    /// Whose.
    pub user: UserId,
    /// For which provider.
    pub provider: String,
    /// The version of the credential, for [`Store::lease_refresh`].
    pub version: i64,
}

impl Store {
    /// Asks to be the one who refreshes a user's grant, having seen this version of it. One commit, where it is
    /// [held](Lease::Held); else nothing is written.
    ///
    /// A lease lasts for [`REFRESH_LEASE`], on PostgreSQL by the clock of the server: a replica whose clock is wrong takes
    /// nobody's. `owner` names the caller, for people who look into the database; each lease is another one, also of the same
    /// owner.
    ///
    /// A credential that cannot be read is an error of which [`StoreError::is_unopened`] is true, and is not due any more.
    pub async fn lease_refresh(
        &self,
        user: &UserId,
        provider: &str,
        seen_version: i64,
        owner: &str,
        now: Timestamp,
    ) -> Result<Lease, StoreError> {
        let owner = format!("{owner} {}", random_name(&*self.shared.random, 16));
        let lease = Self::within(async {
            for _ in 0..ATTEMPTS {
                if let Some(lease) = self.try_lease(user, provider, seen_version, &owner, now).await? {
                    return Ok(lease);
                }
            }
            Err(StoreError::Contended)
        })
        .await?;
        if let Lease::Held(_) = lease {
            fail_point!(RefreshLeased);
        }
        Ok(lease)
    }

    /// `None` where it became free, or another version, between two looks.
    async fn try_lease(
        &self,
        user: &UserId,
        provider: &str,
        seen_version: i64,
        owner: &str,
        now: Timestamp,
    ) -> Result<Option<Lease>, StoreError> {
        let key = CredentialKey::of(user, provider);
        let mut transaction = self.begin().await?;
        let leased = sqlx::query(self.by_clock(LEASE))
            .bind(key.as_str().to_owned())
            .bind(seen_version)
            .bind(owner.to_owned())
            .bind(micros(now))
            .fetch_optional(&mut *transaction)
            .await?;
        let Some(row) = leased else {
            let not = self.not_leased(&mut transaction, user, provider, seen_version, now).await;
            transaction.rollback().await?;
            return not;
        };
        let credential = match row::credential(&row, user, provider, &self.shared.vault) {
            Ok(credential) if credential.grant.is_some() => Ok(credential),
            Ok(_) => Err(None),
            Err(error) => Err(Some(key_notes::behind(&mut transaction, error).await)),
        };
        match credential {
            Ok(credential) => {
                transaction.commit().await?;
                Ok(Some(Lease::Held(HeldLease { credential, owner: owner.to_owned() })))
            }
            // Not its fault but that of this process.
            Err(Some(error)) if !error.is_unopened() => Err(error),
            Err(error) => {
                sqlx::query(GIVE_UP).bind(key.as_str().to_owned()).execute(&mut *transaction).await?;
                transaction.commit().await?;
                error.map_or(Ok(Some(Lease::Gone)), Err)
            }
        }
    }

    /// Why there is no lease.
    async fn not_leased(
        &self,
        connection: &mut AnyConnection,
        user: &UserId,
        provider: &str,
        seen_version: i64,
        now: Timestamp,
    ) -> Result<Option<Lease>, StoreError> {
        let query = sqlx::query(self.by_clock(REMAINING)).bind(CredentialKey::of(user, provider).as_str().to_owned());
        let query = match self.kind() {
            Kind::Sqlite => query.bind(micros(now)),
            Kind::Postgres => query,
        };
        let Some(row) = query.fetch_optional(&mut *connection).await? else { return Ok(Some(Lease::Gone)) };
        let credential = match row::credential(&row, user, provider, &self.shared.vault) {
            Ok(credential) => credential,
            Err(error) => return Err(key_notes::behind(connection, error).await),
        };
        if credential.version != seen_version {
            return Ok(Some(Lease::Changed(Box::new(credential))));
        }
        let Some(grant) = credential.grant.as_ref().filter(|_| credential.status != CredentialStatus::Rejected) else {
            return Ok(Some(Lease::Gone));
        };
        let remaining: Option<i64> = row.try_get("remaining")?;
        if let Some(remaining) = remaining.filter(|remaining| (1..=refresh_lease!()).contains(remaining)) {
            return Ok(Some(Lease::Busy { until: now + SignedDuration::from_micros(remaining) }));
        }
        let rests = |until: &Timestamp| *until > now && until.duration_since(now) <= RESTS_AT_MOST;
        let rests = grant.refresh_at.filter(|until| credential.attempts > 0 && rests(until));
        Ok(rests.map(|until| Lease::Resting { until }))
    }

    /// Grants of a provider whose time to be refreshed has come and that nobody refreshes right now, those that wait for longest
    /// first; by index, however many credentials there are, and whatever is due at other providers.
    ///
    /// What is due stays due until its refresh succeeds, fails, or is [put off](Self::put_off_refresh).
    pub async fn due_refreshes(
        &self,
        provider: &str,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<DueRefresh>, StoreError> {
        Self::within(async {
            let rows = sqlx::query(self.by_clock(DUE))
                .bind(micros(now))
                .bind(i64::from(limit))
                .bind(provider.to_owned())
                .fetch_all(&self.shared.reader)
                .await?;
            rows.iter().filter_map(|row| due(row).transpose()).collect()
        })
        .await
    }

    /// Has a grant refreshed ahead at another time, or on use alone: true if it was still this version. No attempt is counted,
    /// and nobody who uses it waits for that time.
    pub async fn put_off_refresh(
        &self,
        due: &DueRefresh,
        until: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        Self::within(async {
            let query =
                sqlx::query(PUT_OFF).bind(due.id.clone()).bind(due.version).bind(until.map(micros)).bind(micros(now));
            Ok(query.execute(&self.shared.writer).await?.rows_affected() > 0)
        })
        .await
    }

    fn by_clock(&self, [sqlite, postgres]: [&'static str; 2]) -> &'static str {
        match self.kind() {
            Kind::Sqlite => sqlite,
            Kind::Postgres => postgres,
        }
    }
}

/// `None` for a row that is nobody's.
fn due(row: &AnyRow) -> Result<Option<DueRefresh>, StoreError> {
    let provider: String = row.try_get("provider")?;
    let Ok(user) = user_of(row, TABLE) else {
        tracing::warn!(provider, "a stored credential belongs to a user that is none");
        return Ok(None);
    };
    Ok(Some(DueRefresh { id: row.try_get("id")?, user, provider, version: row.try_get("version")? }))
}
