//! Places that are taken while something lasts: so many for each, and so many in all (R-SEC-01).

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The places that there are. Cheap to clone.
pub(crate) struct Slots<K: Hash + Eq + Clone> {
    each: u32,
    total: u32,
    taken: Arc<Mutex<Taken<K>>>,
}

struct Taken<K> {
    each: HashMap<K, u32>,
    total: u32,
}

/// One place; given up when dropped.
pub(crate) struct Slot<K: Hash + Eq> {
    whose: K,
    taken: Arc<Mutex<Taken<K>>>,
}

/// No place is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    /// This one has as many as one may have.
    Own,
    /// All together have.
    Total,
}

impl<K: Hash + Eq + Clone> Slots<K> {
    /// So many places for each, and in all.
    pub(crate) fn new(each: u32, total: u32) -> Self {
        Self { each, total, taken: Arc::new(Mutex::new(Taken { each: HashMap::new(), total: 0 })) }
    }

    /// Takes a place.
    pub(crate) fn take(&self, whose: &K) -> Result<Slot<K>, Full> {
        let mut taken = lock(&self.taken);
        if taken.each.get(whose).is_some_and(|count| *count >= self.each) {
            return Err(Full::Own);
        }
        if taken.total >= self.total {
            return Err(Full::Total);
        }
        taken.total += 1;
        *taken.each.entry(whose.clone()).or_default() += 1;
        Ok(Slot { whose: whose.clone(), taken: Arc::clone(&self.taken) })
    }
}

impl<K: Hash + Eq + Clone> Clone for Slots<K> {
    fn clone(&self) -> Self {
        Self { each: self.each, total: self.total, taken: Arc::clone(&self.taken) }
    }
}

impl<K: Hash + Eq> Drop for Slot<K> {
    fn drop(&mut self) {
        let mut taken = lock(&self.taken);
        taken.total = taken.total.saturating_sub(1);
        if let Some(count) = taken.each.get_mut(&self.whose) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                taken.each.remove(&self.whose);
            }
        }
    }
}

/// A panic while the lock is held leaves counts that are still whole.
fn lock<K>(taken: &Mutex<Taken<K>>) -> MutexGuard<'_, Taken<K>> {
    taken.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-SEC-01: one cannot take all places.
    #[test]
    fn places_are_limited_for_each_and_in_all() {
        let slots = Slots::new(2, 3);
        let (first, _second) = (slots.take(&"a").unwrap(), slots.take(&"a").unwrap());
        assert_eq!(slots.take(&"a").err(), Some(Full::Own));
        let _third = slots.take(&"b").unwrap();
        assert_eq!(slots.take(&"c").err(), Some(Full::Total));
        drop(first);
        assert!(slots.take(&"a").is_ok());
        assert_eq!(lock(&slots.taken).each.len(), 2, "who has none is forgotten");
    }
}
