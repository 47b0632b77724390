//! An upstream over streamable HTTP.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, Method, StatusCode};

use crate::{config::Upstream, egress::Egress};

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
    let request = egress.operator().request(method, upstream.url.clone()).headers(headers).body(body);
    match tokio::time::timeout(upstream.timeout, request.send()).await {
        Err(_) => Err(UpstreamError::Slow { name: upstream.name.clone(), after: upstream.timeout }),
        Ok(Err(error)) => {
            // The error of the HTTP client names the URL, which is the operator's; it is for the log alone.
            tracing::warn!(upstream = upstream.name, error = %error.without_url(), "upstream cannot be reached");
            Err(UpstreamError::Unreachable(upstream.name.clone()))
        }
        Ok(Ok(response)) => Ok(response),
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
                Err(_) => return Err(UpstreamError::Unreachable(upstream.name.clone())),
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
