//! The HTTP shape of what we answer ourselves.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json, value::RawValue};

use super::places::Full;
use crate::mcp::envelope::{error_object, error_text, result_text};

/// A limit of the transport. Outside of the range that JSON-RPC reserves.
const NO_ROOM: i64 = -31_003;

/// A JSON body.
pub(super) fn json(status: StatusCode, body: String) -> Response {
    (status, [(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response()
}

/// A JSON-RPC error response. `id` is absent where it could not be read.
pub(super) fn error(status: StatusCode, id: Option<&RawValue>, code: i64, message: &str) -> Response {
    error_value(status, id, &error_object(code, message))
}

/// The same with a whole error object.
pub(super) fn error_value(status: StatusCode, id: Option<&RawValue>, error: &Value) -> Response {
    json(status, error_text(id, error))
}

/// The client has too much under way, or sent too much: when to come back stands in the head and in the error.
pub(super) fn no_room(id: Option<&RawValue>, full: Full) -> Response {
    let (seconds, text) = match full {
        Full::Requests => (1, "this client has too many requests under way"),
        Full::Memory => (1, "too much of what this client sent or has not yet read is in memory"),
        Full::Streams => (10, "this client has too many streams open"),
        Full::Held => (10, "too many calls wait for a person"),
    };
    later(StatusCode::TOO_MANY_REQUESTS, id, text, seconds)
}

/// Refused for now, by a limit of the transport.
pub(super) fn later(status: StatusCode, id: Option<&RawValue>, text: &str, seconds: u64) -> Response {
    let text = format!("{text}: try again in {seconds} s");
    let mut response = error_value(status, id, &retry_object(NO_ROOM, &text, seconds));
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    response
}

/// An error object that says when to come back, in words and in `data.retryAfter` (seconds).
pub(super) fn retry_object(code: i64, text: &str, seconds: u64) -> Value {
    let mut object = error_object(code, text);
    object["data"] = json!({ "retryAfter": seconds });
    object
}

/// The same with an error object in its own text.
pub(super) fn error_raw(status: StatusCode, id: &RawValue, error: &RawValue) -> Response {
    json(status, format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#))
}

/// A JSON-RPC result.
pub(super) fn result(id: &RawValue, result: &str) -> Response {
    json(StatusCode::OK, result_text(id, result))
}

/// Accepted, nothing to say.
pub(super) fn accepted() -> Response {
    StatusCode::ACCEPTED.into_response()
}

/// An event stream.
pub(super) fn events(body: Body) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        // Keeps a reverse proxy from collecting events before it passes them on.
        (http::HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (headers, body).into_response()
}
