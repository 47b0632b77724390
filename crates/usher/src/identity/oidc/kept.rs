//! Something that is fetched when it is first needed, kept, and fetched anew from time to time: by one at a time, and never
//! more often than is good for whoever is asked.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};

/// How long something is kept, and how often it may be fetched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    /// It is used so long without looking for a newer one.
    pub(super) fresh: SignedDuration,
    /// And so long if no newer one can be had.
    pub(super) usable: SignedDuration,
    /// Between two fetches while there is one to use.
    pub(super) pause: SignedDuration,
}

/// After the first failure in a row while there is nothing to use; doubled with each up to [`MOST`].
const FIRST: SignedDuration = SignedDuration::from_secs(1);
const MOST: SignedDuration = SignedDuration::from_secs(60);

/// What is kept.
#[derive(Debug)]
pub(super) struct Kept<T> {
    terms: Terms,
    state: Mutex<State<T>>,
    /// Held by whoever fetches.
    pub(super) turn: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct State<T> {
    value: Option<(Arc<T>, Timestamp)>,
    attempt: Option<Timestamp>,
    failures: u32,
}

impl<T> Kept<T> {
    pub(super) fn new(terms: Terms) -> Self {
        let state = State { value: None, attempt: None, failures: 0 };
        Self { terms, state: Mutex::new(state), turn: tokio::sync::Mutex::new(()) }
    }

    /// The value, if it is younger than `fresh`.
    pub(super) fn fresh(&self, now: Timestamp) -> Option<Arc<T>> {
        self.younger(now, self.terms.fresh)
    }

    /// The value, if it is younger than `usable`.
    pub(super) fn usable(&self, now: Timestamp) -> Option<Arc<T>> {
        self.younger(now, self.terms.usable)
    }

    fn younger(&self, now: Timestamp, than: SignedDuration) -> Option<Arc<T>> {
        let state = self.state();
        let (value, fetched) = state.value.as_ref()?;
        within(*fetched, now, than).then(|| Arc::clone(value))
    }

    /// Whether it may be fetched now, or is being fetched.
    pub(super) fn is_worth_waiting(&self, now: Timestamp) -> bool {
        self.turn.try_lock().is_err() || self.is_due(now)
    }

    /// Whether it may be fetched now. If so, this counts as the attempt.
    pub(super) fn attempt(&self, now: Timestamp) -> bool {
        let due = self.is_due(now);
        if due {
            self.state().attempt = Some(now);
        }
        due
    }

    fn is_due(&self, now: Timestamp) -> bool {
        let usable = self.usable(now).is_some();
        let state = self.state();
        let pause = if usable { self.terms.pause } else { backoff(state.failures) };
        state.attempt.is_none_or(|attempt| !within(attempt, now, pause))
    }

    /// Keeps what was fetched by the attempt at `now`, whenever it came.
    pub(super) fn fetched(&self, value: Arc<T>, now: Timestamp) {
        let mut state = self.state();
        state.value = Some((value, now));
        state.failures = 0;
    }

    /// Counts a failure; whether it is the first in a row.
    pub(super) fn failed(&self) -> bool {
        let mut state = self.state();
        state.failures = state.failures.saturating_add(1);
        state.failures == 1
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether less than `duration` has passed. A clock that was set back has passed any.
fn within(then: Timestamp, now: Timestamp, duration: SignedDuration) -> bool {
    let passed = now.duration_since(then);
    !passed.is_negative() && passed < duration
}

fn backoff(failures: u32) -> SignedDuration {
    match failures {
        0 => SignedDuration::ZERO,
        some => (FIRST * 2_i32.saturating_pow(some.min(7) - 1)).min(MOST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_000_000 + seconds).unwrap()
    }

    fn kept() -> Kept<u8> {
        let seconds = SignedDuration::from_secs;
        Kept::new(Terms { fresh: seconds(100), usable: seconds(1000), pause: seconds(60) })
    }

    #[test]
    fn what_was_fetched_is_fresh_then_usable_then_gone() {
        let kept = kept();
        assert!(kept.usable(at(0)).is_none() && kept.attempt(at(0)));
        kept.fetched(Arc::new(7), at(0));
        assert!(kept.fresh(at(99)).is_some() && kept.fresh(at(100)).is_none());
        assert!(kept.usable(at(999)).is_some() && kept.usable(at(1000)).is_none());
        assert!(kept.fresh(at(-1)).is_none(), "a clock that was set back keeps nothing for ever");
    }

    #[test]
    fn it_is_fetched_once_a_pause_whoever_asks() {
        let kept = kept();
        assert!(kept.attempt(at(0)));
        kept.fetched(Arc::new(7), at(0));
        let attempts = (1..=180).filter(|second| kept.attempt(at(*second))).count();
        assert_eq!(attempts, 3);
    }

    #[test]
    fn without_any_it_is_tried_again_soon_and_then_less_often() {
        let kept = kept();
        let mut tried = Vec::new();
        for second in 0..200 {
            if kept.attempt(at(second)) {
                tried.push(second);
                assert_eq!(kept.failed(), tried.len() == 1);
            }
        }
        assert_eq!(tried, [0, 1, 3, 7, 15, 31, 63, 123, 183]);
    }
}
