//! The shapes of elicitation on the wire, for both eras.

mod completions;
mod elicitation;
mod error;
mod errors;
mod input_required;
mod input_responses;
mod notice;
mod object;
mod request;
mod request_id;
mod response;
mod result_type;
mod retry;
mod round;
mod rounds;
mod url_required;

/// The methods whose call may lead to a question: in the modern era only these may return `input_required` (R-MRTR-01).
pub const ASKING_METHODS: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];

/// How many questions one round, or one error -32042, may hold: 32. No person answers more in one go.
pub const MAX_QUESTIONS: usize = 32;

pub use completions::{Completions, MAX_ELICITATION_ID_BYTES, Progress};
pub use elicitation::{Elicitation, ElicitationError, FormElicitation, QuestionError, UrlElicitation, mode_of};
pub use error::WireError;
pub use errors::{missing_capability, unsupported_modern_version, unsupported_version};
pub use input_required::{InputRequest, InputRequired};
pub use input_responses::InputResponses;
pub use notice::CompleteNotice;
pub use object::RawObject;
pub use request::ElicitRequest;
pub use request_id::RequestId;
pub use response::{ElicitResponse, ResponseError};
pub use result_type::{ResultType, complete_result};
pub use retry::{Retry, RetryError};
pub use round::{Round, RoundError};
pub use rounds::{MAX_ROUNDS, Rounds};
pub use url_required::UrlElicitationRequired;

use serde_json::value::RawValue;

use crate::json;

/// A text as the one JSON value that it is: nothing else leaves the house.
fn raw(text: String) -> Result<Box<RawValue>, WireError> {
    RawValue::from_string(text).map_err(|_| WireError::NotJson)
}

/// The value under `key` that is not `null`.
fn present<'a>(object: &RawObject<'a>, key: &str) -> Option<&'a RawValue> {
    object.get(key).filter(|value| !json::is_null(value.get()))
}

/// The text under `key`, which has to be there.
fn text(object: &RawObject<'_>, key: &'static str) -> Result<String, WireError> {
    let value = present(object, key).ok_or(WireError::Missing(key))?;
    json::text(value.get()).map(std::borrow::Cow::into_owned).ok_or(WireError::WrongType(key))
}

/// The text under `key` where it is one.
fn optional_text(object: &RawObject<'_>, key: &str) -> Option<String> {
    json::text(object.get(key)?.get()).map(std::borrow::Cow::into_owned)
}
