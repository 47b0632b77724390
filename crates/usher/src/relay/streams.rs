//! The GET streams of legacy sessions on this replica: where a message goes that belongs to no call.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use bytes::Bytes;
use tokio::sync::mpsc;
use usher_store::SessionKey;

type Open = HashMap<SessionKey, mpsc::Sender<Bytes>>;

/// The open GET streams, one a session.
#[derive(Debug, Default)]
pub(super) struct Streams {
    open: Arc<Mutex<Open>>,
}

/// A stream's place in the list; given up when dropped.
pub(super) struct Place {
    key: SessionKey,
    /// Weak, so that a stream whose place was taken sees its channel end.
    sender: mpsc::WeakSender<Bytes>,
    open: Arc<Mutex<Open>>,
}

impl Streams {
    /// Takes the place of the session's stream. An earlier one of the same session ends: a client that opens a second
    /// one has lost the first.
    pub(super) fn take(&self, session: &SessionKey) -> (Place, mpsc::Receiver<Bytes>) {
        let (sender, receiver) = mpsc::channel(16);
        let weak = sender.downgrade();
        lock(&self.open).insert(session.clone(), sender);
        (Place { key: session.clone(), sender: weak, open: Arc::clone(&self.open) }, receiver)
    }

    /// Ends the session's stream, if one is open here.
    pub(super) fn end(&self, session: &SessionKey) {
        lock(&self.open).remove(session);
    }

    /// The session's stream, if one is open here.
    pub(super) fn of(&self, session: &SessionKey) -> Option<mpsc::Sender<Bytes>> {
        lock(&self.open).get(session).cloned()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(mine) = self.sender.upgrade() else { return };
        let mut open = lock(&self.open);
        if open.get(&self.key).is_some_and(|current| current.same_channel(&mine)) {
            open.remove(&self.key);
        }
    }
}

/// A panic while the lock is held leaves a map that is still whole.
fn lock(mutex: &Mutex<Open>) -> MutexGuard<'_, Open> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use elicit::SystemRandom;
    use usher_store::SessionId;

    use super::*;

    #[tokio::test]
    async fn the_newest_stream_has_the_place_and_the_older_one_ends() {
        let streams = Streams::default();
        let session = SessionId::new(&SystemRandom).key();
        let (old, mut old_receiver) = streams.take(&session);
        let (new, _new_receiver) = streams.take(&session);
        assert!(old_receiver.recv().await.is_none());
        drop(old);
        assert!(streams.of(&session).is_some());
        drop(new);
        assert!(streams.of(&session).is_none());
    }
}
