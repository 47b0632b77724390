//! Who on this replica waits for which interaction. Waking one costs the same however many wait.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::watch;
use usher_store::{InteractionId, StoreError};

/// How long to wait before a store that did not answer is asked again. A wake asks it earlier.
const AFTER_FAULT: Duration = Duration::from_secs(1);

/// How long the store may take over the last look, when the time of a wait is over (R-SEC-04).
const LAST_LOOK: Duration = Duration::from_secs(2);

type Waiters = HashMap<InteractionId, watch::Sender<()>>;

/// The waiters of this replica. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Waiting {
    waiters: Arc<Mutex<Waiters>>,
}

/// Wakes when something may have become of one interaction. A wake is a hint: the row is the truth.
#[derive(Debug)]
pub struct Waiter {
    waiting: Waiting,
    id: InteractionId,
    receiver: Option<watch::Receiver<()>>,
}

impl Waiting {
    /// Starts to wait. Begin before the row is read, so that nothing is missed in between.
    pub fn on(&self, id: &InteractionId) -> Waiter {
        let receiver = self.lock().entry(id.clone()).or_insert_with(|| watch::channel(()).0).subscribe();
        Waiter { waiting: self.clone(), id: id.clone(), receiver: Some(receiver) }
    }

    /// Wakes those who wait for `id`.
    pub fn wake(&self, id: &InteractionId) {
        if let Some(sender) = self.lock().get(id) {
            sender.send_replace(());
        }
    }

    /// Wakes everybody, after events may have been lost.
    pub fn wake_all(&self) {
        for sender in self.lock().values() {
            sender.send_replace(());
        }
    }

    /// What is waited for.
    pub fn ids(&self) -> Vec<InteractionId> {
        self.lock().keys().cloned().collect()
    }

    /// A panic while the lock is held leaves a map that is still whole.
    fn lock(&self) -> MutexGuard<'_, Waiters> {
        self.waiters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiter {
    /// Resolves at the next wake.
    pub async fn woken(&mut self) {
        if let Some(receiver) = &mut self.receiver
            && receiver.changed().await.is_ok()
        {
            return;
        }
        // The sender lives as long as a receiver does; without one there is nothing to wait for but the caller's deadline.
        std::future::pending::<()>().await;
    }
}

/// Looks until something became of what `waiters` wait for, and once more when it is `over`. A fault of the store counts
/// only then: it may be back in time. One that does not answer ends nothing earlier and not much later.
pub(super) async fn until<T, F: Future<Output = Result<T, StoreError>>>(
    waiters: &mut [Waiter],
    look: impl Fn() -> F,
    is_open: impl Fn(&T) -> bool,
    over: impl Future<Output = ()>,
) -> Result<T, StoreError> {
    let mut over = std::pin::pin!(over);
    loop {
        // On the heap, so that whoever waits stays small.
        let mut looking = Box::pin(look());
        let found = tokio::select! {
            found = &mut looking => found,
            () = &mut over => return last(looking).await,
        };
        let again = match found {
            Ok(found) if !is_open(&found) => return Ok(found),
            Ok(_) => None,
            Err(error) => {
                tracing::warn!(%error, "what is waited for cannot be read; it is read again");
                Some(AFTER_FAULT)
            }
        };
        let woken = futures_util::future::select_all(waiters.iter_mut().map(|waiter| Box::pin(waiter.woken())));
        tokio::select! {
            _ = woken => {}
            () = tokio::time::sleep(again.unwrap_or_default()), if again.is_some() => {}
            () = &mut over => return last(Box::pin(look())).await,
        }
    }
}

/// A look that has no more time than [`LAST_LOOK`].
async fn last<T>(look: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    let silent = |_| Err(StoreError::Unavailable(format!("no answer within {} seconds", LAST_LOOK.as_secs())));
    tokio::time::timeout(LAST_LOOK, look).await.unwrap_or_else(silent)
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut waiters = self.waiting.lock();
        self.receiver = None;
        if waiters.get(&self.id).is_some_and(|sender| sender.receiver_count() == 0) {
            waiters.remove(&self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use elicit::SystemRandom;

    use super::*;

    fn fault() -> StoreError {
        StoreError::Unavailable("gone".to_owned())
    }

    /// R-SEC-04: a store that is away for a moment ends no wait.
    #[tokio::test(start_paused = true)]
    async fn a_fault_of_the_store_is_waited_out() {
        let waiting = Waiting::default();
        let mut waiters = [waiting.on(&InteractionId::new(&SystemRandom))];
        let looks = Cell::new(0);
        let look = || {
            looks.set(looks.get() + 1);
            std::future::ready(if looks.get() < 4 { Err(fault()) } else { Ok("done") })
        };
        let found = until(&mut waiters, look, |_| false, tokio::time::sleep(Duration::from_secs(40))).await;
        assert_eq!((found.unwrap(), looks.get()), ("done", 4));
    }

    /// R-SEC-04: every wait has an end, which says that the store is away.
    #[tokio::test(start_paused = true)]
    async fn a_fault_that_lasts_is_told_at_the_end() {
        let waiting = Waiting::default();
        let mut waiters = [waiting.on(&InteractionId::new(&SystemRandom))];
        let before = tokio::time::Instant::now();
        let over = tokio::time::sleep(Duration::from_secs(40));
        let found = until(&mut waiters, || std::future::ready(Err::<(), _>(fault())), |()| true, over).await;
        assert!(matches!(found, Err(StoreError::Unavailable(_))));
        assert_eq!(before.elapsed(), Duration::from_secs(40));
    }

    /// R-SEC-04: so does a store that says nothing at all.
    #[tokio::test(start_paused = true)]
    async fn a_store_that_is_silent_keeps_nobody_longer() {
        let waiting = Waiting::default();
        let mut waiters = [waiting.on(&InteractionId::new(&SystemRandom))];
        let before = tokio::time::Instant::now();
        let over = tokio::time::sleep(Duration::from_secs(40));
        let found = until(&mut waiters, std::future::pending::<Result<(), StoreError>>, |()| true, over).await;
        assert!(matches!(found, Err(StoreError::Unavailable(_))));
        assert_eq!(before.elapsed(), Duration::from_secs(40) + LAST_LOOK);
    }

    #[tokio::test]
    async fn a_wake_between_subscribing_and_waiting_is_not_lost() {
        let waiting = Waiting::default();
        let id = InteractionId::new(&SystemRandom);
        let mut waiter = waiting.on(&id);
        waiting.wake(&id);
        tokio::time::timeout(Duration::from_secs(5), waiter.woken()).await.unwrap();
    }

    #[tokio::test]
    async fn only_the_waiters_of_that_interaction_wake() {
        let waiting = Waiting::default();
        let (one, other) = (InteractionId::new(&SystemRandom), InteractionId::new(&SystemRandom));
        let mut first = waiting.on(&one);
        let mut second = waiting.on(&one);
        let mut foreign = waiting.on(&other);
        waiting.wake(&one);
        first.woken().await;
        second.woken().await;
        assert!(futures_util::FutureExt::now_or_never(foreign.woken()).is_none());
    }

    #[test]
    fn nothing_stays_when_the_last_waiter_leaves() {
        let waiting = Waiting::default();
        let id = InteractionId::new(&SystemRandom);
        let (first, second) = (waiting.on(&id), waiting.on(&id));
        drop(first);
        assert_eq!(waiting.ids(), [id]);
        drop(second);
        assert!(waiting.ids().is_empty());
    }
}
