//! The MCP client that the demo plays, in both eras, and every byte that it receives.

pub(super) mod legacy;
pub(super) mod modern;
mod received;

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};

pub(super) use self::received::Received;
use self::received::Recording;
use super::{trouble::Trouble, weather::TOOL};
use crate::mcp::{headers::is_type, sse::Events};

/// What this client calls itself: a claim, which the page shows as one.
const NAME: &str = "Usher demo";

/// What a person said to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    /// Open the link.
    Accept,
    /// Do not.
    Decline,
}

impl Action {
    /// The answer's JSON. R-URL-10: no content.
    fn answer(self) -> Value {
        json!({ "action": if self == Self::Accept { "accept" } else { "decline" } })
    }
}

/// What the client hears about its call.
pub(super) enum Heard {
    /// A person must be asked.
    Question(Question),
    /// The page is done. Legacy only: the modern era has no such notice.
    Done {
        /// Which question's page.
        elicitation_id: String,
    },
    /// The call is over, with a result.
    Result(Value),
    /// The call is over, with an error.
    Error(Value),
}

impl fmt::Display for Heard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Question(question) => write!(f, "a question, {}", question.raw),
            Self::Done { elicitation_id } => write!(f, "a notice that {elicitation_id} is done"),
            Self::Result(result) => write!(f, "a result, {result}"),
            Self::Error(error) => write!(f, "an error, {error}"),
        }
    }
}

/// A question with a link.
pub(super) struct Question {
    /// As it came over the wire.
    pub(super) raw: Value,
    /// Why the person is asked.
    pub(super) message: String,
    /// The link.
    pub(super) url: String,
    /// Legacy only: what the notice of completion will name.
    pub(super) elicitation_id: Option<String>,
}

/// One call of the tool, in one of the eras.
pub(super) trait Call {
    /// The request, as it went over the wire.
    fn request(&self) -> &Value;
    /// The next thing that the client hears. What needs no person it deals with itself.
    async fn next(&mut self) -> Result<Heard, Trouble>;
    /// Answers a question. Returns when the other side has taken the answer.
    async fn answer(&mut self, question: &Question, action: Action) -> Result<(), Trouble>;
    /// Ends what was begun for the call.
    async fn end(self) -> Result<(), Trouble>;
}

/// The way to one MCP endpoint.
pub(super) struct Wire {
    /// The HTTP client; follows no redirect.
    pub(super) http: reqwest::Client,
    /// The endpoint's URL.
    pub(super) endpoint: String,
    /// The client's bearer token.
    pub(super) token: SecretString,
    /// All that came back.
    pub(super) received: Received,
}

impl Wire {
    async fn post(&self, headers: HeaderMap, message: &Value) -> Result<Reply, Trouble> {
        self.send(Method::POST, headers, message.to_string()).await
    }

    async fn send(&self, method: Method, headers: HeaderMap, body: String) -> Result<Reply, Trouble> {
        let request = self
            .http
            .request(method, &self.endpoint)
            .headers(headers)
            .header(header::ACCEPT, "application/json, text/event-stream")
            .header(header::CONTENT_TYPE, "application/json")
            .bearer_auth(self.token.expose_secret());
        let response = request.body(body).send().await?;
        let recording = self.received.begin(response.status(), response.headers());
        Ok(Reply { response, recording, events: Events::default() })
    }
}

/// An answer on its way, read message by message.
struct Reply {
    response: reqwest::Response,
    recording: Recording,
    events: Events,
}

impl Reply {
    fn status(&self) -> StatusCode {
        self.response.status()
    }

    fn header(&self, name: &HeaderName) -> Option<&str> {
        self.response.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok())
    }

    /// The next JSON-RPC message.
    async fn next(&mut self) -> Result<Value, Trouble> {
        let mut whole = Vec::new();
        let is_stream = is_type(self.response.headers().get(header::CONTENT_TYPE), "text/event-stream");
        loop {
            if is_stream {
                while let Some(event) = self.events.next_event() {
                    // An event without data only says from where to resume.
                    if let Some(data) = event.data().filter(|data| !data.is_empty()) {
                        return read(data.as_bytes());
                    }
                }
            }
            match self.response.chunk().await? {
                Some(chunk) => {
                    self.recording.push(&chunk);
                    if is_stream {
                        self.events.push(&chunk).map_err(|error| Trouble::unexpected("an event", &error))?;
                    } else {
                        whole.extend_from_slice(&chunk);
                    }
                }
                None if is_stream => return Err(Trouble::unexpected("a message", &"the end of the stream")),
                None => return read(&whole),
            }
        }
    }
}

fn read(bytes: &[u8]) -> Result<Value, Trouble> {
    serde_json::from_slice(bytes)
        .map_err(|_| Trouble::unexpected("a JSON-RPC message", &String::from_utf8_lossy(bytes)))
}

/// The call's parameters.
fn arguments(city: &str) -> Value {
    json!({ "name": TOOL, "arguments": { "city": city } })
}

/// What this client says of itself.
fn info() -> Value {
    json!({ "name": NAME, "version": env!("CARGO_PKG_VERSION") })
}

/// What this client can do: open links, and nothing else.
fn capabilities() -> Value {
    json!({ "elicitation": { "url": {} } })
}

/// The question in the parameters of an `elicitation/create`; `raw` is what it came in.
fn question(raw: &Value, params: &Value) -> Result<Question, Trouble> {
    let text = |key: &str| params[key].as_str().map(str::to_owned);
    match (params["mode"].as_str(), text("message"), text("url")) {
        (Some("url"), Some(message), Some(url)) => {
            Ok(Question { raw: raw.clone(), message, url, elicitation_id: text("elicitationId") })
        }
        _ => Err(Trouble::unexpected("a question with a link", raw)),
    }
}
