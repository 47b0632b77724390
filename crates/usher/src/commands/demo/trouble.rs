//! What ends the demo early, and the deadlines that let nothing wait for ever.

use std::{io, time::Duration};

use usher_store::StoreError;

use crate::{config::Faults, serve::StartError};

/// How long one step may take in which no person has a part.
pub(super) const STEP: Duration = Duration::from_secs(30);

/// How long a person may take.
pub(super) const PERSON: Duration = Duration::from_mins(10);

/// Why the demo cannot go on.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    /// The demo's own folder, or a listener.
    #[error("the demo cannot be set up: {0}")]
    Io(#[from] io::Error),
    /// The configuration that the demo wrote.
    #[error("the configuration of the demo is wrong:\n{0}")]
    Config(#[from] Faults),
    /// The service.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A connection.
    #[error("a request failed: {0}")]
    Http(#[from] reqwest::Error),
    /// Something took too long.
    #[error("{what} took longer than {seconds} seconds")]
    Late {
        /// What was waited for.
        what: &'static str,
        /// The deadline.
        seconds: u64,
    },
    /// An answer that is not what should come here.
    #[error("{what} was expected, and this came: {got}")]
    Unexpected {
        /// What should have come.
        what: &'static str,
        /// What came.
        got: String,
    },
}

impl Trouble {
    /// An answer that is not what should come here; long ones are cut.
    pub(super) fn unexpected(what: &'static str, got: &dyn std::fmt::Display) -> Self {
        Self::Unexpected { what, got: got.to_string().chars().take(400).collect() }
    }
}

/// Waits for one step.
pub(super) async fn step<T>(
    what: &'static str,
    waiting: impl Future<Output = Result<T, Trouble>>,
) -> Result<T, Trouble> {
    within(STEP, what, waiting).await
}

/// Waits for something until a deadline.
pub(super) async fn within<T>(
    deadline: Duration,
    what: &'static str,
    waiting: impl Future<Output = Result<T, Trouble>>,
) -> Result<T, Trouble> {
    tokio::time::timeout(deadline, waiting).await.unwrap_or(Err(Trouble::Late { what, seconds: deadline.as_secs() }))
}
