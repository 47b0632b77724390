//! The time of day, as a parameter: everything that compares with a stored time gets it from a [`Clock`].

use std::sync::Arc;

use jiff::Timestamp;

/// Where the time of day comes from.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;
}

/// The operating system's clock: what `usher serve` runs with.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "the one place that asks the operating system for the time")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }
}
