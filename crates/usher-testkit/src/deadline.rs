use std::future::Future;
use std::time::Duration;

/// How long every wait of this crate lasts before it panics.
pub const DEADLINE: Duration = Duration::from_secs(10);

/// The value of `future`, or a panic that says what did not happen within `limit`.
pub async fn within<T>(limit: Duration, what: &str, future: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(limit, future).await;
    done.unwrap_or_else(|_| panic!("waited {limit:?} in vain: {what}"))
}
