//! Lines of the log that anybody can bring about: so many a minute, so that nobody fills it.

use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;

/// The most a minute.
const AT_MOST: u32 = 60;

/// What was told in the minute that is.
#[derive(Debug, Default)]
pub(super) struct Told(Mutex<(i64, u32)>);

impl Told {
    /// Counts a line, if there is room for it.
    pub(super) fn one_more(&self, now: Timestamp) -> bool {
        let minute = now.as_second().div_euclid(60);
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if told.0 != minute {
            *told = (minute, 0);
        }
        told.1 = told.1.saturating_add(1);
        told.1 <= AT_MOST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-SEC-04
    #[test]
    fn a_minute_has_room_for_so_many() {
        let told = Told::default();
        let lines = |second: i64| (0..100).filter(|_| told.one_more(Timestamp::from_second(second).unwrap())).count();
        assert_eq!((lines(0), lines(59), lines(60), lines(180)), (60, 0, 60, 60));
    }
}
