//! The shapes of elicitation on the wire, for both eras.

mod answer;
mod error;
mod errors;
mod input_required;
mod input_responses;
mod object;
mod request;
mod result_type;

pub use answer::{Action, Answer};
pub use error::WireError;
pub use errors::{missing_capability, unsupported_version, url_elicitation_required};
pub use input_required::{InputRequest, InputRequired, input_required};
pub use input_responses::InputResponses;
pub use object::RawObject;
pub use request::{UrlElicitation, complete_notice, mode_of};
pub use result_type::{ResultType, complete_result};
