//! The modern era (2026-07-28): one POST a message, no sessions, questions in rounds.

use std::borrow::Cow;

use axum::response::Response;
use bytes::Bytes;
use elicit::{ASKING_METHODS, Action, Era, Revision, STATE_REJECTED, codes, unsupported_modern_version};
use http::{HeaderMap, StatusCode};
use serde_json::value::RawValue;
use usher_store::{AuditAction, fail_point};

use super::{
    ask_modern,
    call::{Attempt, Call, Caller},
    connect_tool,
    ending::Ending,
    forward, held, reply,
    rounds::{self, Round},
    screen::Screen,
    sought::sought,
};
use crate::mcp::{
    envelope::Message,
    headers::{self, accepts_events},
    params::{ModernMeta, Params, modern_version, progress_token},
};

/// One POST of a modern client.
pub(super) async fn post(mut caller: Caller, inbound: &HeaderMap, body: &Bytes, message: Message<'_>) -> Response {
    let (id, method, raw_params) = match message {
        Message::Request { id, method, params } => (id, method, params),
        Message::Notification { .. } => return forward::pass_on(&caller, body.clone()).await,
        Message::Response { .. } => {
            let text = "a client of this protocol version sends no responses";
            return reply::error(StatusCode::BAD_REQUEST, None, codes::INVALID_REQUEST, text);
        }
    };
    let invalid = |error: &dyn std::fmt::Display| {
        reply::error(StatusCode::BAD_REQUEST, Some(id), codes::INVALID_PARAMS, &error.to_string())
    };
    let mismatch = |error: &headers::Mismatch| {
        reply::error(StatusCode::BAD_REQUEST, Some(id), codes::HEADER_MISMATCH, &error.to_string())
    };
    let params = match Params::parse(raw_params) {
        Ok(params) => params,
        Err(error) => return invalid(&error),
    };
    let version = match modern_version(params.meta) {
        Ok(version) => version,
        Err(error) => return invalid(&error),
    };
    if let Err(error) = headers::check_version(inbound, &version) {
        return mismatch(&error);
    }
    let Some(revision) = Revision::parse(&version).filter(|revision| revision.era() == Era::Modern) else {
        return reply::error_value(StatusCode::BAD_REQUEST, Some(id), &unsupported_modern_version(&version));
    };
    let (meta, subject) = match ModernMeta::parse(params.meta).and_then(|meta| Ok((meta, params.subject(&method)?))) {
        Ok(read) => read,
        Err(error) => return invalid(&error),
    };
    if let Err(error) = headers::check_mirrored(inbound, &method, subject.as_deref()) {
        return mismatch(&error);
    }
    caller.client_claim = meta.client_claim;
    let mut call = Call {
        id: id.to_owned(),
        method: method.to_string(),
        subject: subject.map(Cow::into_owned),
        progress_token: progress_token(params.meta).map(ToOwned::to_owned),
        body: body.clone(),
        connects: false,
        operation: None,
        round: String::new(),
        next_round: String::new(),
        screen: Screen::of_request(revision, meta.capabilities),
        caller,
    };
    if call.method == "subscriptions/listen" {
        return super::listen::subscribe(call).await;
    }
    if !ASKING_METHODS.contains(&call.method.as_str()) {
        return finish(&call, &Round::default()).await;
    }
    if let Err(ending) = call.know_whole(raw_params, &params) {
        return call.end(&ending);
    }
    match rounds::open(&call.caller, &call.method, raw_params, &params) {
        Ok(None) => {
            call.connects = connect_tool::is_meant(&call).await;
            finish(&call, &Round { carried: params.input_responses.map(ToOwned::to_owned), ..Round::default() }).await
        }
        Ok(Some(round)) => retry(call, round, params.input_responses, accepts_events(inbound)).await,
        Err(error) => {
            tracing::warn!(upstream = call.caller.upstream().name, client = %call.caller.principal.client, reason = %error, "request state refused");
            let Caller { app, principal, .. } = &call.caller;
            app.broker.turned_away(AuditAction::StateRefused, Some(principal), Some(&call.caller.upstream().name));
            reply::error(StatusCode::BAD_REQUEST, Some(&call.id), codes::INVALID_PARAMS, STATE_REJECTED)
        }
    }
}

/// Sends the call upstream, or asks.
async fn finish(call: &Call, round: &Round) -> Response {
    match call.attempt().await {
        Attempt::Done(response) => response,
        Attempt::Ask(missing) => ask_modern::ask(call, &missing, round).await,
    }
}

/// A retry: the answers to our questions are taken out, and the rest goes upstream once nothing is missing.
async fn retry(mut call: Call, round: Round, responses: Option<&RawValue>, accepts_events: bool) -> Response {
    call.connects = round.connects;
    call.round.clone_from(&round.proof);
    let taken = rounds::take(round, responses);
    fail_point!(RetryTaken);
    if let Some((ours, action)) = taken.refused {
        let provider = ours.provider.clone();
        let app = &call.caller.app;
        if action == Action::Cancel {
            app.broker.dismissed(call.for_broker(), &provider);
            return call.end(&Ending::Dismissed { provider });
        }
        let Some(id) = ours.id() else { return call.end(&Ending::Declined { provider, seconds: None }) };
        if let Err(error) = app.broker.declined_by_client(&id).await {
            return call.end(&Ending::Store(error));
        }
        return call.end(&Ending::declined(&call, &id, &provider).await);
    }
    let Some(body) = rounds::for_upstream(&call.body, taken.round.upstream_state.as_deref(), taken.rest.as_deref())
    else {
        return reply::error(
            StatusCode::BAD_REQUEST,
            Some(&call.id),
            codes::INVALID_PARAMS,
            "the params of the call cannot be read",
        );
    };
    call.body = Bytes::from(body);
    let round = Round { carried: taken.rest, ..taken.round };
    let missing = match call.attempt().await {
        Attempt::Done(response) => return response,
        Attempt::Ask(missing) => missing,
    };
    let accepted =
        missing.iter().all(|one| round.ours.iter().any(|ours| ours.accepted && ours.provider == one.provider));
    if !accepted || !call.screen.modes().url {
        return ask_modern::ask(&call, &missing, &round).await;
    }
    let Ok(waits) = call.caller.place.wait() else { return call.end(&Ending::too_many_held(&call)) };
    if !accepts_events {
        return ask_modern::settle(&call, &missing, &round).await;
    }
    let call = call.apart();
    let (mut held, response) = held::of(&call);
    tokio::spawn(async move {
        let _waits = waits;
        let what = format!("Waiting for you to {}", sought(&call, &missing[0].provider).to_do());
        // A client that has left needs no answer, and nothing goes upstream for it.
        if let Ok(response) = held.during(&what, ask_modern::settle(&call, &missing, &round)).await {
            held.finish(response).await;
        }
    });
    response
}
