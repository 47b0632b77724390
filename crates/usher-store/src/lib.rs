#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod api_key;
mod audit;
mod browser;
mod connect;
mod credential;
mod error;
mod events;
#[cfg(feature = "fail-points")]
mod fail_point;
mod inspect;
mod interaction;
mod key_notes;
mod keys;
mod listen;
mod lookup;
mod migrations;
mod notice;
mod oauth_client;
mod private_file;
mod prune;
mod rewrap;
mod session;
mod silence;
#[cfg(test)]
mod sqlite_tests;
mod store;
mod time;
mod token;
mod users;
mod vault;

pub use api_key::{ApiKey, ApiKeyId, ApiKeyText, ApiScope, ApiScopes, InvalidApiKey, ListedApiKey, NewApiKey};
pub use audit::{AuditAction, AuditCursor, AuditEntry, AuditPage, AuditRow, Outcome};
pub use browser::{
    BROWSER_IDLE, BROWSER_LIFETIME, BrowserId, BrowserSession, BrowserTimes, EndedBrowserSession, NewBrowserSession,
    SignedInBrowser,
};
pub use credential::{
    Approval, Completion, ConnectionFilter, Connections, ConnectionsPage, Credential, CredentialKey, CredentialStatus,
    DEMANDED_AT_MOST, DueRefresh, Grant, GrantClient, GrantServer, HeldLease, Lease, REFRESH_LEASE, RESTS_AT_MOST,
    RefreshFailed, StoredConnection, Withdrawn,
};
pub use error::StoreError;
pub use events::Event;
#[cfg(feature = "fail-points")]
pub use fail_point::{FailPoint, FailPointError};
pub use inspect::{Ending, Inspection, KeyUses, Schema};
pub use interaction::{
    APPROVAL_LASTS, Advanced, AskReason, Asked, AskingClient, Claim, Claimed, DECLINE_RESTS, DeclinedBy, Destination,
    EXCHANGE_LASTS, ExactCall, FLOW_LASTS, FailureReason, Flow, Interaction, InteractionId, InteractionState,
    InvalidId, NewInteraction, OPEN_AT_MOST, OPERATION_AT_MOST, Obstacle, OpenLimits, Operation, OperationError,
    Resting, StateName, Step, TransitionError, VISIT_LASTS,
};
pub use keys::{KeyEntry, KeyError, KeyFile, KeyFileEdit, KeyFileError, KeyRing, KeyRole, KeyWrap, WrappedKey};
pub use oauth_client::OAuthClient;
pub use private_file::create_private_file;
pub use prune::Pruned;
pub use rewrap::Rewrapped;
pub use session::{Begun, NewSession, Session, SessionId, SessionKey, SessionLimits};
pub use store::{Kind, Store};
pub use users::{Holdings, StoredUser, UsersPage};
pub use vault::Vault;

/// Where a test can stop the process for good: `fail_point!(Consented)`, in an async function. Nothing at all without the
/// feature `fail-points`, which names the points.
#[cfg(feature = "fail-points")]
#[macro_export]
macro_rules! fail_point {
    ($point:ident) => {
        $crate::FailPoint::$point.pass().await
    };
}

/// Where a test can stop the process for good: `fail_point!(Consented)`, in an async function. Nothing at all without the
/// feature `fail-points`, which names the points.
#[cfg(not(feature = "fail-points"))]
#[macro_export]
macro_rules! fail_point {
    ($point:ident) => {};
}
