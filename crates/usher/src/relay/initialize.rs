//! `initialize`: opens a session upstream and wraps it into one of ours, bound to the principal.

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use elicit::{Revision, codes};
use http::{HeaderValue, Method, StatusCode, header};
use serde_json::value::RawValue;
use usher_store::{NewSession, SessionId, StoreError};

use super::{
    begin,
    call::Caller,
    forward, reply,
    sessions::IDLE,
    upstream::http::{self as wire, UpstreamError},
};
use crate::mcp::{
    envelope::Message,
    headers::{self, is_type},
    params::{InitializeParams, negotiated_revision},
    sse::Events,
};

/// Handles one `initialize`. It never waits for a credential; one that is there is injected (R-GW-06).
pub(super) async fn start(caller: Caller, id: &RawValue, params: Option<&RawValue>, body: Bytes) -> Response {
    let read = match InitializeParams::parse(params) {
        Ok(read) => read,
        Err(error) => return reply::error(StatusCode::OK, Some(id), codes::INVALID_PARAMS, &error.to_string()),
    };
    let injection = match caller.available().await {
        Ok(injection) => injection,
        Err(error) => {
            tracing::error!(%error, "a session cannot be started");
            return reply::error(StatusCode::OK, Some(id), codes::INTERNAL_ERROR, "Usher cannot reach its store at the moment");
        }
    };
    let answered = match forward::send(&caller, &injection, Method::POST, body).await {
        Ok(response) => answer(&caller, response).await,
        Err(error) => Err(error),
    };
    let (upstream_session, answer) = match answered {
        Ok(answered) => answered,
        Err(UpstreamError::Refused { status, .. }) if caller.lacks().await => {
            return begin::without_upstream(&caller, id, params, read, status).await;
        }
        Err(error) => return reply::error(StatusCode::OK, Some(id), codes::INTERNAL_ERROR, &error.to_string()),
    };
    let Some(revision) = answer.revision else {
        // An error of the upstream, or a version that is no version: the client's to judge, and no session.
        return answer.response();
    };
    let begins = Begins { revision, begun: true, upstream_session };
    match keep(&caller, params, read, begins).await {
        Ok(session) => with_session(answer.response(), &session),
        Err(error) => {
            tracing::error!(%error, "a session cannot be stored");
            reply::error(StatusCode::OK, Some(id), codes::INTERNAL_ERROR, "Usher cannot reach its store at the moment")
        }
    }
}

/// How the upstream's side of a session begins.
pub(super) struct Begins {
    pub(super) revision: Revision,
    pub(super) begun: bool,
    pub(super) upstream_session: Option<String>,
}

/// Stores a session of this caller.
pub(super) async fn keep(
    caller: &Caller,
    params: Option<&RawValue>,
    read: InitializeParams,
    begins: Begins,
) -> Result<SessionId, StoreError> {
    let session = SessionId::new(&*caller.app.random);
    let now = caller.app.clock.now();
    let new = NewSession {
        id: session.clone(),
        upstream: caller.upstream().name.clone(),
        upstream_session: begins.upstream_session,
        principal: caller.principal.clone(),
        revision: begins.revision,
        capabilities: read.capabilities.as_str().to_owned(),
        client_claim: read.client_claim,
        initialize: params.map_or_else(|| "{}".to_owned(), |params| params.get().to_owned()),
        begun: begins.begun,
        expires_at: now + IDLE,
    };
    caller.app.store.create_session(new, now).await?;
    tracing::info!(
        upstream = caller.upstream().name,
        client = %caller.principal.client,
        session = %session.key(),
        revision = begins.revision.as_str(),
        "session started"
    );
    Ok(session)
}

/// The response that tells the client its session.
pub(super) fn with_session(mut response: Response, session: &SessionId) -> Response {
    if let Ok(value) = HeaderValue::from_str(session.expose()) {
        response.headers_mut().insert(headers::SESSION_ID, value);
    }
    response
}

/// The upstream's whole answer, as it came.
pub(super) struct Answer {
    kind: HeaderValue,
    body: Bytes,
    pub(super) revision: Option<Revision>,
    status: StatusCode,
}

impl Answer {
    fn response(self) -> Response {
        (self.status, [(header::CONTENT_TYPE, self.kind)], self.body).into_response()
    }
}

pub(super) async fn answer(caller: &Caller, response: reqwest::Response) -> Result<(Option<String>, Answer), UpstreamError> {
    let upstream = caller.upstream();
    let status = response.status();
    let session = response.headers().get(headers::SESSION_ID).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let kind = response.headers().get(header::CONTENT_TYPE).cloned();
    let garbage = || UpstreamError::Garbage { name: upstream.name.clone(), what: format!("HTTP {}", status.as_u16()) };
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Err(UpstreamError::Refused { name: upstream.name.clone(), status });
    }
    let Some(kind) = kind.filter(|kind| is_type(Some(kind), "application/json") || is_type(Some(kind), "text/event-stream")) else {
        return Err(garbage());
    };
    let (body, chosen) = if is_type(Some(&kind), "text/event-stream") {
        let (mut events, mut chosen) = (Events::default(), None);
        // Some servers leave the stream open behind the response.
        let body = wire::read_until(upstream, response, |chunk| {
            if events.push(chunk).is_err() {
                return true;
            }
            chosen = std::iter::from_fn(|| events.next_event()).find_map(|event| chosen_in(event.data()?.as_bytes()));
            chosen.is_some()
        });
        (body.await?, chosen)
    } else {
        let body = wire::read(upstream, response).await?;
        let chosen = chosen_in(&body);
        (body, chosen)
    };
    let Some(Chosen(revision)) = chosen else { return Err(garbage()) };
    Ok((session, Answer { kind, body, revision, status }))
}

/// What the response to `initialize` chose: a revision that we know, or none.
struct Chosen(Option<Revision>);

/// Reads a response; `None` where the message is none.
fn chosen_in(message: &[u8]) -> Option<Chosen> {
    match Message::parse(message) {
        Ok(Message::Response { outcome: Ok(result), .. }) => Some(Chosen(negotiated_revision(result))),
        Ok(Message::Response { outcome: Err(_), .. }) => Some(Chosen(None)),
        _ => None,
    }
}
