//! Why a token endpoint gave no token, by what is to be done about it (kind 22).

use http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use super::document::Answered;
use crate::config::Definition;
use crate::egress::{Blocked, NoAnswer};

/// Why there is no token. No variant holds anything secret, or anything of a reply but its short code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// The grant is dead: the person connects anew. Nothing else helps.
    #[error("the grant is not good any more: {0}")]
    Dead(String),
    /// Our client is not known, or may not do this, or asks in the wrong way: the operator's to mend.
    #[error("the provider refuses our client: {0}")]
    Client(String),
    /// The code is not taken. The person may begin anew.
    #[error("the provider refuses the code: {0}")]
    Refused(String),
    /// Too many requests.
    #[error("the provider wants to be left alone until {until}")]
    Limited {
        /// When it may be asked again: an hour from now at the latest.
        until: Timestamp,
    },
    /// It says that it cannot now.
    #[error("the provider cannot at the moment: {0}")]
    Unavailable(String),
    /// No connection, or it broke.
    #[error("the provider cannot be reached: {0}")]
    Unreachable(String),
    /// No answer in time.
    #[error("the provider did not answer in time")]
    TooSlow,
    /// An answer that is none.
    #[error("the provider's answer cannot be read: {0}")]
    Garbage(&'static str),
    /// Its address is not one that may be requested (R-SEC-05).
    #[error("the provider is not asked: {0}")]
    Blocked(Blocked),
}

impl TokenError {
    /// The same without any of these in it: a provider may repeat in its code what it was sent.
    pub(super) fn without(self, secrets: &[&SecretString]) -> Self {
        match self {
            Self::Dead(code) => Self::Dead(harmless(code, secrets)),
            Self::Client(code) => Self::Client(harmless(code, secrets)),
            Self::Refused(code) => Self::Refused(harmless(code, secrets)),
            Self::Unavailable(code) => Self::Unavailable(harmless(code, secrets)),
            other => other,
        }
    }

    /// Whether the provider says that it does not know our client, or not for this: the one reason to have another one registered. An
    /// endpoint that moved, or a request that is wrong, is no better with another client (RFC 6749, section 5.2).
    pub fn is_of_registration(&self) -> bool {
        matches!(self, Self::Client(code) if matches!(code.as_str(), "invalid_client" | "unauthorized_client"))
    }

    /// Whether it may pass by itself, so that the same may be tried again later, a bounded number of times.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Limited { .. } | Self::Unavailable(_) | Self::Unreachable(_) | Self::TooSlow | Self::Garbage(_) => {
                true
            }
            Self::Dead(_) | Self::Client(_) | Self::Refused(_) | Self::Blocked(_) => false,
        }
    }

    /// Whether the provider may have done what was asked all the same: its reply was lost. A refresh token that rotates may
    /// be dead by now, and is tried once more.
    pub fn is_uncertain(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::TooSlow | Self::Garbage(_) | Self::Unavailable(_))
    }
}

impl From<NoAnswer> for TokenError {
    fn from(error: NoAnswer) -> Self {
        match error {
            NoAnswer::Unreachable(reason) => Self::Unreachable(reason),
            NoAnswer::Slow => Self::TooSlow,
            NoAnswer::TooLarge(_) => Self::Garbage("it is too large"),
        }
    }
}

impl From<Blocked> for TokenError {
    fn from(error: Blocked) -> Self {
        Self::Blocked(error)
    }
}

/// What was sent, by which the same answer means different things.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// A code was.
    Exchange,
    /// A refresh token was.
    Refresh,
}

/// How long is waited where a provider does not say.
const PAUSE: SignedDuration = SignedDuration::from_secs(60);
/// How long is waited at most.
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_hours(1);

/// What an answer without a token means.
pub(super) fn classify(definition: &Definition, answered: &Answered, asked: Asked, now: Timestamp) -> TokenError {
    let status = answered.status;
    let code = answered.document.as_ref().and_then(|document| code(definition, document));
    let until = retry_after(answered, now);
    if let Some(code) = code {
        return of_code(definition, &code, asked, status, until, now);
    }
    let shown = || format!("HTTP {}", status.as_u16());
    match status.as_u16() {
        429 => TokenError::Limited { until: until.unwrap_or_else(|| later(now)) },
        // Somebody else refreshes the same at this moment, or is not done with it.
        408 | 409 | 423 | 425 => TokenError::Unavailable(shown()),
        _ if status.is_server_error() => match until {
            Some(until) => TokenError::Limited { until },
            None => TokenError::Unavailable(shown()),
        },
        // The client did not prove itself (RFC 6749, section 5.2), or there is no such endpoint.
        401 | 404 | 405 | 406 | 415 => TokenError::Client(shown()),
        // A wall of a network, most often, and no word of the provider's own.
        403 if answered.is_html => TokenError::Garbage("a web page came in its place"),
        _ if status.is_client_error() => dead(asked, shown()),
        _ if status.is_redirection() => TokenError::Client(shown()),
        _ if answered.is_html => TokenError::Garbage("a web page came in its place"),
        _ if answered.is_empty => TokenError::Garbage("it is empty"),
        _ => TokenError::Garbage("it holds no access token"),
    }
}

fn dead(asked: Asked, code: String) -> TokenError {
    match asked {
        Asked::Refresh => TokenError::Dead(code),
        Asked::Exchange => TokenError::Refused(code),
    }
}

fn of_code(
    definition: &Definition,
    code: &str,
    asked: Asked,
    status: StatusCode,
    until: Option<Timestamp>,
    now: Timestamp,
) -> TokenError {
    let errors = &definition.errors;
    let among = |codes: &[String]| codes.iter().any(|known| known == code);
    let shown = code.to_owned();
    if among(&errors.dead) {
        return dead(asked, shown);
    }
    if among(&errors.client) {
        return TokenError::Client(shown);
    }
    if among(&errors.transient) {
        return until.map_or(TokenError::Unavailable(shown), |until| TokenError::Limited { until });
    }
    if status == StatusCode::TOO_MANY_REQUESTS {
        return TokenError::Limited { until: until.unwrap_or_else(|| later(now)) };
    }
    match code {
        "invalid_client"
        | "unauthorized_client"
        | "unsupported_grant_type"
        | "invalid_target"
        | "redirect_uri_mismatch" => TokenError::Client(shown),
        "slow_down" | "rate_limited" | "ratelimited" | "rate_limit_exceeded" | "too_many_requests" => {
            TokenError::Limited { until: until.unwrap_or_else(|| later(now)) }
        }
        "temporarily_unavailable" | "server_error" | "internal_error" | "internal_server_error" => match until {
            Some(until) => TokenError::Limited { until },
            None => TokenError::Unavailable(shown),
        },
        "invalid_grant" => dead(asked, shown),
        _ if status.is_server_error() => TokenError::Unavailable(shown),
        // Many say `invalid_request` of a refresh token that is dead. Of a code it is what it says: our request is wrong.
        "invalid_request" if asked == Asked::Exchange => TokenError::Client(shown),
        // Whatever else it says of a grant, asking the same again brings the same.
        _ => dead(asked, shown),
    }
}

fn later(now: Timestamp) -> Timestamp {
    now.saturating_add(PAUSE).unwrap_or(now)
}

/// A code, unless it repeats a secret.
pub(super) fn harmless(code: String, secrets: &[&SecretString]) -> String {
    let mut secrets = secrets.iter().map(|secret| secret.expose_secret());
    // What is shorter is no secret, and stands in many a word.
    if secrets.any(|secret| secret.len() >= 6 && code.contains(secret)) { UNREADABLE.to_owned() } else { code }
}

/// What stands in the place of a code that is not shown.
const UNREADABLE: &str = "unreadable_error";

/// The code of an error, fit to be shown: what is no short word is not repeated, since it may hold anything.
pub(super) fn code(definition: &Definition, document: &Value) -> Option<String> {
    let found = definition.errors.code.of(document)?;
    let text = match found {
        Value::String(text) if !text.is_empty() => text.clone(),
        Value::Number(number) => number.to_string(),
        // Some say more about it in an object.
        Value::Object(members) => ["code", "type", "status", "error"]
            .iter()
            .find_map(|name| members.get(*name).and_then(Value::as_str))
            .unwrap_or("unknown_error")
            .to_owned(),
        Value::Bool(true) | Value::Array(_) => "unknown_error".to_owned(),
        Value::String(_) | Value::Bool(false) | Value::Null => return None,
    };
    let word = text.len() <= 64
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b':' | b' '));
    Some(if word { text } else { UNREADABLE.to_owned() })
}

/// When it may be asked again: seconds or a date (RFC 9110, section 10.2.3), an hour from now at the latest.
fn retry_after(answered: &Answered, now: Timestamp) -> Option<Timestamp> {
    let text = answered.retry_after.as_deref()?.trim();
    let latest = now.saturating_add(LONGEST_PAUSE).unwrap_or(now);
    let at = match text.parse::<u32>() {
        Ok(seconds) => now.saturating_add(SignedDuration::from_secs(seconds.into())).unwrap_or(latest),
        Err(_) => jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?,
    };
    Some(at.clamp(now, latest))
}
