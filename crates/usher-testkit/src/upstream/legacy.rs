use std::sync::Arc;

use axum::response::Response;
use http::StatusCode;
use tokio::sync::mpsc;

use super::output::{Watch, event_stream};
use super::run::{Task, respond};
use super::serve::{accepted, plain, rpc_error};
use super::streams::Open;
use super::{Answered, Inner, Script};
use crate::record::lock;
use crate::{Era, Message, Outcome, Recorded, json, quote};

/// Revisions without the `MCP-Protocol-Version` header.
const WITHOUT_HEADER: [&str; 2] = ["2024-11-05", "2025-03-26"];

impl Inner {
    /// The session of a request other than `initialize`, or the refusal.
    pub(super) fn session_of(&self, entry: &Recorded) -> Result<String, Box<Response>> {
        let given = entry.header("mcp-session-id").unwrap_or_default();
        let what = if entry.method.is_empty() { entry.http_method.as_str() } else { &entry.method };
        let id = if self.config.sessions { given } else { "" };
        if !self.config.sessions && !given.is_empty() {
            self.violation(format!("{what}: a session id, but none was given out"));
        }
        if self.config.sessions && id.is_empty() {
            self.violation(format!("{what}: no session id"));
            return Err(Box::new(rpc_error(400, "null", -32000, "Bad Request: no session id")));
        }
        let found = self.with_session(id, |session| session.clone());
        let Some(session) = found else {
            self.violation(format!("{what}: the session {id:?} was never given out"));
            return Err(Box::new(rpc_error(404, "null", -32001, "Session not found")));
        };
        if session.ended {
            return Err(Box::new(rpc_error(404, "null", -32001, "Session not found")));
        }
        let version = entry.header("mcp-protocol-version");
        if !WITHOUT_HEADER.contains(&session.version.as_str()) && version != Some(session.version.as_str()) {
            self.violation(format!("{what}: MCP-Protocol-Version is {version:?}, negotiated was {}", session.version));
            if version.is_some() {
                return Err(Box::new(rpc_error(400, "null", -32000, "Bad Request: version")));
            }
        }
        Ok(id.to_owned())
    }

    /// Takes a response to one of our questions.
    pub(super) fn take_answer(&self, session: &str, message: &Message) -> Response {
        let id = message.id().unwrap_or("null").to_owned();
        let asked = lock(&self.questions).remove(&(session.to_owned(), id.clone()));
        let Some(sender) = asked else {
            self.violation(format!("an answer to a question that is not open: {}", message.text));
            return accepted();
        };
        let error = message.result().is_none();
        let raw = message.result().or_else(|| message.error()).unwrap_or("null").to_owned();
        // Nobody waits any more when the client has left the call; that is no fault.
        let _ = sender.send(Answered { key: id, raw, error });
        accepted()
    }

    /// Takes a notification.
    pub(super) fn take_notification(&self, session: &str, message: &Message) -> Response {
        match message.method().as_deref() {
            Some("notifications/initialized") => {
                self.with_session(session, |session| session.initialized = true);
            }
            Some("notifications/cancelled") => {
                let id = message.at(&["params", "requestId"]).unwrap_or_default().to_owned();
                let running = lock(&self.running).remove(&(session.to_owned(), id));
                if let Some((entry, task)) = running {
                    self.log.settle(&entry, Outcome::Cancelled);
                    task.abort();
                }
            }
            _ => {}
        }
        self.log.touch();
        accepted()
    }

    fn check_request(&self, task: &Task) {
        let initialized = self.with_session(&task.session, |session| session.initialized);
        if initialized == Some(false) && task.method != "ping" {
            self.violation(format!("{} before notifications/initialized", task.method));
        }
        if lock(&self.running).contains_key(&(task.session.clone(), task.id.clone())) {
            self.violation(format!("{}: the id {} is in flight twice", task.method, task.id));
        }
    }
}

/// Answers `initialize`.
pub(super) async fn initialize(mut task: Task) -> Response {
    let inner = Arc::clone(&task.inner);
    if task.entry.header("mcp-session-id").is_some() {
        inner.violation("initialize with a session id");
    }
    let config = &inner.config;
    for key in ["capabilities", "clientInfo"] {
        if json::at(&task.params, &[key]).and_then(json::members).is_none() {
            inner.violation(format!("initialize without {key}"));
        }
    }
    let known = lock(&inner.shelf).script(Era::Legacy, "initialize", &task.params);
    let asked = json::string_at(&task.params, &["protocolVersion"]).unwrap_or_default();
    let versions = &config.legacy_versions;
    let version = if versions.contains(&asked) { &asked } else { &versions[0] };
    task.session = inner.new_session(version, &task.params);
    let instructions = config.instructions.as_ref();
    let instructions = instructions.map(|text| format!(r#","instructions":{}"#, quote(text))).unwrap_or_default();
    let result = format!(
        r#"{{"protocolVersion":{},"capabilities":{},"serverInfo":{}{instructions}}}"#,
        quote(version),
        config.capabilities,
        config.server_info
    );
    let mut script = known.unwrap_or_else(|| Script::new().result(result));
    if config.sessions {
        script = script.response_header("mcp-session-id", &task.session);
    }
    respond(task, script).await
}

/// Answers any other legacy request.
pub(super) async fn answer(task: Task) -> Response {
    let inner = Arc::clone(&task.inner);
    inner.check_request(&task);
    let known = lock(&inner.shelf).script(Era::Legacy, &task.method, &task.params);
    let script = known.unwrap_or_else(|| match task.method.as_str() {
        "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" => Script::new().result("{}"),
        "resources/templates/list" => Script::new().result(r#"{"resourceTemplates":[]}"#),
        method => Script::new().error(-32601, &format!("unknown method {method}")),
    });
    respond(task, script).await
}

/// Opens the stream of a GET, or resumes one that was cut.
pub(super) async fn open_stream(inner: &Arc<Inner>, entry: Recorded) -> Response {
    if !inner.config.get_stream {
        inner.log.settle(&entry, Outcome::Answered);
        return plain(StatusCode::METHOD_NOT_ALLOWED, "");
    }
    if !entry.header("accept").unwrap_or_default().contains("text/event-stream") {
        inner.violation("GET without Accept: text/event-stream");
    }
    let session = match inner.session_of(&entry) {
        Ok(session) => session,
        Err(refusal) => {
            inner.log.settle(&entry, Outcome::Answered);
            return *refusal;
        }
    };
    let watch =
        Watch { inner: Arc::clone(inner), entry, task: None, running: None, switch: None, detached: Arc::default() };
    if let Some(gate) = &inner.config.get_gate {
        gate.pass().await;
    }
    let resumed = watch.entry.header("last-event-id").and_then(|id| lock(&inner.resumable).remove(id));
    let receiver = resumed.unwrap_or_else(|| {
        let (sender, receiver) = mpsc::unbounded_channel();
        lock(&inner.streams).push(Open { session, subscription: None, sender });
        receiver
    });
    inner.log.touch();
    event_stream(receiver, watch)
}

/// Ends a session.
pub(super) fn delete(inner: &Inner, entry: &Recorded) -> Response {
    let answer = match inner.session_of(entry) {
        Ok(id) => {
            inner.with_session(&id, |session| {
                session.ended = true;
                session.deleted = true;
            });
            // Dropping the senders ends its GET streams.
            lock(&inner.streams).retain(|open| open.session != id || open.subscription.is_some());
            plain(StatusCode::OK, "")
        }
        Err(refusal) => *refusal,
    };
    inner.log.settle(entry, Outcome::Answered);
    answer
}
