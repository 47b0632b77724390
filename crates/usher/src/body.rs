//! Bodies of requests that are read whole.

use std::{error::Error, time::Duration};

use axum::body::Body;
use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

/// How long somebody may take to send a body (R-SEC-04).
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// Why a body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unread {
    /// It is over the limit.
    #[error("the body is too large")]
    TooLarge,
    /// It broke off.
    #[error("the body broke off")]
    Broken,
    /// It did not come in time.
    #[error("the body did not come in time")]
    Slow,
}

impl Unread {
    /// The fault of a [`Limited`] body.
    pub(crate) fn of(error: &(dyn Error + 'static)) -> Self {
        if error.is::<LengthLimitError>() { Self::TooLarge } else { Self::Broken }
    }
}

/// Reads a whole body of at most so many bytes, in [`DEADLINE`].
pub(crate) async fn whole(body: Body, at_most: usize) -> Result<Bytes, Unread> {
    match tokio::time::timeout(DEADLINE, Limited::new(body, at_most).collect()).await {
        Ok(Ok(whole)) => Ok(whole.to_bytes()),
        Ok(Err(error)) => Err(Unread::of(&*error)),
        Err(_) => Err(Unread::Slow),
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use futures_util::{StreamExt as _, stream};

    use super::*;

    /// R-SEC-04: a body has a size and a deadline, whoever sends it.
    #[tokio::test(start_paused = true)]
    async fn a_body_has_a_size_and_a_time() {
        assert_eq!(whole(Body::from("12345"), 5).await.unwrap(), "12345");
        assert_eq!(whole(Body::from("123456"), 5).await, Err(Unread::TooLarge));
        let first = || stream::iter([Ok::<_, io::Error>(Bytes::from("1"))]);
        let cut = first().chain(stream::iter([Err(io::Error::other("cut"))]));
        assert_eq!(whole(Body::from_stream(cut), 5).await, Err(Unread::Broken));
        let started = tokio::time::Instant::now();
        assert_eq!(whole(Body::from_stream(first().chain(stream::pending())), 5).await, Err(Unread::Slow));
        assert_eq!(started.elapsed(), DEADLINE);
    }
}
