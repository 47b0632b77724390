//! Sessions of browsers.

use std::fmt;

use elicit::UserId;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret, SecretString};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row as _};
use zeroize::Zeroizing;

use super::seal::{Pass, Seal};
use super::{refused, user_of};
use crate::audit::{AuditAction, AuditEntry, Outcome};
use crate::lookup::user_key;
use crate::time::{micros, micros_before, timestamp};
use crate::token::token_hash;
use crate::vault::RecordKind;
use crate::{Store, StoreError};

/// A browser session ends when it was not seen for this long, if not earlier.
pub const BROWSER_IDLE: SignedDuration = SignedDuration::from_hours(30 * 24);
/// A browser session ends this long after its start, if not earlier.
pub const BROWSER_LIFETIME: SignedDuration = SignedDuration::from_hours(90 * 24);
/// `last_seen_at` is written at most this often, and oftener where sessions end so soon that it would count.
const SEEN_EVERY: SignedDuration = SignedDuration::from_mins(1);

/// The longest that is kept of what a browser says of itself, in characters.
const AGENT_LONGEST: usize = 256;

pub(super) const SESSIONS: &str = "browser_sessions";

const CREATE_SESSION: &str = "INSERT INTO browser_sessions \
     (token_hash, issuer, subject, created_at, last_seen_at, expires_at, seal, user_key) \
     VALUES ($1, $2, $3, $4, $4, $5, $6, $7)";
pub(crate) const FIND_SESSION: &str = "SELECT issuer, subject, created_at, last_seen_at, expires_at, seal, user_key \
     FROM browser_sessions WHERE token_hash = $1 AND expires_at > $2 AND last_seen_at > $3 AND created_at > $4";
const SEE_SESSION: &str = "UPDATE browser_sessions SET last_seen_at = $2, user_key = $3 \
     WHERE token_hash = $1 AND last_seen_at < $2";
const DELETE_SESSION: &str = "DELETE FROM browser_sessions WHERE token_hash = $1 \
     RETURNING issuer, subject, created_at, expires_at, seal, user_key";

/// How long sessions of browsers last. Asked at each look-up, so that what is made shorter counts at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BrowserTimes {
    /// Without being seen.
    pub idle: SignedDuration,
    /// However much they are used.
    pub lifetime: SignedDuration,
}

impl BrowserTimes {
    /// The longest that there are: [`BROWSER_IDLE`] and [`BROWSER_LIFETIME`].
    pub const LONGEST: Self = Self { idle: BROWSER_IDLE, lifetime: BROWSER_LIFETIME };
}

/// A session that is to begin.
#[derive(Debug, Clone, Copy)]
pub struct NewBrowserSession<'a> {
    /// Its token: new, random, with 128 bits or more. Only the hash is stored.
    pub token: &'a SecretString,
    /// What the browser says of itself (`User-Agent`): kept in the seal as one clean line, to be shown to its owner.
    pub agent: &'a str,
    /// Kept in its seal, for [`Store::delete_browser_session`] to give back: what a sign-out needs. Nothing else reads it.
    pub kept: Option<&'a SecretString>,
    /// The token of the session that this browser had before. It ends: a new sign-in is a new session.
    pub before: Option<&'a SecretString>,
    /// When it ends, however much it is used; at most [`BROWSER_LIFETIME`] from now.
    pub expires_at: Timestamp,
}

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

/// A session that was ended by signing out.
pub struct EndedBrowserSession {
    /// Whose it was.
    pub user: UserId,
    /// What was kept in it.
    pub kept: Option<SecretString>,
}

impl fmt::Debug for EndedBrowserSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EndedBrowserSession").field("user", &self.user).finish_non_exhaustive()
    }
}

impl Store {
    /// The browser session of a token, unless it is unknown, expired, or idle for too long. Counts as being
    /// seen, which is written at most once a minute.
    ///
    /// A row that is not as we made it signs nobody in: it is deleted, and that is audited.
    pub async fn browser_session(
        &self,
        token: &SecretString,
        times: BrowserTimes,
        now: Timestamp,
    ) -> Result<Option<BrowserSession>, StoreError> {
        Self::within(async {
            let hash = token_hash(token.expose_secret());
            let row = sqlx::query(FIND_SESSION)
                .bind(hash.as_str())
                .bind(micros(now))
                .bind(micros_before(now, times.idle.min(BROWSER_IDLE)))
                .bind(micros_before(now, times.lifetime))
                .fetch_optional(&self.shared.reader)
                .await?;
            let Some(row) = row else { return Ok(None) };
            let (user, seal) = self.check_browser_session(&hash, &row)?;
            match seal {
                Seal::Genuine(_) => {}
                Seal::Forged => {
                    self.drop_forged(&hash, &user, now).await?;
                    return Ok(None);
                }
                Seal::KeyGone => return Ok(None),
            }
            let session = BrowserSession {
                user,
                created_at: timestamp(row.try_get("created_at")?, SESSIONS)?,
                expires_at: timestamp(row.try_get("expires_at")?, SESSIONS)?,
            };
            let seen: i64 = row.try_get("last_seen_at")?;
            if seen <= micros_before(now, SEEN_EVERY.min(times.idle / 4)) {
                let key = user_key(&session.user);
                sqlx::query(SEE_SESSION).bind(hash).bind(micros(now)).bind(key).execute(&self.shared.writer).await?;
            }
            Ok(Some(session))
        })
        .await
    }

    /// Signs a browser out, and gives back what was kept in the session. `None` for an unknown token, which is no failure.
    pub async fn delete_browser_session(
        &self,
        token: &SecretString,
        now: Timestamp,
    ) -> Result<Option<EndedBrowserSession>, StoreError> {
        Self::within(async {
            let mut transaction = self.begin().await?;
            let ended = self.sign_out(&mut transaction, token, now).await?;
            transaction.commit().await?;
            Ok(ended)
        })
        .await
    }

    /// Begins a session, and ends the one before it, with whatever else the transaction does. The one place where sessions
    /// are made.
    pub(super) async fn begin_browser_session(
        &self,
        connection: &mut AnyConnection,
        user: &UserId,
        session: NewBrowserSession<'_>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if let Some(before) = session.before {
            match self.sign_out(connection, before, now).await {
                // A row that cannot be read is gone all the same, and keeps nobody from signing in.
                Err(error @ StoreError::ImpossibleRow { .. }) => tracing::warn!(%error, "a session was not audited"),
                ended => drop(ended?),
            }
        }
        let hash = token_hash(session.token.expose_secret());
        let created_at = micros(now);
        let expires_at = micros(session.expires_at).min(micros_before(now, -BROWSER_LIFETIME));
        let pass = Pass { kind: RecordKind::BrowserSession, hash: &hash, user, created_at, expires_at };
        let seal = self.seal_pass(&pass, &content(session.agent, session.kept))?;
        let query = pass.bind(sqlx::query(CREATE_SESSION), seal);
        query.bind(user_key(user)).execute(&mut *connection).await?;
        AuditEntry::of_user(AuditAction::BrowserSignedIn, Outcome::Success, user).insert(connection, now).await
    }

    async fn sign_out(
        &self,
        connection: &mut AnyConnection,
        token: &SecretString,
        now: Timestamp,
    ) -> Result<Option<EndedBrowserSession>, StoreError> {
        let hash = token_hash(token.expose_secret());
        let row = sqlx::query(DELETE_SESSION).bind(hash.as_str()).fetch_optional(&mut *connection).await?;
        let Some(row) = row else { return Ok(None) };
        let (user, seal) = self.check_browser_session(&hash, &row)?;
        AuditEntry::of_user(AuditAction::BrowserSignedOut, Outcome::Success, &user).insert(connection, now).await?;
        let kept = match &seal {
            Seal::Genuine(content) => parts(content).1,
            Seal::Forged | Seal::KeyGone => None,
        };
        Ok(Some(EndedBrowserSession { user, kept: kept.map(SecretString::from) }))
    }

    /// Whose a row is, and whether it is as we made it. One that stands under another user's key is not: its owner would not
    /// find it among their own.
    pub(super) fn check_browser_session(&self, hash: &str, row: &AnyRow) -> Result<(UserId, Seal), StoreError> {
        let user = user_of(row, SESSIONS)?;
        let key: String = row.try_get("user_key")?;
        if !key.is_empty() && key != user_key(&user) {
            tracing::error!(table = SESSIONS, "a sign-in was changed in the store, and is refused");
            return Ok((user, Seal::Forged));
        }
        let (created_at, expires_at) = (row.try_get("created_at")?, row.try_get("expires_at")?);
        let pass = Pass { kind: RecordKind::BrowserSession, hash, user: &user, created_at, expires_at };
        let seal = self.check_pass(SESSIONS, &pass, row)?;
        Ok((user, seal))
    }

    /// Audited by whoever deletes it, so once.
    async fn drop_forged(&self, hash: &str, user: &UserId, now: Timestamp) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        let row = sqlx::query(DELETE_SESSION).bind(hash.to_owned()).fetch_optional(&mut *transaction).await?;
        if row.is_some() {
            refused(user, "a session that was changed in the store").insert(&mut transaction, now).await?;
        }
        transaction.commit().await?;
        Ok(())
    }
}

/// What is sealed into a session: what its browser says of itself, then a NUL, which a clean line has not, and what a
/// sign-out needs.
fn content(agent: &str, kept: Option<&SecretString>) -> Zeroizing<Vec<u8>> {
    let agent = elicit::text::line(agent, AGENT_LONGEST);
    let kept = kept.map(ExposeSecret::expose_secret).unwrap_or_default();
    // Room for all at once: growing would leave copies behind.
    let mut content = Zeroizing::new(Vec::with_capacity(agent.len() + 1 + kept.len()));
    content.extend_from_slice(agent.as_bytes());
    content.push(0);
    content.extend_from_slice(kept.as_bytes());
    content
}

/// The two parts of it; neither in a session of an earlier version.
pub(super) fn parts(content: &[u8]) -> (&str, Option<&str>) {
    let text = str::from_utf8(content).unwrap_or_default();
    let (agent, kept) = text.split_once('\0').unwrap_or_default();
    (agent, Some(kept).filter(|kept| !kept.is_empty()))
}
