//! A legacy session whose upstream refuses whoever lacks a credential: it begins without the upstream, which begins its side
//! as soon as a message can bring the credential (R-GW-06).

use std::sync::Arc;

use axum::response::Response;
use bytes::Bytes;
use elicit::{Era, Revision};
use http::{Method, StatusCode};
use serde_json::{json, value::RawValue};
use usher_store::{Session, StoreError, fail_point};

use super::{
    call::Caller,
    connect_tool::CONNECT,
    forward,
    initialize::{self, Begins},
    reply,
    upstream::{self as wire, UpstreamError},
};
use crate::{
    credentials::Injection,
    mcp::params::{InitializeParams, negotiated_revision},
};

/// Answers `initialize` in place of the upstream.
pub(super) async fn without_upstream(
    caller: &Caller,
    id: &RawValue,
    params: Option<&RawValue>,
    read: InitializeParams,
    status: StatusCode,
) -> Response {
    let asked = params.and_then(negotiated_revision).filter(|revision| revision.era() == Era::Legacy);
    let revision = asked.unwrap_or(Revision::V2025_11_25);
    let begins = Begins { revision, begun: false, upstream_session: None };
    match initialize::keep(caller, params, read, begins).await {
        Ok(session) => {
            tracing::info!(session = %session.key(), status = status.as_u16(), "the upstream refused the handshake; we stand in");
            let server = caller.upstream().title.get("en");
            let result = json!({
                "protocolVersion": revision.as_str(),
                "capabilities": { "tools": { "listChanged": true } },
                "serverInfo": { "name": caller.upstream().name, "title": server, "version": env!("CARGO_PKG_VERSION") },
                "instructions": format!("{server} must be connected before it shows its tools: call the tool `{CONNECT}`."),
            });
            initialize::with_session(reply::result(id, &result.to_string()), &session)
        }
        Err(error) => error.response(caller, id),
    }
}

/// The session with its upstream's side begun. Without a credential to bring, the upstream is not asked again.
pub(super) async fn begun(
    caller: &Caller,
    session: &Arc<Session>,
    injection: &Injection,
) -> Result<Arc<Session>, UpstreamError> {
    let name = || caller.upstream().name.clone();
    if injection.used().is_empty() {
        return Err(UpstreamError::Refused { name: name(), status: StatusCode::UNAUTHORIZED });
    }
    let app = &caller.app;
    let unavailable = |error: StoreError| {
        tracing::error!(%error, "a session cannot be read or written");
        UpstreamError::Unreachable(name())
    };
    if let Some(found) = app.store.session_of(&session.key, app.clock.now()).await.map_err(unavailable)?
        && found.begun
    {
        return Ok(Arc::new(found));
    }
    let upstream_session = handshake(caller, session, injection).await?;
    fail_point!(HandshakeDone);
    let first = app.store.begin_session(session, upstream_session.as_deref()).await.map_err(unavailable)?;
    fail_point!(HandshakeStored);
    app.relay.sessions.forget(&session.key);
    if !first {
        // Somebody else was faster, and theirs counts.
        leave(caller, injection, upstream_session.as_deref()).await;
        let found = app.store.session_of(&session.key, app.clock.now()).await.map_err(unavailable)?;
        return found.map(Arc::new).ok_or_else(|| UpstreamError::Unreachable(name()));
    }
    tracing::info!(session = %session.key, upstream = name(), "the upstream began its side of a session");
    // The event of this change tells the client's own stream that the tools changed, and ends it: the client opens it anew,
    // and now reaches the upstream's.
    Ok(Arc::new(Session { upstream_session, begun: true, ..Session::clone(session) }))
}

/// The client's own `initialize`, sent again, and the notification that ends the handshake.
async fn handshake(caller: &Caller, session: &Session, injection: &Injection) -> Result<Option<String>, UpstreamError> {
    let mut opening = caller.for_post();
    opening.session = None;
    let initialize =
        format!(r#"{{"jsonrpc":"2.0","id":"usher-initialize","method":"initialize","params":{}}}"#, session.initialize);
    let response = Box::pin(forward::send(&opening, injection, Method::POST, Bytes::from(initialize))).await?;
    let (upstream_session, answer) = initialize::answer(caller, response).await?;
    if answer.revision != Some(session.revision) {
        // The client was promised another revision. It begins anew, and then reaches the upstream itself.
        leave(caller, injection, upstream_session.as_deref()).await;
        if let Err(error) = caller.app.relay.sessions.end(&session.key).await {
            tracing::warn!(session = %session.key, %error, "a session that cannot go on is still stored");
        }
        return Err(UpstreamError::Garbage {
            name: caller.upstream().name.clone(),
            what: "another revision".to_owned(),
        });
    }
    let initialized = Bytes::from_static(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    wire::send(&opening, injection, upstream_session.as_deref(), Method::POST, initialized).await?;
    Ok(upstream_session)
}

/// Ends an upstream session that is not used. One that cannot be ended ends by itself when it is idle.
pub(super) async fn leave(caller: &Caller, injection: &Injection, upstream_session: Option<&str>) {
    if upstream_session.is_some() {
        let caller = caller.for_post();
        if let Err(error) = wire::send(&caller, injection, upstream_session, Method::DELETE, Bytes::new()).await {
            tracing::info!(upstream = caller.upstream().name, %error, "an unused session was not ended upstream");
        }
    }
}
