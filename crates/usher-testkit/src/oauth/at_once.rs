use std::collections::BTreeMap;
use std::sync::Mutex;

use super::Endpoint;
use crate::record::lock;

/// How many requests each endpoint answers at a time.
#[derive(Debug, Default)]
pub(super) struct AtOnce(Mutex<BTreeMap<Endpoint, Busy>>);

#[derive(Clone, Copy, Debug, Default)]
struct Busy {
    now: usize,
    most: usize,
}

/// A request that is being answered, until this is dropped.
#[derive(Debug)]
pub(super) struct Answering<'a> {
    of: &'a AtOnce,
    endpoint: Endpoint,
}

impl AtOnce {
    /// One more.
    pub(super) fn begin(&self, endpoint: Endpoint) -> Answering<'_> {
        let mut all = lock(&self.0);
        let busy = all.entry(endpoint).or_default();
        busy.now += 1;
        busy.most = busy.most.max(busy.now);
        Answering { of: self, endpoint }
    }

    /// The most that there ever were.
    pub(super) fn most(&self, endpoint: Endpoint) -> usize {
        lock(&self.0).get(&endpoint).map_or(0, |busy| busy.most)
    }
}

impl Drop for Answering<'_> {
    fn drop(&mut self) {
        if let Some(busy) = lock(&self.of.0).get_mut(&self.endpoint) {
            busy.now -= 1;
        }
    }
}
