//! What a user connected to a provider.

mod clients;
mod content;
mod demand;
mod find;
mod grant;
mod lease;
mod leave;
mod list;
mod refresh;
mod row;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use elicit::{ClientId, UserId};
use jiff::{SignedDuration, Timestamp};
use secrecy::SecretString;

pub use self::clients::Withdrawn;
pub use self::demand::DEMANDED_AT_MOST;
#[cfg(test)]
pub(crate) use self::find::{DELETE, OF_USER};
pub(crate) use self::find::{FIND, FIND_ANY};
pub use self::grant::{Grant, GrantClient, GrantServer};
#[cfg(test)]
pub(crate) use self::lease::{DUE, GIVE_UP, LEASE, PUT_OFF, REMAINING};
pub use self::lease::{DueRefresh, HeldLease, Lease, REFRESH_LEASE, RESTS_AT_MOST};
pub use self::leave::{AtProvider, LEAVING_LASTS, Leave, Leaving};
#[cfg(test)]
pub(crate) use self::leave::{DELETE_LEFT, IS_LEAVING, LEAVE_ALL, LEAVE_ONE, LEAVE_OWN, STILL_LEAVING};
#[cfg(test)]
pub(crate) use self::list::{ALL, OF_ID, OF_PROVIDER, REVOKE};
pub use self::list::{ConnectionFilter, ConnectionsPage, Granted, StoredConnection};
pub use self::refresh::RefreshFailed;
#[cfg(test)]
pub(crate) use self::refresh::{DEAD, LATER};
pub(crate) use self::write::Change;
use crate::interaction::{Destination, StateName};
use crate::{lookup, token};

/// A credential, opened.
///
/// Secrets, approvals and the grant are sealed together, so that nobody who writes to the
/// database can have the credential sent elsewhere (R-GW-04).
#[derive(Debug, Clone)]
pub struct Credential {
    /// The record's id: a UUID, no secret.
    pub id: String,
    /// Whose it is.
    pub user: UserId,
    /// For which provider.
    pub provider: String,
    /// Grows with each change of secrets, approvals or status.
    pub version: i64,
    /// Whether it works, as far as known.
    pub status: CredentialStatus,
    /// When it was stored first.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// When it was last used, to the minute.
    pub last_used_at: Option<Timestamp>,
    /// The secret fields by name.
    pub secrets: BTreeMap<String, SecretString>,
    /// Which client may have it used at which destination.
    pub approvals: Vec<Approval>,
    /// When each was agreed to, where that was kept.
    pub approved_at: BTreeMap<Approval, Timestamp>,
    /// What a third party granted, where it was (OAuth).
    pub grant: Option<Grant>,
    /// How often in a row its refresh failed.
    pub attempts: u32,
}

/// What a user connected.
#[derive(Debug, Clone, Default)]
pub struct Connections {
    /// By provider.
    pub readable: Vec<Credential>,
    /// Providers whose credential is there and cannot be read: its row was changed or moved, or its key is gone. The
    /// user connects anew or disconnects.
    pub unreadable: Vec<String>,
}

/// Whether a credential works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CredentialStatus {
    /// As far as known.
    Working,
    /// The upstream or the provider said no. The user is asked again.
    Rejected,
    /// It works, but a server demanded scopes that it lacks. The user is asked for more where they are needed; until
    /// then it is used as it is.
    Narrow,
    /// It is being let go: used for nobody any more, and kept only until its provider was told.
    Leaving,
}

/// What the user agreed to: this client may have the credential sent there.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Approval {
    /// The verified client (R-OAUTH-04).
    pub client: ClientId,
    /// The destination that the user saw (R-GW-04).
    pub destination: Destination,
}

/// How an interaction completes.
#[derive(Debug)]
pub enum Completion {
    /// The user entered these secrets. They replace those of before; the approvals
    /// stay, with this interaction's added. Where the stored record cannot be read, a new one
    /// takes its place, with this interaction's approval alone.
    Connect {
        /// The secret fields by name.
        secrets: BTreeMap<String, SecretString>,
    },
    /// A third party granted it (OAuth), to an interaction that is [exchanging](crate::Store::claim_flow). Replaces
    /// what was stored, as with [`Connect`](Self::Connect); until then that stays.
    Grant {
        /// The access token, and further fields that templates may use.
        secrets: BTreeMap<String, SecretString>,
        /// What goes with it.
        grant: Box<Grant>,
    },
    /// The user allowed this interaction's client and destination the stored credential.
    Allow,
    /// The user approved the very call that the interaction is asked for. Nothing is stored but that.
    Once {
        /// How long the call may take to come.
        lasts: SignedDuration,
    },
}

/// What stands for user and provider in events and caches: their SHA-256, base64url.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CredentialKey(String);

impl CredentialKey {
    /// The key of a user's credential for a provider.
    pub fn of(user: &UserId, provider: &str) -> Self {
        Self(lookup::key_of(&[user.issuer(), user.subject(), provider]))
    }

    /// The text of the key.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        token::is_random_text(text).then(|| Self(text.to_owned()))
    }
}

impl fmt::Display for CredentialKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Completion {
    /// In which state an interaction completes so.
    pub(crate) fn follows(&self) -> StateName {
        match self {
            Self::Grant { .. } => StateName::Exchanging,
            Self::Connect { .. } | Self::Allow | Self::Once { .. } => StateName::Consented,
        }
    }
}

impl CredentialStatus {
    /// Whether it may be used: until it is rejected, or let go.
    pub fn is_usable(self) -> bool {
        match self {
            Self::Working | Self::Narrow => true,
            Self::Rejected | Self::Leaving => false,
        }
    }

    /// The name in rows and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::Rejected => "rejected",
            Self::Narrow => "narrow",
            Self::Leaving => "leaving",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        let all = [Self::Working, Self::Rejected, Self::Narrow, Self::Leaving];
        all.into_iter().find(|status| status.as_str() == name)
    }
}

impl Credential {
    /// What stands for its user and provider.
    pub fn key(&self) -> CredentialKey {
        CredentialKey::of(&self.user, &self.provider)
    }

    /// Whether the user agreed that this client has it sent there (R-OAUTH-04, R-GW-04).
    pub fn allows(&self, client: &ClientId, destination: &Destination) -> bool {
        self.approvals.iter().any(|approval| approval.client == *client && approval.destination == *destination)
    }

    /// The clients that may use it, each once.
    pub fn clients(&self) -> BTreeSet<&ClientId> {
        self.approvals.iter().map(|approval| &approval.client).collect()
    }

    /// The destinations that it may be sent to, each once.
    pub fn destinations(&self) -> BTreeSet<&Destination> {
        self.approvals.iter().map(|approval| &approval.destination).collect()
    }
}
