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
mod url_required;

/// The methods whose call may lead to a question: in the modern era only these may return `input_required` (R-MRTR-01).
pub const ASKING_METHODS: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];

pub use completions::{Completions, Progress};
pub use elicitation::{Elicitation, ElicitationError, FormElicitation, QuestionError, UrlElicitation, mode_of};
pub use error::WireError;
pub use errors::{missing_capability, unsupported_version};
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
pub use url_required::UrlElicitationRequired;

use serde_json::value::RawValue;

use crate::json;

/// A text that was made of valid JSON by valid steps, as a value.
fn raw(text: String) -> Box<RawValue> {
    debug_assert!(json::is_valid(&text), "what was made of JSON is not JSON");
    RawValue::from_string(text).unwrap_or_else(|_| RawValue::NULL.to_owned())
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
