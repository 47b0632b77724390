use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use serde_json::Value;

use crate::Message;
use crate::sse::{Item, Parser};

/// A whole answer.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The HTTP status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, byte for byte.
    pub body: Bytes,
    /// Whether the body was a stream of events.
    pub sse: bool,
    /// The JSON-RPC messages in it, in order; the response is the last one.
    pub messages: Vec<Message>,
}

impl Reply {
    pub(crate) fn new(status: StatusCode, headers: HeaderMap, body: Bytes, sse: bool) -> Self {
        let messages = if sse {
            let data = |item| match item {
                Item::Event(event) if !event.data.is_empty() => Some(Message::new(event.data)),
                _ => None,
            };
            Parser::new().push(&body).into_iter().filter_map(data).collect()
        } else {
            let text = String::from_utf8_lossy(&body).into_owned();
            if text.is_empty() { Vec::new() } else { vec![Message::new(text)] }
        };
        Self { status, headers, body, sse, messages }
    }

    /// The first value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The response: the last message. Panics when there is none.
    pub fn response(&self) -> &Message {
        match self.messages.last() {
            Some(message) if message.is_response() => message,
            _ => panic!("no JSON-RPC response in {} {}", self.status, self.text()),
        }
    }

    /// The response as a value. Panics when there is none, or when it does not fit (1e999: use `result_raw`).
    pub fn json(&self) -> Value {
        self.response().json()
    }

    /// `result` as its JSON text. Panics when the response is an error.
    pub fn result_raw(&self) -> &str {
        let response = self.response();
        response.result().unwrap_or_else(|| panic!("not a result: {}", response.text))
    }

    /// `result` as a value. Panics when the response is an error.
    pub fn result(&self) -> Value {
        let raw = self.result_raw();
        serde_json::from_str(raw).unwrap_or_else(|fault| panic!("{fault} in {raw}"))
    }

    /// `error` as a value. Panics when the response is a result.
    pub fn error(&self) -> Value {
        let response = self.response();
        let raw = response.error().unwrap_or_else(|| panic!("not an error: {}", response.text));
        serde_json::from_str(raw).unwrap_or_else(|fault| panic!("{fault} in {raw}"))
    }

    /// `error.code`. Panics when the response is a result.
    pub fn error_code(&self) -> i64 {
        self.error()["code"].as_i64().unwrap_or_else(|| panic!("no code in {}", self.text()))
    }

    /// `error.message`. Panics when the response is a result.
    pub fn error_message(&self) -> String {
        self.error()["message"].as_str().unwrap_or_else(|| panic!("{}", self.text())).to_owned()
    }

    /// The text of the first content block of a tool's result.
    pub fn content_text(&self) -> String {
        let result = self.result();
        let text = result["content"][0]["text"].as_str();
        text.unwrap_or_else(|| panic!("no text content in {result}")).to_owned()
    }

    /// Whether it is a tool's result with `isError`.
    pub fn is_tool_error(&self) -> bool {
        self.result()["isError"] == true
    }

    /// Whether it is an `input_required` result (modern).
    pub fn is_input_required(&self) -> bool {
        self.response().string(&["result", "resultType"]).as_deref() == Some("input_required")
    }

    /// `inputRequests`; an empty object where there are none. Panics when this is no `input_required` result.
    pub fn input_requests(&self) -> serde_json::Map<String, Value> {
        assert!(self.is_input_required(), "not input_required: {}", self.text());
        self.result()["inputRequests"].as_object().cloned().unwrap_or_default()
    }

    /// `requestState`, unescaped.
    pub fn request_state(&self) -> Option<String> {
        self.response().string(&["result", "requestState"])
    }

    /// The `url` of the first question: of an `input_required` result, or of the error -32042.
    pub fn url(&self) -> String {
        let found = if self.response().error().is_some() {
            self.error()["data"]["elicitations"][0]["url"].as_str().map(str::to_owned)
        } else {
            let requests = self.input_requests();
            let url = |request: &Value| request["params"]["url"].as_str().map(str::to_owned);
            requests.values().find_map(url)
        };
        found.unwrap_or_else(|| panic!("no url in {}", self.text()))
    }

    /// `inputResponses` that answer every question with this result, as JSON text.
    pub fn answer_all(&self, result: &str) -> String {
        let members: Vec<String> =
            self.input_requests().keys().map(|key| format!("{}:{result}", crate::quote(key))).collect();
        format!("{{{}}}", members.join(","))
    }
}
