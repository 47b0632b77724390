//! How a call ends that does not reach its upstream: each in words that a person can act on.
//!
//! A tool call gets a result with `isError`, which models see; prompts and resources get a JSON-RPC error; the protocol's
//! own errors keep their codes.

use std::{collections::BTreeSet, time::Duration};

use axum::response::Response;
use elicit::{Era, codes, missing_capability};
use http::StatusCode;
use serde_json::json;
use usher_store::{AuditAction, InteractionId, OperationError, StoreError};

use super::{
    call::{Call, Caller},
    reply,
    sought::sought,
    upstream::UpstreamError,
};
use crate::{
    broker::Refusal,
    credentials::fresh::{Trouble, Unavailable},
    mcp::{alike::Ambiguous, envelope::error_object},
};

/// A credential is needed, and could not be asked for or did not come. Outside of the range that JSON-RPC reserves.
pub(super) const CREDENTIAL_NEEDED: i64 = -31_000;
/// A person declined.
pub(super) const DECLINED: i64 = -31_001;
/// Too many questions.
pub(super) const TOO_MANY_QUESTIONS: i64 = -31_002;

/// A call that needs an approval cannot be shown to a person.
pub(super) const UNSHOWABLE: i64 = -31_003;

/// A credential has expired, and its provider gives no other one at the moment.
pub(super) const PROVIDER_UNAVAILABLE: i64 = -31_004;

/// When to come back where too many calls wait, in seconds. Nobody knows when a person will be done.
const HELD_RETRY: u64 = 10;

/// How many scopes are named to a client.
const SCOPES_SHOWN: usize = 8;

const NO_STORE: &str = "Usher cannot reach its store at the moment. Try again in a minute.";

/// Why a call ends here.
#[derive(Debug)]
pub(super) enum Ending {
    /// The client cannot show a link; the person finds the question on the portal.
    NoUrlMode {
        /// What the server needs.
        needed: String,
        /// What the person does about it there.
        to_do: String,
    },
    /// A person declined, now or a while ago.
    Declined {
        /// The provider.
        provider: String,
        /// Seconds until it may be asked again; none where it may be now.
        seconds: Option<u64>,
    },
    /// The person dismissed the question without a choice, or the client could not show it.
    Dismissed {
        /// The provider.
        provider: String,
    },
    /// The call needs an approval, and cannot be put before a person as it is.
    Unshowable(OperationError),
    /// The call needs an approval, and the server could read in it what a person would not be shown.
    Ambiguous(Ambiguous),
    /// Too many questions.
    TooMany {
        /// Seconds until the next may be asked.
        seconds: u64,
    },
    /// The person has too many open questions.
    TooManyOpen {
        /// Seconds until the first of them ends by itself.
        seconds: u64,
    },
    /// Too many calls wait for a person.
    TooManyHeld,
    /// The upstream refuses every credential that the person gives.
    StillRejected,
    /// The upstream demands scopes of the account at itself that were asked for already.
    TooNarrow {
        /// Those scopes.
        scopes: BTreeSet<String>,
    },
    /// The credential has expired, and its provider gives no other one at the moment.
    Unavailable(Unavailable),
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
    pub(super) fn refused(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Declined { provider, retry_after } => {
                Self::Declined { provider, seconds: Some(whole(retry_after)) }
            }
            Refusal::NoOperation(_) => Self::Unshowable(OperationError::Name),
            Refusal::TooMany { retry_after } => Self::TooMany { seconds: whole(retry_after) },
            Refusal::TooManyOpen { retry_after } => Self::TooManyOpen { seconds: whole(retry_after) },
            Refusal::Store(error) => Self::Store(error),
        }
    }

    /// Too many calls wait: a person is not asked for one more. Audited once a minute.
    pub(super) fn too_many_held(call: &Call) -> Self {
        let Caller { app, principal, .. } = &call.caller;
        app.broker.turned_away(AuditAction::InteractionLimited, Some(principal), Some(&call.caller.upstream().name));
        Self::TooManyHeld
    }

    /// A person declined this question just now.
    pub(super) async fn declined(call: &Call, interaction: &InteractionId, provider: &str) -> Self {
        let provider = provider.to_owned();
        match call.caller.app.broker.rest_of(interaction).await {
            Ok(rest) => Self::Declined { provider, seconds: rest.map(whole) },
            Err(error) => Self::Store(error),
        }
    }

    pub(super) fn response(&self, call: &Call) -> Response {
        let portal = call.caller.app.config.public_url.join("/");
        let server = call.caller.upstream().title.get("en");
        match self {
            Self::NoUrlMode { needed, to_do } => {
                let text = format!(
                    "{server} needs {needed}. This app cannot show the page for it: open {portal} in your browser, {to_do} \
                     there, then try again."
                );
                if call.caller.era() == Era::Modern {
                    let required = json!({ "elicitation": { "url": {} } });
                    return reply::error_value(
                        StatusCode::BAD_REQUEST,
                        Some(&call.id),
                        &missing_capability(&text, required),
                    );
                }
                told(call, CREDENTIAL_NEEDED, &text, None)
            }
            Self::Declined { provider, seconds } => {
                let when = seconds.map_or_else(|| "again".to_owned(), |seconds| format!("again in {}", span(seconds)));
                let [declined, later] = sought(call, provider).declined(&when);
                let text = format!("{declined}, so {server} was not called. {later}; your connections are at {portal}");
                told(call, DECLINED, &text, *seconds)
            }
            Self::Dismissed { provider } => {
                let [open, to_do] = sought(call, provider).open();
                let text = format!("{open}, so {server} was not called. Try again, or open {portal} to {to_do}.");
                told(call, CREDENTIAL_NEEDED, &text, None)
            }
            Self::Unshowable(error) => {
                let text = format!(
                    "{server} runs this call only with the approval of a person, who must see all of it, and that cannot be: \
                     {error}. Nothing was called. Send less, or send it otherwise."
                );
                told(call, UNSHOWABLE, &text, None)
            }
            Self::Ambiguous(error) => {
                let text = format!(
                    "this call needs the approval of a person, who must see all of it: {error}. Nothing was called"
                );
                let status = if call.caller.era() == Era::Modern { StatusCode::BAD_REQUEST } else { StatusCode::OK };
                reply::error(status, Some(&call.id), codes::INVALID_PARAMS, &text)
            }
            Self::TooMany { seconds } => {
                let when = span(*seconds);
                let text = format!("Too many questions were asked in a short time. Try again in {when}.");
                told(call, TOO_MANY_QUESTIONS, &text, Some(*seconds))
            }
            Self::TooManyOpen { seconds } => {
                let text = format!(
                    "Too many questions wait for an answer already, so nothing more was asked. Answer them at {portal}, or \
                     try again in {}.",
                    span(*seconds)
                );
                told(call, TOO_MANY_QUESTIONS, &text, Some(*seconds))
            }
            Self::TooManyHeld => {
                let text = format!(
                    "Too many calls wait for a person already, so {server} was not called. Answer what is open at {portal}, \
                     or try again in {}.",
                    span(HELD_RETRY)
                );
                told(call, TOO_MANY_QUESTIONS, &text, Some(HELD_RETRY))
            }
            Self::StillRejected => {
                let text = format!(
                    "{server} keeps refusing the credential. Check it with the provider, then reconnect at {portal}"
                );
                told(call, CREDENTIAL_NEEDED, &text, None)
            }
            Self::TooNarrow { scopes } => {
                let scopes: Vec<&str> = scopes.iter().take(SCOPES_SHOWN).map(String::as_str).collect();
                let text = format!(
                    "{server} demands permissions of your account that were asked for already ({}), so asking again would \
                     change nothing. If you left them out when you connected, disconnect it at {portal} and connect it anew; \
                     else your account there may not have them.",
                    scopes.join(" ")
                );
                told(call, CREDENTIAL_NEEDED, &text, None)
            }
            Self::Unavailable(unavailable) => renews_later(call, unavailable, server),
            Self::Store(error) => {
                tracing::error!(%error, "a call ended because the store cannot be reached");
                failed(call, NO_STORE)
            }
            Self::Upstream(error) => failed(call, &error.to_string()),
        }
    }
}

/// The provider is away, or has enough: the person is not asked for what they have given already.
fn renews_later(call: &Call, unavailable: &Unavailable, server: &str) -> Response {
    let provider = title(call, &unavailable.provider);
    let seconds = unavailable.retry_after.map(whole);
    let when = seconds.map_or_else(|| "in a moment".to_owned(), |seconds| format!("in {}", span(seconds)));
    let why = match unavailable.trouble {
        Trouble::Store => return failed(call, NO_STORE),
        Trouble::Away => format!("{provider} cannot be reached at the moment"),
        Trouble::Limited => format!("{provider} takes no more requests at the moment"),
        Trouble::Registration => {
            format!("{provider} does not accept Usher itself, which is for whoever runs it to see to")
        }
        Trouble::Busy => format!("{provider} is slow to answer"),
    };
    let text = format!(
        "Your access to {provider} must be renewed, and {why}, so {server} was not called. Your connection is still there: try \
         again {when}."
    );
    told(call, PROVIDER_UNAVAILABLE, &text, seconds)
}

/// Something that a person can act on, and when to come back where waiting helps.
fn told(call: &Call, code: i64, text: &str, seconds: Option<u64>) -> Response {
    if call.method != "tools/call" {
        let error = match seconds {
            Some(seconds) => reply::retry_object(code, text, seconds),
            None => error_object(code, text),
        };
        return reply::error_value(StatusCode::OK, Some(&call.id), &error);
    }
    let mut result = json!({ "content": [{ "type": "text", "text": text }], "isError": true });
    if call.caller.era() == Era::Modern {
        result["resultType"] = json!("complete");
    }
    reply::result(&call.id, &result.to_string())
}

/// Whole seconds, and never none: whoever comes back then is not early.
fn whole(time: Duration) -> u64 {
    (time.as_secs() + u64::from(time.subsec_nanos() > 0)).max(1)
}

/// A time in words, in the largest unit that does not make it shorter.
fn span(seconds: u64) -> String {
    let (count, unit) = match seconds {
        0..=119 => (seconds, "second"),
        120..=7199 => (seconds.div_ceil(60), "minute"),
        _ => (seconds.div_ceil(3600), "hour"),
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_in_words_and_never_too_short() {
        for (seconds, text) in [
            (1, "1 second"),
            (119, "119 seconds"),
            (120, "2 minutes"),
            (121, "3 minutes"),
            (3600, "60 minutes"),
            (7200, "2 hours"),
            (7201, "3 hours"),
        ] {
            assert_eq!(span(seconds), text);
        }
        assert_eq!(whole(Duration::ZERO), 1);
        assert_eq!(whole(Duration::from_millis(1001)), 2);
    }
}
