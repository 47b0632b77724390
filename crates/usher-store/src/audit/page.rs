//! A user's lines of the audit log, page by page.

use std::fmt;

use elicit::UserId;
use sqlx::Row as _;

use super::{AuditRow, from_row};
use crate::lookup::user_key;
use crate::{Store, StoreError};

pub(crate) const PAGE: &str = "SELECT number, at, action, outcome, issuer, subject, client, upstream, \
     provider, interaction_id, detail, operation FROM audit \
     WHERE user_key = $1 AND number < $2 ORDER BY number DESC LIMIT $3";

/// Where a page ends and the next one goes on. It finds lines of the user who asks, whoever got it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditCursor(i64);

impl AuditCursor {
    /// Reads what an earlier page showed.
    pub fn parse(text: &str) -> Option<Self> {
        text.parse().ok().filter(|number| *number > 0).map(Self)
    }
}

impl fmt::Display for AuditCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A page of the audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditPage {
    /// The newest first.
    pub rows: Vec<AuditRow>,
    /// Where older ones follow; `None` on the last page.
    pub older: Option<AuditCursor>,
}

impl Store {
    /// At most `limit` lines about a user that are older than `before`, or the newest. Lines are kept for 400 days.
    pub async fn audit_page(
        &self,
        user: &UserId,
        before: Option<AuditCursor>,
        limit: u32,
    ) -> Result<AuditPage, StoreError> {
        Self::within(async {
            // One more than is shown tells whether there is more.
            let rows = sqlx::query(PAGE)
                .bind(user_key(user))
                .bind(before.map_or(i64::MAX, |cursor| cursor.0))
                .bind(i64::from(limit) + 1)
                .fetch_all(&self.shared.reader)
                .await?;
            let shown = rows.len().min(limit as usize);
            let last = rows.get(..shown).and_then(<[_]>::last).filter(|_| rows.len() > shown);
            let older = last.map(|row| row.try_get("number").map(AuditCursor)).transpose()?;
            Ok(AuditPage { rows: rows.iter().take(shown).map(from_row).collect::<Result<_, _>>()?, older })
        })
        .await
    }
}
