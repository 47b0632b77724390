//! How long streams wait for whoever is at their other end.

use std::time::Duration;

/// How long a reader may take nothing while there is something to read (R-SEC-04).
pub(super) const SLOW_READER: Duration = Duration::from_secs(30);

/// The times of streams. Tests hurry them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// How often a silent stream gets a comment, so that nothing in between closes it as idle.
    pub keep_alive: Duration,
    /// How long a reader may take nothing while there is something to read (R-SEC-04).
    pub slow_reader: Duration,
    /// How long a held call of the legacy era waits for a client whose stream broke off.
    pub away: Duration,
    /// How long the stream of a call may bring nothing. Progress, comments and everything else count as life.
    pub silent: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            keep_alive: Duration::from_secs(15),
            slow_reader: SLOW_READER,
            away: Duration::from_secs(30),
            silent: Duration::from_mins(10),
        }
    }
}
