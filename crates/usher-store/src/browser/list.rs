//! The signed-in browsers of a user: to see them, and to sign them out from another one.

use std::fmt;

use elicit::UserId;
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::Row as _;

use super::seal::Seal;
use super::session::{BROWSER_IDLE, BrowserTimes, SESSIONS, parts};
use super::user_of;
use crate::audit::{AuditAction, AuditEntry, Outcome};
use crate::lookup::user_key;
use crate::time::{micros, micros_before, timestamp};
use crate::token::{is_random_text, token_hash};
use crate::{Store, StoreError};

/// The most that are listed: those that were seen last.
const LISTED_AT_MOST: i64 = 200;
/// Rows a statement, where rows of an earlier version are named.
const BATCH: usize = 100;

pub(crate) const OF_USER: &str = "SELECT token_hash, issuer, subject, created_at, last_seen_at, expires_at, seal, user_key \
     FROM browser_sessions WHERE user_key = $1 AND last_seen_at > $2 AND expires_at > $3 \
     AND created_at > $4 ORDER BY last_seen_at DESC LIMIT $5";
pub(crate) const END_ONE: &str =
    "DELETE FROM browser_sessions WHERE token_hash = $1 AND user_key = $2 RETURNING token_hash";
pub(crate) const END_OTHERS: &str =
    "DELETE FROM browser_sessions WHERE user_key = $1 AND token_hash <> $2 RETURNING token_hash";
pub(crate) const UNNAMED: &str =
    "SELECT issuer, subject, token_hash FROM browser_sessions WHERE user_key = '' LIMIT 100";
const NAME: &str = "UPDATE browser_sessions SET user_key = $2 WHERE token_hash = $1 AND user_key = ''";

/// What stands for a signed-in browser where its owner sees it: the hash of its token, which signs nobody in.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BrowserId(String);

impl BrowserId {
    /// Of the browser that brings this token.
    pub fn of(token: &SecretString) -> Self {
        Self(token_hash(token.expose_secret()))
    }

    /// Reads what an earlier page showed.
    pub fn parse(text: &str) -> Option<Self> {
        is_random_text(text).then(|| Self(text.to_owned()))
    }

    /// The text, 43 characters of base64url.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BrowserId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A signed-in browser, for its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedInBrowser {
    /// What stands for it.
    pub id: BrowserId,
    /// When it signed in.
    pub created_at: Timestamp,
    /// When it was last seen, to the minute.
    pub last_seen_at: Timestamp,
    /// When it ends, however much it is used.
    pub expires_at: Timestamp,
    /// What it said of itself when it signed in (`User-Agent`), in one clean line; empty where it said nothing.
    pub agent: String,
}

impl Store {
    /// A user's signed-in browsers, the one that was seen last first; 200 at most. What is not as we made it signs nobody
    /// in, and is not listed.
    pub async fn browser_sessions(
        &self,
        user: &UserId,
        times: BrowserTimes,
        now: Timestamp,
    ) -> Result<Vec<SignedInBrowser>, StoreError> {
        Self::within(async {
            let rows = sqlx::query(OF_USER)
                .bind(user_key(user))
                .bind(micros_before(now, times.idle.min(BROWSER_IDLE)))
                .bind(micros(now))
                .bind(micros_before(now, times.lifetime))
                .bind(LISTED_AT_MOST)
                .fetch_all(&self.shared.reader)
                .await?;
            let mut browsers = Vec::with_capacity(rows.len());
            for row in &rows {
                let hash: String = row.try_get("token_hash")?;
                let (owner, Seal::Genuine(content)) = self.check_browser_session(&hash, row)? else { continue };
                if owner != *user {
                    continue;
                }
                browsers.push(SignedInBrowser {
                    id: BrowserId(hash),
                    created_at: timestamp(row.try_get("created_at")?, SESSIONS)?,
                    last_seen_at: timestamp(row.try_get("last_seen_at")?, SESSIONS)?,
                    expires_at: timestamp(row.try_get("expires_at")?, SESSIONS)?,
                    agent: parts(&content).0.to_owned(),
                });
            }
            Ok(browsers)
        })
        .await
    }

    /// Signs out one of a user's browsers from another: true if it was signed in. Somebody else's is none.
    pub async fn end_browser_session(
        &self,
        user: &UserId,
        browser: &BrowserId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let ended = self.end_browsers(END_ONE, [browser.0.clone(), user_key(user)], user, "from another browser", now);
        Ok(ended.await? > 0)
    }

    /// Signs out all of a user's browsers but `kept`. How many.
    pub async fn end_other_browser_sessions(
        &self,
        user: &UserId,
        kept: &BrowserId,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        self.end_browsers(END_OTHERS, [user_key(user), kept.0.clone()], user, "all other browsers", now).await
    }

    async fn end_browsers(
        &self,
        sql: &'static str,
        values: [String; 2],
        user: &UserId,
        detail: &'static str,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let [first, second] = values;
        Self::within(async {
            let mut transaction = self.begin().await?;
            let ended = sqlx::query(sql).bind(first).bind(second).fetch_all(&mut *transaction).await?.len() as u64;
            if ended > 0 {
                let entry = AuditEntry::of_user(AuditAction::BrowserSignedOut, Outcome::Success, user);
                AuditEntry { detail: Some(detail), ..entry }.insert(&mut transaction, now).await?;
            }
            transaction.commit().await?;
            Ok(ended)
        })
        .await
    }

    /// Puts the owner's key into rows of before the column was there, which their owner could not find otherwise.
    pub(crate) async fn name_browsers(&self) -> Result<(), StoreError> {
        loop {
            let named = Self::within(async {
                let mut transaction = self.begin().await?;
                let rows = sqlx::query(UNNAMED).fetch_all(&mut *transaction).await?;
                let mut names = Vec::with_capacity(rows.len());
                for row in &rows {
                    // What is nobody's has a key that no user has.
                    let key = user_of(row, SESSIONS).map_or_else(|_| "-".to_owned(), |user| user_key(&user));
                    names.push((row.try_get::<String, _>("token_hash")?, key));
                }
                // In one order by all replicas that start.
                names.sort();
                for (hash, key) in names {
                    sqlx::query(NAME).bind(hash).bind(key).execute(&mut *transaction).await?;
                }
                transaction.commit().await?;
                Ok(rows.len())
            })
            .await?;
            if named < BATCH {
                return Ok(());
            }
        }
    }
}
