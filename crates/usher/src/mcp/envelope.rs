//! One JSON-RPC message, read without touching what it carries: `params`, `result`, `error` and the id stay raw text (R-GW-02).

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A JSON-RPC message, borrowed from the bytes that it came in.
#[derive(Debug, Clone)]
pub enum Message<'a> {
    /// Wants a response.
    Request {
        /// A string or an integer, as written.
        id: &'a RawValue,
        /// The method's name.
        method: Cow<'a, str>,
        /// An object, as written.
        params: Option<&'a RawValue>,
    },
    /// Wants none.
    Notification {
        /// The method's name.
        method: Cow<'a, str>,
        /// An object, as written.
        params: Option<&'a RawValue>,
    },
    /// Answers a request of the other side.
    Response {
        /// The id of the request that is answered.
        id: &'a RawValue,
        /// `result` or `error`, as written.
        outcome: Result<&'a RawValue, &'a RawValue>,
    },
}

/// Why bytes are no JSON-RPC message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// Not UTF-8, or not JSON.
    #[error("the body is not JSON")]
    NotJson,
    /// A JSON array: batches left the protocol with revision 2025-06-18.
    #[error("batches are not supported: send one JSON-RPC message a request")]
    Batch,
    /// JSON, but no JSON-RPC 2.0 message.
    #[error("the body is not a JSON-RPC 2.0 message")]
    NotJsonRpc,
    /// An id that is neither a string nor an integer.
    #[error("the id of a message must be a string or an integer")]
    BadId,
}

#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// Keeps a `null` apart from an absent member.
pub(crate) fn present<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl<'a> Message<'a> {
    /// Reads one message. A member that stands twice, an id that is `null`, and `params` that are no object are refused:
    /// two readers could understand them differently.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, EnvelopeError> {
        let text = std::str::from_utf8(bytes).map_err(|_| EnvelopeError::NotJson)?;
        match text.trim_start_matches([' ', '\t', '\r', '\n']).as_bytes().first() {
            Some(b'{') => {}
            Some(b'[') => return Err(EnvelopeError::Batch),
            _ => return Err(EnvelopeError::NotJson),
        }
        let wire: Wire<'a> = serde_json::from_str(text).map_err(|error| match error.classify() {
            serde_json::error::Category::Data => EnvelopeError::NotJsonRpc,
            _ => EnvelopeError::NotJson,
        })?;
        if wire.jsonrpc.and_then(text_of).as_deref() != Some("2.0") {
            return Err(EnvelopeError::NotJsonRpc);
        }
        if wire.id.is_some_and(|id| !is_id(id)) {
            return Err(EnvelopeError::BadId);
        }
        if wire.params.is_some_and(|params| !params.get().starts_with('{')) {
            return Err(EnvelopeError::NotJsonRpc);
        }
        let method = match wire.method {
            Some(raw) => Some(text_of(raw).ok_or(EnvelopeError::NotJsonRpc)?),
            None => None,
        };
        match (wire.id, method, wire.result, wire.error) {
            (Some(id), Some(method), None, None) => Ok(Self::Request { id, method, params: wire.params }),
            (None, Some(method), None, None) => Ok(Self::Notification { method, params: wire.params }),
            (Some(id), None, Some(result), None) => Ok(Self::Response { id, outcome: Ok(result) }),
            (Some(id), None, None, Some(error)) => Ok(Self::Response { id, outcome: Err(error) }),
            _ => Err(EnvelopeError::NotJsonRpc),
        }
    }

    /// The id, where the message has one.
    pub fn id(&self) -> Option<&'a RawValue> {
        match self {
            Self::Request { id, .. } | Self::Response { id, .. } => Some(id),
            Self::Notification { .. } => None,
        }
    }

    /// The params, where the message has some.
    pub fn params(&self) -> Option<&'a RawValue> {
        match self {
            Self::Request { params, .. } | Self::Notification { params, .. } => *params,
            Self::Response { .. } => None,
        }
    }
}

/// The text of a raw JSON string; `None` where the value is something else.
pub fn text_of(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str::<String>(raw.get()).ok().map(Cow::Owned)
}

fn is_id(raw: &RawValue) -> bool {
    let text = raw.get().as_bytes();
    match text.first() {
        Some(b'"') => true,
        Some(b'-' | b'0'..=b'9') => !text.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E')),
        _ => false,
    }
}

/// `text` with `new` in the place of `part`, which was read from it; all else stays as it is. `None` where it was not.
pub fn with_part(text: &str, part: &RawValue, new: &str) -> Option<String> {
    let start = (part.get().as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let (before, after) = (text.get(..start)?, text.get(start + part.get().len()..)?);
    Some([before, new, after].concat())
}

/// A response with a result: `result` is JSON text.
pub fn result_text(id: &RawValue, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.get())
}

/// A response with an error object. Where the id could not be read there is none.
pub fn error_text(id: Option<&RawValue>, error: &serde_json::Value) -> String {
    match id {
        Some(id) => format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, id.get()),
        None => format!(r#"{{"jsonrpc":"2.0","error":{error}}}"#),
    }
}

/// An error object with a code and a message.
pub fn error_object(code: i64, message: &str) -> serde_json::Value {
    serde_json::json!({ "code": code, "message": message })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn kind(text: &str) -> Result<&'static str, EnvelopeError> {
        Message::parse(text.as_bytes()).map(|message| match message {
            Message::Request { .. } => "request",
            Message::Notification { .. } => "notification",
            Message::Response { outcome: Ok(_), .. } => "result",
            Message::Response { outcome: Err(_), .. } => "error",
        })
    }

    #[test]
    fn the_four_kinds_of_message_are_told_apart() {
        assert_eq!(kind(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#), Ok("request"));
        assert_eq!(kind(r#"{"jsonrpc":"2.0","method":"notifications/x","params":{}}"#), Ok("notification"));
        assert_eq!(kind(r#"{"jsonrpc":"2.0","id":"a","result":{}}"#), Ok("result"));
        assert_eq!(kind(r#"{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":""}}"#), Ok("error"));
    }

    /// R-GW-02: number text, key order and unknown members stay as they were written.
    #[test]
    fn params_stay_raw_text() {
        let text = r#"{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/call","params":{"z":1e999,"a":9007199254740993},"x":1}"#;
        let Ok(Message::Request { id, params: Some(params), .. }) = Message::parse(text.as_bytes()) else {
            panic!("a request")
        };
        assert_eq!(id.get(), "9007199254740993");
        assert_eq!(params.get(), r#"{"z":1e999,"a":9007199254740993}"#);
    }

    #[test]
    fn what_two_readers_could_understand_differently_is_refused() {
        for (text, error) in [
            ("", EnvelopeError::NotJson),
            ("{", EnvelopeError::NotJson),
            ("\u{feff}{}", EnvelopeError::NotJson),
            ("[]", EnvelopeError::Batch),
            (" [{}]", EnvelopeError::Batch),
            ("{}", EnvelopeError::NotJsonRpc),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, EnvelopeError::NotJsonRpc),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, EnvelopeError::BadId),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, EnvelopeError::BadId),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, EnvelopeError::BadId),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#, EnvelopeError::NotJsonRpc),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","result":{}}"#, EnvelopeError::NotJsonRpc),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, EnvelopeError::NotJsonRpc),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","params":[1]}"#, EnvelopeError::NotJsonRpc),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a"} {}"#, EnvelopeError::NotJson),
        ] {
            assert_eq!(kind(text), Err(error), "{text}");
        }
        assert_eq!(Message::parse(b"{\"a\":\"\xff\"}").unwrap_err(), EnvelopeError::NotJson);
    }

    #[test]
    fn an_escaped_method_name_is_read_as_what_it_means() {
        let text = r#"{"jsonrpc":"2.0","id":1,"method":"tools\/c\u0061ll"}"#;
        assert!(
            matches!(Message::parse(text.as_bytes()), Ok(Message::Request { method, .. }) if method == "tools/call")
        );
    }

    /// R-GW-02
    #[test]
    fn a_part_is_replaced_and_nothing_else() {
        let text = r#" {"x":1e999, "result" : {"a":1},"id":1,"jsonrpc":"2.0"}"#;
        let Ok(Message::Response { outcome: Ok(result), .. }) = Message::parse(text.as_bytes()) else {
            panic!("a result")
        };
        assert_eq!(with_part(text, result, "2").unwrap(), r#" {"x":1e999, "result" : 2,"id":1,"jsonrpc":"2.0"}"#);
        assert_eq!(with_part("a part of something else", result, "2"), None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Message::parse(&bytes);
        }
    }
}
