#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

mod capabilities;
pub mod codes;
mod digest;
mod identity;
mod json;
mod random;
mod revision;
mod state;
mod wire;

pub use capabilities::{CapabilitiesError, ClientCapabilities, Mode, Modes};
pub use codes::*;
pub use digest::{Digest, DigestError, request_digest};
pub use identity::{ClientId, IdentityError, Principal, UserId};
pub use random::{Random, SystemRandom};
pub use revision::{Era, Revision};
pub use state::{Binding, MAX_SEALED_BYTES, Rejected, STATE_REJECTED, SealError, StateKey, StateKeys};
pub use wire::{
    ASKING_METHODS, Action, Answer, InputRequest, InputRequired, InputResponses, RawObject, ResultType, UrlElicitation,
    WireError, complete_notice, complete_result, input_required, missing_capability, mode_of, unsupported_version,
    url_elicitation_required,
};
