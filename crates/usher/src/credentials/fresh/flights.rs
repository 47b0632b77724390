//! One renewal of a credential at a time in this process, whoever asks for it, and whoever leaves meanwhile.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{sync::watch, time::timeout};
use tokio_util::task::TaskTracker;
use usher_store::CredentialKey;

use super::Renewal;

/// How long the end of the service waits for renewals that are under way: what a provider has answered must be stored, since
/// the token of before may be good for nothing by then.
const LANDING: Duration = Duration::from_secs(15);

type UnderWay = Arc<Mutex<HashMap<CredentialKey, watch::Receiver<Option<Renewal>>>>>;

/// The renewals that are under way.
#[derive(Default)]
pub(super) struct Flights {
    under_way: UnderWay,
    tasks: TaskTracker,
}

/// Where what came of a renewal is to be had.
pub(super) struct Landing(Option<watch::Receiver<Option<Renewal>>>);

impl Flights {
    /// The renewal of this credential that is under way, or `work` as one, in a task of its own.
    pub(super) fn join<W>(&self, key: &CredentialKey, work: impl FnOnce() -> W) -> Landing
    where
        W: Future<Output = Renewal> + Send + 'static,
    {
        let mut under_way = lock(&self.under_way);
        if let Some(landing) = under_way.get(key) {
            return Landing(Some(landing.clone()));
        }
        if self.tasks.is_closed() {
            return Landing(None);
        }
        let (sender, landing) = watch::channel(None);
        under_way.insert(key.clone(), landing.clone());
        let over = Over(Arc::clone(&self.under_way), key.clone());
        let work = work();
        self.tasks.spawn(async move {
            let renewal = work.await;
            // Whoever asks from here on begins another one.
            drop(over);
            sender.send_replace(Some(renewal));
        });
        Landing(Some(landing))
    }

    /// Whether the service is about to end: no provider is asked for anything any more.
    pub(super) fn is_closed(&self) -> bool {
        self.tasks.is_closed()
    }

    /// Begins nothing more, and waits for what is under way.
    pub(super) async fn close(&self) {
        self.tasks.close();
        if timeout(LANDING, self.tasks.wait()).await.is_err() {
            tracing::warn!("the service stops while credentials are being renewed");
        }
    }
}

impl Landing {
    /// What came of it; `None` where it takes longer than this, or nothing came of it.
    pub(super) async fn within(self, wait: Duration) -> Option<Renewal> {
        let mut landing = self.0?;
        let landed = timeout(wait, landing.wait_for(Option::is_some)).await.ok()?.ok()?;
        landed.clone()
    }
}

/// Takes a renewal off the list, also one that panicked.
struct Over(UnderWay, CredentialKey);

impl Drop for Over {
    fn drop(&mut self) {
        lock(&self.0).remove(&self.1);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use elicit::UserId;
    use tokio::sync::oneshot;

    use super::*;

    const LONG: Duration = Duration::from_secs(10);

    fn key(subject: &str) -> CredentialKey {
        CredentialKey::of(&UserId::new("issuer", subject).unwrap(), "hub")
    }

    #[tokio::test]
    async fn whoever_comes_meanwhile_joins_and_whoever_comes_later_begins_anew() {
        let flights = Flights::default();
        let (land, landing) = oneshot::channel();
        let first = flights.join(&key("a"), || async {
            landing.await.unwrap();
            Renewal::Gone
        });
        let second = flights.join(&key("a"), || async { unreachable!("a second one") });
        let another = flights.join(&key("b"), || async { Renewal::Ended });
        assert!(matches!(another.within(LONG).await, Some(Renewal::Ended)));
        assert!(flights.join(&key("a"), || async { unreachable!() }).within(Duration::ZERO).await.is_none());
        // The first to ask has left.
        drop(first);
        land.send(()).unwrap();
        assert!(matches!(second.within(LONG).await, Some(Renewal::Gone)));
        let later = flights.join(&key("a"), || async { Renewal::Ended });
        assert!(matches!(later.within(LONG).await, Some(Renewal::Ended)));
        assert!(lock(&flights.under_way).is_empty());
    }

    #[tokio::test]
    async fn one_that_panics_leaves_nobody_waiting() {
        let flights = Flights::default();
        let landing = flights.join(&key("a"), || async { panic!("a fault") });
        assert!(landing.within(LONG).await.is_none());
        let next = flights.join(&key("a"), || async { Renewal::Gone });
        assert!(matches!(next.within(LONG).await, Some(Renewal::Gone)));
    }

    #[tokio::test]
    async fn the_end_waits_for_what_is_under_way_and_begins_nothing() {
        let flights = Flights::default();
        let landing = flights.join(&key("a"), || async {
            tokio::task::yield_now().await;
            Renewal::Gone
        });
        flights.close().await;
        assert!(landing.within(Duration::ZERO).await.is_some());
        assert!(flights.join(&key("b"), || async { unreachable!() }).within(LONG).await.is_none());
    }
}
