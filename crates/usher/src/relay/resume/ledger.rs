//! How much is kept for readers that may come back: bounded for each session, and for all of them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use usher_store::SessionKey;

/// The most that is kept for one session, in bytes.
pub(in crate::relay) const SESSION_AT_MOST: usize = 8 * 1024 * 1024;
/// The most that is kept on this replica, in bytes.
const ALL_AT_MOST: usize = 64 * 1024 * 1024;
/// What an event costs beside its bytes.
const EACH: usize = 128;

/// Counts what is kept.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    all: usize,
    sessions: HashMap<SessionKey, usize>,
}

/// What one stream keeps; given back when dropped.
pub(super) struct Share {
    ledger: Arc<Ledger>,
    session: SessionKey,
    bytes: usize,
}

impl Share {
    /// Nothing yet.
    pub(super) fn new(ledger: &Arc<Ledger>, session: &SessionKey) -> Self {
        Self { ledger: Arc::clone(ledger), session: session.clone(), bytes: 0 }
    }

    /// Takes room for an event of `bytes`. False where there is none.
    pub(super) fn take(&mut self, bytes: usize) -> bool {
        let bytes = bytes + EACH;
        let mut kept = self.ledger.lock();
        let of_session = kept.sessions.get(&self.session).copied().unwrap_or_default() + bytes;
        if of_session > SESSION_AT_MOST || kept.all + bytes > ALL_AT_MOST {
            return false;
        }
        kept.all += bytes;
        kept.sessions.insert(self.session.clone(), of_session);
        self.bytes += bytes;
        true
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut kept = self.ledger.lock();
        kept.all -= self.bytes;
        if let Some(of_session) = kept.sessions.get_mut(&self.session) {
            *of_session -= self.bytes;
            if *of_session == 0 {
                kept.sessions.remove(&self.session);
            }
        }
    }
}

impl Ledger {
    /// A panic while the lock is held leaves counts that are still right.
    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use elicit::SystemRandom;
    use usher_store::SessionId;

    use super::*;

    const MIB: usize = 1024 * 1024;

    fn share(ledger: &Arc<Ledger>) -> Share {
        Share::new(ledger, &SessionId::new(&SystemRandom).key())
    }

    #[test]
    fn a_session_keeps_so_much_and_gives_it_back() {
        let ledger = Arc::<Ledger>::default();
        let mut first = share(&ledger);
        let mut second = Share::new(&ledger, &first.session);
        assert!(first.take(7 * MIB) && !second.take(MIB) && second.take(MIB - 2 * EACH));
        assert!(share(&ledger).take(7 * MIB), "another session");
        drop(first);
        assert!(second.take(6 * MIB));
        drop(second);
        assert!(ledger.lock().sessions.is_empty() && ledger.lock().all == 0);
    }

    #[test]
    fn all_sessions_together_keep_so_much() {
        let ledger = Arc::<Ledger>::default();
        let mut shares: Vec<Share> = (0..20).map(|_| share(&ledger)).collect();
        let taken = shares.iter_mut().filter_map(|share| share.take(7 * MIB).then_some(7 * MIB)).sum::<usize>();
        assert_eq!(taken, 63 * MIB);
        shares.clear();
        assert!(share(&ledger).take(7 * MIB));
    }
}
