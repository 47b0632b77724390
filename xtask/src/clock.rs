//! How long each part took.

use std::time::{Duration, Instant};

/// The parts of a run in order, with their durations.
#[derive(Default)]
pub(crate) struct Clock {
    parts: Vec<(&'static str, Duration)>,
}

impl Clock {
    /// Runs `work` and counts its time to `part`.
    pub(crate) fn time<T>(&mut self, part: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        let spent = start.elapsed();
        match self.parts.iter_mut().find(|(name, _)| *name == part) {
            Some((_, sum)) => *sum += spent,
            None => self.parts.push((part, spent)),
        }
        result
    }

    /// One line: `time: build 61.2 s, rust 12.0 s`.
    pub(crate) fn report(&self) -> String {
        let parts: Vec<String> =
            self.parts.iter().map(|(name, spent)| format!("{name} {:.1} s", spent.as_secs_f64())).collect();
        format!("time: {}", parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_one_name_are_added_up_and_keep_their_order() {
        let mut clock = Clock::default();
        clock.time("install", || ());
        clock.time("build", || ());
        clock.time("install", || ());
        assert_eq!(clock.report(), "time: install 0.0 s, build 0.0 s");
    }
}
