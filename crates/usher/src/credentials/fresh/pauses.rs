//! Pauses after a failure: a provider that is away or has enough is not asked again and again.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use elicit::Random;
use jiff::{SignedDuration, Timestamp};
use usher_store::CredentialKey;

use super::Trouble;

/// The pause after the first failure; each further one doubles it.
const FIRST: Duration = Duration::from_secs(5);
/// The longest pause after failures.
const LONGEST: Duration = Duration::from_mins(15);
/// The longest pause that a provider may ask for.
pub(super) const ASKED_AT_MOST: Duration = Duration::from_hours(1);
/// After so many failures in a row a whole provider rests.
const SEVERAL: u32 = 3;
/// After so many where it says that it has enough, which it seldom means of one user alone.
const SEVERAL_LIMITED: u32 = 2;
/// From how many on those that are over are dropped.
const MANY: usize = 1000;

/// Until when nobody asks, and why: of one credential, and of a provider altogether.
#[derive(Default)]
pub(super) struct Pauses {
    credentials: Mutex<HashMap<CredentialKey, Pause>>,
    providers: Mutex<HashMap<String, Streak>>,
}

/// What a provider gave to nobody, in a row.
#[derive(Debug)]
struct Streak {
    pause: Pause,
    failures: u32,
    /// Whose failure was counted last, and when.
    of: CredentialKey,
    last: Timestamp,
}

/// One failure.
#[derive(Debug, Clone, Copy)]
pub(super) struct Failure<'a> {
    /// Of which credential.
    pub(super) key: &'a CredentialKey,
    /// What the provider did.
    pub(super) trouble: Trouble,
    /// When it said to come back, if it did.
    pub(super) asked: Option<Timestamp>,
    /// When its request began.
    pub(super) began: Timestamp,
}

#[derive(Debug, Clone, Copy)]
struct Pause {
    until: Timestamp,
    trouble: Trouble,
}

impl Pauses {
    /// The rest of the pause that a credential of `provider` has to wait for, and why, if it has.
    pub(super) fn rest(&self, key: &CredentialKey, provider: &str, now: Timestamp) -> Option<(Duration, Trouble)> {
        let of_credential = lock(&self.credentials).get(key).and_then(|pause| pause.rest(now));
        of_credential.max(lock(&self.providers).get(provider).and_then(|streak| streak.pause.rest(now)))
    }

    /// How long a whole provider rests.
    pub(super) fn of_provider(&self, provider: &str, now: Timestamp) -> Option<Duration> {
        lock(&self.providers).get(provider).and_then(|streak| streak.pause.rest(now)).map(|(rest, _)| rest)
    }

    /// Nobody asks for this credential before.
    pub(super) fn pause(&self, key: CredentialKey, trouble: Trouble, until: Timestamp, now: Timestamp) {
        let mut pauses = lock(&self.credentials);
        if pauses.len() >= MANY {
            pauses.retain(|_, pause| pause.rest(now).is_some());
        }
        pauses.insert(key, Pause { until, trouble });
    }

    /// A provider gave nothing for one of its credentials, in a request that began at `failure.began`. When that happens several
    /// times in a row, to several of them, all of them rest: what one credential alone meets says nothing of the others.
    pub(super) fn failed(&self, provider: &str, failure: Failure<'_>, now: Timestamp, random: &dyn Random) {
        let Failure { key, trouble, asked, began } = failure;
        let mut streaks = lock(&self.providers);
        if streaks.len() >= MANY {
            streaks.retain(|_, streak| now.duration_since(streak.last).unsigned_abs() < ASKED_AT_MOST);
        }
        let before = streaks.get(provider);
        let goes_on = before.filter(|streak| now.duration_since(streak.last).unsigned_abs() < ASKED_AT_MOST);
        // What was under way together failed together, and counts once; but a provider that says that it has enough means it.
        let together = |streak: &Streak| began <= streak.last && trouble != Trouble::Limited;
        if goes_on.is_some_and(|streak| streak.pause.rest(now).is_some() || together(streak) || streak.of == *key) {
            return;
        }
        let failures = goes_on.map_or(0, |streak| streak.failures).saturating_add(1);
        let several = if trouble == Trouble::Limited { SEVERAL_LIMITED } else { SEVERAL };
        let until =
            if failures < several { now } else { again_at((failures - several).saturating_add(1), asked, now, random) };
        let streak = Streak { pause: Pause { until, trouble }, failures, of: key.clone(), last: now };
        streaks.insert(provider.to_owned(), streak);
    }

    /// A credential of a provider was renewed: it is there again. What it asked for itself holds, since the one that was renewed
    /// may have been under way by then.
    pub(super) fn end(&self, key: &CredentialKey, provider: &str, now: Timestamp) {
        lock(&self.credentials).remove(key);
        let mut providers = lock(&self.providers);
        let keeps = |streak: &Streak| streak.pause.trouble == Trouble::Limited && streak.pause.rest(now).is_some();
        if !providers.get(provider).is_some_and(keeps) {
            providers.remove(provider);
        }
    }
}

impl Pause {
    fn rest(&self, now: Timestamp) -> Option<(Duration, Trouble)> {
        rest(self.until, now).map(|rest| (rest, self.trouble))
    }
}

/// What is left of a pause. One that is longer than any was written by a clock that has been set back since: it is over.
pub(super) fn rest(until: Timestamp, now: Timestamp) -> Option<Duration> {
    let rest = Duration::try_from(until.duration_since(now)).ok()?;
    (!rest.is_zero() && rest <= ASKED_AT_MOST).then_some(rest)
}

/// When to ask again after so many failures in a row, the last of them now: after pauses that double, with a fifth of chance,
/// so that what failed together is not tried again together; and not before a provider that said when.
pub(super) fn again_at(failures: u32, asked: Option<Timestamp>, now: Timestamp, random: &dyn Random) -> Timestamp {
    let doubled = FIRST.saturating_mul(1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX)).min(LONGEST);
    let mut byte = [0_u8];
    random.fill(&mut byte);
    let pause = doubled + doubled / 5 * u32::from(byte[0]) / 256;
    let asked = asked.and_then(|at| Duration::try_from(at.duration_since(now)).ok()).unwrap_or_default();
    let pause = pause.max(asked.min(ASKED_AT_MOST));
    now.checked_add(SignedDuration::try_from(pause).unwrap_or_default()).unwrap_or(Timestamp::MAX)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use elicit::{SystemRandom, UserId};

    use super::*;

    fn now() -> Timestamp {
        "2026-11-30T12:00:00Z".parse().unwrap()
    }

    fn in_seconds(seconds: i64) -> Timestamp {
        now() + SignedDuration::from_secs(seconds)
    }

    fn key() -> CredentialKey {
        CredentialKey::of(&UserId::new("issuer", "subject").unwrap(), "hub")
    }

    /// R-SEC-04: an outage is not hammered, and its end is noticed within a quarter of an hour.
    #[test]
    fn pauses_double_and_end() {
        let after = |failures| again_at(failures, None, now(), &SystemRandom).duration_since(now()).as_secs();
        for (failures, least) in
            [(0, 5), (1, 5), (2, 10), (3, 20), (4, 40), (8, 640), (9, 900), (32, 900), (u32::MAX, 900)]
        {
            let after = after(failures);
            assert!((least..=least + least / 5).contains(&after), "{failures}: {after}");
        }
    }

    #[test]
    fn a_provider_that_says_when_is_listened_to_within_reason() {
        let after = |asked| again_at(1, Some(in_seconds(asked)), now(), &SystemRandom).duration_since(now()).as_secs();
        assert_eq!(after(120), 120);
        assert_eq!(after(100_000), 3600);
        for past in [-100_000, 0] {
            assert!((5..=6).contains(&after(past)), "{past}");
        }
    }

    fn of(subject: &str) -> CredentialKey {
        CredentialKey::of(&UserId::new("issuer", subject).unwrap(), "hub")
    }

    /// A failure of the user `subject`, in a request that began and ended in this second.
    fn fail(pauses: &Pauses, subject: &str, trouble: Trouble, second: i64) {
        let failure = Failure { key: &of(subject), trouble, asked: None, began: in_seconds(second) };
        pauses.failed("hub", failure, in_seconds(second), &SystemRandom);
    }

    #[test]
    fn a_pause_is_of_one_credential_or_of_a_whole_provider() {
        let pauses = Pauses::default();
        let rest = |key: &CredentialKey, at| {
            pauses.rest(key, "hub", in_seconds(at)).map(|(rest, trouble)| (rest.as_secs(), trouble))
        };
        pauses.pause(key(), Trouble::Away, in_seconds(5), now());
        assert_eq!(rest(&key(), 0), Some((5, Trouble::Away)));
        assert_eq!(rest(&of("another"), 0), None);
        for (subject, second) in [("one", 1), ("two", 2)] {
            let asked = Some(in_seconds(62));
            let failure = Failure { key: &of(subject), trouble: Trouble::Limited, asked, began: in_seconds(second) };
            pauses.failed("hub", failure, in_seconds(second), &SystemRandom);
        }
        assert_eq!(rest(&key(), 2), Some((60, Trouble::Limited)), "the longer one");
        assert_eq!(rest(&of("another"), 2), Some((60, Trouble::Limited)));
        assert_eq!(pauses.of_provider("post", in_seconds(2)), None);
        assert_eq!(pauses.rest(&key(), "hub", in_seconds(62)), None, "it is over");
        pauses.end(&key(), "hub", in_seconds(2));
        assert_eq!(rest(&of("another"), 2), Some((60, Trouble::Limited)), "what it asked for itself holds");
        pauses.end(&key(), "hub", in_seconds(62));
        assert_eq!((rest(&key(), 2), rest(&of("another"), 2)), (None, None));
    }

    /// R-SEC-04: a provider that is away is not asked once for each of its users.
    #[test]
    fn a_provider_that_fails_again_and_again_rests_altogether() {
        let pauses = Pauses::default();
        let mut second = 0;
        for subject in ["a", "b"] {
            fail(&pauses, subject, Trouble::Away, second);
            assert_eq!(pauses.of_provider("hub", in_seconds(second)), None);
            second += 1;
        }
        for (subject, least) in [("c", 5), ("d", 10), ("e", 20)] {
            fail(&pauses, subject, Trouble::Away, second);
            let rest = pauses.of_provider("hub", in_seconds(second)).unwrap().as_secs();
            assert!((least..=least + least / 5).contains(&rest), "{rest}");
            second += 30;
        }
        pauses.end(&key(), "hub", in_seconds(second));
        fail(&pauses, "a", Trouble::Away, second);
        assert_eq!(pauses.of_provider("hub", in_seconds(second)), None, "it began anew");
    }

    /// A moment's trouble, met by many at once, is a moment's trouble.
    #[test]
    fn what_fails_together_counts_once() {
        let pauses = Pauses::default();
        for subject in 0..50 {
            let failure = Failure { key: &of(&subject.to_string()), trouble: Trouble::Away, asked: None, began: now() };
            pauses.failed("hub", failure, in_seconds(2), &SystemRandom);
        }
        assert_eq!(pauses.of_provider("hub", in_seconds(2)), None);
        // And nothing counts while it rests.
        for (subject, second) in [("a", 3), ("b", 4), ("c", 5), ("d", 6), ("e", 7)] {
            fail(&pauses, subject, Trouble::Away, second);
        }
        assert!(pauses.of_provider("hub", in_seconds(7)).is_some_and(|rest| rest.as_secs() <= 6));
    }

    /// What one grant meets is its own matter: its client may be gone, its user may have asked for too much.
    #[test]
    fn one_credential_alone_holds_up_no_other() {
        for trouble in [Trouble::Away, Trouble::Limited, Trouble::Registration] {
            let pauses = Pauses::default();
            for second in 0..20 {
                fail(&pauses, "one", trouble, second);
            }
            assert_eq!(pauses.of_provider("hub", in_seconds(20)), None, "{trouble:?}");
        }
    }

    /// A clock that was hours ahead leaves no pause of hours.
    #[test]
    fn a_clock_that_was_set_back_holds_nothing_up() {
        let pauses = Pauses::default();
        pauses.pause(key(), Trouble::Away, in_seconds(5 * 3600), in_seconds(5 * 3600 - 10));
        assert_eq!(pauses.rest(&key(), "hub", now()), None);
    }

    #[test]
    fn pauses_that_are_over_take_no_room() {
        let pauses = Pauses::default();
        for subject in 0..MANY {
            let user = UserId::new("issuer", format!("subject-{subject}")).unwrap();
            pauses.pause(CredentialKey::of(&user, "hub"), Trouble::Away, in_seconds(1), now());
        }
        pauses.pause(key(), Trouble::Away, in_seconds(10), in_seconds(5));
        assert_eq!(lock(&pauses.credentials).len(), 1);
    }
}
