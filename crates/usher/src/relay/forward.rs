//! Puts a message upstream, and brings back what it answers.

use std::collections::BTreeSet;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, header};
use usher_store::fail_point;

use super::{
    begin,
    call::{Call, Caller},
    connect_tool,
    ending::Ending,
    reply,
    screen::{self, Screened},
    upstream::{self as wire, Answer, UpstreamError},
};
use crate::{
    credentials::Injection,
    mcp::{
        envelope::Message,
        headers::{self, is_type},
    },
    oauth::challenge::Challenge,
};

/// What came back.
pub(super) enum Forwarded {
    /// An answer for the client.
    Response(Response),
    /// Nothing was sent.
    Unsent(UpstreamError),
    /// The upstream knows the session no longer, and so has run nothing.
    Over,
    /// The upstream refused the injected credential.
    Rejected,
    /// The account at the upstream itself is good, and these scopes are lacking.
    Narrow(BTreeSet<String>),
    /// The upstream refused the call, and no credential of ours is at fault.
    Refused {
        /// 401 or 403.
        status: StatusCode,
        /// What it said in JSON-RPC, where it did.
        answer: Option<Response>,
    },
}

/// Sends one HTTP request to the caller's upstream, with its session and the injected credentials.
pub(super) async fn send(
    caller: &Caller,
    injection: &Injection,
    method: Method,
    body: Bytes,
) -> Result<Answer, UpstreamError> {
    let begun = match &caller.session {
        Some(session) if !session.begun => Some(begin::begun(caller, session, injection).await?),
        session => session.clone(),
    };
    let upstream_session = begun.as_ref().and_then(|session| session.upstream_session.as_deref());
    wire::send(caller, injection, upstream_session, method, body).await
}

/// Whether the upstream refused what we injected. Of an account at itself, 401 says so whatever the configuration says.
pub(super) fn rejects(caller: &Caller, injection: &Injection, status: StatusCode) -> bool {
    let is_own = || status == StatusCode::UNAUTHORIZED && caller.app.broker.own_account(injection).is_some();
    !injection.used().is_empty() && (caller.upstream().reject.contains(&status.as_u16()) || is_own())
}

/// The scopes that an upstream says are lacking in the account at itself (RFC 6750, section 3.1), for a call that can wait for
/// them (R-GW-06).
fn lacking(call: &Call, injection: &Injection, response: &Answer) -> Option<BTreeSet<String>> {
    let own = call.caller.app.broker.own_account(injection);
    if response.status() != StatusCode::FORBIDDEN || own.is_none() || !call.for_broker().may_ask() {
        return None;
    }
    let challenge = Challenge::of(response.headers()).filter(Challenge::is_insufficient_scope)?;
    Some(challenge.scopes).filter(|scopes| !scopes.is_empty())
}

/// Sends a call and takes the answer as the client's era has it.
pub(super) async fn call(call: &Call, injection: &Injection) -> Forwarded {
    let caller = &call.caller;
    if let Some(session) = &caller.session {
        // What arrived together is polled in any order, often the last first: a stream gets its turn here.
        tokio::task::yield_now().await;
        caller.app.relay.streams.opened(&session.key).await;
    }
    fail_point!(CallSending);
    let response = match send(caller, injection, Method::POST, call.body.clone()).await {
        Ok(response) => response,
        // An upstream that has not begun its side of the session refuses its handshake.
        Err(UpstreamError::Refused { status, .. }) if rejects(caller, injection, status) => return Forwarded::Rejected,
        Err(UpstreamError::Refused { status, .. }) => return Forwarded::Refused { status, answer: None },
        Err(error) if error.sent_nothing() => return Forwarded::Unsent(error),
        Err(error) => return Forwarded::Response(call.end(&Ending::Upstream(error))),
    };
    fail_point!(CallAnswered);
    if connect_tool::is_refusal(response.status()) {
        caller.app.broker.challenged(caller.upstream(), response.headers());
    }
    if let Some(scopes) = lacking(call, injection, &response) {
        return Forwarded::Narrow(scopes);
    }
    if rejects(caller, injection, response.status()) {
        return Forwarded::Rejected;
    }
    let status = response.status();
    if connect_tool::is_refusal(status) {
        return Forwarded::Refused { status, answer: refusal(call, response).await };
    }
    if session_is_over(caller, &response).await {
        return Forwarded::Over;
    }
    Forwarded::Response(match answer(call, response).await {
        Ok(response) => response,
        Err(error) => call.end(&Ending::Upstream(error)),
    })
}

/// What an upstream says that refuses a call. The client gets it without the status, which is about us and not about it.
async fn refusal(call: &Call, response: Answer) -> Option<Response> {
    if !is_type(response.headers().get(header::CONTENT_TYPE), "application/json") {
        return None;
    }
    let body = wire::read(call.caller.upstream(), response).await.ok()?;
    let Ok(message @ Message::Response { outcome: Err(_), .. }) = Message::parse(&body) else { return None };
    let text = std::str::from_utf8(&body).ok()?;
    match call.screen.message(call, text, &message) {
        Screened::Pass => Some(reply::json(StatusCode::OK, text.to_owned())),
        Screened::Replace { text, .. } => Some(reply::json(StatusCode::OK, text)),
        Screened::Drop => None,
    }
}

async fn answer(call: &Call, response: Answer) -> Result<Response, UpstreamError> {
    let caller = &call.caller;
    let (upstream, status) = (caller.upstream(), response.status());
    let garbage = |what: String| UpstreamError::Garbage { name: upstream.name.clone(), what };
    let kind = response.headers().get(header::CONTENT_TYPE).cloned();
    if status.is_success() && is_type(kind.as_ref(), "text/event-stream") {
        return Ok(reply::events(screen::stream(call.clone(), response)));
    }
    let passed_on = headers::returned(response.headers());
    if !is_type(kind.as_ref(), "application/json") {
        if status.is_client_error() {
            // A client that looks for the upstream's era needs to see the status.
            let text = garbage(format!("HTTP {}", status.as_u16())).to_string();
            return Ok(reply::error(status, Some(&call.id), elicit::codes::INTERNAL_ERROR, &text));
        }
        return Err(garbage(format!("HTTP {}", status.as_u16())));
    }
    let body = wire::read(upstream, response).await?;
    let Ok(message @ Message::Response { .. }) = Message::parse(&body) else {
        return if status.is_client_error() {
            Ok(pass(status, passed_on, body))
        } else {
            Err(garbage("JSON, but no JSON-RPC response".to_owned()))
        };
    };
    // What was read as a message is UTF-8.
    let text = std::str::from_utf8(&body).unwrap_or_default();
    Ok(match call.screen.message(call, text, &message) {
        Screened::Pass => pass(status, passed_on, body),
        Screened::Replace { status, text } => reply::json(status, text),
        Screened::Drop => return Err(garbage("an answer that this protocol version does not know".to_owned())),
    })
}

fn pass(status: StatusCode, headers: HeaderMap, body: Bytes) -> Response {
    (status, headers, body).into_response()
}

/// A notification or a response goes upstream as it is.
pub(super) async fn pass_on(caller: &Caller, body: Bytes) -> Response {
    let injection = match caller.available().await {
        Ok(injection) => injection,
        Err(error) => {
            tracing::error!(%error, "a message was not passed on");
            return reply::error(
                StatusCode::SERVICE_UNAVAILABLE,
                None,
                elicit::codes::INTERNAL_ERROR,
                "Usher cannot reach its store",
            );
        }
    };
    match send(caller, &injection, Method::POST, body).await {
        Ok(response) if response.status().is_success() => reply::accepted(),
        // An upstream that has not begun its side has nobody to tell.
        Err(UpstreamError::Refused { .. }) if caller.session.as_ref().is_some_and(|session| !session.begun) => {
            reply::accepted()
        }
        Ok(response) if session_is_over(caller, &response).await => {
            reply::error(StatusCode::NOT_FOUND, None, elicit::codes::INVALID_REQUEST, SESSION_OVER)
        }
        Ok(response) => reply::error(
            StatusCode::BAD_REQUEST,
            None,
            elicit::codes::INTERNAL_ERROR,
            &format!(
                "the server {} did not take the message (HTTP {})",
                caller.upstream().name,
                response.status().as_u16()
            ),
        ),
        Err(error) => reply::error(StatusCode::BAD_GATEWAY, None, elicit::codes::INTERNAL_ERROR, &error.to_string()),
    }
}

/// What a client is told whose session is not known (any more); it starts a new one.
pub(super) const SESSION_OVER: &str = "the session is over: start a new one with initialize";

/// Ends our session where the upstream has ended its own.
pub(super) async fn session_is_over(caller: &Caller, response: &Answer) -> bool {
    let Some(session) = &caller.session else { return false };
    if session.upstream_session.is_none() || response.status() != StatusCode::NOT_FOUND {
        return false;
    }
    if let Err(error) = caller.app.relay.sessions.end(&session.key).await {
        tracing::warn!(session = %session.key, %error, "a session that the upstream ended is still stored");
    }
    true
}
