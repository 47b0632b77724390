//! When an access token is exchanged for a new one before it expires.

use elicit::Random;
use jiff::{SignedDuration, Timestamp};

/// The part of its lifetime, in thousandths, after which a token is renewed at the earliest.
const EARLIEST: i128 = 700;
/// And at the latest.
const LATEST: i128 = 900;
/// No token is renewed ahead sooner than this after it was given. One that does not last so much longer is renewed when it is
/// used: to keep such tokens alive for nobody would ask their provider every minute.
const NOT_BEFORE: SignedDuration = SignedDuration::from_mins(1);

/// When to renew ahead a token that was given at `now` and expires at `expires_at`: after 70 to 90 % of its lifetime, at random,
/// so that what was connected in one moment does not come due in one moment. `None` where nothing is known of an end, or it is
/// too near: then it is renewed on use alone. For [`Grant::refresh_at`](usher_store::Grant); a grant that cannot be renewed
/// has none.
pub fn refresh_at(now: Timestamp, expires_at: Option<Timestamp>, random: &dyn Random) -> Option<Timestamp> {
    let expires_at = expires_at?;
    let mut bytes = [0_u8; 4];
    random.fill(&mut bytes);
    let share = EARLIEST + i128::from(u32::from_be_bytes(bytes)) * (LATEST - EARLIEST) / i128::from(u32::MAX);
    let lifetime = expires_at.duration_since(now).as_nanos();
    let after = SignedDuration::from_nanos_i128(lifetime * share / 1000).max(NOT_BEFORE);
    let at = now.checked_add(after).ok()?;
    // The latest share of the lifetime bounds it also where the least time was too much.
    (SignedDuration::from_nanos_i128(lifetime * LATEST / 1000) >= after).then_some(at)
}

#[cfg(test)]
mod tests {
    use elicit::SystemRandom;

    use super::*;

    fn now() -> Timestamp {
        "2026-11-30T12:00:00Z".parse().unwrap()
    }

    /// Random bytes that are all the same.
    struct Constant(u8);

    impl Random for Constant {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(self.0);
        }
    }

    fn after(lifetime: SignedDuration, random: &dyn Random) -> Option<SignedDuration> {
        refresh_at(now(), Some(now() + lifetime), random).map(|at| at.duration_since(now()))
    }

    #[test]
    fn a_token_is_renewed_after_70_to_90_percent_of_its_lifetime() {
        let hour = SignedDuration::from_hours(1);
        assert_eq!(after(hour, &Constant(0)), Some(SignedDuration::from_mins(42)));
        assert_eq!(after(hour, &Constant(255)), Some(SignedDuration::from_mins(54)));
        assert_eq!(after(SignedDuration::from_hours(24 * 60), &Constant(0)), Some(SignedDuration::from_hours(24 * 42)));
    }

    /// What came at once does not come due at once: of 1,000 tokens of an hour, no minute has more than a sixth.
    #[test]
    fn tokens_of_one_moment_are_spread() {
        let mut minutes = std::collections::BTreeMap::<i64, usize>::new();
        for _ in 0..1000 {
            let after = after(SignedDuration::from_hours(1), &SystemRandom).unwrap();
            *minutes.entry(after.as_mins()).or_default() += 1;
        }
        assert!(minutes.len() >= 10 && minutes.values().all(|count| *count <= 166), "{minutes:?}");
    }

    #[test]
    fn what_ends_too_soon_is_renewed_on_use_alone() {
        for seconds in [-3600, 0, 1, 60, 66] {
            assert_eq!(after(SignedDuration::from_secs(seconds), &Constant(255)), None, "{seconds}");
        }
        assert_eq!(after(SignedDuration::from_secs(67), &Constant(0)), Some(NOT_BEFORE));
        assert_eq!(refresh_at(now(), None, &Constant(0)), None, "no end is known");
    }

    /// The clock of whoever wrote the end may have been far off.
    #[test]
    fn no_time_is_too_much() {
        assert!(refresh_at(now(), Some(Timestamp::MAX), &Constant(255)).is_some());
        assert_eq!(refresh_at(Timestamp::MAX, Some(Timestamp::MIN), &Constant(255)), None);
        assert_eq!(refresh_at(Timestamp::MAX, Some(Timestamp::MAX), &Constant(255)), None);
    }
}
