//! The browser side: one-time sign-in links and browser sessions.
//!
//! Both rows are sealed: were they not, whoever can write to the database could sign in as anybody.

mod list;

use elicit::UserId;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row as _};

pub use self::list::{BrowserId, SignedInBrowser};
#[cfg(test)]
pub(crate) use self::list::{END_ONE, END_OTHERS, OF_USER, UNNAMED};
use crate::audit::{AuditAction, AuditEntry, Outcome};
use crate::lookup::user_key;
use crate::time::{micros, micros_before, timestamp};
use crate::token::token_hash;
use crate::vault::{Record, RecordKind};
use crate::{KeyError, Store, StoreError};

/// A browser session ends when it was not seen for this long.
pub const BROWSER_IDLE: SignedDuration = SignedDuration::from_hours(30 * 24);
/// A browser session ends this long after its start, whatever was asked for.
pub const BROWSER_LIFETIME: SignedDuration = SignedDuration::from_hours(90 * 24);
/// The longest that is kept of what a browser says of itself, in characters.
const AGENT_LONGEST: usize = 256;
/// `last_seen_at` is written at most this often.
const SEEN_EVERY: SignedDuration = SignedDuration::from_mins(1);

const LINKS: &str = "login_links";
const SESSIONS: &str = "browser_sessions";

const CREATE_LINK: &str = "INSERT INTO login_links (token_hash, issuer, subject, created_at, expires_at, seal) \
     VALUES ($1, $2, $3, $4, $5, $6)";
const USE_LINK: &str = "DELETE FROM login_links WHERE token_hash = $1 AND expires_at > $2 \
     RETURNING issuer, subject, created_at, expires_at, seal";
const CREATE_SESSION: &str = "INSERT INTO browser_sessions \
     (token_hash, issuer, subject, created_at, last_seen_at, expires_at, seal, user_key) \
     VALUES ($1, $2, $3, $4, $4, $5, $6, $7)";
pub(crate) const FIND_SESSION: &str = "SELECT issuer, subject, created_at, last_seen_at, expires_at, seal, user_key \
     FROM browser_sessions WHERE token_hash = $1 AND expires_at > $2 AND last_seen_at > $3";
const SEE_SESSION: &str = "UPDATE browser_sessions SET last_seen_at = $2, user_key = $3 \
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

/// A browser that is about to be signed in.
#[derive(Clone, Copy)]
pub struct NewBrowser<'a> {
    token: &'a SecretString,
    agent: &'a str,
}

impl<'a> NewBrowser<'a> {
    /// A browser that will bring `token`, a new random one.
    pub fn new(token: &'a SecretString) -> Self {
        Self { token, agent: "" }
    }

    /// With what it says of itself (`User-Agent`), which is kept sealed, cleaned and cut, to be shown to its owner.
    #[must_use]
    pub fn saying(self, agent: &'a str) -> Self {
        Self { agent, ..self }
    }
}

impl<'a> From<&'a SecretString> for NewBrowser<'a> {
    fn from(token: &'a SecretString) -> Self {
        Self::new(token)
    }
}

/// What signs a browser in, and what its row must be sealed with.
struct Pass<'a> {
    kind: RecordKind,
    hash: &'a str,
    user: &'a UserId,
    created_at: i64,
    expires_at: i64,
}

/// What the seal of a row says of it.
enum Seal {
    /// With what the row keeps beside: what a browser said of itself; nothing in a link.
    Genuine(String),
    /// Somebody wrote or changed it in the database.
    Forged,
    /// Its master key is gone. The person signs in again.
    KeyGone,
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
            let hash = token_hash(token.expose_secret());
            let (created_at, expires_at) = (micros(now), micros(expires_at));
            let seal =
                self.seal_pass(&Pass { kind: RecordKind::LoginLink, hash: &hash, user, created_at, expires_at }, "")?;
            let mut transaction = self.begin().await?;
            sqlx::query(CREATE_LINK)
                .bind(hash)
                .bind(user.issuer().to_owned())
                .bind(user.subject().to_owned())
                .bind(created_at)
                .bind(expires_at)
                .bind(seal)
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
    /// attempts one succeeds. `None` as well, and audited, if it is not as we made it. The session lasts until `session_expires_at`, at most
    /// [`BROWSER_LIFETIME`].
    pub async fn use_login_link<'a>(
        &'a self,
        token: &'a SecretString,
        session: impl Into<NewBrowser<'a>>,
        session_expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<Option<UserId>, StoreError> {
        let browser = session.into();
        Self::within(async move {
            let hash = token_hash(token.expose_secret());
            let mut transaction = self.begin().await?;
            let link =
                sqlx::query(USE_LINK).bind(hash.as_str()).bind(micros(now)).fetch_optional(&mut *transaction).await?;
            let Some(link) = link else {
                transaction.rollback().await?;
                return Ok(None);
            };
            let user = user_of(&link, LINKS)?;
            let seal = self.check_pass(
                LINKS,
                &Pass {
                    kind: RecordKind::LoginLink,
                    hash: &hash,
                    user: &user,
                    created_at: link.try_get("created_at")?,
                    expires_at: link.try_get("expires_at")?,
                },
                &link,
            )?;
            if !matches!(seal, Seal::Genuine(_)) {
                if matches!(seal, Seal::Forged) {
                    refused(&user, "a link that was changed in the store").insert(&mut transaction, now).await?;
                }
                transaction.commit().await?;
                return Ok(None);
            }
            self.insert_browser(&mut transaction, &user, browser, session_expires_at, now).await?;
            transaction.commit().await?;
            Ok(Some(user))
        })
        .await
    }

    /// The browser session of a token, unless it is unknown, expired
    /// ([`BROWSER_LIFETIME`]), or idle for too long ([`BROWSER_IDLE`]). Counts as being
    /// seen, which is written at most once a minute.
    ///
    /// A row that is not as we made it signs nobody in: it is deleted, and that is audited.
    pub async fn browser_session(
        &self,
        token: &SecretString,
        now: Timestamp,
    ) -> Result<Option<BrowserSession>, StoreError> {
        Self::within(async {
            let hash = token_hash(token.expose_secret());
            let row = sqlx::query(FIND_SESSION)
                .bind(hash.as_str())
                .bind(micros(now))
                .bind(micros_before(now, BROWSER_IDLE))
                .fetch_optional(&self.shared.reader)
                .await?;
            let Some(row) = row else { return Ok(None) };
            let user = user_of(&row, SESSIONS)?;
            let (created_at, expires_at) = (row.try_get("created_at")?, row.try_get("expires_at")?);
            match self.check_session(&hash, &user, &row)? {
                Seal::Genuine(_) => {}
                Seal::Forged => {
                    self.drop_forged(&hash, &user, now).await?;
                    return Ok(None);
                }
                Seal::KeyGone => return Ok(None),
            }
            let session = BrowserSession {
                user,
                created_at: timestamp(created_at, SESSIONS)?,
                expires_at: timestamp(expires_at, SESSIONS)?,
            };
            let seen: i64 = row.try_get("last_seen_at")?;
            if seen <= micros_before(now, SEEN_EVERY) {
                sqlx::query(SEE_SESSION)
                    .bind(hash)
                    .bind(micros(now))
                    .bind(user_key(&session.user))
                    .execute(&self.shared.writer)
                    .await?;
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
                let user = user_of(&row, SESSIONS)?;
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

impl Store {
    /// Writes the row of a browser that signs in, and that it did. It lasts at most [`BROWSER_LIFETIME`].
    async fn insert_browser(
        &self,
        connection: &mut AnyConnection,
        user: &UserId,
        browser: NewBrowser<'_>,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let hash = token_hash(browser.token.expose_secret());
        let created_at = micros(now);
        let expires_at = micros(expires_at).min(micros_before(now, -BROWSER_LIFETIME));
        let pass = Pass { kind: RecordKind::BrowserSession, hash: &hash, user, created_at, expires_at };
        let seal = self.seal_pass(&pass, &elicit::text::line(browser.agent, AGENT_LONGEST))?;
        sqlx::query(CREATE_SESSION)
            .bind(hash)
            .bind(user.issuer().to_owned())
            .bind(user.subject().to_owned())
            .bind(created_at)
            .bind(expires_at)
            .bind(seal)
            .bind(user_key(user))
            .execute(&mut *connection)
            .await?;
        AuditEntry::of_user(AuditAction::BrowserSignedIn, Outcome::Success, user).insert(connection, now).await
    }

    fn seal_pass(&self, pass: &Pass<'_>, beside: &str) -> Result<Vec<u8>, StoreError> {
        pass.in_record(|record| self.shared.vault.seal(record, beside.as_bytes())).map_err(StoreError::Unsealed)
    }

    /// What the seal of a session's row says. A row that stands under another user's name is forged as well: its owner
    /// would not find it in their list.
    fn check_session(&self, hash: &str, user: &UserId, row: &AnyRow) -> Result<Seal, StoreError> {
        let key: String = row.try_get("user_key")?;
        if !key.is_empty() && key != user_key(user) {
            tracing::error!(table = SESSIONS, "a sign-in was changed in the store, and is refused");
            return Ok(Seal::Forged);
        }
        let (created_at, expires_at) = (row.try_get("created_at")?, row.try_get("expires_at")?);
        let pass = Pass { kind: RecordKind::BrowserSession, hash, user, created_at, expires_at };
        self.check_pass(SESSIONS, &pass, row)
    }

    fn check_pass(&self, table: &'static str, pass: &Pass<'_>, row: &AnyRow) -> Result<Seal, StoreError> {
        let seal: Vec<u8> = row.try_get("seal")?;
        match pass.in_record(|record| self.shared.vault.open(record, &seal)) {
            Ok(beside) => Ok(Seal::Genuine(String::from_utf8_lossy(&beside).into_owned())),
            Err(KeyError::UnknownKey(key_id)) => {
                tracing::warn!(table, key_id, "the master key of a sign-in is gone");
                Ok(Seal::KeyGone)
            }
            Err(error) if error.is_tampering() => {
                tracing::error!(table, "a sign-in was changed in the store, and is refused");
                Ok(Seal::Forged)
            }
            Err(source) => Err(StoreError::Unopened { table, id: pass.hash.to_owned(), source }),
        }
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

impl Pass<'_> {
    fn in_record<T>(&self, work: impl FnOnce(&Record<'_>) -> T) -> T {
        let times = [self.created_at, self.expires_at].map(|time| time.to_string());
        let [created_at, expires_at] = &times;
        work(&Record { kind: self.kind, id: self.hash, user: self.user, scope: &[created_at, expires_at] })
    }
}

fn refused(user: &UserId, detail: &'static str) -> AuditEntry {
    AuditEntry { detail: Some(detail), ..AuditEntry::of_user(AuditAction::BrowserRefused, Outcome::Refused, user) }
}

/// The user in a row's `issuer` and `subject`.
pub(crate) fn user_of(row: &AnyRow, table: &'static str) -> Result<UserId, StoreError> {
    let issuer: String = row.try_get("issuer")?;
    let subject: String = row.try_get("subject")?;
    UserId::new(issuer, subject).map_err(|_| StoreError::impossible(table, "a user that is none"))
}
