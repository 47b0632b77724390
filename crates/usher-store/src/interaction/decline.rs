//! What a person declined rests: the same is not asked again by itself (prompt fatigue).

use std::collections::BTreeSet;

use elicit::UserId;
use jiff::{SignedDuration, Timestamp};
use sqlx::{AnyConnection, Row as _};

use super::row::{self, columns};
use super::{Interaction, InteractionId};
use crate::audit::{AuditAction, AuditEntry, Outcome};
use crate::lookup::user_key;
use crate::time::{micros, micros_before, timestamp};
use crate::{Store, StoreError};

/// How long a question rests that was declined: once, twice, and from then on. Each decline counts on where the one before
/// is less than a day old, and the question was not answered in between.
pub const DECLINE_RESTS: [SignedDuration; 3] =
    [SignedDuration::from_mins(2), SignedDuration::from_mins(10), SignedDuration::from_hours(1)];

/// How long a decline is remembered.
const REMEMBERED: SignedDuration = SignedDuration::from_hours(24);

const NOTE: &str = "INSERT INTO declines (ask_key, times, rests_until, expires_at) \
     SELECT ask_key, 1, $2, $5 FROM interactions WHERE id = $1 ON CONFLICT (ask_key) DO UPDATE SET \
     times = CASE WHEN declines.expires_at <= $6 THEN 1 ELSE declines.times + 1 END, \
     rests_until = CASE WHEN declines.expires_at <= $6 THEN excluded.rests_until \
     WHEN declines.times = 1 THEN $3 ELSE $4 END, \
     expires_at = excluded.expires_at";
const FORGET: &str = "DELETE FROM declines WHERE ask_key = (SELECT ask_key FROM interactions WHERE id = $1)";
pub(crate) const RESTS: &str = "SELECT rests_until FROM declines WHERE ask_key = $1 AND rests_until > $2";
pub(crate) const REST_OF: &str = "SELECT declines.rests_until FROM interactions \
     JOIN declines ON declines.ask_key = interactions.ask_key \
     WHERE interactions.id = $1 AND declines.rests_until > $2";

pub(crate) const DECLINED: &str = concat!(
    "SELECT ",
    columns!(),
    ", ask_key, (SELECT rests_until FROM declines WHERE declines.ask_key = interactions.ask_key) AS rests_until \
     FROM interactions WHERE user_key = $1 AND state = 'declined' AND state_at > $2 ORDER BY state_at DESC"
);
/// How often it was declined stays: another decline makes it rest for longer.
pub(crate) const RELEASE: &str = "UPDATE declines SET rests_until = $2 \
     WHERE ask_key = (SELECT ask_key FROM interactions WHERE id = $1) AND rests_until > $2";

/// A question that a person declined, and that is not asked by itself for now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resting {
    /// What they declined.
    pub interaction: Interaction,
    /// Until when it rests.
    pub until: Timestamp,
}

/// Notes a decline of the question of this interaction.
pub(super) async fn note(connection: &mut AnyConnection, id: &InteractionId, now: Timestamp) -> Result<(), StoreError> {
    let at = |later: SignedDuration| micros(now).saturating_add(whole(later));
    let [first, second, then] = DECLINE_RESTS;
    sqlx::query(NOTE)
        .bind(id.as_str().to_owned())
        .bind(at(first))
        .bind(at(second))
        .bind(at(then))
        .bind(at(REMEMBERED))
        .bind(micros(now))
        .execute(connection)
        .await?;
    Ok(())
}

/// The person answered this question after all.
pub(super) async fn forget(connection: &mut AnyConnection, id: &InteractionId) -> Result<(), StoreError> {
    sqlx::query(FORGET).bind(id.as_str().to_owned()).execute(connection).await?;
    Ok(())
}

/// Until when this question rests.
pub(super) async fn rests(
    connection: &mut AnyConnection,
    key: &str,
    now: Timestamp,
) -> Result<Option<Timestamp>, StoreError> {
    let row = sqlx::query(RESTS).bind(key.to_owned()).bind(micros(now)).fetch_optional(connection).await?;
    row.map(|row| timestamp(row.try_get(0)?, "declines")).transpose()
}

impl Store {
    /// Until when the question of an interaction rests; `None` where it may be asked.
    pub async fn rest_of(&self, id: &InteractionId, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        Self::within(async {
            let row = sqlx::query(REST_OF)
                .bind(id.as_str().to_owned())
                .bind(micros(now))
                .fetch_optional(&self.shared.reader)
                .await?;
            row.map(|row| timestamp(row.try_get(0)?, "declines")).transpose()
        })
        .await
    }
}

impl Store {
    /// What a user declined and is not asked by itself for now, the newest first; each question once.
    pub async fn resting(&self, user: &UserId, now: Timestamp) -> Result<Vec<Resting>, StoreError> {
        let [.., longest] = DECLINE_RESTS;
        Self::within(async {
            let rows = sqlx::query(DECLINED)
                .bind(user_key(user))
                .bind(micros_before(now, longest))
                .fetch_all(&self.shared.reader)
                .await?;
            let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
            for row in &rows {
                let interaction = row::interaction(row)?;
                let until: Option<i64> = row.try_get("rests_until")?;
                let Some(until) = until.filter(|until| *until > micros(now)) else { continue };
                if interaction.principal.user == *user && seen.insert(row.try_get::<String, _>("ask_key")?) {
                    found.push(Resting { interaction, until: timestamp(until, "declines")? });
                }
            }
            Ok(found)
        })
        .await
    }

    /// A person lets what they declined be asked again: what it was, if it was theirs and rested.
    pub async fn release(
        &self,
        user: &UserId,
        id: &InteractionId,
        now: Timestamp,
    ) -> Result<Option<Interaction>, StoreError> {
        let found = self.interaction(id, now).await?;
        let Some(interaction) = found.filter(|interaction| interaction.principal.user == *user) else {
            return Ok(None);
        };
        Self::within(async {
            let mut transaction = self.begin().await?;
            let released = sqlx::query(RELEASE)
                .bind(interaction.id.as_str().to_owned())
                .bind(micros(now))
                .execute(&mut *transaction)
                .await?
                .rows_affected();
            if released > 0 {
                let action = AuditAction::InteractionReleased;
                AuditEntry::of_interaction(action, Outcome::Success, &interaction)
                    .insert(&mut transaction, now)
                    .await?;
            }
            transaction.commit().await?;
            Ok((released > 0).then_some(interaction))
        })
        .await
    }
}

fn whole(duration: SignedDuration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}
