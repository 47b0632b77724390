//! The HTTP shape of what we answer ourselves.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, value::RawValue};

use crate::mcp::envelope::{error_object, error_text, result_text};

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
