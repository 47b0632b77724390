//! How often something may happen, by key.

use std::{
    hash::Hash,
    num::NonZeroU32,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use governor::{
    Quota, RateLimiter,
    clock::{self, Reference as _},
    middleware::NoOpMiddleware,
    nanos::Nanos,
    state::keyed::DefaultKeyedStateStore,
};
use jiff::Timestamp;

use super::TooMany;
use crate::clock::Clock;

/// A limit for each key. Forgets by [`shrink`](Self::shrink).
pub(super) struct Rate<K: Hash + Eq + Clone> {
    limiter: RateLimiter<K, DefaultKeyedStateStore<K>, Passing, NoOpMiddleware<Nanos>>,
    clock: Passing,
}

impl<K: Hash + Eq + Clone> Rate<K> {
    /// At most `count` a minute for each key, all of them at once where none came before.
    pub(super) fn per_minute(count: u32, clock: &Arc<dyn Clock>) -> Self {
        let clock = Passing::new(Arc::clone(clock));
        let quota = Quota::per_minute(NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN));
        Self { limiter: RateLimiter::new(quota, DefaultKeyedStateStore::default(), clock.clone()), clock }
    }

    /// Counts one.
    pub(super) fn count(&self, key: &K) -> Result<(), TooMany> {
        use clock::Clock as _;
        self.limiter.check_key(key).map_err(|refused| {
            let wait = refused.earliest_possible().duration_since(self.clock.now());
            TooMany { retry_after: wait.into() }
        })
    }

    /// Drops counts that are full again.
    pub(super) fn shrink(&self) {
        self.limiter.retain_recent();
    }

    /// How many keys are remembered.
    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.limiter.len()
    }
}

/// The time that has passed by the time of day. Where the clock is set back none has: counts do not last for the difference.
#[derive(Clone)]
struct Passing {
    clock: Arc<dyn Clock>,
    since: Arc<Mutex<(Timestamp, Duration)>>,
}

impl Passing {
    fn new(clock: Arc<dyn Clock>) -> Self {
        let since = Arc::new(Mutex::new((clock.now(), Duration::ZERO)));
        Self { clock, since }
    }
}

impl clock::Clock for Passing {
    type Instant = Nanos;

    fn now(&self) -> Nanos {
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        let (last, passed) = *since;
        let now = self.clock.now();
        let passed = passed + Duration::try_from(now.duration_since(last)).unwrap_or_default();
        *since = (now, passed);
        Nanos::from(u64::try_from(passed.as_nanos()).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broker::limits::tests::Hand;

    /// R-SEC-01: what is refused says when to come back, and that is right.
    #[test]
    fn a_count_comes_back_in_its_time() {
        let hand = Hand::new();
        let rate = Rate::per_minute(2, &hand.clock());
        rate.count(&1).unwrap();
        rate.count(&1).unwrap();
        let wait = rate.count(&1).unwrap_err().retry_after;
        assert_eq!(wait, Duration::from_secs(30));
        rate.count(&2).unwrap();
        hand.forward(29);
        assert_eq!(rate.count(&1).unwrap_err().retry_after, Duration::from_secs(1));
        hand.forward(1);
        rate.count(&1).unwrap();
        rate.count(&1).unwrap_err();
    }

    #[test]
    fn a_clock_that_is_set_back_locks_nobody_out() {
        let hand = Hand::new();
        let rate = Rate::per_minute(1, &hand.clock());
        rate.count(&1).unwrap();
        hand.forward(-3600);
        assert_eq!(rate.count(&1).unwrap_err().retry_after, Duration::from_mins(1));
        hand.forward(60);
        rate.count(&1).unwrap();
    }

    #[test]
    fn what_is_full_again_is_forgotten() {
        let hand = Hand::new();
        let rate = Rate::per_minute(1, &hand.clock());
        for key in 0..100 {
            rate.count(&key).unwrap();
        }
        rate.shrink();
        assert_eq!(rate.remembered(), 100);
        hand.forward(120);
        rate.shrink();
        assert_eq!(rate.remembered(), 0);
    }
}
