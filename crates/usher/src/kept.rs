//! Something that is fetched when it is first needed, kept, and fetched anew from time to time: by one at a time, and never
//! more often than is good for whoever is asked.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use jiff::{SignedDuration, Timestamp};
use tokio::{sync::OwnedMutexGuard, time::Instant};

use crate::clock::Clock;

/// How long something is kept, and how often it may be fetched.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// It is used so long without looking for a newer one.
    pub(crate) fresh: SignedDuration,
    /// And so long if no newer one can be had.
    pub(crate) usable: SignedDuration,
    /// Between two fetches while there is one to use.
    pub(crate) pause: SignedDuration,
}

/// After the first failure in a row while there is nothing to use; doubled with each up to [`MOST`].
const FIRST: SignedDuration = SignedDuration::from_secs(1);
const MOST: SignedDuration = SignedDuration::from_secs(60);

/// How long a fetch of something newer is waited for, from its beginning, where there is something older to use (R-SEC-04).
const PATIENCE: Duration = Duration::from_secs(3);

/// The right to fetch, until it is dropped.
pub(crate) type Turn = OwnedMutexGuard<()>;

/// What is kept.
#[derive(Debug)]
pub(crate) struct Kept<T> {
    terms: Terms,
    state: Mutex<State<T>>,
    /// Held by whoever fetches.
    turn: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Debug)]
struct State<T> {
    value: Option<(Arc<T>, Timestamp)>,
    /// When the last fetch began, or failed.
    attempt: Option<Timestamp>,
    /// When the last fetch began.
    began: Option<Instant>,
    failures: u32,
}

impl<T> Kept<T> {
    pub(crate) fn new(terms: Terms) -> Self {
        let state = State { value: None, attempt: None, began: None, failures: 0 };
        Self { terms, state: Mutex::new(state), turn: Arc::default() }
    }

    /// The value, fresh if it can be had. An older one is used only where no newer one can be had, or not soon: what was
    /// withdrawn meanwhile is in the older one.
    pub(crate) async fn current<F>(&self, clock: &dyn Clock, fetch: impl FnOnce(Turn) -> F) -> Option<Arc<T>>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let now = clock.now();
        if let Some(fresh) = self.fresh(now) {
            return Some(fresh);
        }
        self.begin(clock, fetch);
        if self.usable(now).is_some() {
            let until = self.state().began.map(|began| began + PATIENCE);
            // What comes later is for those who come later.
            let _ = tokio::time::timeout_at(until.unwrap_or_else(Instant::now), self.settled()).await;
        } else {
            self.settled().await;
        }
        self.usable(clock.now())
    }

    /// What is there, fresh or not, for those who wait for nothing: a newer one is fetched meanwhile, if it is time to.
    pub(crate) fn at_hand<F>(&self, clock: &dyn Clock, fetch: impl FnOnce(Turn) -> F) -> Option<Arc<T>>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let now = clock.now();
        let fresh = self.fresh(now);
        if fresh.is_none() {
            self.begin(clock, fetch);
        }
        fresh.or_else(|| self.usable(now))
    }

    /// The value after another look for a newer one, if it is time for one.
    pub(crate) async fn renewed<F>(&self, clock: &dyn Clock, fetch: impl FnOnce(Turn) -> F) -> Option<Arc<T>>
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.begin(clock, fetch);
        self.settled().await;
        self.usable(clock.now())
    }

    /// Begins a fetch, if nobody fetches and it is time to. It runs to its end whatever becomes of who began it: a client that
    /// leaves takes nothing from those who come next.
    pub(crate) fn begin<F>(&self, clock: &dyn Clock, fetch: impl FnOnce(Turn) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let Ok(turn) = Arc::clone(&self.turn).try_lock_owned() else { return };
        // By the time that it is now: somebody may have fetched since the caller looked.
        if self.attempt(clock.now()) {
            tokio::spawn(fetch(turn));
        }
    }

    /// Waits for the end of a fetch that is under way, however it ends.
    async fn settled(&self) {
        drop(self.turn.lock().await);
    }

    /// When the value was fetched.
    pub(crate) fn fetched_at(&self) -> Option<Timestamp> {
        self.state().value.as_ref().map(|(_, fetched)| *fetched)
    }

    /// The value, if it is younger than `fresh`.
    fn fresh(&self, now: Timestamp) -> Option<Arc<T>> {
        self.younger(now, self.terms.fresh)
    }

    /// The value, if it is younger than `usable`.
    fn usable(&self, now: Timestamp) -> Option<Arc<T>> {
        self.younger(now, self.terms.usable)
    }

    fn younger(&self, now: Timestamp, than: SignedDuration) -> Option<Arc<T>> {
        let state = self.state();
        let (value, fetched) = state.value.as_ref()?;
        within(*fetched, now, than).then(|| Arc::clone(value))
    }

    /// Whether it may be fetched now. If so, this counts as the attempt.
    fn attempt(&self, now: Timestamp) -> bool {
        let due = self.is_due(now);
        if due {
            let mut state = self.state();
            (state.attempt, state.began) = (Some(now), Some(Instant::now()));
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
    pub(crate) fn fetched(&self, value: Arc<T>, now: Timestamp) {
        let mut state = self.state();
        state.value = Some((value, now));
        state.failures = 0;
    }

    /// Counts a failure, which is known since `now`; whether it is the first in a row.
    pub(crate) fn failed(&self, now: Timestamp) -> bool {
        let mut state = self.state();
        state.attempt = Some(now);
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

    /// A clock that stands.
    struct At(i64);

    impl Clock for At {
        fn now(&self) -> Timestamp {
            at(self.0)
        }
    }

    /// Whoever comes while the same fetch hangs waits no longer than whoever began it.
    #[tokio::test(start_paused = true)]
    async fn a_newer_one_is_waited_for_a_while() {
        let kept = kept();
        kept.fetched(Arc::new(7), at(0));
        let begun = Arc::new(std::sync::atomic::AtomicU32::new(0));
        let hanging = |turn: Turn| {
            begun.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            async move {
                let _turn = turn;
                std::future::pending::<()>().await;
            }
        };
        let start = Instant::now();
        let all = (0..10).map(|_| kept.current(&At(100), hanging));
        let all = futures_util::future::join_all(all).await;
        assert!(all.iter().all(|found| found.as_deref() == Some(&7)));
        assert_eq!(start.elapsed(), PATIENCE);
        assert_eq!(kept.current(&At(101), hanging).await.as_deref(), Some(&7));
        assert_eq!(start.elapsed(), PATIENCE, "and nobody for long");
        assert_eq!(begun.load(std::sync::atomic::Ordering::SeqCst), 1);
    }

    /// R-SEC-04: whoever waited for a fetch that failed does not begin the next one.
    #[tokio::test(start_paused = true)]
    async fn a_failure_is_the_answer_to_all_who_waited_for_it() {
        let kept = Arc::new(kept());
        let failing = |turn: Turn| {
            let kept = Arc::clone(&kept);
            async move {
                tokio::time::sleep(Duration::from_secs(10)).await;
                kept.failed(at(10));
                drop(turn);
            }
        };
        let start = Instant::now();
        let all = (0..10).map(|_| kept.current(&At(0), failing));
        assert!(futures_util::future::join_all(all).await.iter().all(Option::is_none));
        assert_eq!(start.elapsed(), Duration::from_secs(10));
        assert!(!kept.is_due(at(10)) && kept.is_due(at(11)), "the pause begins with the end of the failure");
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
                assert_eq!(kept.failed(at(second)), tried.len() == 1);
            }
        }
        assert_eq!(tried, [0, 1, 3, 7, 15, 31, 63, 123, 183]);
    }
}
