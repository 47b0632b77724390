//! Keys by which servers ask through the API: each for one server, with scopes, an end, and a secret of which only a hash is
//! kept.
//!
//! A row is sealed with all that it allows: were it not, whoever can write to the database could have a key speak for
//! another server, or do more (R-GW-04).

mod change;
mod find;
mod row;
mod scope;
mod text;

use elicit::UserId;
use jiff::Timestamp;

pub(crate) use self::row::{REWRAP, sealed_columns};
pub use self::scope::{ApiScope, ApiScopes};
pub use self::text::{ApiKeyId, ApiKeyText, InvalidApiKey};
#[cfg(test)]
pub(crate) use self::{change::ROTATE, find::FIND, row::USED};

const TABLE: &str = "api_keys";

/// Who acts in the audit log where a key does: this issuer, and the key's id.
const ISSUER: &str = "urn:usher:api-key";

/// A key that is about to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewApiKey {
    /// The server that it speaks for: the name of an upstream.
    pub server: String,
    /// What its owner calls it.
    pub name: String,
    /// What it may do.
    pub scopes: ApiScopes,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
}

/// A key as the store knows it. Its secret is not in here.
///
/// Times have microseconds; what is finer is cut off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// Its id, which is part of its text and no secret.
    pub id: ApiKeyId,
    /// The server that it speaks for: the name of an upstream.
    pub server: String,
    /// What its owner calls it.
    pub name: String,
    /// What it may do.
    pub scopes: ApiScopes,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its secret was exchanged last.
    pub rotated_at: Option<Timestamp>,
    /// Until when the secret before that works still.
    pub former_until: Option<Timestamp>,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
    /// When it was used last, to the minute.
    pub last_used_at: Option<Timestamp>,
}

impl ApiKey {
    /// Whether its time is over.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= now)
    }

    /// Who acts in the audit log where this key does.
    pub fn actor(&self) -> Option<UserId> {
        actor(&self.id)
    }
}

fn actor(id: &ApiKeyId) -> Option<UserId> {
    UserId::new(ISSUER, id.as_str()).ok()
}

/// One key in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedApiKey {
    /// Its id, as its row has it.
    pub id: String,
    /// The key, as its row has it; `None` where the row is none that we make.
    pub key: Option<ApiKey>,
    /// Whether the row is as it was made. One that is not, or whose master key is gone, opens nothing: revoke it.
    pub genuine: bool,
}
