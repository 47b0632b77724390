//! What a process answers, in the form of an HTTP answer: one JSON response, or a stream of events.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header::CONTENT_TYPE};
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use super::{
    program::Program,
    routes::{Frame, Routes},
};
use crate::{
    mcp::{envelope::Message, sse::message_event},
    relay::upstream::{Answer, Body},
};

/// The messages of one reader, as they come.
pub(in crate::relay::upstream) struct Messages {
    /// What came before the reader was there.
    before: std::collections::VecDeque<String>,
    receiver: mpsc::Receiver<Frame>,
    /// The request that it is for; none for a client's own stream.
    _underway: Option<Underway>,
}

/// A request under way. One whose reader leaves is cancelled where the protocol says so: on a modern server, since there the
/// end of the client's stream is the cancellation (2026-07-28, "Cancellation").
pub(super) struct Underway {
    pub(super) ours: u64,
    pub(super) routes: Arc<Routes>,
    pub(super) program: Arc<Program>,
    pub(super) is_modern: bool,
}

impl Messages {
    /// The next message as an event; `None` at the end.
    pub(in crate::relay::upstream) async fn next_event(&mut self) -> Option<Bytes> {
        let text = match self.before.pop_front() {
            Some(text) => text,
            None => self.receiver.recv().await?.text,
        };
        Some(message_event(&text))
    }
}

impl Underway {
    /// Ends the request, and tells the server why, if it is still under way.
    pub(super) fn cancel(&self, reason: &str) {
        if self.routes.end(self.ours) {
            self.program.try_send(format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{},"reason":"{reason}"}}}}"#,
                self.ours
            ));
        }
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        if self.is_modern {
            self.cancel("the client has left");
        }
    }
}

/// The answer to a request whose first message is `first`.
pub(super) fn answer(first: Frame, receiver: mpsc::Receiver<Frame>, underway: Underway) -> Answer {
    if let Ok(Message::Response { outcome, .. }) = Message::parse(first.text.as_bytes()) {
        let status = if underway.is_modern { status_of(outcome.err()) } else { StatusCode::OK };
        return whole(status, "application/json", first.text.into());
    }
    events(Messages { before: [first.text].into(), receiver, _underway: Some(underway) })
}

/// A client's own stream.
pub(super) fn own(receiver: mpsc::Receiver<Frame>, before: Vec<String>) -> Answer {
    events(Messages { before: before.into(), receiver, _underway: None })
}

/// An answer without a body.
pub(super) fn empty(status: StatusCode) -> Answer {
    Answer { status, headers: HeaderMap::new(), body: Body::Whole(None) }
}

fn whole(status: StatusCode, kind: &'static str, body: Bytes) -> Answer {
    Answer { status, headers: typed(kind), body: Body::Whole(Some(body)) }
}

fn events(messages: Messages) -> Answer {
    Answer { status: StatusCode::OK, headers: typed("text/event-stream"), body: Body::Process(Box::new(messages)) }
}

fn typed(kind: &'static str) -> HeaderMap {
    HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(kind))])
}

/// The HTTP status that goes with an error of a modern server, which a client over HTTP may look at (2026-07-28, "Streamable
/// HTTP").
fn status_of(error: Option<&RawValue>) -> StatusCode {
    let code =
        error.and_then(|error| elicit::RawObject::parse(error.get()).ok()?.get("code")?.get().parse::<i64>().ok());
    match code {
        Some(elicit::codes::METHOD_NOT_FOUND) => StatusCode::NOT_FOUND,
        Some(
            elicit::codes::HEADER_MISMATCH
            | elicit::codes::MISSING_REQUIRED_CLIENT_CAPABILITY
            | elicit::codes::UNSUPPORTED_PROTOCOL_VERSION,
        ) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}
