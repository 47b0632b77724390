//! How many programs run: for each user, and in all.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use elicit::UserId;

use crate::config;

/// The places that there are. Cheap to clone.
#[derive(Clone)]
pub(super) struct Slots {
    limits: config::Processes,
    taken: Arc<Mutex<Taken>>,
}

#[derive(Default)]
struct Taken {
    users: HashMap<UserId, u32>,
    total: u32,
}

/// The place of one program; given up when dropped.
pub(super) struct Slot {
    user: UserId,
    taken: Arc<Mutex<Taken>>,
}

/// No place is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Full {
    /// The user has as many as one may have.
    User,
    /// All users together have.
    Total,
}

impl Slots {
    pub(super) fn new(limits: config::Processes) -> Self {
        Self { limits, taken: Arc::default() }
    }

    pub(super) fn take(&self, user: &UserId) -> Result<Slot, Full> {
        let mut taken = lock(&self.taken);
        if taken.users.get(user).is_some_and(|count| *count >= self.limits.per_user) {
            return Err(Full::User);
        }
        if taken.total >= self.limits.total {
            return Err(Full::Total);
        }
        taken.total += 1;
        *taken.users.entry(user.clone()).or_default() += 1;
        Ok(Slot { user: user.clone(), taken: Arc::clone(&self.taken) })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut taken = lock(&self.taken);
        taken.total = taken.total.saturating_sub(1);
        if let Some(count) = taken.users.get_mut(&self.user) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                taken.users.remove(&self.user);
            }
        }
    }
}

/// A panic while the lock is held leaves counts that are still whole.
fn lock(taken: &Mutex<Taken>) -> MutexGuard<'_, Taken> {
    taken.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-SEC-01: one user cannot take all places.
    #[test]
    fn places_are_limited_for_each_user_and_in_all() {
        let slots = Slots::new(config::Processes { per_user: 2, total: 3 });
        let user = |name: &str| UserId::new("issuer", name).unwrap();
        let (first, _second) = (slots.take(&user("a")).unwrap(), slots.take(&user("a")).unwrap());
        assert_eq!(slots.take(&user("a")).err(), Some(Full::User));
        let _third = slots.take(&user("b")).unwrap();
        assert_eq!(slots.take(&user("c")).err(), Some(Full::Total));
        drop(first);
        assert!(slots.take(&user("a")).is_ok());
        assert_eq!(lock(&slots.taken).users.len(), 2, "who has none is forgotten");
    }
}
