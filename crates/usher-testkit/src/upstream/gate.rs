use std::sync::Arc;

use tokio::sync::watch;

use crate::{DEADLINE, within};

/// Something a script waits for. Clones are the same gate.
#[derive(Clone, Debug)]
pub struct Gate(Arc<State>);

#[derive(Debug)]
struct State {
    open: watch::Sender<bool>,
    arrived: watch::Sender<usize>,
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self(Arc::new(State { open: watch::Sender::new(false), arrived: watch::Sender::new(0) }))
    }

    /// Lets everybody through, now and later.
    pub fn open(&self) {
        self.0.open.send_replace(true);
    }

    /// Stops those who come from now on.
    pub fn close(&self) {
        self.0.open.send_replace(false);
    }

    /// How many ever arrived here.
    pub fn arrivals(&self) -> usize {
        *self.0.arrived.borrow()
    }

    /// Waits until `count` have arrived in all.
    pub async fn reached(&self, count: usize) {
        let mut arrived = self.0.arrived.subscribe();
        let wait = arrived.wait_for(|arrivals| *arrivals >= count);
        drop(within(DEADLINE, &format!("fewer than {count} at the gate"), wait).await);
    }

    pub(crate) async fn pass(&self) {
        self.0.arrived.send_modify(|count| *count += 1);
        let mut open = self.0.open.subscribe();
        drop(open.wait_for(|open| *open).await);
    }
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}
