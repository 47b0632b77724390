use serde_json::Value;

use crate::json;

/// One JSON-RPC message: its text as it came, and ways to read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The text, untouched.
    pub text: String,
}

impl Message {
    /// A message of this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }

    /// `method`, where it is a request or a notification.
    pub fn method(&self) -> Option<String> {
        json::string_at(&self.text, &["method"])
    }

    /// `id` as its JSON text: `7` or `"seven"`.
    pub fn id(&self) -> Option<&str> {
        json::at(&self.text, &["id"])
    }

    /// `params` as its JSON text.
    pub fn params(&self) -> Option<&str> {
        json::at(&self.text, &["params"])
    }

    /// `result` as its JSON text.
    pub fn result(&self) -> Option<&str> {
        json::at(&self.text, &["result"])
    }

    /// `error` as its JSON text.
    pub fn error(&self) -> Option<&str> {
        json::at(&self.text, &["error"])
    }

    /// The member at `path` as its JSON text.
    pub fn at(&self, path: &[&str]) -> Option<&str> {
        json::at(&self.text, path)
    }

    /// The string at `path`.
    pub fn string(&self, path: &[&str]) -> Option<String> {
        json::string_at(&self.text, path)
    }

    /// The whole message as a value. Panics when it is not JSON (or holds a number such as 1e999).
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|fault| panic!("{fault} in {}", self.text))
    }

    /// Whether it is a request: method and id.
    pub fn is_request(&self) -> bool {
        self.method().is_some() && self.id().is_some()
    }

    /// Whether it is a notification: method without id.
    pub fn is_notification(&self) -> bool {
        self.method().is_some() && self.id().is_none()
    }

    /// Whether it is a response: result or error.
    pub fn is_response(&self) -> bool {
        self.method().is_none() && (self.result().is_some() || self.error().is_some())
    }
}
