#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod audit;
mod browser;
mod connect;
mod credential;
mod error;
mod events;
mod inspect;
mod interaction;
mod key_notes;
mod keys;
mod listen;
mod lookup;
mod migrations;
mod notice;
mod private_file;
mod prune;
mod rewrap;
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
pub use inspect::{Ending, Inspection, KeyUses, Schema};
pub use interaction::{
    Advanced, AskReason, DeclinedBy, Destination, FailureReason, Interaction, InteractionId, InteractionState,
    InvalidId, NewInteraction, Obstacle, StateName, Step, TransitionError,
};
pub use keys::{KeyEntry, KeyError, KeyFile, KeyFileEdit, KeyFileError, KeyRing, KeyRole, KeyWrap, WrappedKey};
pub use private_file::create_private_file;
pub use prune::Pruned;
pub use rewrap::Rewrapped;
pub use session::{NewSession, Session, SessionId, SessionKey};
pub use store::{Kind, Store};
pub use vault::Vault;
