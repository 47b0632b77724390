//! What in a store still needs a master key.

use std::collections::BTreeMap;

use jiff::Timestamp;
use sqlx::{AnyConnection, Row as _};

use super::Inspection;
use crate::time::{micros, timestamp};
use crate::{Store, StoreError, Vault};

const CREDENTIALS: &str = "SELECT COUNT(*) AS number FROM credentials WHERE key_id = $1";
const SESSIONS: &str =
    "SELECT COUNT(*) AS number, MAX(expires_at) AS until FROM mcp_sessions WHERE key_id = $1 AND expires_at > $2";
const BROWSER_SESSIONS: &str =
    "SELECT COUNT(*) AS number, MAX(expires_at) AS until FROM browser_sessions WHERE key_id = $1 AND expires_at > $2";
const API_KEYS: &str = "SELECT COUNT(*) AS number FROM api_keys WHERE key_id = $1";
const OAUTH_CLIENTS: &str = "SELECT COUNT(*) AS number FROM oauth_clients WHERE key_id = $1";
// These last for minutes, so there are few, and no index for this alone.
const QUESTIONS: &str = "SELECT seal, expires_at FROM interactions \
     WHERE state IN ('created', 'opened', 'consented', 'exchanging', 'failed') AND expires_at > $1";
// What was approved for one call, for as long as that may come; not many, by an index over all of them.
const APPROVALS: &str = "SELECT proof AS seal, proof_until AS expires_at FROM interactions \
     WHERE proof IS NOT NULL AND proof_until > $1";
const FLOWS: &str = "SELECT flow AS seal, flow_until AS expires_at FROM interactions \
     WHERE flow IS NOT NULL AND flow_until > $1";
const LOGIN_LINKS: &str = "SELECT seal, expires_at FROM login_links WHERE expires_at > $1";

/// What a master key still opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeyUses {
    /// Credentials. They stay until disconnected; a running service wraps them with the active key.
    pub credentials: u64,
    /// Sessions of legacy MCP clients, likewise; they end when unused.
    pub sessions: Ending,
    /// Signed-in browsers, likewise.
    pub browser_sessions: Ending,
    /// Keys of the API, likewise; they stay until they expire or are revoked.
    pub api_keys: u64,
    /// Our registrations at authorization servers, likewise; they stay.
    pub oauth_clients: u64,
    /// Questions that are open.
    pub questions: Ending,
    /// Calls that were approved once and have not come yet.
    pub approvals: Ending,
    /// Ways to a provider from which somebody may come back.
    pub flows: Ending,
    /// Sign-in links that nobody used yet.
    pub login_links: Ending,
}

/// Things that end by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ending {
    /// How many there are.
    pub count: u64,
    /// When the last of them ends.
    pub until: Option<Timestamp>,
}

impl KeyUses {
    /// Whether nothing needs the key.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Ending {
    fn add(&mut self, until: Timestamp) {
        self.count += 1;
        self.until = self.until.max(Some(until));
    }
}

impl Inspection {
    /// What needs each of these keys. The schema must be a [current](super::Schema::Current) one.
    pub async fn key_uses(&mut self, ids: &[String], now: Timestamp) -> Result<BTreeMap<String, KeyUses>, StoreError> {
        let connection = &mut self.connection;
        Store::within(async {
            let mut uses = BTreeMap::new();
            for id in ids {
                let credentials = sqlx::query(CREDENTIALS).bind(id.clone()).fetch_one(&mut *connection).await?;
                let api_keys = sqlx::query(API_KEYS).bind(id.clone()).fetch_one(&mut *connection).await?;
                let clients = sqlx::query(OAUTH_CLIENTS).bind(id.clone()).fetch_one(&mut *connection).await?;
                let of_key = KeyUses {
                    credentials: number(credentials.try_get("number")?),
                    sessions: count(connection, SESSIONS, id, now).await?,
                    browser_sessions: count(connection, BROWSER_SESSIONS, id, now).await?,
                    api_keys: number(api_keys.try_get("number")?),
                    oauth_clients: number(clients.try_get("number")?),
                    ..KeyUses::default()
                };
                uses.insert(id.clone(), of_key);
            }
            for (key, until) in seals(connection, QUESTIONS, now).await? {
                uses.entry(key).and_modify(|uses| uses.questions.add(until));
            }
            for (key, until) in seals(connection, APPROVALS, now).await? {
                uses.entry(key).and_modify(|uses| uses.approvals.add(until));
            }
            for (key, until) in seals(connection, FLOWS, now).await? {
                uses.entry(key).and_modify(|uses| uses.flows.add(until));
            }
            for (key, until) in seals(connection, LOGIN_LINKS, now).await? {
                uses.entry(key).and_modify(|uses| uses.login_links.add(until));
            }
            Ok(uses)
        })
        .await
    }
}

async fn count(
    connection: &mut AnyConnection,
    sql: &'static str,
    id: &str,
    now: Timestamp,
) -> Result<Ending, StoreError> {
    let row = sqlx::query(sql).bind(id.to_owned()).bind(micros(now)).fetch_one(connection).await?;
    let until: Option<i64> = row.try_get("until")?;
    let until = until.map(|until| timestamp(until, "a session")).transpose()?;
    Ok(Ending { count: number(row.try_get("number")?), until })
}

/// The key and the end of each row.
async fn seals(
    connection: &mut AnyConnection,
    sql: &'static str,
    now: Timestamp,
) -> Result<Vec<(String, Timestamp)>, StoreError> {
    let mut found = Vec::new();
    for row in sqlx::query(sql).bind(micros(now)).fetch_all(connection).await? {
        let seal: Vec<u8> = row.try_get("seal")?;
        // One that has no shape opens with no key.
        if let Ok(key) = Vault::key_id(&seal) {
            found.push((key, timestamp(row.try_get("expires_at")?, "a seal")?));
        }
    }
    Ok(found)
}

fn number(count: i64) -> u64 {
    u64::try_from(count).unwrap_or_default()
}
