//! What a token endpoint answers, read as one kind of document whatever it is written as (kinds 5 and 22).

use http::{HeaderMap, StatusCode, header};
use serde_json::{Map, Value};
use url::form_urlencoded;

use crate::config::definition::Format;
use crate::egress::Answer;

/// The longest answer of it that is read, in bytes.
pub(super) const ANSWER_AT_MOST: usize = 256 * 1024;

/// An answer of a token endpoint. Its body is gone, but for what it says.
pub(super) struct Answered {
    pub(super) status: StatusCode,
    pub(super) document: Option<Value>,
    pub(super) is_html: bool,
    pub(super) is_empty: bool,
    pub(super) retry_after: Option<String>,
}

impl Answered {
    pub(super) fn read(answer: &Answer, format: Format) -> Self {
        let Answer { status, headers, body } = answer;
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let trimmed = body.trim_ascii();
        Self {
            status: *status,
            document: document(headers, trimmed, format),
            is_html: text(header::CONTENT_TYPE).is_some_and(|media| media.to_ascii_lowercase().contains("html"))
                || trimmed.starts_with(b"<"),
            is_empty: trimmed.is_empty(),
            retry_after: text(header::RETRY_AFTER).map(str::to_owned),
        }
    }
}

/// A JSON object, or a form as one.
fn document(headers: &HeaderMap, body: &[u8], format: Format) -> Option<Value> {
    let media = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    // JSON is JSON whatever it is called, and an object is no form.
    if let Ok(document @ Value::Object(_)) = serde_json::from_slice(body) {
        return Some(document);
    }
    let form = format == Format::Form || media.to_ascii_lowercase().starts_with("application/x-www-form-urlencoded");
    if !form || body.is_empty() || !body.contains(&b'=') {
        return None;
    }
    let mut members = Map::new();
    for (name, value) in form_urlencoded::parse(body) {
        // The first counts; a second one would be somebody's attempt.
        members.entry(name.into_owned()).or_insert_with(|| Value::String(value.into_owned()));
    }
    Some(Value::Object(members))
}
