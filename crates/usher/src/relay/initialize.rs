//! `initialize`: opens a session upstream and wraps it into one of ours, bound to the principal.

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use elicit::{Era, Revision, codes};
use http::{HeaderValue, Method, StatusCode, header};
use serde_json::value::RawValue;
use usher_store::{
    AuditAction, Begun, NewSession, Session, SessionId, SessionKey, SessionLimits, StoreError, fail_point,
};

use super::{
    begin,
    call::Caller,
    forward, reply, screen,
    sessions::IDLE,
    upstream::{self as wire, UpstreamError},
};
use crate::mcp::{
    envelope::{EnvelopeError, Message},
    headers::{self, is_type},
    params::{InitializeParams, negotiated_revision},
    sse::Events,
};

/// The longest params of `initialize`, in bytes: they are kept with the session.
const PARAMS_LIMIT: usize = 64 * 1024;

/// Handles one `initialize`. It never waits for a credential; one that is there is injected (R-GW-06).
pub(super) async fn start(caller: Caller, id: &RawValue, params: Option<&RawValue>, body: Bytes) -> Response {
    if params.is_some_and(|params| params.get().len() > PARAMS_LIMIT) {
        let text = format!("the params of initialize are over {PARAMS_LIMIT} bytes");
        return reply::error(StatusCode::OK, Some(id), codes::INVALID_PARAMS, &text);
    }
    let read = match InitializeParams::parse(params) {
        Ok(read) => read,
        Err(error) => return reply::error(StatusCode::OK, Some(id), codes::INVALID_PARAMS, &error.to_string()),
    };
    let injection = match caller.available().await {
        Ok(injection) => injection,
        Err(error) => {
            tracing::error!(%error, "a session cannot be started");
            return reply::error(
                StatusCode::OK,
                Some(id),
                codes::INTERNAL_ERROR,
                "Usher cannot reach its store at the moment",
            );
        }
    };
    let answered = match forward::send(&caller, &injection, Method::POST, body).await {
        Ok(response) => answer(&caller, response).await,
        Err(error) => Err(error),
    };
    let (upstream_session, answer) = match answered {
        Ok(answered) => answered,
        Err(UpstreamError::Refused { status, .. }) => {
            if forward::rejects(&caller, &injection, status)
                && let Err(error) = caller.app.broker.refused(&caller.principal, injection.used()).await
            {
                tracing::error!(%error, "a refused credential cannot be marked");
            }
            if caller.lacks().await {
                return begin::without_upstream(&caller, id, params, read, status).await;
            }
            let error = UpstreamError::Refused { name: caller.upstream().name.clone(), status };
            return reply::error(StatusCode::OK, Some(id), codes::INTERNAL_ERROR, &error.to_string());
        }
        Err(error) => return reply::error(StatusCode::OK, Some(id), codes::INTERNAL_ERROR, &error.to_string()),
    };
    let Some(revision) = answer.revision else {
        // An error of the upstream, or a version that is no version: the client's to judge, and no session.
        return answer.response();
    };
    let begins = Begins { revision, begun: true, upstream_session };
    let theirs = begins.upstream_session.clone();
    match keep(&caller, params, read, begins).await {
        Ok(session) => with_session(answer.response(), &session),
        Err(error) => {
            // The upstream began a session that nobody will use.
            begin::leave(&speaking(&caller, revision), &injection, theirs.as_deref()).await;
            error.response(&caller, id)
        }
    }
}

/// When to come back where there are too many sessions, in seconds.
const FULL_RETRY: u64 = 60;

/// Why no session begins.
#[derive(Debug, thiserror::Error)]
pub(super) enum KeepError {
    /// There are too many, and none that can make room for it.
    #[error("there are too many sessions")]
    Full,
    /// The store cannot be reached.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl KeepError {
    /// What the client is told.
    pub(super) fn response(&self, caller: &Caller, id: &RawValue) -> Response {
        match self {
            Self::Full => {
                let Caller { app, principal, .. } = caller;
                app.broker.turned_away(AuditAction::ClientLimited, Some(principal), Some(&caller.upstream().name));
                reply::later(StatusCode::TOO_MANY_REQUESTS, Some(id), &self.to_string(), FULL_RETRY)
            }
            Self::Store(error) => {
                tracing::error!(%error, "a session cannot be stored");
                let text = "Usher cannot reach its store at the moment";
                reply::error(StatusCode::OK, Some(id), codes::INTERNAL_ERROR, text)
            }
        }
    }
}

/// How the upstream's side of a session begins.
pub(super) struct Begins {
    pub(super) revision: Revision,
    pub(super) begun: bool,
    pub(super) upstream_session: Option<String>,
}

/// Stores a session of this caller. Where there are too many, those that were idle for longest end for it (R-SEC-01).
pub(super) async fn keep(
    caller: &Caller,
    params: Option<&RawValue>,
    read: InitializeParams,
    begins: Begins,
) -> Result<SessionId, KeepError> {
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
        // Needed only to begin the upstream's side later.
        initialize: params.filter(|_| !begins.begun).map_or_else(|| "{}".to_owned(), |params| params.get().to_owned()),
        begun: begins.begun,
        expires_at: now + IDLE,
    };
    let limits = &caller.app.config.limits;
    let limits =
        SessionLimits { of_client: limits.client_sessions, of_user: limits.user_sessions, in_all: limits.sessions };
    let in_use = |key: &SessionKey| caller.app.relay.is_in_use(key);
    match caller.app.store.create_session_within(new, limits, &in_use, now).await? {
        Begun::Kept(ended) => end_upstream(caller, ended),
        Begun::Full => return Err(KeepError::Full),
    }
    fail_point!(SessionStored);
    tracing::info!(
        upstream = caller.upstream().name,
        client = %caller.principal.client,
        session = %session.key(),
        revision = begins.revision.as_str(),
        "session started"
    );
    Ok(session)
}

/// The caller for a message of ours in a session of this revision, which `initialize` itself does not name.
fn speaking(caller: &Caller, revision: Revision) -> Caller {
    let mut caller = caller.for_post();
    caller.headers.insert(headers::PROTOCOL_VERSION, HeaderValue::from_static(revision.as_str()));
    caller
}

/// Ends the upstreams' side of sessions that made room, in the background.
fn end_upstream(caller: &Caller, ended: Vec<Session>) {
    for session in ended {
        tracing::info!(session = %session.key, upstream = session.upstream, "an idle session made room for a new one");
        let upstreams = &caller.app.config.upstreams;
        let Some(upstream) = upstreams.iter().position(|upstream| upstream.name == session.upstream) else { continue };
        let Some(id) = session.upstream_session else { continue };
        let mut of_it = speaking(caller, session.revision);
        (of_it.upstream, of_it.principal) = (upstream, session.principal);
        tokio::spawn(async move {
            if let Ok(injection) = of_it.available().await {
                begin::leave(&of_it, &injection, Some(&id)).await;
            }
        });
    }
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

pub(super) async fn answer(caller: &Caller, response: wire::Answer) -> Result<(Option<String>, Answer), UpstreamError> {
    let upstream = caller.upstream();
    let status = response.status();
    let session = response.headers().get(headers::SESSION_ID).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let kind = response.headers().get(header::CONTENT_TYPE).cloned();
    let garbage = || UpstreamError::Garbage { name: upstream.name.clone(), what: format!("HTTP {}", status.as_u16()) };
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Err(UpstreamError::Refused { name: upstream.name.clone(), status });
    }
    let Some(kind) =
        kind.filter(|kind| is_type(Some(kind), "application/json") || is_type(Some(kind), "text/event-stream"))
    else {
        return Err(garbage());
    };
    let (body, chosen) = if is_type(Some(&kind), "text/event-stream") {
        let (mut events, mut chosen, mut passed) = (Events::default(), None, Vec::new());
        // Some servers leave the stream open behind the response.
        wire::read_until(upstream, response, |chunk| {
            if events.push(chunk).is_err() {
                return true;
            }
            while let Some(event) = events.next_event() {
                let data = event.data();
                // An event without data only says from where to resume.
                let message =
                    data.as_deref().filter(|data| !data.is_empty()).map(|data| Message::parse(data.as_bytes()));
                if passes(message.as_ref()) {
                    passed.extend_from_slice(&event.raw);
                }
                chosen = data.as_deref().and_then(|data| chosen_in(data.as_bytes()));
                if chosen.is_some() {
                    return true;
                }
            }
            false
        })
        .await?;
        (Bytes::from(passed), chosen)
    } else {
        let body = wire::read(upstream, response).await?;
        let chosen = chosen_in(&body);
        (body, chosen)
    };
    let Some(Chosen(revision)) = chosen else { return Err(garbage()) };
    Ok((session, Answer { kind, body, revision, status }))
}

/// What may go to the client on the stream of its `initialize`: no question, which it could not answer before it has its
/// session, and nothing that is no message.
fn passes(message: Option<&Result<Message<'_>, EnvelopeError>>) -> bool {
    match message {
        None | Some(Ok(Message::Response { .. })) => true,
        Some(Ok(Message::Notification { method, .. })) => method != screen::COMPLETE,
        Some(Ok(Message::Request { .. }) | Err(_)) => false,
    }
}

/// What the response to `initialize` chose: a revision that we know, or none.
struct Chosen(Option<Revision>);

/// Reads a response; `None` where the message is none.
fn chosen_in(message: &[u8]) -> Option<Chosen> {
    match Message::parse(message) {
        Ok(Message::Response { outcome: Ok(result), .. }) => {
            Some(Chosen(negotiated_revision(result).filter(|revision| revision.era() == Era::Legacy)))
        }
        Ok(Message::Response { outcome: Err(_), .. }) => Some(Chosen(None)),
        _ => None,
    }
}
