//! Tokens that an upstream refused although they had not expired: somebody revoked them, most likely. Each is renewed once for
//! that; when the new one is refused as well, its owner is asked.

use std::{
    collections::HashMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use usher_store::CredentialKey;

/// The most that are remembered. Beyond, any is forgotten, and its token may be renewed once more.
const AT_MOST: usize = 10_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doubt {
    /// This version was refused, and is not sent again.
    Refused(i64),
    /// This version came in place of one that was refused, and has yet to work.
    Renewed(i64),
}

/// What is doubted on this replica. Nothing most of the time, and then nobody waits for a lock.
#[derive(Default)]
pub(super) struct Doubts {
    count: AtomicUsize,
    doubts: Mutex<HashMap<CredentialKey, Doubt>>,
}

impl Doubts {
    /// The upstream refused this version. Whether to renew it: not one that was just renewed for the same reason.
    pub(super) fn refused(&self, key: &CredentialKey, version: i64) -> bool {
        self.change(|doubts| {
            if doubts.get(key) == Some(&Doubt::Renewed(version)) {
                doubts.remove(key);
                return false;
            }
            // A call that was sent before says nothing of what came after.
            let is_older = doubts.get(key).is_some_and(|doubt| match doubt {
                Doubt::Refused(newer) | Doubt::Renewed(newer) => *newer > version,
            });
            if !is_older {
                if doubts.len() >= AT_MOST
                    && let Some(any) = doubts.keys().next().cloned()
                {
                    doubts.remove(&any);
                }
                doubts.insert(key.clone(), Doubt::Refused(version));
            }
            true
        })
    }

    /// Whether this version was refused.
    pub(super) fn is_refused(&self, key: impl FnOnce() -> CredentialKey, version: i64) -> bool {
        !self.is_empty() && self.change(|doubts| doubts.get(&key()) == Some(&Doubt::Refused(version)))
    }

    /// `version` took the place of `before`.
    pub(super) fn renewed(&self, key: &CredentialKey, before: i64, version: i64) {
        if self.is_empty() {
            return;
        }
        self.change(|doubts| {
            if let Some(doubt) = doubts.get_mut(key).filter(|doubt| **doubt == Doubt::Refused(before)) {
                *doubt = Doubt::Renewed(version);
            }
        });
    }

    /// The upstream took this version.
    pub(super) fn worked(&self, key: impl FnOnce() -> CredentialKey, version: i64) {
        if self.is_empty() {
            return;
        }
        self.change(|doubts| {
            let key = key();
            if doubts.get(&key) == Some(&Doubt::Renewed(version)) {
                doubts.remove(&key);
            }
        });
    }

    fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    fn change<T>(&self, change: impl FnOnce(&mut HashMap<CredentialKey, Doubt>) -> T) -> T {
        let mut doubts = self.doubts.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = change(&mut doubts);
        self.count.store(doubts.len(), Ordering::Release);
        changed
    }
}

#[cfg(test)]
mod tests {
    use elicit::UserId;

    use super::*;

    fn key() -> CredentialKey {
        CredentialKey::of(&UserId::new("issuer", "subject").unwrap(), "hub")
    }

    #[test]
    fn a_token_is_renewed_once_for_being_refused() {
        let doubts = Doubts::default();
        assert!(doubts.refused(&key(), 3));
        assert!(doubts.refused(&key(), 3), "a second call that was sent with it");
        assert!(doubts.is_refused(key, 3) && !doubts.is_refused(key, 4));
        doubts.renewed(&key(), 3, 4);
        assert!(!doubts.is_refused(key, 3) && !doubts.is_refused(key, 4));
        assert!(doubts.refused(&key(), 3), "a late answer to the old one");
        assert!(!doubts.refused(&key(), 4), "the new one is refused as well");
        assert!(doubts.is_empty());
    }

    #[test]
    fn one_that_worked_may_be_renewed_again() {
        let doubts = Doubts::default();
        doubts.refused(&key(), 3);
        doubts.renewed(&key(), 3, 4);
        doubts.worked(key, 3);
        doubts.worked(key, 4);
        assert!(doubts.is_empty());
        assert!(doubts.refused(&key(), 4));
        doubts.renewed(&key(), 2, 5);
        assert!(doubts.is_refused(key, 4), "another one was renewed");
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let doubts = Doubts::default();
        for subject in 0..AT_MOST + 10 {
            let user = UserId::new("issuer", subject.to_string()).unwrap();
            assert!(doubts.refused(&CredentialKey::of(&user, "hub"), 1));
        }
        assert_eq!(doubts.count.load(Ordering::Acquire), AT_MOST);
    }
}
