//! Asks an upstream over streamable HTTP what it speaks: `server/discover`, then `initialize`, whose session is ended again.

use std::time::Duration;

use elicit::Revision;
use http::{
    HeaderMap,
    header::{ACCEPT, CONTENT_TYPE, DATE},
};
use jiff::{Timestamp, fmt::rfc2822::DateTimeParser};
use serde_json::{Value, json};
use url::Url;

use super::{
    clock::Sample,
    upstream::{Probed, Said},
};
use crate::{
    clock::Clock,
    egress::{Egress, place, reason},
    mcp::{
        headers::{METHOD, PROTOCOL_VERSION, SESSION_ID, is_type},
        sse::Events,
    },
};

/// How long one question may take, from the connection to the end of its answer.
pub(super) const DEADLINE: Duration = Duration::from_secs(10);
/// The longest answer that is read.
pub(super) const LONGEST: usize = 256 * 1024;

/// An answer, as far as it matters here.
struct Answer {
    status: u16,
    headers: HeaderMap,
    /// The JSON-RPC response, if it is one.
    message: Option<Value>,
}

/// The upstream's answers, or why it cannot be reached.
pub(super) async fn probe(name: &str, url: &Url, egress: &Egress, clock: &dyn Clock) -> Result<Probed, String> {
    let before = clock.now();
    let discovered = ask(url, egress, &discover(), Some("server/discover")).await?;
    let clock = date(&discovered.headers).map(|theirs| Sample::new(name, theirs, before, clock.now()));
    let modern = said(&discovered, said_in_discovery);
    let begun = ask(url, egress, &initialize(), None).await?;
    let legacy = said(&begun, said_in_handshake);
    end_session(url, egress, &begun).await;
    Ok(Probed { modern, legacy, clock })
}

fn client() -> Value {
    json!({ "name": "usher-doctor", "version": env!("CARGO_PKG_VERSION") })
}

pub(super) fn discover() -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": Revision::V2026_07_28.as_str(),
        "io.modelcontextprotocol/clientInfo": client(),
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": { "_meta": meta } })
}

pub(super) fn initialize() -> Value {
    let params = json!({
        "protocolVersion": Revision::V2025_11_25.as_str(),
        "capabilities": {},
        "clientInfo": client(),
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params })
}

async fn ask(url: &Url, egress: &Egress, message: &Value, modern: Option<&str>) -> Result<Answer, String> {
    let mut request = egress
        .operator()
        .post(url.clone())
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json, text/event-stream")
        .body(message.to_string());
    if let Some(method) = modern {
        request = request.header(PROTOCOL_VERSION, Revision::V2026_07_28.as_str()).header(METHOD, method);
    }
    let asking = async {
        let response = request.send().await.map_err(|error| format!("{}: {}", place(url), reason(&error)))?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        Ok(Answer { status, headers, message: read(response).await })
    };
    match tokio::time::timeout(DEADLINE, asking).await {
        Ok(answer) => answer,
        Err(_) => Err(format!("{} does not answer within {} s", place(url), DEADLINE.as_secs())),
    }
}

/// The response in a body; a stream is read up to it, since it may stay open.
async fn read(mut response: reqwest::Response) -> Option<Value> {
    let is_stream = is_type(response.headers().get(CONTENT_TYPE), "text/event-stream");
    let (mut body, mut events) = (Vec::new(), Events::default());
    let mut length = 0;
    while let Ok(Some(chunk)) = response.chunk().await {
        length += chunk.len();
        if length > LONGEST {
            return None;
        }
        if !is_stream {
            body.extend_from_slice(&chunk);
            continue;
        }
        events.push(&chunk).ok()?;
        while let Some(event) = events.next_event() {
            if let Some(found) = event.data().and_then(|data| response_of(data.as_bytes())) {
                return Some(found);
            }
        }
    }
    response_of(&body)
}

pub(super) fn response_of(bytes: &[u8]) -> Option<Value> {
    let message: Value = serde_json::from_slice(bytes).ok()?;
    (message.get("result").is_some() || message.get("error").is_some()).then_some(message)
}

fn said(answer: &Answer, read: fn(&Value) -> Said) -> Said {
    match &answer.message {
        _ if matches!(answer.status, 401 | 403) => Said::Demands(answer.status),
        Some(message) => read(message),
        None => Said::Other(format!("HTTP {}", answer.status)),
    }
}

/// What the response to `server/discover` says.
pub(super) fn said_in_discovery(message: &Value) -> Said {
    said_in(message, |result| {
        let versions = result.get("supportedVersions")?.as_array()?;
        Some(versions.iter().filter_map(Value::as_str).filter_map(Revision::parse).collect())
    })
}

/// What the response to `initialize` says.
pub(super) fn said_in_handshake(message: &Value) -> Said {
    said_in(message, |result| {
        Some(result.get("protocolVersion")?.as_str().and_then(Revision::parse).into_iter().collect())
    })
}

fn said_in(message: &Value, revisions: impl Fn(&Value) -> Option<Vec<Revision>>) -> Said {
    if let Some(revisions) = message.get("result").and_then(revisions) {
        return Said::Speaks(revisions);
    }
    match message.pointer("/error/code").and_then(Value::as_i64) {
        Some(code) => Said::Other(format!("error {code}")),
        None => Said::Other("another result".to_owned()),
    }
}

/// What was begun only to ask is no burden afterwards.
async fn end_session(url: &Url, egress: &Egress, begun: &Answer) {
    let Some(session) = begun.headers.get(SESSION_ID) else { return };
    let version = begun.message.as_ref().and_then(|message| message.pointer("/result/protocolVersion")?.as_str());
    let request = egress
        .operator()
        .delete(url.clone())
        .header(SESSION_ID, session)
        .header(PROTOCOL_VERSION, version.unwrap_or(Revision::V2025_11_25.as_str()))
        .timeout(DEADLINE);
    // A server may keep its sessions to itself (405), and ends them by time then.
    let _ = request.send().await;
}

pub(super) fn date(headers: &HeaderMap) -> Option<Timestamp> {
    DateTimeParser::new().parse_timestamp(headers.get(DATE)?.to_str().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn the_date_of_an_answer_is_read() {
        let mut headers = HeaderMap::new();
        assert_eq!(date(&headers), None);
        headers.insert(DATE, HeaderValue::from_static("Mon, 30 Nov 2026 12:40:56 GMT"));
        assert_eq!(date(&headers), Some("2026-11-30T12:40:56Z".parse().unwrap()));
        headers.insert(DATE, HeaderValue::from_static("yesterday"));
        assert_eq!(date(&headers), None);
    }
}
