use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};

use super::{Gate, Question};
use crate::oauth::TokenBook;
use crate::{Era, json, quote};

/// How a tool, prompt, resource or method behaves: steps in their order, the last of which ends the answer.
/// Without an end it answers like [`Script::text`] with `ok`.
#[derive(Clone, Debug, Default)]
pub struct Script {
    pub(crate) steps: Vec<Step>,
    pub(crate) piece: Option<usize>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) any_state: bool,
}

#[derive(Clone)]
pub(crate) enum Step {
    Require { header: String, value: String, refusal: Refusal },
    Token { book: TokenBook, refusal: Refusal },
    Raw(String),
    Progress { progress: u64, total: Option<u64>, message: Option<String> },
    Wait(Gate),
    Ask(Question),
    Stream,
    Cut(String),
    End(End),
}

#[derive(Clone)]
pub(crate) enum End {
    Result(String),
    Made(Arc<dyn Fn(&Call) -> String + Send + Sync>),
    Error(String),
    Text { text: String, failed: bool },
    Body { status: StatusCode, kind: String, bytes: Bytes },
    Drop,
    Silence,
}

impl fmt::Debug for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Require { .. } => "require",
            Self::Token { .. } => "token",
            Self::Raw(text) => text,
            Self::Progress { .. } => "progress",
            Self::Wait(_) => "wait",
            Self::Ask(_) => "ask",
            Self::Stream => "stream",
            Self::Cut(_) => "cut",
            Self::End(_) => "end",
        })
    }
}

/// What a script knows of its call when it makes a result.
#[derive(Clone, Debug)]
pub struct Call {
    /// The era of the call.
    pub era: Era,
    /// Its headers.
    pub headers: HeaderMap,
    /// `params` as JSON text.
    pub params: String,
    /// The legacy session.
    pub session: Option<String>,
    /// What the client answered so far, in the order of the questions.
    pub answers: Vec<Answered>,
}

impl Call {
    /// `params.arguments` as JSON text.
    pub fn arguments(&self) -> &str {
        json::at(&self.params, &["arguments"]).unwrap_or("{}")
    }

    /// The answer to the question with this key, as JSON text.
    pub fn answer(&self, key: &str) -> Option<&str> {
        let found = self.answers.iter().find(|answer| answer.key == key);
        found.map(|answer| answer.raw.as_str())
    }
}

/// An answer to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// The key of the question.
    pub key: String,
    /// The result as JSON text, or the error object where `error` is set.
    pub raw: String,
    /// Whether the client answered by a JSON-RPC error (legacy).
    pub error: bool,
}

/// How a missing or wrong header is answered.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) challenge: Option<String>,
    pub(crate) body: String,
}

impl Refusal {
    /// HTTP 401 with a challenge.
    pub fn unauthorized() -> Self {
        let challenge = r#"Bearer error="invalid_token""#.to_owned();
        Self { challenge: Some(challenge), ..Self::status(StatusCode::UNAUTHORIZED) }
    }

    /// HTTP 403.
    pub fn forbidden() -> Self {
        Self::status(StatusCode::FORBIDDEN)
    }

    /// This status, without challenge.
    pub fn status(status: StatusCode) -> Self {
        Self { status, challenge: None, body: r#"{"error":"refused by the fake upstream"}"#.to_owned() }
    }

    /// This `WWW-Authenticate` header.
    pub fn challenge(mut self, challenge: impl Into<String>) -> Self {
        self.challenge = Some(challenge.into());
        self
    }

    /// This body (JSON).
    pub fn body(mut self, body: impl Into<String>) -> Self {
        self.body = body.into();
        self
    }
}

impl Script {
    /// A script without steps.
    pub fn new() -> Self {
        Self::default()
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Goes on only when the header has this value, else answers 401 with a challenge.
    pub fn require(self, header: &str, value: &str) -> Self {
        self.require_or(header, value, Refusal::unauthorized())
    }

    /// Goes on only when the header has this value.
    pub fn require_or(self, header: &str, value: &str, refusal: Refusal) -> Self {
        self.step(Step::Require { header: header.to_owned(), value: value.to_owned(), refusal })
    }

    /// Goes on only with a bearer token that this provider gave and that is good, else answers 401 with a challenge.
    pub fn require_token(self, book: &TokenBook) -> Self {
        self.step(Step::Token { book: book.clone(), refusal: Refusal::unauthorized() })
    }

    /// Sends this text on the stream, byte for byte: events, comments, ids, retries.
    pub fn event(self, raw: impl Into<String>) -> Self {
        self.step(Step::Raw(raw.into()))
    }

    /// Sends this JSON-RPC message as an event.
    pub fn message(self, json: &str) -> Self {
        self.event(crate::sse::event(json))
    }

    /// Sends `notifications/progress` when the call brought a token.
    pub fn progress(self, progress: u64, total: Option<u64>, message: Option<&str>) -> Self {
        self.step(Step::Progress { progress, total, message: message.map(str::to_owned) })
    }

    /// Waits at the gate. What was sent before is on the wire by then.
    pub fn wait(self, gate: &Gate) -> Self {
        self.step(Step::Wait(gate.clone()))
    }

    /// Asks, and goes on with the answers.
    pub fn ask(self, question: Question) -> Self {
        self.step(Step::Ask(question))
    }

    /// Answers as a stream of events from here on, even if nothing but the result follows.
    pub fn sse(self) -> Self {
        self.step(Step::Stream)
    }

    /// Ends the connection in good order before the response; what follows is sent on a GET with this
    /// `Last-Event-ID` (legacy).
    pub fn cut(self, last_event_id: &str) -> Self {
        self.step(Step::Cut(last_event_id.to_owned()))
    }

    /// Hands the body over in pieces of this many bytes.
    pub fn in_pieces_of(mut self, bytes: usize) -> Self {
        self.piece = Some(bytes);
        self
    }

    /// Takes any `requestState` and `inputResponses` and starts anew (modern): for tests that write their rounds themselves.
    pub fn any_state(mut self) -> Self {
        self.any_state = true;
        self
    }

    /// Sets a response header.
    pub fn response_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Ends with this `result`, byte for byte.
    pub fn result(self, raw: impl Into<String>) -> Self {
        self.step(Step::End(End::Result(raw.into())))
    }

    /// Ends with the `result` that `make` returns.
    pub fn result_with(self, make: impl Fn(&Call) -> String + Send + Sync + 'static) -> Self {
        self.step(Step::End(End::Made(Arc::new(make))))
    }

    /// Ends with a text content block; in the modern era with `resultType`.
    pub fn text(self, text: impl Into<String>) -> Self {
        self.step(Step::End(End::Text { text: text.into(), failed: false }))
    }

    /// Ends with a text content block and `isError`.
    pub fn failure(self, text: impl Into<String>) -> Self {
        self.step(Step::End(End::Text { text: text.into(), failed: true }))
    }

    /// Ends with a JSON-RPC error.
    pub fn error(self, code: i64, message: &str) -> Self {
        self.error_raw(format!(r#"{{"code":{code},"message":{}}}"#, quote(message)))
    }

    /// Ends with this `error` object, byte for byte.
    pub fn error_raw(self, raw: impl Into<String>) -> Self {
        self.step(Step::End(End::Error(raw.into())))
    }

    /// Ends with any HTTP answer; on an open stream only the bytes are sent.
    pub fn body(self, status: u16, content_type: &str, bytes: impl Into<Bytes>) -> Self {
        let status = StatusCode::from_u16(status).expect("an HTTP status");
        let kind = content_type.to_owned();
        self.step(Step::End(End::Body { status, kind, bytes: bytes.into() }))
    }

    /// Ends with something that is no JSON.
    pub fn garbage(self) -> Self {
        self.body(200, "application/json", Bytes::from_static(b"{\"jsonrpc\": \xff\x00 garbage"))
    }

    /// Cuts the connection.
    pub fn drop_connection(self) -> Self {
        self.step(Step::End(End::Drop))
    }

    /// Never answers.
    pub fn silence(self) -> Self {
        self.step(Step::End(End::Silence))
    }
}
