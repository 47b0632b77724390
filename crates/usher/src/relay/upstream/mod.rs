//! The servers behind the gateway, however they are reached: what is sent to one, and what comes back.

mod http;
mod process;

use std::time::Duration;

use ::http::{HeaderMap, HeaderValue, Method, StatusCode};
use bytes::{Bytes, BytesMut};

pub(in crate::relay) use self::process::{Processes, credentials_changed};
use super::call::Caller;
use crate::{
    config::{Transport, Upstream},
    credentials::Injection,
    egress::reason,
    mcp::headers::SESSION_ID,
};

/// The largest JSON answer that is taken into memory, in bytes. Answers that need no look pass without this limit.
pub(in crate::relay) const ANSWER_LIMIT: usize = 16 * 1024 * 1024;

/// The upstream gave no usable answer. The text goes to the client: it names the upstream and nothing of its insides.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::relay) enum UpstreamError {
    /// No connection.
    #[error("the server {0} cannot be reached")]
    Unconnected(String),
    /// The connection broke before an answer.
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
    /// A command that cannot be run.
    #[error("the server {0} cannot be started; whoever runs Usher finds the reason in its log")]
    NotStarted(String),
    /// A process that ended before it answered.
    #[error("the server {0} ended before it answered; the next call starts it again")]
    Ended(String),
    /// A process that keeps ending.
    #[error("the server {name} keeps ending; it is started again in {} s", retry_after.as_secs().max(1))]
    Crashing {
        /// The upstream's name.
        name: String,
        /// When.
        retry_after: Duration,
    },
    /// Everything that may be under way at a process is, or what is under way must end before this call can begin.
    #[error("the server {0} is busy with earlier calls; call again when they are done")]
    Busy(String),
    /// No place for another process, and none that is idle.
    #[error(
        "too many servers run for you at the moment, so {0} cannot be started; end a session of another app, or try again later"
    )]
    TooManyProcesses(String),
}

impl UpstreamError {
    /// Whether the upstream can have seen nothing of the request.
    pub(in crate::relay) fn sent_nothing(&self) -> bool {
        match self {
            Self::Unconnected(_)
            | Self::NotStarted(_)
            | Self::Crashing { .. }
            | Self::Busy(_)
            | Self::TooManyProcesses(_) => true,
            Self::Unreachable(_)
            | Self::Slow { .. }
            | Self::TooLarge(_)
            | Self::Garbage { .. }
            | Self::Refused { .. }
            | Self::Ended(_) => false,
        }
    }
}

/// What an upstream answers to one request. Its body comes piece by piece.
pub(in crate::relay) struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Body,
}

enum Body {
    Http(Box<reqwest::Response>),
    Process(Box<process::Messages>),
    Whole(Option<Bytes>),
}

/// The body of an answer ended before it was whole. The text is for the log.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(in crate::relay) struct BrokenOff(String);

impl Answer {
    /// The status, as over HTTP.
    pub(in crate::relay) fn status(&self) -> StatusCode {
        self.status
    }

    /// The headers.
    pub(in crate::relay) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The next piece of the body; `None` at its end.
    pub(in crate::relay) async fn chunk(&mut self) -> Result<Option<Bytes>, BrokenOff> {
        match &mut self.body {
            Body::Http(response) => response.chunk().await.map_err(|error| BrokenOff(reason(&error))),
            Body::Process(messages) => Ok(messages.next_event().await),
            Body::Whole(body) => Ok(body.take()),
        }
    }
}

impl From<reqwest::Response> for Answer {
    fn from(mut response: reqwest::Response) -> Self {
        Self {
            status: response.status(),
            headers: std::mem::take(response.headers_mut()),
            body: Body::Http(Box::new(response)),
        }
    }
}

/// Sends one request to the caller's upstream, in its session `upstream_session`, and waits for the head of the answer.
pub(in crate::relay) async fn send(
    caller: &Caller,
    injection: &Injection,
    upstream_session: Option<&str>,
    method: Method,
    body: Bytes,
) -> Result<Answer, UpstreamError> {
    let upstream = caller.upstream();
    let url = match &upstream.transport {
        Transport::Http(url) => url,
        Transport::Process(command) => {
            let processes = &caller.app.relay.processes;
            return processes.send(caller, command, injection, upstream_session, method, body).await;
        }
    };
    let mut headers = caller.headers.clone();
    if let Some(value) = upstream_session.and_then(|id| HeaderValue::from_str(id).ok()) {
        headers.insert(SESSION_ID, value);
    }
    injection.apply(&mut headers);
    http::send(&caller.app.egress, upstream, url, method, headers, body).await.map(Answer::from)
}

/// Reads a whole body, bounded in size and time.
pub(in crate::relay) async fn read(upstream: &Upstream, response: Answer) -> Result<Bytes, UpstreamError> {
    read_until(upstream, response, |_| false).await
}

/// The same, up to the piece for which `enough` says so.
pub(in crate::relay) async fn read_until(
    upstream: &Upstream,
    mut response: Answer,
    mut enough: impl FnMut(&[u8]) -> bool,
) -> Result<Bytes, UpstreamError> {
    let reading = async {
        let mut body = BytesMut::new();
        loop {
            match response.chunk().await {
                Err(error) => {
                    tracing::warn!(
                        upstream = upstream.name,
                        %error,
                        "the answer broke off"
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
