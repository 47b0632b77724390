//! A whole answer, bounded in time and size: for what is small, such as keys and documents about a service.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode};

use super::reason;

/// How long a small answer may take, from the first byte of the request to its own last (R-SEC-04).
pub(crate) const DEADLINE: Duration = Duration::from_secs(10);

/// An answer that was read to its end.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// Why there is no answer. No variant holds anything that was sent, or that came.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// No connection, or it broke.
    #[error("{0}")]
    Unreachable(String),
    /// It did not come in time.
    #[error("no answer within {} s", DEADLINE.as_secs())]
    Slow,
    /// It is longer than the caller takes.
    #[error("the answer is over {0} bytes")]
    TooLarge(usize),
}

/// Sends a request and reads its answer, of at most so many bytes.
pub(crate) async fn answer(request: reqwest::RequestBuilder, at_most: usize) -> Result<Answer, NoAnswer> {
    let unreachable = |error: reqwest::Error| NoAnswer::Unreachable(reason(&error));
    let whole = async {
        let mut response = request.send().await.map_err(unreachable)?;
        let mut body = BytesMut::new();
        while let Some(piece) = response.chunk().await.map_err(unreachable)? {
            if body.len() + piece.len() > at_most {
                return Err(NoAnswer::TooLarge(at_most));
            }
            body.extend_from_slice(&piece);
        }
        Ok(Answer { status: response.status(), headers: response.headers().clone(), body: body.freeze() })
    };
    tokio::time::timeout(DEADLINE, whole).await.unwrap_or(Err(NoAnswer::Slow))
}
