//! An upstream over streamable HTTP.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Method, StatusCode, header::CONTENT_TYPE};

use crate::{
    config::Upstream,
    egress::Egress,
    mcp::headers::{SESSION_ID, is_type},
};

/// The largest JSON answer that is taken into memory, in bytes. Answers that need no look pass without this limit.
pub(in crate::relay) const ANSWER_LIMIT: usize = 16 * 1024 * 1024;

/// The upstream gave no usable answer. The text goes to the client: it names the upstream and nothing of its insides.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::relay) enum UpstreamError {
    /// No connection, or it broke before an answer.
    #[error("the server {0} cannot be reached")]
    Unreachable(String),
    /// No answer in time.
    #[error("the server {name} did not answer within {} s", after.as_secs())]
    Slow {
        /// The upstream's name.
        name: String,
        /// The time it had.
        after: Duration,
    },
    /// An answer that is too large.
    #[error("the answer of the server {0} is over the limit")]
    TooLarge(String),
    /// An answer that is no MCP.
    #[error("the server {name} answered with what is no MCP message ({what})")]
    Garbage {
        /// The upstream's name.
        name: String,
        /// What it was, in a few of our own words.
        what: String,
    },
    /// The upstream refuses us, and no credential of the person is at fault.
    #[error("the server {name} refuses the request (HTTP {})", status.as_u16())]
    Refused {
        /// The upstream's name.
        name: String,
        /// 401 or 403.
        status: StatusCode,
    },
}

/// Sends one request and waits for the head of the answer.
pub(in crate::relay) async fn send(
    egress: &Egress,
    upstream: &Upstream,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Result<reqwest::Response, UpstreamError> {
    // Outside of a session, 404 is no message of the protocol.
    let expected = if headers.contains_key(SESSION_ID) { &EXPECTED[..] } else { &EXPECTED[1..] };
    let is_post = method == Method::POST;
    let request = egress.operator().request(method, upstream.url.clone()).headers(headers).body(body);
    match tokio::time::timeout(upstream.timeout, request.send()).await {
        Err(_) => {
            let seconds = upstream.timeout.as_secs();
            tracing::warn!(upstream = upstream.name, "{}: no answer within {seconds} s", place(upstream));
            Err(UpstreamError::Slow { name: upstream.name.clone(), after: upstream.timeout })
        }
        Ok(Err(error)) => {
            // Where it is belongs to the operator; that is for the log alone.
            tracing::warn!(upstream = upstream.name, "{}: {}", place(upstream), innermost(&error));
            Err(UpstreamError::Unreachable(upstream.name.clone()))
        }
        Ok(Ok(response)) => {
            let (status, kind) = (response.status(), response.headers().get(CONTENT_TYPE));
            let is_mcp = is_type(kind, "application/json") || is_type(kind, "text/event-stream");
            if is_post && (status.is_server_error() || !is_mcp && !expected.contains(&status.as_u16())) {
                tracing::warn!(
                    upstream = upstream.name,
                    status = status.as_u16(),
                    "{}{}: an answer that is no MCP; see that upstream.url is right",
                    place(upstream),
                    upstream.url.path()
                );
            }
            Ok(response)
        }
    }
}

/// What has no MCP message and is in order all the same: the end of a session, what is taken without an answer, and a refusal.
const EXPECTED: [u16; 5] = [404, 202, 204, 401, 403];

/// The host and port of an upstream.
fn place(upstream: &Upstream) -> String {
    let host = upstream.url.host_str().unwrap_or_default();
    match upstream.url.port_or_known_default() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

/// What is at the bottom of an error: what the operating system said, most often.
fn innermost(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    match cause.downcast_ref::<std::io::Error>() {
        Some(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        _ if cause.is::<reqwest::Error>() => "the HTTP request failed".to_owned(),
        _ => cause.to_string(),
    }
}

/// Reads a whole body, bounded in size and time.
pub(in crate::relay) async fn read(upstream: &Upstream, response: reqwest::Response) -> Result<Bytes, UpstreamError> {
    read_until(upstream, response, |_| false).await
}

/// The same, up to the piece for which `enough` says so.
pub(in crate::relay) async fn read_until(
    upstream: &Upstream,
    mut response: reqwest::Response,
    mut enough: impl FnMut(&[u8]) -> bool,
) -> Result<Bytes, UpstreamError> {
    let reading = async {
        let mut body = BytesMut::new();
        loop {
            match response.chunk().await {
                Err(error) => {
                    tracing::warn!(
                        upstream = upstream.name,
                        "{}: the answer broke off: {}",
                        place(upstream),
                        innermost(&error)
                    );
                    return Err(UpstreamError::Unreachable(upstream.name.clone()));
                }
                Ok(None) => return Ok(body.freeze()),
                Ok(Some(chunk)) if body.len() + chunk.len() > ANSWER_LIMIT => {
                    return Err(UpstreamError::TooLarge(upstream.name.clone()));
                }
                Ok(Some(chunk)) => {
                    body.extend_from_slice(&chunk);
                    if enough(&chunk) {
                        return Ok(body.freeze());
                    }
                }
            }
        }
    };
    tokio::time::timeout(upstream.timeout, reading)
        .await
        .unwrap_or_else(|_| Err(UpstreamError::Slow { name: upstream.name.clone(), after: upstream.timeout }))
}
