//! The MCP endpoint `/mcp/{upstream}`: who calls, which upstream, whether there is room, which era; then on to that era.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use elicit::{ASKING_METHODS, Era, Principal, Revision, codes, unsupported_version};
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, header};
use serde_json::value::RawValue;
use tokio::time::Instant;
use usher_store::AuditAction;

use super::{
    body::{self, Unread},
    call::Caller,
    legacy, listen, modern,
    places::{Full, Kind},
    reply,
    sessions::Named,
    turned_away,
};
use crate::{
    app::App,
    mcp::{
        alike::one_meaning,
        envelope::{EnvelopeError, Message, error_object},
        headers::{self, is_type},
        params::is_modern,
    },
};

/// POST, GET and DELETE on the MCP endpoint.
pub async fn endpoint(State(app): State<Arc<App>>, Path(name): Path<String>, request: Request<Body>) -> Response {
    let arrived = Instant::now();
    let (parts, body) = request.into_parts();
    let upstream = app.config.upstreams.iter().position(|upstream| upstream.name == name);
    let named = upstream.map(|upstream| &app.config.upstreams[upstream]);
    let principal = match app.identity.authenticate(&parts.headers, named, &app.config.public_url).await {
        Ok(principal) => principal,
        Err(denied) => return turned_away::answer(&app, &denied, &name),
    };
    let Some(upstream) = upstream else { return turned_away::no_server() };
    let kind = if parts.method == Method::GET { Kind::Stream } else { Kind::Request };
    let place = match app.relay.places.take(&principal, kind) {
        Ok(place) => Arc::new(place),
        Err(full) => return no_room(&app, &principal, upstream, full),
    };
    let caller = Caller {
        app,
        principal,
        upstream,
        client_claim: None,
        headers: headers::forwarded(&parts.headers),
        arrived,
        session: None,
        place: Arc::clone(&place),
    };
    let response = match parts.method {
        Method::POST => post(caller, &parts.headers, body).await,
        Method::GET => match legacy_session(caller, &parts.headers).await {
            Ok(caller) => listen::open(caller, &parts.headers).await,
            Err(response) => response,
        },
        Method::DELETE => match legacy_session(caller, &parts.headers).await {
            Ok(caller) => legacy::delete(&caller).await,
            Err(response) => response,
        },
        _ => not_allowed("GET, POST, DELETE"),
    };
    body::counted(response, &place)
}

/// The client has too much under way: it is told when to come back, and once a minute it is audited.
fn no_room(app: &App, principal: &Principal, upstream: usize, full: Full) -> Response {
    app.broker.turned_away(AuditAction::ClientLimited, Some(principal), Some(&app.config.upstreams[upstream].name));
    reply::no_room(None, full)
}

fn not_allowed(allow: &'static str) -> Response {
    (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, HeaderValue::from_static(allow))]).into_response()
}

async fn post(caller: Caller, headers: &HeaderMap, body: Body) -> Response {
    if !is_type(headers.get(header::CONTENT_TYPE), "application/json") {
        return reply::error(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            None,
            codes::INVALID_REQUEST,
            "the content type must be application/json",
        );
    }
    let at_most = caller.app.config.limits.body_size;
    let body = match body::read(body, &caller.place, at_most).await {
        Ok(body) => body,
        Err(Unread::Full) => return no_room(&caller.app, &caller.principal, caller.upstream, Full::Memory),
        Err(unread) => return not_read(unread, at_most),
    };
    let message = match Message::parse(&body) {
        Ok(message) => message,
        Err(error) => {
            let code = if error == EnvelopeError::NotJson { codes::PARSE_ERROR } else { codes::INVALID_REQUEST };
            return reply::error(StatusCode::BAD_REQUEST, None, code, &error.to_string());
        }
    };
    if let Some(refusal) = unclear(&caller, &body, &message) {
        return refusal;
    }
    match era_of(headers, &message) {
        Ok(Era::Modern) => modern::post(caller, headers, &body, message).await,
        Ok(Era::Legacy) => legacy::post(caller, headers, &body, message).await,
        Err(error) => reply::error_value(StatusCode::BAD_REQUEST, message.id(), &error),
    }
}

/// Refuses what we would pass on as harmless, and what the server could act on as a call all the same: a call without an id,
/// which nobody would be asked about; and, where it matters, what careless readers read otherwise than we do.
fn unclear(caller: &Caller, body: &[u8], message: &Message<'_>) -> Option<Response> {
    if let Message::Notification { method, .. } = message
        && ASKING_METHODS.contains(&&**method)
    {
        let text = format!("{method} is a request and needs an id");
        return Some(reply::error(StatusCode::BAD_REQUEST, None, codes::INVALID_REQUEST, &text));
    }
    // What needs nothing passes as it is (R-GW-02).
    if caller.upstream().needs.is_empty() {
        return None;
    }
    let error = one_meaning(body, message.params().map(RawValue::get)).err()?;
    let text = format!("the message could be understood in two ways: {error}");
    Some(reply::error(StatusCode::BAD_REQUEST, message.id(), codes::INVALID_PARAMS, &text))
}

fn not_read(unread: Unread, at_most: usize) -> Response {
    match unread {
        Unread::TooLarge => {
            let text = format!("the message is over {at_most} bytes");
            reply::error(StatusCode::PAYLOAD_TOO_LARGE, None, codes::INVALID_REQUEST, &text)
        }
        Unread::Full => reply::no_room(None, Full::Memory),
        Unread::Broken => reply::error(StatusCode::BAD_REQUEST, None, codes::PARSE_ERROR, "the body broke off"),
        Unread::Slow => {
            reply::error(StatusCode::REQUEST_TIMEOUT, None, codes::PARSE_ERROR, "the body did not come in time")
        }
    }
}

/// Which era a message belongs to. The error is what the client is told whose message belongs to none.
///
/// A message that carries the modern mark in `_meta`, or names a modern version in its header, is modern, whatever else it
/// carries (a session id is ignored there). Everything else is legacy.
fn era_of(headers: &HeaderMap, message: &Message<'_>) -> Result<Era, serde_json::Value> {
    let mut versions = headers.get_all(headers::PROTOCOL_VERSION).iter();
    let named = versions.next().and_then(|value| value.to_str().ok());
    if versions.next().is_some() {
        return Err(error_object(codes::HEADER_MISMATCH, "the request has more than one MCP-Protocol-Version header"));
    }
    if is_modern(message.params()).map_err(|error| error_object(codes::INVALID_PARAMS, &error.to_string()))? {
        return Ok(Era::Modern);
    }
    match named {
        None => Ok(Era::Legacy),
        Some(version) => match Revision::parse(version) {
            Some(revision) => Ok(revision.era()),
            // `initialize` negotiates its version in the body, so a header that comes with it decides nothing.
            None if matches!(message, Message::Request { method, .. } if method == "initialize") => Ok(Era::Legacy),
            None => Err(unsupported_version(version)),
        },
    }
}

/// Finds the session that a legacy message names.
pub(super) async fn legacy_session(mut caller: Caller, headers: &HeaderMap) -> Result<Caller, Response> {
    if headers
        .get(headers::PROTOCOL_VERSION)
        .and_then(|value| value.to_str().ok())
        .and_then(Revision::parse)
        .is_some_and(|revision| revision.era() == Era::Modern)
    {
        return Err(not_allowed("POST"));
    }
    if !headers.contains_key(headers::SESSION_ID) {
        let text = "this message needs an Mcp-Session-Id header: start a session with initialize";
        return Err(reply::error(StatusCode::BAD_REQUEST, None, codes::INVALID_REQUEST, text));
    }
    let app = Arc::clone(&caller.app);
    let name = &app.config.upstreams[caller.upstream].name;
    match app.relay.sessions.named(headers, &caller.principal, name, app.clock.now()).await {
        Ok(Named::Own(session)) => {
            caller.client_claim.clone_from(&session.client_claim);
            caller.session = Some(session);
            Ok(caller)
        }
        Ok(named) => {
            if matches!(named, Named::Foreign) {
                app.broker.turned_away(AuditAction::SessionRefused, Some(&caller.principal), Some(name));
            }
            Err(reply::error(StatusCode::NOT_FOUND, None, codes::INVALID_REQUEST, super::forward::SESSION_OVER))
        }
        Err(error) => {
            tracing::error!(%error, "a session cannot be looked up");
            Err(reply::error(
                StatusCode::SERVICE_UNAVAILABLE,
                None,
                codes::INTERNAL_ERROR,
                "Usher cannot reach its store at the moment",
            ))
        }
    }
}
