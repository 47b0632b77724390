//! Reading interactions.

use std::cmp::Reverse;
use std::fmt::Write as _;

use elicit::{ClientId, UserId};
use jiff::Timestamp;
use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row as _};

use super::row::{self, columns, open_states};
use super::{Interaction, InteractionId};
use crate::lookup::user_key;
use crate::time::micros;
use crate::{Store, StoreError};

/// Ids a statement. Two sizes only, so that there are two statements to prepare.
const FEW: usize = 8;
const MANY: usize = 128;

pub(crate) const FIND: &str = concat!("SELECT ", columns!(), " FROM interactions WHERE id = $1");

pub(crate) const WAITING: &str = concat!(
    "SELECT ",
    columns!(),
    " FROM interactions WHERE user_key = $1 AND ",
    open_states!(),
    " AND expires_at > $2"
);

pub(crate) const CLAIM: &str = "SELECT client_claim FROM interactions \
     WHERE user_key = $1 AND client = $2 AND client_claim IS NOT NULL ORDER BY created_at DESC LIMIT 1";

impl Store {
    /// An interaction as it is at `now`: past its end it shows as expired.
    pub async fn interaction(&self, id: &InteractionId, now: Timestamp) -> Result<Option<Interaction>, StoreError> {
        Self::within(async {
            let row = sqlx::query(FIND).bind(id.as_str().to_owned()).fetch_optional(&self.shared.reader).await?;
            row.map(|row| row::interaction(&row).map(|found| found.at(now))).transpose()
        })
        .await
    }

    /// Those of `ids` that exist, in no particular order: for whoever waits for many.
    pub async fn interactions(&self, ids: &[InteractionId], now: Timestamp) -> Result<Vec<Interaction>, StoreError> {
        Self::within(async {
            let ids: Vec<_> = ids.iter().collect();
            let rows = self.rows_of(&ids, find_several).await?;
            rows.iter().map(|row| Ok(row::interaction(row)?.at(now))).collect()
        })
        .await
    }

    /// The rows of `ids`, by the statement that `several` makes for so many of them.
    pub(super) async fn rows_of(
        &self,
        ids: &[&InteractionId],
        several: fn(usize) -> String,
    ) -> Result<Vec<AnyRow>, StoreError> {
        let mut rows = Vec::with_capacity(ids.len());
        for chunk in ids.chunks(MANY) {
            let size = if chunk.len() <= FEW { FEW } else { MANY };
            let mut query = sqlx::query(AssertSqlSafe(several(size)));
            // What is left over repeats the last id, which finds nothing twice.
            let last = &chunk[chunk.len() - 1];
            for id in chunk.iter().chain(std::iter::repeat(last)).take(size) {
                query = query.bind(id.as_str().to_owned());
            }
            rows.extend(query.fetch_all(&self.shared.reader).await?);
        }
        Ok(rows)
    }

    /// What a client last said of itself when it asked this user, within the last 30 days. A claim, and no more.
    pub async fn client_claim(&self, user: &UserId, client: &ClientId) -> Result<Option<String>, StoreError> {
        Self::within(async {
            let row = sqlx::query(CLAIM)
                .bind(user_key(user))
                .bind(client.as_str().to_owned())
                .fetch_optional(&self.shared.reader)
                .await?;
            Ok(row.map(|row| row.try_get("client_claim")).transpose()?)
        })
        .await
    }

    /// A user's open interactions, the newest first.
    pub async fn waiting_interactions(&self, user: &UserId, now: Timestamp) -> Result<Vec<Interaction>, StoreError> {
        Self::within(async {
            let rows =
                sqlx::query(WAITING).bind(user_key(user)).bind(micros(now)).fetch_all(&self.shared.reader).await?;
            let mut waiting =
                rows.iter().map(|row| Ok(row::interaction(row)?.at(now))).collect::<Result<Vec<_>, StoreError>>()?;
            // One whose exchange was cut off has failed, whatever its row says.
            waiting.retain(|interaction| interaction.state.is_open());
            waiting
                .sort_by(|one, other| (Reverse(one.created_at), &one.id).cmp(&(Reverse(other.created_at), &other.id)));
            Ok(waiting)
        })
        .await
    }
}

pub(crate) fn find_several(size: usize) -> String {
    several(concat!("SELECT ", columns!(), " FROM interactions WHERE id IN ("), size)
}

/// `head`, then `size` placeholders, and the bracket that closes.
pub(super) fn several(head: &str, size: usize) -> String {
    let mut sql = head.to_owned();
    for number in 1..=size {
        let comma = if number == 1 { "" } else { ", " };
        // Writing to a string does not fail.
        let _ = write!(sql, "{comma}${number}");
    }
    sql.push(')');
    sql
}
