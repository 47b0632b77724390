//! How a call ends that does not reach its upstream: each in words that a person can act on.
//!
//! A tool call gets a result with `isError`, which models see; prompts and resources get a JSON-RPC error; the protocol's
//! own errors keep their codes.

use axum::response::Response;
use elicit::{Era, codes, missing_capability};
use http::StatusCode;
use serde_json::json;
use usher_store::StoreError;

use super::{call::Call, reply, upstream::UpstreamError};
use crate::{broker::Refusal, mcp::envelope::error_object};

/// A credential is needed, and could not be asked for or did not come. Outside of the range that JSON-RPC reserves.
pub(super) const CREDENTIAL_NEEDED: i64 = -31_000;
/// A person declined.
pub(super) const DECLINED: i64 = -31_001;
/// Too many questions.
pub(super) const TOO_MANY_QUESTIONS: i64 = -31_002;

/// Why a call ends here.
#[derive(Debug)]
pub(super) enum Ending {
    /// The client cannot show a link; the person finds the question on the portal.
    NoUrlMode {
        /// Titles of the providers.
        providers: Vec<String>,
    },
    /// A person declined, now or a moment ago.
    Declined {
        /// The provider's title.
        provider: String,
    },
    /// The person dismissed the question without a choice, or the client could not show it.
    Dismissed {
        /// The provider's title.
        provider: String,
    },
    /// Too many questions.
    TooMany {
        /// Seconds until the next may be asked.
        seconds: u64,
    },
    /// The upstream refuses every credential that the person gives.
    StillRejected,
    /// The store is not there.
    Store(StoreError),
    /// The upstream gave no answer.
    Upstream(UpstreamError),
}

impl From<StoreError> for Ending {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Ending {
    /// From a refusal of the broker to ask.
    pub(super) fn refused(refusal: Refusal, call: &Call) -> Self {
        match refusal {
            Refusal::Declined { provider } => Self::Declined { provider: title(call, &provider) },
            Refusal::TooMany { retry_after } => Self::TooMany { seconds: retry_after.as_secs().max(1) },
            Refusal::Store(error) => Self::Store(error),
        }
    }

    pub(super) fn response(&self, call: &Call) -> Response {
        let portal = call.caller.app.config.public_url.join("/");
        let server = call.caller.upstream().title.get("en");
        match self {
            Self::NoUrlMode { providers } => {
                let text = format!(
                    "{server} needs your {} account. This app cannot show the page for it: open {portal} in your browser, \
                     connect there, then try again.",
                    providers.join(" and ")
                );
                if call.caller.era() == Era::Modern {
                    let required = json!({ "elicitation": { "url": {} } });
                    return reply::error_value(
                        StatusCode::BAD_REQUEST,
                        Some(&call.id),
                        &missing_capability(&text, required),
                    );
                }
                told(call, CREDENTIAL_NEEDED, &text)
            }
            Self::Declined { provider } => told(
                call,
                DECLINED,
                &format!(
                    "Connecting {provider} was declined, so {server} was not called. To connect later, try again after two \
                     minutes; your connections are at {portal}"
                ),
            ),
            Self::Dismissed { provider } => told(
                call,
                CREDENTIAL_NEEDED,
                &format!(
                    "{provider} is not connected, so {server} was not called. Try again, or open {portal} to connect."
                ),
            ),
            Self::TooMany { seconds } => told(
                call,
                TOO_MANY_QUESTIONS,
                &format!("Too many questions were asked in a short time. Try again in {seconds} seconds."),
            ),
            Self::StillRejected => told(
                call,
                CREDENTIAL_NEEDED,
                &format!(
                    "{server} keeps refusing the credential. Check it with the provider, then reconnect at {portal}"
                ),
            ),
            Self::Store(error) => {
                tracing::error!(%error, "a call ended because the store cannot be reached");
                failed(call, "Usher cannot reach its store at the moment. Try again in a minute.")
            }
            Self::Upstream(error) => failed(call, &error.to_string()),
        }
    }
}

/// Something that a person can act on.
fn told(call: &Call, code: i64, text: &str) -> Response {
    if call.method != "tools/call" {
        return reply::error(StatusCode::OK, Some(&call.id), code, text);
    }
    let mut result = json!({ "content": [{ "type": "text", "text": text }], "isError": true });
    if call.caller.era() == Era::Modern {
        result["resultType"] = json!("complete");
    }
    reply::result(&call.id, &result.to_string())
}

/// Something that nobody on the client's side can act on.
fn failed(call: &Call, text: &str) -> Response {
    reply::error_value(StatusCode::OK, Some(&call.id), &error_object(codes::INTERNAL_ERROR, text))
}

/// The title of a provider, as the operator wrote it.
pub(super) fn title(call: &Call, provider: &str) -> String {
    call.caller
        .app
        .config
        .provider(provider)
        .map_or_else(|| provider.to_owned(), |provider| provider.title.get("en").to_owned())
}
