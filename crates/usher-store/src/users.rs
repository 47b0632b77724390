//! Everybody of whom something is stored, for the operator.

mod forget;

use elicit::UserId;
use jiff::Timestamp;
use sqlx::{AnyConnection, Row as _};

#[cfg(test)]
pub(crate) use self::forget::{
    COUNT_LINKS, COUNTS, DELETE_BROWSERS, DELETE_CREDENTIALS, DELETE_DECLINES, DELETE_LINKS, DELETE_NOTICES,
    DELETE_QUESTIONS, DELETE_SESSIONS,
};
use crate::browser::user_of;
use crate::lookup::user_key;
use crate::time::timestamp;
use crate::{Store, StoreError};

/// One merge of four indices, which ends at the limit. The order means nothing: it is another one on each database.
pub(crate) const KEYS: &str = "SELECT user_key FROM credentials WHERE user_key > $1 \
     UNION SELECT user_key FROM browser_sessions WHERE user_key > $1 \
     UNION SELECT user_key FROM mcp_sessions WHERE user_key > $1 \
     UNION SELECT user_key FROM interactions WHERE user_key > $1 \
     ORDER BY user_key LIMIT $2";
pub(crate) const NAMES: [&str; 4] = [
    "SELECT issuer, subject FROM credentials WHERE user_key = $1 LIMIT 1",
    "SELECT issuer, subject FROM browser_sessions WHERE user_key = $1 LIMIT 1",
    "SELECT issuer, subject FROM mcp_sessions WHERE user_key = $1 LIMIT 1",
    "SELECT issuer, subject FROM interactions WHERE user_key = $1 LIMIT 1",
];
pub(crate) const SEEN: [&str; 2] = [
    "SELECT MAX(last_used_at) AS seen FROM credentials WHERE user_key = $1",
    "SELECT MAX(last_seen_at) AS seen FROM browser_sessions WHERE user_key = $1",
];

/// What is stored of a user, counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Holdings {
    /// Credentials.
    pub connections: u64,
    /// Questions of the last 30 days, open or not.
    pub questions: u64,
    /// Sessions of legacy MCP clients.
    pub sessions: u64,
    /// Signed-in browsers.
    pub browser_sessions: u64,
    /// Sign-in links that nobody used yet.
    pub login_links: u64,
}

/// Somebody of whom something is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredUser {
    /// Who.
    pub user: UserId,
    /// How much of it.
    pub holdings: Holdings,
    /// When a browser of theirs was last seen, or a credential used.
    pub last_seen_at: Option<Timestamp>,
}

/// A part of a long list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsersPage {
    /// In no order that means anything.
    pub users: Vec<StoredUser>,
    /// Where the list goes on; `None` at its end.
    pub after: Option<String>,
}

impl Holdings {
    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Store {
    /// Those of whom something is stored, but the audit log: `limit` at most, after where an earlier page ended.
    pub async fn users(&self, after: Option<&str>, limit: u32) -> Result<UsersPage, StoreError> {
        Self::within(async {
            let rows = sqlx::query(KEYS)
                .bind(after.unwrap_or_default().to_owned())
                .bind(i64::from(limit))
                .fetch_all(&self.shared.reader)
                .await?;
            let keys = rows.iter().map(|row| row.try_get("user_key")).collect::<Result<Vec<String>, _>>()?;
            let mut users = Vec::with_capacity(keys.len());
            for key in &keys {
                users.extend(self.stored_user(key).await?);
            }
            let after = keys.last().filter(|_| keys.len() >= limit as usize).cloned();
            Ok(UsersPage { users, after })
        })
        .await
    }

    /// What is stored of a user.
    pub async fn holdings(&self, user: &UserId) -> Result<Holdings, StoreError> {
        Self::within(async {
            let mut connection = self.shared.reader.acquire().await?;
            forget::count(&mut connection, user).await
        })
        .await
    }

    /// `None` where it went meanwhile, or a row names somebody else than its key.
    async fn stored_user(&self, key: &str) -> Result<Option<StoredUser>, StoreError> {
        let mut connection = self.shared.reader.acquire().await?;
        let Some(user) = named(&mut connection, key).await? else { return Ok(None) };
        let mut last_seen_at = None;
        for sql in SEEN {
            let row = sqlx::query(sql).bind(key.to_owned()).fetch_one(&mut *connection).await?;
            let seen: Option<i64> = row.try_get("seen")?;
            last_seen_at = last_seen_at.max(seen.map(|micros| timestamp(micros, "users")).transpose()?);
        }
        let holdings = forget::count(&mut connection, &user).await?;
        Ok(Some(StoredUser { user, holdings, last_seen_at }))
    }
}

/// Who has this key. A row that names somebody else was changed in the database, and counts for nothing.
async fn named(connection: &mut AnyConnection, key: &str) -> Result<Option<UserId>, StoreError> {
    for sql in NAMES {
        let row = sqlx::query(sql).bind(key.to_owned()).fetch_optional(&mut *connection).await?;
        let user = row.and_then(|row| user_of(&row, "users").ok()).filter(|user| user_key(user) == key);
        if user.is_some() {
            return Ok(user);
        }
    }
    Ok(None)
}
