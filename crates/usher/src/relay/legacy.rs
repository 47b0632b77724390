//! The legacy era (2025-06-18, 2025-11-25): sessions, and questions as requests to the client.

use std::borrow::Cow;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use elicit::codes;
use http::{HeaderMap, Method, StatusCode};
use serde_json::value::RawValue;
use usher_store::{InteractionId, fail_point};

use super::{
    answers::{Delivered, Said},
    ask_legacy, ask_modern, body,
    call::{Attempt, Call, Caller},
    connect_tool, forward, inbound, initialize, reply,
    screen::{Screen, cancelled_id},
};
use crate::mcp::{
    envelope::Message,
    headers::accepts_events,
    params::{Params, progress_token},
};

/// One POST of a legacy client.
pub(super) async fn post(caller: Caller, headers: &HeaderMap, body: &Bytes, message: Message<'_>) -> Response {
    if let Message::Request { id, method, params } = &message
        && method == "initialize"
    {
        return initialize::start(caller, id, *params, body.clone()).await;
    }
    let caller = match inbound::legacy_session(caller, headers).await {
        Ok(caller) => caller,
        Err(response) => return response,
    };
    match message {
        Message::Request { id, method, params } => request(caller, headers, id, &method, params, body.clone()).await,
        Message::Notification { method, params } => {
            if method == "notifications/cancelled" && cancels_here(&caller, params) {
                return reply::accepted();
            }
            forward::pass_on(&caller, body.clone()).await
        }
        Message::Response { id, outcome } => {
            let Some(session) = &caller.session else { return reply::accepted() };
            match caller.app.relay.answers.deliver(&session.key, id, outcome) {
                Delivered::Taken => reply::accepted(),
                Delivered::Elsewhere(interaction, said) => answered_elsewhere(&caller, &interaction, said).await,
                Delivered::NotOurs => forward::pass_on(&caller, body.clone()).await,
            }
        }
    }
}

/// An answer to a question of another replica, which hears of a decline through the store (R-GW-08). An accept changes
/// nothing, and whoever dismissed a question can still find it on the portal.
async fn answered_elsewhere(caller: &Caller, interaction: &InteractionId, said: Said) -> Response {
    if said == Said::Declined
        && let Err(error) = caller.app.broker.declined_elsewhere(&caller.principal, interaction).await
    {
        tracing::error!(%interaction, %error, "a decline was not stored");
        return reply::error(
            StatusCode::SERVICE_UNAVAILABLE,
            None,
            codes::INTERNAL_ERROR,
            "Usher cannot reach its store",
        );
    }
    reply::accepted()
}

/// Whether a cancellation was for a call that is held here, and so never reached the upstream.
fn cancels_here(caller: &Caller, params: Option<&RawValue>) -> bool {
    match (&caller.session, cancelled_id(params)) {
        (Some(session), Some(id)) => caller.app.relay.cancels.cancel(&session.key, &id),
        _ => false,
    }
}

async fn request(
    caller: Caller,
    headers: &HeaderMap,
    id: &RawValue,
    method: &str,
    raw_params: Option<&RawValue>,
    body: Bytes,
) -> Response {
    let read = Params::parse(raw_params).and_then(|params| Ok((params.subject(method)?.map(Cow::into_owned), params)));
    let (subject, params) = match read {
        Ok(read) => read,
        Err(error) => return reply::error(StatusCode::OK, Some(id), codes::INVALID_PARAMS, &error.to_string()),
    };
    let Some(session) = caller.session.clone() else {
        return reply::error(StatusCode::NOT_FOUND, Some(id), codes::INVALID_REQUEST, forward::SESSION_OVER);
    };
    let mut call = Call {
        id: id.to_owned(),
        method: method.to_owned(),
        subject,
        progress_token: progress_token(params.meta).map(ToOwned::to_owned),
        body,
        connects: false,
        operation: None,
        round: String::new(),
        next_round: String::new(),
        screen: Screen::of_session(&session),
        caller,
    };
    if let Err(ending) = call.know_whole(raw_params, &params) {
        return call.end(&ending);
    }
    // From here on, so that no cancellation falls between the attempt and the question.
    let followed = call.caller.app.relay.cancels.follow(&session.key, id);
    call.connects = connect_tool::is_meant(&call).await;
    match call.attempt().await {
        // A session is in use as long as a call of it is answered.
        Attempt::Done(response) => body::keeping(response, followed),
        Attempt::Ask(missing) if call.screen.modes().url => {
            ask_legacy::ask(call, session, missing, accepts_events(headers), followed).await
        }
        Attempt::Ask(missing) => ask_modern::point_to_portal(&call, &missing).await,
    }
}

/// DELETE: the client ends its session, here and upstream.
pub(super) async fn delete(caller: &Caller) -> Response {
    let Some(session) = &caller.session else { return StatusCode::NOT_FOUND.into_response() };
    caller.app.relay.end_streams(&session.key);
    if let Err(error) = caller.app.relay.sessions.end(&session.key).await {
        tracing::error!(%error, "a session cannot be ended");
        return reply::error(
            StatusCode::SERVICE_UNAVAILABLE,
            None,
            codes::INTERNAL_ERROR,
            "Usher cannot reach its store at the moment",
        );
    }
    fail_point!(SessionDeleted);
    if session.upstream_session.is_some()
        && let Ok(injection) = caller.available().await
        && let Err(error) = forward::send(caller, &injection, Method::DELETE, Bytes::new()).await
    {
        tracing::info!(upstream = caller.upstream().name, %error, "the upstream was not told that a session ended");
    }
    StatusCode::OK.into_response()
}
