//! The browser side: one-time sign-in links and browser sessions.
//!
//! Both rows are sealed: were they not, whoever can write to the database could sign in as anybody.

use elicit::UserId;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::Row as _;
use sqlx::any::AnyRow;

use crate::audit::{AuditAction, AuditEntry, Outcome};
use crate::time::{micros, micros_before, timestamp};
use crate::token::token_hash;
use crate::vault::{Record, RecordKind};
use crate::{KeyError, Store, StoreError};

/// A browser session ends when it was not seen for this long.
pub const BROWSER_IDLE: SignedDuration = SignedDuration::from_hours(30 * 24);
/// A browser session ends this long after its start, whatever was asked for.
pub const BROWSER_LIFETIME: SignedDuration = SignedDuration::from_hours(90 * 24);
/// `last_seen_at` is written at most this often.
const SEEN_EVERY: SignedDuration = SignedDuration::from_mins(1);

const LINKS: &str = "login_links";
const SESSIONS: &str = "browser_sessions";

const CREATE_LINK: &str = "INSERT INTO login_links (token_hash, issuer, subject, created_at, expires_at, seal) \
     VALUES ($1, $2, $3, $4, $5, $6)";
const USE_LINK: &str = "DELETE FROM login_links WHERE token_hash = $1 AND expires_at > $2 \
     RETURNING issuer, subject, created_at, expires_at, seal";
const CREATE_SESSION: &str = "INSERT INTO browser_sessions \
     (token_hash, issuer, subject, created_at, last_seen_at, expires_at, seal) \
     VALUES ($1, $2, $3, $4, $4, $5, $6)";
pub(crate) const FIND_SESSION: &str = "SELECT issuer, subject, created_at, last_seen_at, expires_at, seal \
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
    Genuine,
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
                self.seal_pass(&Pass { kind: RecordKind::LoginLink, hash: &hash, user, created_at, expires_at })?;
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
    pub async fn use_login_link(
        &self,
        token: &SecretString,
        session: &SecretString,
        session_expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<Option<UserId>, StoreError> {
        Self::within(async {
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
            if !matches!(seal, Seal::Genuine) {
                if matches!(seal, Seal::Forged) {
                    refused(&user, "a link that was changed in the store").insert(&mut transaction, now).await?;
                }
                transaction.commit().await?;
                return Ok(None);
            }
            let hash = token_hash(session.expose_secret());
            let created_at = micros(now);
            let expires_at = micros(session_expires_at).min(micros_before(now, -BROWSER_LIFETIME));
            let kind = RecordKind::BrowserSession;
            let seal = self.seal_pass(&Pass { kind, hash: &hash, user: &user, created_at, expires_at })?;
            sqlx::query(CREATE_SESSION)
                .bind(hash)
                .bind(user.issuer().to_owned())
                .bind(user.subject().to_owned())
                .bind(created_at)
                .bind(expires_at)
                .bind(seal)
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
            let pass = Pass { kind: RecordKind::BrowserSession, hash: &hash, user: &user, created_at, expires_at };
            match self.check_pass(SESSIONS, &pass, &row)? {
                Seal::Genuine => {}
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
    fn seal_pass(&self, pass: &Pass<'_>) -> Result<Vec<u8>, StoreError> {
        pass.in_record(|record| self.shared.vault.seal(record, &[])).map_err(StoreError::Unsealed)
    }

    fn check_pass(&self, table: &'static str, pass: &Pass<'_>, row: &AnyRow) -> Result<Seal, StoreError> {
        let seal: Vec<u8> = row.try_get("seal")?;
        match pass.in_record(|record| self.shared.vault.open(record, &seal)) {
            // The seal has nothing in it: to open is to be genuine.
            Ok(_) => Ok(Seal::Genuine),
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
