//! Our registrations at authorization servers: found by issuer and redirect URI, so that a changed issuer never gets
//! what another one gave us (R-OAUTH-05).

mod content;

use jiff::Timestamp;
use secrecy::SecretString;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row as _};

use self::content::Content;
use crate::lookup::key_of;
use crate::time::micros;
use crate::vault::{Record, RecordKind};
use crate::{KeyError, Store, StoreError, key_notes};

const TABLE: &str = "oauth_clients";

/// Others can be first only as often as they change this one registration.
const ATTEMPTS: usize = 8;

/// Whose registrations are, in the place of a user: this installation's.
macro_rules! owner_issuer {
    () => {
        "urn:usher:oauth"
    };
}
const OWNER: &str = "client";

pub(crate) const FIND: &str = "SELECT client_key, sealed FROM oauth_clients WHERE client_key = $1";
const INSERT: &str = "INSERT INTO oauth_clients (client_key, issuer, redirect_uri, created_at, sealed) \
     VALUES ($1, $2, $3, $4, $5) ON CONFLICT (client_key) DO NOTHING";
pub(crate) const REPLACE: &str =
    "UPDATE oauth_clients SET created_at = $3, sealed = $4 WHERE client_key = $1 AND sealed = $2";
pub(crate) const FORGET: &str = "DELETE FROM oauth_clients WHERE client_key = $1 AND sealed = $2";
/// What wrapping anew reads: the row's place and owner, what it is sealed for, and its value.
pub(crate) const REWRAP: &str = concat!(
    "SELECT client_key AS place, CAST('",
    owner_issuer!(),
    "' AS TEXT) AS issuer, CAST('client' AS TEXT) AS subject, oauth_clients.issuer AS server, redirect_uri, sealed \
     FROM oauth_clients WHERE key_id = $1 AND client_key > $2 ORDER BY client_key LIMIT 100"
);
pub(crate) const SWAP: &str = "UPDATE oauth_clients SET sealed = $3 WHERE client_key = $1 AND sealed = $2";

/// A registration of ours at an authorization server.
#[derive(Debug, Clone)]
pub struct OAuthClient {
    /// Whose registration it is: the issuer, exactly.
    pub issuer: String,
    /// For which redirect URI.
    pub redirect_uri: String,
    /// The `client_id`.
    pub id: String,
    /// The `client_secret`, where it got one.
    pub secret: Option<SecretString>,
    /// How it authenticates at the token endpoint.
    pub method: String,
    /// When the secret expires; `None` where it does not.
    pub expires_at: Option<Timestamp>,
    /// Where the registration is managed (RFC 7592).
    pub registration: Option<String>,
    /// What manages it there.
    pub token: Option<SecretString>,
}

/// What lies under a key.
enum Found {
    Nothing,
    Client(Box<OAuthClient>, Vec<u8>),
    /// Changed in the database, or its master key is gone: as good as none.
    Unreadable(Vec<u8>),
}

impl Store {
    /// Our registration at an issuer for a redirect URI, also one whose secret has expired; `None` where there is none
    /// that can be read.
    pub async fn oauth_client(&self, issuer: &str, redirect_uri: &str) -> Result<Option<OAuthClient>, StoreError> {
        Self::within(async {
            let mut connection = self.shared.reader.acquire().await?;
            Ok(match self.find_client(&mut connection, issuer, redirect_uri).await? {
                Found::Client(client, _) => Some(*client),
                Found::Nothing | Found::Unreadable(_) => None,
            })
        })
        .await
    }

    /// Keeps a new registration, and returns the one that counts: the first that was kept, for all replicas. One that
    /// has expired or cannot be read gives way.
    pub async fn keep_oauth_client(&self, new: OAuthClient, now: Timestamp) -> Result<OAuthClient, StoreError> {
        Self::within(async {
            for _ in 0..ATTEMPTS {
                if let Some(counts) = self.try_keep_client(&new, now).await? {
                    return Ok(counts);
                }
            }
            Err(StoreError::Contended)
        })
        .await
    }

    /// Forgets a registration, if it is still the one with this `client_id`: true if so. For one that its server does
    /// not know any more.
    pub async fn forget_oauth_client(&self, issuer: &str, redirect_uri: &str, id: &str) -> Result<bool, StoreError> {
        Self::within(async {
            for _ in 0..ATTEMPTS {
                let mut transaction = self.begin().await?;
                let Found::Client(client, sealed) = self.find_client(&mut transaction, issuer, redirect_uri).await?
                else {
                    return Ok(false);
                };
                if client.id != id {
                    return Ok(false);
                }
                let query = sqlx::query(FORGET).bind(client_key(issuer, redirect_uri)).bind(sealed);
                let forgotten = query.execute(&mut *transaction).await?.rows_affected() > 0;
                transaction.commit().await?;
                // Else it was wrapped anew, or replaced, between the two.
                if forgotten {
                    return Ok(true);
                }
            }
            Err(StoreError::Contended)
        })
        .await
    }

    /// `None` where another transaction was first.
    async fn try_keep_client(&self, new: &OAuthClient, now: Timestamp) -> Result<Option<OAuthClient>, StoreError> {
        let key = client_key(&new.issuer, &new.redirect_uri);
        let sealed = self.seal_client(&key, new)?;
        let mut transaction = self.begin().await?;
        let inserted = sqlx::query(INSERT)
            .bind(key.clone())
            .bind(new.issuer.clone())
            .bind(new.redirect_uri.clone())
            .bind(micros(now))
            .bind(sealed.clone())
            .execute(&mut *transaction)
            .await?
            .rows_affected();
        if inserted > 0 {
            transaction.commit().await?;
            return Ok(Some(new.clone()));
        }
        let before = match self.find_client(&mut transaction, &new.issuer, &new.redirect_uri).await? {
            Found::Client(client, _) if client.expires_at.is_none_or(|until| until > now) => return Ok(Some(*client)),
            Found::Client(_, before) | Found::Unreadable(before) => before,
            Found::Nothing => return Ok(None),
        };
        let query = sqlx::query(REPLACE).bind(key).bind(before).bind(micros(now)).bind(sealed);
        let replaced = query.execute(&mut *transaction).await?.rows_affected() > 0;
        transaction.commit().await?;
        Ok(replaced.then(|| new.clone()))
    }

    async fn find_client(
        &self,
        connection: &mut AnyConnection,
        issuer: &str,
        redirect_uri: &str,
    ) -> Result<Found, StoreError> {
        let key = client_key(issuer, redirect_uri);
        let Some(row) = sqlx::query(FIND).bind(key.clone()).fetch_optional(&mut *connection).await? else {
            return Ok(Found::Nothing);
        };
        let sealed: Vec<u8> = row.try_get("sealed")?;
        match self.open_client(&key, issuer, redirect_uri, &sealed) {
            Ok(client) => Ok(Found::Client(Box::new(client), sealed)),
            Err(source) => {
                let error = StoreError::Unopened { table: TABLE, id: key, source };
                let error = key_notes::behind(connection, error).await;
                if !error.is_unopened() {
                    return Err(error);
                }
                tracing::warn!(issuer, %error, "a stored registration cannot be read");
                Ok(Found::Unreadable(sealed))
            }
        }
    }

    fn open_client(&self, key: &str, issuer: &str, redirect_uri: &str, sealed: &[u8]) -> Result<OAuthClient, KeyError> {
        let owner = owner()?;
        let scope = [issuer, redirect_uri];
        let record = Record { kind: RecordKind::OAuthClient, id: key, user: &owner, scope: &scope };
        let bytes = self.shared.vault.open(&record, sealed)?;
        // The parser's own error could quote a secret.
        Content::parse(&bytes, issuer, redirect_uri).map_err(|_| KeyError::Malformed)
    }

    fn seal_client(&self, key: &str, client: &OAuthClient) -> Result<Vec<u8>, StoreError> {
        let owner = owner().map_err(StoreError::Unsealed)?;
        let scope = [client.issuer.as_str(), &client.redirect_uri];
        let record = Record { kind: RecordKind::OAuthClient, id: key, user: &owner, scope: &scope };
        let bytes = Content::to_bytes(client).map_err(|_| StoreError::Unsealed(KeyError::Malformed))?;
        self.shared.vault.seal(&record, &bytes).map_err(StoreError::Unsealed)
    }
}

/// Out of the columns of [`REWRAP`].
pub(crate) fn sealed_columns(row: &AnyRow) -> Result<Vec<String>, sqlx::Error> {
    Ok(vec![row.try_get("server")?, row.try_get("redirect_uri")?])
}

fn client_key(issuer: &str, redirect_uri: &str) -> String {
    key_of(&["oauth client", issuer, redirect_uri])
}

/// Two constants: this does not fail.
fn owner() -> Result<elicit::UserId, KeyError> {
    elicit::UserId::new(owner_issuer!(), OWNER).map_err(|_| KeyError::Malformed)
}
