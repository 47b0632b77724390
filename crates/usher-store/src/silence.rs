//! Whether a database of this process was silent lately: then connections that come back to their pool are looked at first.
//!
//! A connection to a machine that is gone gives no error for many minutes. Asking each connection each time would cost every
//! call a round trip, so it is done only for a while after a call ended without an answer.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long the suspicion lasts.
const LASTS: Duration = Duration::from_secs(30);

static UNTIL: Mutex<Option<Instant>> = Mutex::new(None);

/// A call ended without an answer.
pub(crate) fn suspect() {
    *UNTIL.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now() + LASTS);
}

/// Whether that was lately.
pub(crate) fn is_suspected() -> bool {
    lasts(*UNTIL.lock().unwrap_or_else(PoisonError::into_inner), Instant::now())
}

fn lasts(until: Option<Instant>, now: Instant) -> bool {
    until.is_some_and(|until| now < until)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suspicion_comes_with_silence_and_passes() {
        let now = Instant::now();
        assert!(!lasts(None, now));
        suspect();
        assert!(is_suspected());
        let until = *UNTIL.lock().unwrap();
        assert!(lasts(until, now + LASTS / 2) && !lasts(until, now + 2 * LASTS));
    }
}
