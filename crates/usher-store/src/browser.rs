//! The browser side: one-time sign-in links and browser sessions.

use elicit::UserId;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::Row as _;
use sqlx::any::AnyRow;

use crate::audit::{AuditAction, AuditEntry, Outcome};
use crate::time::{micros, micros_before, timestamp};
use crate::token::token_hash;
use crate::{Store, StoreError};

/// A browser session ends when it was not seen for this long.
pub const BROWSER_IDLE: SignedDuration = SignedDuration::from_hours(30 * 24);
/// A browser session ends this long after its start, whatever was asked for.
pub const BROWSER_LIFETIME: SignedDuration = SignedDuration::from_hours(90 * 24);
/// `last_seen_at` is written at most this often.
const SEEN_EVERY: SignedDuration = SignedDuration::from_mins(1);

const CREATE_LINK: &str = "INSERT INTO login_links (token_hash, issuer, subject, created_at, expires_at) \
     VALUES ($1, $2, $3, $4, $5)";
const USE_LINK: &str = "DELETE FROM login_links WHERE token_hash = $1 AND expires_at > $2 \
     RETURNING issuer, subject";
const CREATE_SESSION: &str = "INSERT INTO browser_sessions \
     (token_hash, issuer, subject, created_at, last_seen_at, expires_at) \
     VALUES ($1, $2, $3, $4, $4, $5)";
pub(crate) const FIND_SESSION: &str = "SELECT issuer, subject, created_at, last_seen_at, expires_at \
     FROM browser_sessions WHERE token_hash = $1 AND expires_at > $2 AND last_seen_at > $3";
const SEE_SESSION: &str = "UPDATE browser_sessions SET last_seen_at = $2 \
     WHERE token_hash = $1 AND last_seen_at < $2";
const DELETE_SESSION: &str = "DELETE FROM browser_sessions WHERE token_hash = $1 RETURNING issuer, subject";

/// A signed-in browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserSession {
    /// Who signed in.
    pub user: UserId,
    /// When.
    pub created_at: Timestamp,
    /// When it ends, however much it is used.
    pub expires_at: Timestamp,
}

impl Store {
    /// Keeps a one-time sign-in link. Only the token's hash is stored; the token
    /// must be random, with 128 bits or more.
    pub async fn create_login_link(
        &self,
        token: &SecretString,
        user: &UserId,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        Self::within(async {
            let mut transaction = self.begin().await?;
            sqlx::query(CREATE_LINK)
                .bind(token_hash(token.expose_secret()))
                .bind(user.issuer().to_owned())
                .bind(user.subject().to_owned())
                .bind(micros(now))
                .bind(micros(expires_at))
                .execute(&mut *transaction)
                .await?;
            transaction.commit().await?;
            Ok(())
        })
        .await
    }

    /// Uses up a sign-in link and starts a browser session under `session`, a new
    /// random token, in one transaction.
    ///
    /// `None` if the link is unknown, expired, or used already: of any number of
    /// attempts one succeeds. The session lasts until `session_expires_at`, at most
    /// [`BROWSER_LIFETIME`].
    pub async fn use_login_link(
        &self,
        token: &SecretString,
        session: &SecretString,
        session_expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<Option<UserId>, StoreError> {
        Self::within(async {
            let mut transaction = self.begin().await?;
            let link = sqlx::query(USE_LINK)
                .bind(token_hash(token.expose_secret()))
                .bind(micros(now))
                .fetch_optional(&mut *transaction)
                .await?;
            let Some(link) = link else {
                transaction.rollback().await?;
                return Ok(None);
            };
            let user = user_of(&link, "login_links")?;
            let latest = micros_before(now, -BROWSER_LIFETIME);
            sqlx::query(CREATE_SESSION)
                .bind(token_hash(session.expose_secret()))
                .bind(user.issuer().to_owned())
                .bind(user.subject().to_owned())
                .bind(micros(now))
                .bind(micros(session_expires_at).min(latest))
                .execute(&mut *transaction)
                .await?;
            AuditEntry::of_user(AuditAction::BrowserSignedIn, Outcome::Success, &user)
                .insert(&mut transaction, now)
                .await?;
            transaction.commit().await?;
            Ok(Some(user))
        })
        .await
    }

    /// The browser session of a token, unless it is unknown, expired
    /// ([`BROWSER_LIFETIME`]), or idle for too long ([`BROWSER_IDLE`]). Counts as being
    /// seen, which is written at most once a minute.
    pub async fn browser_session(
        &self,
        token: &SecretString,
        now: Timestamp,
    ) -> Result<Option<BrowserSession>, StoreError> {
        const TABLE: &str = "browser_sessions";
        Self::within(async {
            let hash = token_hash(token.expose_secret());
            let row = sqlx::query(FIND_SESSION)
                .bind(hash.as_str())
                .bind(micros(now))
                .bind(micros_before(now, BROWSER_IDLE))
                .fetch_optional(&self.shared.reader)
                .await?;
            let Some(row) = row else { return Ok(None) };
            let session = BrowserSession {
                user: user_of(&row, TABLE)?,
                created_at: timestamp(row.try_get("created_at")?, TABLE)?,
                expires_at: timestamp(row.try_get("expires_at")?, TABLE)?,
            };
            let seen: i64 = row.try_get("last_seen_at")?;
            if seen <= micros_before(now, SEEN_EVERY) {
                sqlx::query(SEE_SESSION).bind(hash).bind(micros(now)).execute(&self.shared.writer).await?;
            }
            Ok(Some(session))
        })
        .await
    }

    /// Signs a browser out. An unknown token is no failure.
    pub async fn delete_browser_session(&self, token: &SecretString, now: Timestamp) -> Result<(), StoreError> {
        Self::within(async {
            let mut transaction = self.begin().await?;
            let row = sqlx::query(DELETE_SESSION)
                .bind(token_hash(token.expose_secret()))
                .fetch_optional(&mut *transaction)
                .await?;
            if let Some(row) = row {
                let user = user_of(&row, "browser_sessions")?;
                AuditEntry::of_user(AuditAction::BrowserSignedOut, Outcome::Success, &user)
                    .insert(&mut transaction, now)
                    .await?;
            }
            transaction.commit().await?;
            Ok(())
        })
        .await
    }
}

/// The user in a row's `issuer` and `subject`.
pub(crate) fn user_of(row: &AnyRow, table: &'static str) -> Result<UserId, StoreError> {
    let issuer: String = row.try_get("issuer")?;
    let subject: String = row.try_get("subject")?;
    UserId::new(issuer, subject).map_err(|_| StoreError::impossible(table, "a user that is none"))
}
