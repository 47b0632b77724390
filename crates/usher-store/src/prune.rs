//! Ending what is overdue and deleting what is old, in bounded batches.

use jiff::{SignedDuration, Timestamp};
use sqlx::Row as _;

use crate::time::{micros, micros_before};
use crate::{BROWSER_IDLE, Event, InteractionId, Kind, SessionKey, Store, StoreError};

/// Interactions are kept this long after their end, for the pages that tell how they ended.
const INTERACTIONS: SignedDuration = SignedDuration::from_hours(30 * 24);
/// Lines of the audit log are kept this long.
const AUDIT: SignedDuration = SignedDuration::from_hours(400 * 24);
/// Rows a transaction: others get their turn in between.
const BATCH: u64 = 500;

// Asking locks interactions in an order of its own; skipping what is locked keeps the two
// from waiting for each other.
macro_rules! batch {
    ($head:literal, $key:literal, $from:literal, $tail:literal) => {
        [
            concat!($head, "(SELECT ", $key, $from, " LIMIT 500)", $tail),
            concat!($head, "(SELECT ", $key, $from, " LIMIT 500 FOR UPDATE SKIP LOCKED)", $tail),
        ]
    };
}

pub(crate) const EXPIRE: [&str; 2] = batch!(
    "UPDATE interactions SET state = 'expired', failure = NULL, operation = NULL, flow_hash = NULL, flow = NULL, \
     flow_until = NULL, version = version + 1 WHERE id IN ",
    "id",
    " FROM interactions WHERE state IN ('created', 'opened', 'consented', 'exchanging', 'failed') AND expires_at <= $1",
    " RETURNING id"
);
/// Approvals whose call came too late or not at all, with the call: what it was called with may be anything about anybody.
pub(crate) const DROP_PROOFS: [&str; 2] = batch!(
    "UPDATE interactions SET operation = NULL, proof = NULL, proof_until = NULL WHERE id IN ",
    "id",
    " FROM interactions WHERE proof IS NOT NULL AND proof_until <= $1",
    " RETURNING id"
);
/// Calls whose question is over, which were kept by name.
pub(crate) const DROP_OPERATIONS: [&str; 2] = batch!(
    "UPDATE interactions SET operation = NULL WHERE id IN ",
    "id",
    " FROM interactions WHERE operation IS NOT NULL AND proof IS NULL AND expires_at <= $1",
    " RETURNING id"
);
/// Ways back from a provider that nobody came.
pub(crate) const DROP_FLOWS: [&str; 2] = batch!(
    "UPDATE interactions SET flow_hash = NULL, flow = NULL, flow_until = NULL WHERE id IN ",
    "id",
    " FROM interactions WHERE flow IS NOT NULL AND flow_until <= $1",
    " RETURNING id"
);
pub(crate) const DELETE_INTERACTIONS: [&str; 2] = batch!(
    "DELETE FROM interactions WHERE id IN ",
    "id",
    " FROM interactions WHERE state IN ('completed', 'declined', 'expired') AND expires_at <= $1",
    " RETURNING id"
);
pub(crate) const DELETE_SESSIONS: [&str; 2] = batch!(
    "DELETE FROM mcp_sessions WHERE session_key IN ",
    "session_key",
    " FROM mcp_sessions WHERE expires_at <= $1",
    " RETURNING session_key"
);
pub(crate) const DELETE_NOTICES: [&str; 2] = batch!(
    "DELETE FROM notices WHERE (interaction_id, session_key) IN ",
    "interaction_id, session_key",
    // Another session may have lengthened the question since: it is owed for as long as that can complete.
    " FROM notices WHERE expires_at <= $1 AND NOT EXISTS (SELECT 1 FROM interactions \
     WHERE interactions.id = notices.interaction_id AND interactions.expires_at > $1)",
    " RETURNING session_key"
);
pub(crate) const DELETE_DECLINES: [&str; 2] = batch!(
    "DELETE FROM declines WHERE ask_key IN ",
    "ask_key",
    " FROM declines WHERE expires_at <= $1",
    " RETURNING ask_key"
);
pub(crate) const DELETE_LINKS: [&str; 2] = batch!(
    "DELETE FROM login_links WHERE token_hash IN ",
    "token_hash",
    " FROM login_links WHERE expires_at <= $1",
    " RETURNING token_hash"
);
pub(crate) const DELETE_SIGN_INS: [&str; 2] = batch!(
    "DELETE FROM sign_ins WHERE id_hash IN ",
    "id_hash",
    " FROM sign_ins WHERE expires_at <= $1",
    " RETURNING id_hash"
);
pub(crate) const DELETE_ENDED_BROWSERS: [&str; 2] = batch!(
    "DELETE FROM browser_sessions WHERE token_hash IN ",
    "token_hash",
    " FROM browser_sessions WHERE expires_at <= $1",
    " RETURNING token_hash"
);
pub(crate) const DELETE_IDLE_BROWSERS: [&str; 2] = batch!(
    "DELETE FROM browser_sessions WHERE token_hash IN ",
    "token_hash",
    " FROM browser_sessions WHERE last_seen_at <= $1",
    " RETURNING token_hash"
);
pub(crate) const DELETE_API_KEYS: [&str; 2] =
    batch!("DELETE FROM api_keys WHERE id IN ", "id", " FROM api_keys WHERE expires_at <= $1", " RETURNING id");
pub(crate) const DELETE_AUDIT: [&str; 2] =
    batch!("DELETE FROM audit WHERE number IN ", "number", " FROM audit WHERE at <= $1", " RETURNING action");

/// How many rows a pruning ended or deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    /// Interactions whose time had run out.
    pub interactions_expired: u64,
    /// Calls whose question is over, with what they were called with.
    pub operations: u64,
    /// Ways to a provider from which nobody came back in time, with what was kept for them.
    pub flows: u64,
    /// Interactions that ended long ago.
    pub interactions_deleted: u64,
    /// MCP sessions that had ended.
    pub sessions: u64,
    /// Notices that nobody fetched in time.
    pub notices: u64,
    /// Declines that count no longer.
    pub declines: u64,
    /// Sign-in links that nobody used in time.
    pub login_links: u64,
    /// Sign-ins that were used, and would have expired.
    pub sign_ins: u64,
    /// Browser sessions that had ended or were idle.
    pub browser_sessions: u64,
    /// Keys of the API that ended long ago.
    pub api_keys: u64,
    /// Lines of the audit log that were too old.
    pub audit: u64,
}

impl Store {
    /// Ends interactions that are overdue, and deletes the calls of those that ended, unused ways back from providers,
    /// ended sessions, links, sign-ins, notices and declines, interactions 30 days after their end, and audit lines
    /// after 400 days.
    ///
    /// Works in transactions of 500 rows. If one fails, what came before stays done.
    pub async fn prune(&self, now: Timestamp) -> Result<Pruned, StoreError> {
        let at = micros(now);
        let idle = micros_before(now, BROWSER_IDLE);
        Ok(Pruned {
            interactions_expired: self
                .sweep(EXPIRE, at, |id| InteractionId::parse(id).ok().map(Event::Interaction))
                .await?,
            operations: self.sweep(DROP_PROOFS, at, |_| None).await?
                + self.sweep(DROP_OPERATIONS, at, |_| None).await?,
            flows: self.sweep(DROP_FLOWS, at, |_| None).await?,
            interactions_deleted: self.sweep(DELETE_INTERACTIONS, micros_before(now, INTERACTIONS), |_| None).await?,
            sessions: self.sweep(DELETE_SESSIONS, at, |key| SessionKey::parse(key).map(Event::Session)).await?,
            notices: self.sweep(DELETE_NOTICES, at, |_| None).await?,
            declines: self.sweep(DELETE_DECLINES, at, |_| None).await?,
            login_links: self.sweep(DELETE_LINKS, at, |_| None).await?,
            sign_ins: self.sweep(DELETE_SIGN_INS, at, |_| None).await?,
            browser_sessions: self.sweep(DELETE_ENDED_BROWSERS, at, |_| None).await?
                + self.sweep(DELETE_IDLE_BROWSERS, idle, |_| None).await?,
            api_keys: self.sweep(DELETE_API_KEYS, micros_before(now, INTERACTIONS), |_| None).await?,
            audit: self.sweep(DELETE_AUDIT, micros_before(now, AUDIT), |_| None).await?,
        })
    }

    /// Runs a statement until it finds less than a batch.
    async fn sweep(
        &self,
        [sqlite, postgres]: [&'static str; 2],
        before: i64,
        event: fn(&str) -> Option<Event>,
    ) -> Result<u64, StoreError> {
        let sql = match self.kind() {
            Kind::Sqlite => sqlite,
            Kind::Postgres => postgres,
        };
        let mut total = 0;
        loop {
            let rows = Self::within(async {
                let mut transaction = self.begin().await?;
                let rows = sqlx::query(sql).bind(before).fetch_all(&mut *transaction).await?;
                transaction.commit().await?;
                Ok(rows)
            })
            .await?;
            for row in &rows {
                self.publish_row(row, event)?;
            }
            let count = rows.len() as u64;
            total += count;
            if count < BATCH {
                return Ok(total);
            }
        }
    }

    fn publish_row(&self, row: &sqlx::any::AnyRow, event: fn(&str) -> Option<Event>) -> Result<(), StoreError> {
        if let Some(event) = event(row.try_get(0)?) {
            self.publish(event);
        }
        Ok(())
    }
}
