#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod answer;
mod capabilities;
pub mod codes;
mod digest;
pub mod form;
mod identity;
mod json;
mod places;
pub mod presenter;
mod random;
pub mod review;
mod revision;
pub mod secrets;
mod state;
pub mod text;
mod wire;

pub use answer::{Action, Answer, Consent, Content, JsonType, Number, NumberError, OtherJson, Value};
pub use capabilities::{CLIENT_CAPABILITIES, CapabilitiesError, ClientCapabilities, Mode, Modes};
pub use codes::*;
pub use digest::{Digest, DigestError, request_digest};
pub use form::{Field, Form};
pub use identity::{ClientId, IdentityError, Principal, UserId};
pub use presenter::{Outcome, Presenter};
pub use random::{Random, SystemRandom};
pub use review::{Profile, UrlReview, Verdict};
pub use revision::{Era, Revision};
pub use state::{Binding, MAX_SEALED_BYTES, Rejected, STATE_REJECTED, SealError, StateKey, StateKeys, StateKeysError};
pub use wire::{
    ASKING_METHODS, CompleteNotice, Completions, ElicitRequest, ElicitResponse, Elicitation, ElicitationError,
    FormElicitation, InputRequest, InputRequired, InputResponses, MAX_ELICITATION_ID_BYTES, MAX_QUESTIONS, MAX_ROUNDS,
    Progress, QuestionError, RawObject, RequestId, ResponseError, ResultType, Retry, RetryError, Round, RoundError,
    Rounds, UrlElicitation, UrlElicitationRequired, WireError, complete_result, missing_capability, mode_of,
    unsupported_modern_version, unsupported_version,
};
