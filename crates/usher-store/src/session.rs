//! Sessions of legacy MCP clients.

mod room;

use std::fmt;

use elicit::{ClientCapabilities, ClientId, Principal, Random, Revision};
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row as _};
use zeroize::Zeroizing;

pub use self::room::{Begun, SessionLimits};
#[cfg(test)]
pub(crate) use self::room::{COUNT, IDLE_OF_CLIENT, IDLE_OF_USER};
use crate::browser::user_of;
use crate::keys::KeyError;
use crate::lookup::{client_key, user_key};
use crate::time::{micros, timestamp};
use crate::vault::{Record, RecordKind};
use crate::{Event, InvalidId, Store, StoreError, notice, token};

const TABLE: &str = "mcp_sessions";

macro_rules! columns {
    () => {
        "session_key, upstream, sealed, issuer, subject, client, \
         client_claim, revision, capabilities, initialize_params, begun, created_at, expires_at"
    };
}
pub(super) use columns;

const CREATE: &str = concat!(
    "INSERT INTO mcp_sessions (",
    columns!(),
    ", user_key, client_key) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)"
);
pub(crate) const FIND: &str =
    concat!("SELECT ", columns!(), " FROM mcp_sessions WHERE session_key = $1 AND expires_at > $2");
const EXTEND: &str = "UPDATE mcp_sessions SET expires_at = $2 \
     WHERE session_key = $1 AND expires_at < $2 AND expires_at > $3";
const BEGIN: &str = "UPDATE mcp_sessions SET sealed = $2, begun = 1 \
     WHERE session_key = $1 AND begun = 0";
const DELETE: &str = "DELETE FROM mcp_sessions WHERE session_key = $1";

/// The first byte of the sealed value: whether the upstream has an id of its own for the session.
const NONE: u8 = 0;
const SOME: u8 = 1;

/// The id of a session as the client sends it: 256 random bits, base64url. A
/// secret; rows and logs carry its [`SessionKey`].
#[derive(Clone)]
pub struct SessionId(SecretString);

/// What stands for a session id in rows and logs: its SHA-256, base64url.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionKey(String);

impl SessionId {
    /// A new id.
    pub fn new(random: &dyn Random) -> Self {
        Self(token::random_text(random).into())
    }

    /// Reads an id, strictly.
    pub fn parse(text: &str) -> Result<Self, InvalidId> {
        if token::is_random_text(text) { Ok(Self(text.into())) } else { Err(InvalidId) }
    }

    /// What stands for it.
    pub fn key(&self) -> SessionKey {
        SessionKey(token::token_hash(self.0.expose_secret()))
    }

    /// The secret text, for the header that the client is sent.
    pub fn expose(&self) -> &str {
        self.0.expose_secret()
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionId([REDACTED])")
    }
}

impl SessionKey {
    /// The text of the key.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        token::is_random_text(text).then(|| Self(text.to_owned()))
    }
}

impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A session that begins.
#[derive(Clone)]
pub struct NewSession {
    /// Its id.
    pub id: SessionId,
    /// The upstream's name in the configuration.
    pub upstream: String,
    /// The upstream's own id of the session. A secret; sealed at rest.
    pub upstream_session: Option<String>,
    /// The verified user and client that it is bound to (R-ID-01).
    pub principal: Principal,
    /// The revision that was agreed on.
    pub revision: Revision,
    /// The client's capabilities, as JSON text.
    pub capabilities: String,
    /// What the client says of itself.
    pub client_claim: Option<String>,
    /// The params of `initialize`, as JSON text, to begin again with another upstream session.
    pub initialize: String,
    /// Whether the upstream has begun its side. An upstream that refuses whoever lacks a credential has not (R-GW-06).
    pub begun: bool,
    /// When it ends unless it is extended.
    pub expires_at: Timestamp,
}

/// A session, as the store knows it.
#[derive(Clone)]
pub struct Session {
    /// What stands for its id.
    pub key: SessionKey,
    /// The upstream's name in the configuration.
    pub upstream: String,
    /// The upstream's own id of the session. A secret.
    pub upstream_session: Option<String>,
    /// The verified user and client that it is bound to (R-ID-01).
    pub principal: Principal,
    /// The revision that was agreed on.
    pub revision: Revision,
    /// What the client can do.
    pub capabilities: ClientCapabilities,
    /// What the client says of itself.
    pub client_claim: Option<String>,
    /// The params of `initialize`, as JSON text.
    pub initialize: String,
    /// Whether the upstream has begun its side.
    pub begun: bool,
    /// When it began.
    pub created_at: Timestamp,
    /// When it ends unless it is extended.
    pub expires_at: Timestamp,
}

impl fmt::Debug for NewSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewSession")
            .field("key", &self.id.key())
            .field("upstream", &self.upstream)
            .field("principal", &self.principal)
            .field("revision", &self.revision)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("key", &self.key)
            .field("upstream", &self.upstream)
            .field("principal", &self.principal)
            .field("revision", &self.revision)
            .field("expires_at", &self.expires_at)
            .finish_non_exhaustive()
    }
}

impl Store {
    /// Keeps a session, so that any replica can serve its next message (R-GW-08).
    pub async fn create_session(&self, session: NewSession, now: Timestamp) -> Result<(), StoreError> {
        Self::within(async {
            let mut transaction = self.begin().await?;
            self.insert_session(&mut transaction, &session, now).await?;
            transaction.commit().await?;
            Ok(())
        })
        .await
    }

    async fn insert_session(
        &self,
        connection: &mut AnyConnection,
        session: &NewSession,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let key = session.id.key();
        let record = record(&key, &session.upstream, &session.principal.client);
        let sealed = self.seal_upstream(&record.of(&session.principal), session.upstream_session.as_deref())?;
        let user = &session.principal.user;
        sqlx::query(CREATE)
            .bind(key.as_str().to_owned())
            .bind(session.upstream.clone())
            .bind(sealed)
            .bind(user.issuer().to_owned())
            .bind(user.subject().to_owned())
            .bind(session.principal.client.as_str().to_owned())
            .bind(session.client_claim.as_deref().map(storable))
            .bind(session.revision.as_str())
            .bind(session.capabilities.clone())
            .bind(session.initialize.clone())
            .bind(i64::from(session.begun))
            .bind(micros(now))
            .bind(micros(session.expires_at))
            .bind(user_key(user))
            .bind(client_key(&session.principal))
            .execute(connection)
            .await?;
        Ok(())
    }

    /// The session of an id, unless it is unknown or has ended. Whoever asks still
    /// compares the principal (R-ID-01).
    ///
    /// A session whose master key is gone is unknown as well: its client then begins anew.
    pub async fn session(&self, id: &SessionId, now: Timestamp) -> Result<Option<Session>, StoreError> {
        self.session_of(&id.key(), now).await
    }

    /// The same by what stands for the id, for those who have found it before.
    pub async fn session_of(&self, key: &SessionKey, now: Timestamp) -> Result<Option<Session>, StoreError> {
        Self::within(async {
            let row = sqlx::query(FIND)
                .bind(key.as_str().to_owned())
                .bind(micros(now))
                .fetch_optional(&self.shared.reader)
                .await?;
            match row {
                Some(row) => self.read_session(&row),
                None => Ok(None),
            }
        })
        .await
    }

    /// Notes that the upstream has begun its side of a session that began without it. False where somebody else noted it
    /// first: then that upstream session counts.
    pub async fn begin_session(&self, session: &Session, upstream_session: Option<&str>) -> Result<bool, StoreError> {
        let record = record(&session.key, &session.upstream, &session.principal.client);
        let sealed = self.seal_upstream(&record.of(&session.principal), upstream_session)?;
        let begun = Self::within(async {
            let mut transaction = self.begin().await?;
            let begun = sqlx::query(BEGIN)
                .bind(session.key.as_str().to_owned())
                .bind(sealed)
                .execute(&mut *transaction)
                .await?
                .rows_affected();
            transaction.commit().await?;
            Ok(begun > 0)
        })
        .await?;
        self.publish(Event::Session(session.key.clone()));
        Ok(begun)
    }

    /// Also where there is none: the seal is what binds the row to its principal.
    fn seal_upstream(&self, place: &Record<'_>, upstream_session: Option<&str>) -> Result<Vec<u8>, StoreError> {
        let text = upstream_session.unwrap_or_default();
        let mut bytes = Zeroizing::new(Vec::with_capacity(1 + text.len()));
        bytes.push(if upstream_session.is_some() { SOME } else { NONE });
        bytes.extend_from_slice(text.as_bytes());
        self.shared.vault.seal(place, &bytes).map_err(StoreError::Unsealed)
    }

    /// Lets a session last until `expires_at`. Never shortens it, and does not bring
    /// back one that has ended (R-GW-09).
    pub async fn extend_session(
        &self,
        key: &SessionKey,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        Self::within(async {
            sqlx::query(EXTEND)
                .bind(key.as_str().to_owned())
                .bind(micros(expires_at))
                .bind(micros(now))
                .execute(&self.shared.writer)
                .await?;
            Ok(())
        })
        .await
    }

    /// Ends a session, with the notices that it is still owed. An unknown key is no failure.
    pub async fn delete_session(&self, key: &SessionKey) -> Result<(), StoreError> {
        let deleted = Self::within(async {
            let mut transaction = self.begin().await?;
            let deleted =
                sqlx::query(DELETE).bind(key.as_str().to_owned()).execute(&mut *transaction).await?.rows_affected();
            sqlx::query(notice::DELETE_OF_SESSION).bind(key.as_str().to_owned()).execute(&mut *transaction).await?;
            transaction.commit().await?;
            Ok(deleted)
        })
        .await?;
        if deleted > 0 {
            self.publish(Event::Session(key.clone()));
        }
        Ok(())
    }

    fn read_session(&self, row: &AnyRow) -> Result<Option<Session>, StoreError> {
        let impossible = |what: &str| StoreError::impossible(TABLE, what);
        let key = SessionKey::parse(row.try_get("session_key")?).ok_or_else(|| impossible("a key that is none"))?;
        let client: String = row.try_get("client")?;
        let principal = Principal {
            user: user_of(row, TABLE)?,
            client: ClientId::new(client).map_err(|_| impossible("a client that is none"))?,
        };
        let upstream: String = row.try_get("upstream")?;
        let sealed: Vec<u8> = row.try_get("sealed")?;
        let opened = match self.shared.vault.open(&record(&key, &upstream, &principal.client).of(&principal), &sealed) {
            Ok(opened) => opened,
            Err(KeyError::UnknownKey(key_id)) => {
                tracing::warn!(session = %key, key_id, "the master key of a session is gone");
                return Ok(None);
            }
            Err(source) => return Err(StoreError::Unopened { table: TABLE, id: key.0, source }),
        };
        let upstream_session = match opened.split_first() {
            Some((&NONE, [])) => None,
            Some((&SOME, text)) => {
                Some(str::from_utf8(text).map_err(|_| impossible("an upstream session that is no text"))?.to_owned())
            }
            _ => return Err(impossible("a sealed value of another shape")),
        };
        Ok(Some(Session {
            key,
            upstream,
            upstream_session,
            principal,
            revision: Revision::parse(row.try_get("revision")?)
                .ok_or_else(|| impossible("a revision of another name"))?,
            capabilities: ClientCapabilities::parse(row.try_get("capabilities")?)
                .map_err(|_| impossible("capabilities that are none"))?,
            client_claim: row.try_get("client_claim")?,
            initialize: row.try_get("initialize_params")?,
            begun: row.try_get::<i64, _>("begun")? != 0,
            created_at: timestamp(row.try_get("created_at")?, TABLE)?,
            expires_at: timestamp(row.try_get("expires_at")?, TABLE)?,
        }))
    }
}

/// The place of a sealed session: a row that was moved to another
/// principal or upstream does not open.
struct Place<'a> {
    key: &'a SessionKey,
    scope: [&'a str; 2],
}

fn record<'a>(key: &'a SessionKey, upstream: &'a str, client: &'a ClientId) -> Place<'a> {
    Place { key, scope: [upstream, client.as_str()] }
}

impl<'a> Place<'a> {
    fn of(&'a self, principal: &'a Principal) -> Record<'a> {
        Record { kind: RecordKind::Session, id: self.key.as_str(), user: &principal.user, scope: &self.scope }
    }
}

/// A claim is the client's own text, and PostgreSQL keeps no NUL.
pub(crate) fn storable(claim: &str) -> String {
    claim.replace('\0', "\u{fffd}")
}
