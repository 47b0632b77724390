use std::sync::Arc;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::response::Response;
use bytes::Bytes;
use http::{Method, StatusCode, header};

use super::conformance::is_modern;
use super::run::Task;
use super::{Inner, Refusal, legacy, modern};
use crate::door::Switch;
use crate::provider::play;
use crate::{Era, Message, Outcome, Recorded, json, quote};

pub(super) fn router(inner: Arc<Inner>) -> Router {
    Router::new().fallback(handle).with_state(inner)
}

async fn handle(
    State(inner): State<Arc<Inner>>,
    ConnectInfo(switch): ConnectInfo<Switch>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    // A body that breaks off belongs to nobody any more.
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let text = String::from_utf8_lossy(&body).into_owned();
    let message = Message::new(text);
    let version = head.headers.get("mcp-protocol-version").and_then(|value| value.to_str().ok());
    let post = head.method == Method::POST;
    let era = if post && is_modern(version, &message.text) { Era::Modern } else { Era::Legacy };
    let response = || if message.is_response() { "response" } else { "" }.to_owned();
    let method = message.method().unwrap_or_else(response);
    let entry = inner.log.add(Recorded::new(head, body, era, method));
    inner.check_forbidden(&entry);
    let settled = |answer: Response| {
        inner.log.settle(&entry, Outcome::Answered);
        answer
    };
    if let Some((document, behaviour)) = inner.resource_metadata(&entry) {
        return settled(play(behaviour, &switch, "", || document).await);
    }
    if entry.path.split('?').next() != Some("/mcp") {
        // Clients look for metadata where there may be none.
        if !entry.path.starts_with("/.well-known/") {
            inner.violation(format!("{} {}: not the MCP endpoint", entry.http_method, entry.path));
        }
        return settled(plain(StatusCode::NOT_FOUND, ""));
    }
    if let Some((name, value, refusal)) = &inner.config.required
        && entry.header(name) != Some(value)
    {
        return settled(refused(refusal));
    }
    if let Err(refusal) = inner.admit(&entry) {
        return settled(*refusal);
    }
    match entry.http_method {
        Method::POST => {}
        Method::GET if inner.config.eras.serves(Era::Legacy) => {
            return legacy::open_stream(&inner, entry).await;
        }
        Method::DELETE if inner.config.eras.serves(Era::Legacy) => {
            return legacy::delete(&inner, &entry);
        }
        _ => return settled(plain(StatusCode::METHOD_NOT_ALLOWED, "")),
    }
    inner.check_post(&entry);
    if json::members(&message.text).is_none() || message.string(&["jsonrpc"]).as_deref() != Some("2.0") {
        inner.violation(format!("not one JSON-RPC message: {}", message.text));
        return settled(rpc_error(400, "null", -32600, "Invalid Request"));
    }
    post_message(&inner, entry, switch, message).await
}

async fn post_message(inner: &Arc<Inner>, entry: Recorded, switch: Switch, message: Message) -> Response {
    let era = entry.era;
    let answer = immediate(inner, &entry, &message);
    let session = match answer {
        Ok(session) => session,
        Err(response) => {
            inner.log.settle(&entry, Outcome::Answered);
            return *response;
        }
    };
    let task = Task {
        inner: Arc::clone(inner),
        era,
        session,
        id: message.id().unwrap_or("null").to_owned(),
        method: entry.method.clone(),
        params: message.params().unwrap_or("{}").to_owned(),
        entry,
        switch,
        detached: Arc::default(),
    };
    match (era, task.method.as_str()) {
        (Era::Modern, _) => modern::answer(task).await,
        (Era::Legacy, "initialize") => legacy::initialize(task).await,
        (Era::Legacy, _) => legacy::answer(task).await,
    }
}

/// Refusals, responses and notifications; else the session of the request (empty where there is none).
fn immediate(inner: &Inner, entry: &Recorded, message: &Message) -> Result<String, Box<Response>> {
    let id = message.id().unwrap_or("null");
    let params = message.params().unwrap_or("{}");
    let refuse = |status, code, text: &str| Err(Box::new(rpc_error(status, id, code, text)));
    if !inner.config.eras.serves(entry.era) {
        if entry.era == Era::Modern {
            let (status, body) = &inner.config.probe;
            let status = StatusCode::from_u16(*status).expect("an HTTP status");
            return Err(Box::new(plain(status, body)));
        }
        let (error, (code, text)) = inner.refuse_legacy(&entry.method, params);
        return match error {
            Some(error) => Err(Box::new(rpc_error_raw(400, id, &error))),
            None => refuse(400, code, &text),
        };
    }
    if message.is_request() && !(id.starts_with('"') || id.parse::<i64>().is_ok()) {
        inner.violation(format!("{}: the id {id} is neither string nor integer", entry.method));
        return refuse(400, -32600, "Invalid Request: id");
    }
    match entry.era {
        Era::Modern if message.is_response() => {
            inner.violation(format!("a response in the modern era: {}", message.text));
            refuse(400, -32600, "Invalid Request: responses are not sent in this revision")
        }
        Era::Modern if message.is_notification() => {
            if entry.method == "notifications/cancelled" {
                inner.violation("notifications/cancelled in the modern era");
            }
            Err(Box::new(accepted()))
        }
        Era::Modern => {
            if let Some((code, text)) = inner.check_modern(entry) {
                return refuse(400, code, &text);
            }
            let version = entry.header("mcp-protocol-version").unwrap_or_default();
            match inner.unsupported(version) {
                Some(error) => Err(Box::new(rpc_error_raw(400, id, &error))),
                None => Ok(String::new()),
            }
        }
        Era::Legacy if entry.method == "initialize" && message.is_request() => Ok(String::new()),
        Era::Legacy => {
            let session = inner.session_of(entry)?;
            if message.is_response() {
                return Err(Box::new(inner.take_answer(&session, message)));
            }
            if message.is_notification() {
                return Err(Box::new(inner.take_notification(&session, message)));
            }
            Ok(session)
        }
    }
}

pub(super) fn plain(status: StatusCode, body: &str) -> Response {
    Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(body.to_owned()))
        .expect("fixed headers")
}

pub(super) fn accepted() -> Response {
    Response::builder().status(StatusCode::ACCEPTED).body(Body::empty()).expect("fixed headers")
}

pub(super) fn rpc_error(status: u16, id: &str, code: i64, text: &str) -> Response {
    rpc_error_raw(status, id, &format!(r#"{{"code":{code},"message":{}}}"#, quote(text)))
}

fn rpc_error_raw(status: u16, id: &str, error: &str) -> Response {
    let status = StatusCode::from_u16(status).expect("an HTTP status");
    plain(status, &format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#))
}

/// The answer to a missing or wrong header.
pub(super) fn refused(refusal: &Refusal) -> Response {
    let mut response = Response::builder().status(refusal.status).header(header::CONTENT_TYPE, "application/json");
    if let Some(challenge) = &refusal.challenge {
        response = response.header(header::WWW_AUTHENTICATE, challenge);
    }
    response.body(Body::from(Bytes::from(refusal.body.clone()))).expect("valid headers")
}
