#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod audit;
mod browser;
mod connect;
mod credential;
mod error;
mod events;
mod interaction;
mod keys;
mod listen;
mod lookup;
mod migrations;
mod needed;
mod notice;
mod private_file;
mod prune;
mod session;
#[cfg(test)]
mod sqlite_tests;
mod store;
mod time;
mod token;
mod vault;

pub use audit::{AuditAction, AuditEntry, AuditRow, Outcome};
pub use browser::{BROWSER_IDLE, BROWSER_LIFETIME, BrowserSession};
pub use credential::{Approval, Completion, Connections, Credential, CredentialKey, CredentialStatus};
pub use error::StoreError;
pub use events::Event;
pub use interaction::{
    Advanced, AskReason, Asked, DECLINE_RESTS, DeclinedBy, Destination, FailureReason, Interaction, InteractionId,
    InteractionState, InvalidId, NewInteraction, Obstacle, StateName, Step, TransitionError,
};
pub use keys::{KeyError, KeyFile, KeyFileError, KeyWrap, WrappedKey};
pub use private_file::create_private_file;
pub use prune::Pruned;
pub use session::{Begun, NewSession, Session, SessionId, SessionKey, SessionLimits};
pub use store::{Kind, Store};
pub use vault::Vault;
