//! Calls of legacy clients that may be asked about, and their cancellation. One that comes while the call is here, and not
//! upstream, is ours alone; one that comes while it is upstream goes there as well.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;
use usher_store::SessionKey;

type Calls = HashMap<(SessionKey, String), Arc<State>>;

#[derive(Debug, Default)]
struct State {
    cancelled: CancellationToken,
    held: AtomicBool,
}

/// The calls that are followed on this replica.
#[derive(Debug, Default)]
pub(super) struct Cancels {
    calls: Arc<Mutex<Calls>>,
}

/// A call that is followed until this is dropped.
pub(super) struct Followed {
    state: Arc<State>,
    key: (SessionKey, String),
    calls: Arc<Mutex<Calls>>,
}

impl Cancels {
    /// Follows a call, which is on its way upstream.
    pub(super) fn follow(&self, session: &SessionKey, id: &RawValue) -> Followed {
        let key = (session.clone(), id.get().to_owned());
        let state = Arc::<State>::default();
        lock(&self.calls).insert(key.clone(), Arc::clone(&state));
        Followed { state, key, calls: Arc::clone(&self.calls) }
    }

    /// Whether a call of this session is followed.
    pub(super) fn is_following(&self, session: &SessionKey) -> bool {
        lock(&self.calls).keys().any(|(of, _)| of == session)
    }

    /// Cancels a call. False where the upstream may know of it.
    pub(super) fn cancel(&self, session: &SessionKey, id: &RawValue) -> bool {
        let Some(state) = lock(&self.calls).get(&(session.clone(), id.get().to_owned())).cloned() else { return false };
        state.cancelled.cancel();
        state.held.load(Ordering::Acquire)
    }
}

impl Followed {
    /// From now on the upstream does not know the call.
    pub(super) fn hold(&self) {
        self.state.held.store(true, Ordering::Release);
    }

    /// From now on the upstream may know the call.
    pub(super) fn pass(&self) {
        self.state.held.store(false, Ordering::Release);
    }

    /// Whether the client has cancelled the call at any time.
    pub(super) fn is_cancelled(&self) -> bool {
        self.state.cancelled.is_cancelled()
    }

    /// Resolves when the client cancels the call.
    pub(super) async fn cancelled(&self) {
        self.state.cancelled.cancelled().await;
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        let mut calls = lock(&self.calls);
        // A client that used an id twice has replaced this one.
        if calls.get(&self.key).is_some_and(|state| Arc::ptr_eq(state, &self.state)) {
            calls.remove(&self.key);
        }
    }
}

/// A panic while the lock is held leaves a map that is still whole.
fn lock(mutex: &Mutex<Calls>) -> MutexGuard<'_, Calls> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use elicit::SystemRandom;
    use usher_store::SessionId;

    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    /// R-GW-02: a cancellation is never lost, and goes upstream where the call may be.
    #[test]
    fn a_cancellation_counts_wherever_the_call_is() {
        let cancels = Cancels::default();
        let session = SessionId::new(&SystemRandom).key();
        let call = cancels.follow(&session, &raw("7"));
        assert!(!cancels.cancel(&SessionId::new(&SystemRandom).key(), &raw("7")));
        assert!(!call.is_cancelled(), "another session's");
        assert!(!cancels.cancel(&session, &raw("7")), "the upstream may know it");
        assert!(call.is_cancelled());
        assert!(cancels.is_following(&session) && !cancels.is_following(&SessionId::new(&SystemRandom).key()));
        call.hold();
        assert!(cancels.cancel(&session, &raw("7")));
        call.pass();
        assert!(!cancels.cancel(&session, &raw("7")));
    }

    #[test]
    fn a_call_that_is_over_leaves_nothing_and_takes_no_other_with_it() {
        let cancels = Cancels::default();
        let session = SessionId::new(&SystemRandom).key();
        let first = cancels.follow(&session, &raw("\"a\""));
        let second = cancels.follow(&session, &raw("\"a\""));
        second.hold();
        drop(first);
        assert!(cancels.cancel(&session, &raw("\"a\"")) && second.is_cancelled());
        drop(second);
        assert!(!cancels.cancel(&session, &raw("\"a\"")));
        assert!(lock(&cancels.calls).is_empty());
    }
}
