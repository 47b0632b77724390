//! Who on this replica waits for which interaction. Waking one costs the same however many wait.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::watch;
use usher_store::InteractionId;

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
    use std::time::Duration;

    use elicit::SystemRandom;

    use super::*;

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
