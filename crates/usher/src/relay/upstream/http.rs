//! An upstream over streamable HTTP.

use bytes::Bytes;
use http::{HeaderMap, Method, header::CONTENT_TYPE};
use url::Url;

use super::UpstreamError;
use crate::{
    config::Upstream,
    egress::{Egress, place, reason},
    mcp::headers::{SESSION_ID, is_type},
};

/// Sends one request and waits for the head of the answer.
pub(super) async fn send(
    egress: &Egress,
    upstream: &Upstream,
    url: &Url,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Result<reqwest::Response, UpstreamError> {
    // Outside of a session, 404 is no message of the protocol.
    let expected = if headers.contains_key(SESSION_ID) { &EXPECTED[..] } else { &EXPECTED[1..] };
    let is_post = method == Method::POST;
    let request = egress.operator().request(method, url.clone()).headers(headers).body(body);
    match tokio::time::timeout(upstream.timeout, request.send()).await {
        Err(_) => {
            let seconds = upstream.timeout.as_secs();
            tracing::warn!(upstream = upstream.name, "{}: no answer within {seconds} s", place(url));
            Err(UpstreamError::Slow { name: upstream.name.clone(), after: upstream.timeout })
        }
        Ok(Err(error)) => {
            // Where it is belongs to the operator; that is for the log alone.
            tracing::warn!(upstream = upstream.name, "{}: {}", place(url), reason(&error));
            let name = upstream.name.clone();
            Err(if error.is_connect() { UpstreamError::Unconnected(name) } else { UpstreamError::Unreachable(name) })
        }
        Ok(Ok(response)) => {
            let (status, kind) = (response.status(), response.headers().get(CONTENT_TYPE));
            let is_mcp = is_type(kind, "application/json") || is_type(kind, "text/event-stream");
            if is_post && (status.is_server_error() || !is_mcp && !expected.contains(&status.as_u16())) {
                tracing::warn!(
                    upstream = upstream.name,
                    status = status.as_u16(),
                    "{}{}: an answer that is no MCP; see that upstream.url is right",
                    place(url),
                    url.path()
                );
            }
            Ok(response)
        }
    }
}

/// What has no MCP message and is in order all the same: the end of a session, what is taken without an answer, and a refusal.
const EXPECTED: [u16; 5] = [404, 202, 204, 401, 403];
