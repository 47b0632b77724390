//! The shapes of elicitation on the wire, for both eras.

mod answer;
mod error;
mod errors;
mod input_required;
mod input_responses;
mod object;
mod request;
mod result_type;

/// The methods whose call may lead to a question: in the modern era only these may return `input_required` (R-MRTR-01).
pub const ASKING_METHODS: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];

pub use answer::{Action, Answer};
pub use error::WireError;
pub use errors::{missing_capability, unsupported_version, url_elicitation_required};
pub use input_required::{InputRequest, InputRequired, input_required};
pub use input_responses::InputResponses;
pub use object::RawObject;
pub use request::{UrlElicitation, complete_notice, mode_of};
pub use result_type::{ResultType, complete_result};
