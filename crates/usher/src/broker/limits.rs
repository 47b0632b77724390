//! How often people are asked. Being asked over and over is an attack of its own (prompt fatigue), so questions are limited
//! per user, per client and per upstream (R-SEC-01), and one that was declined rests for a while.

use std::{
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use elicit::{ClientId, Principal, UserId};
use governor::{DefaultDirectRateLimiter, DefaultKeyedRateLimiter, Quota, clock::Clock as _, clock::DefaultClock};
use jiff::Timestamp;
use moka::sync::Cache;
use usher_store::AuditAction;

/// Questions a minute for one user, over all clients and upstreams.
pub(super) const PER_USER: u32 = 60;
/// Questions a minute for one client of one user.
pub(super) const PER_CLIENT: u32 = 30;
/// Questions a minute that one upstream may cause, over all users.
pub(super) const PER_UPSTREAM: u32 = 600;
/// How long a declined question is not asked again.
pub(super) const DECLINE_RESTS: Duration = Duration::from_mins(2);

/// How long a question is the same one: whoever asks it again joins it and is not counted.
const JOINED_FOR: Duration = Duration::from_mins(1);
/// How often it is joined without being counted. Agents call in parallel; nobody needs to ask the same more often.
pub(super) const JOINED_AT_MOST: u32 = 100;

/// How long the same refusal of one client is not written into the audit log again.
const AUDIT_RESTS: Duration = Duration::from_mins(1);

/// Refused tokens that are audited a minute; more are only logged, so that a flood does not fill the store.
const AUDITED_TOKENS: u32 = 60;

/// The most questions remembered, of each kind.
const REMEMBERED_AT_MOST: u64 = 100_000;

/// Too many questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooMany {
    /// When to come back.
    pub retry_after: Duration,
}

/// Who is asked, because of which upstream, and for which providers.
type Question = (Principal, String, Vec<String>);

/// What is counted on this replica.
pub struct Limits {
    users: DefaultKeyedRateLimiter<UserId>,
    clients: DefaultKeyedRateLimiter<(UserId, ClientId)>,
    upstreams: DefaultKeyedRateLimiter<String>,
    /// How often each question was joined.
    asked: Cache<Question, Arc<AtomicU32>>,
    audited: Cache<(Principal, AuditAction), ()>,
    tokens: DefaultDirectRateLimiter,
    /// Until when a declined question rests. The cache forgets by its own clock as well, so that it stays small.
    declined: Cache<(Principal, String, String), Timestamp>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            users: DefaultKeyedRateLimiter::keyed(per_minute(PER_USER)),
            clients: DefaultKeyedRateLimiter::keyed(per_minute(PER_CLIENT)),
            upstreams: DefaultKeyedRateLimiter::keyed(per_minute(PER_UPSTREAM)),
            tokens: DefaultDirectRateLimiter::direct(per_minute(AUDITED_TOKENS)),
            asked: Cache::builder().time_to_live(JOINED_FOR).max_capacity(REMEMBERED_AT_MOST).build(),
            audited: Cache::builder().time_to_live(AUDIT_RESTS).max_capacity(REMEMBERED_AT_MOST).build(),
            declined: Cache::builder().time_to_live(DECLINE_RESTS).max_capacity(REMEMBERED_AT_MOST).build(),
        }
    }
}

fn per_minute(count: u32) -> Quota {
    Quota::per_minute(NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN))
}

impl Limits {
    /// Counts one question, unless the same was counted within the last minute: calls in parallel join one question.
    pub fn count_once(&self, principal: &Principal, upstream: &str, providers: Vec<String>) -> Result<(), TooMany> {
        let question = (principal.clone(), upstream.to_owned(), providers);
        let new = || self.count(principal, upstream).map(|()| Arc::default());
        let joined = self.asked.entry(question).or_try_insert_with(new).map_err(|refused| *refused)?;
        if joined.is_fresh() || joined.value().fetch_add(1, Ordering::Relaxed) < JOINED_AT_MOST {
            return Ok(());
        }
        self.count(principal, upstream)
    }

    /// Counts one question.
    pub fn count(&self, principal: &Principal, upstream: &str) -> Result<(), TooMany> {
        let clock = DefaultClock::default();
        let client = (principal.user.clone(), principal.client.clone());
        self.clients
            .check_key(&client)
            .and_then(|()| self.users.check_key(&principal.user))
            .and_then(|()| self.upstreams.check_key(&upstream.to_owned()))
            .map_err(|refused| TooMany { retry_after: refused.wait_time_from(clock.now()) })
    }

    /// Whether a refusal is to be written into the audit log: once a minute for each client and kind, so that a client
    /// which goes on and on cannot fill it.
    pub fn audits(&self, principal: &Principal, action: AuditAction) -> bool {
        self.audited.entry((principal.clone(), action)).or_insert(()).is_fresh()
    }

    /// The same for a token that is nobody's.
    pub fn audits_token(&self) -> bool {
        self.tokens.check().is_ok()
    }

    /// Notes that a person declined.
    pub fn note_decline(&self, principal: &Principal, upstream: &str, provider: &str, now: Timestamp) {
        self.declined.insert((principal.clone(), upstream.to_owned(), provider.to_owned()), now + DECLINE_RESTS);
    }

    /// Whether a person declined this question a moment ago.
    pub fn rests(&self, principal: &Principal, upstream: &str, provider: &str, now: Timestamp) -> bool {
        self.declined
            .get(&(principal.clone(), upstream.to_owned(), provider.to_owned()))
            .is_some_and(|until| now < until)
    }

    /// Drops counts that are full again. Called now and then, so that memory does not grow with users.
    pub fn shrink(&self) {
        self.users.retain_recent();
        self.clients.retain_recent();
        self.upstreams.retain_recent();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn principal(subject: &str, client: &str) -> Principal {
        Principal { user: UserId::new("issuer", subject).unwrap(), client: ClientId::new(client).unwrap() }
    }

    /// R-SEC-01: each of user, client and upstream has its own limit, and what is refused says when to come back.
    #[test]
    fn each_limit_holds_by_itself() {
        // The limiter goes by the system's clock and refills while the test runs, so it may let through a little more.
        let until_refused = |limits: &Limits, who: &dyn Fn(u32) -> Principal| {
            (0..2 * PER_UPSTREAM).find_map(|count| Some((count, limits.count(&who(count), "weather").err()?))).unwrap()
        };
        let limits = Limits::default();
        let (count, refused) = until_refused(&limits, &|_| principal("alice", "one"));
        assert!((PER_CLIENT..PER_USER).contains(&count), "the client's limit: {count}");
        assert!(refused.retry_after > Duration::ZERO && refused.retry_after <= Duration::from_mins(1));

        let limits = Limits::default();
        let (count, _) = until_refused(&limits, &|count| principal("alice", &count.to_string()));
        assert!((PER_USER..PER_UPSTREAM).contains(&count), "the user's limit: {count}");
        limits.count(&principal("bob", "one"), "weather").unwrap();

        let limits = Limits::default();
        let (count, _) = until_refused(&limits, &|count| principal(&count.to_string(), "one"));
        assert!((PER_UPSTREAM..2 * PER_UPSTREAM).contains(&count), "the upstream's limit: {count}");
        limits.count(&principal("bob", "one"), "other").unwrap();
    }

    /// R-SEC-01: who joins a question is not counted, up to a point; another question is.
    #[test]
    fn the_same_question_counts_once_a_minute() {
        let limits = Limits::default();
        let alice = principal("alice", "one");
        let same = || limits.count_once(&alice, "weather", vec!["weather".to_owned()]);
        for _ in 0..=JOINED_AT_MOST {
            same().unwrap();
        }
        for _ in 1..PER_CLIENT {
            limits.count(&alice, "weather").unwrap();
        }
        assert!(limits.count(&alice, "weather").is_err(), "one of the limit was the question that was joined");
        assert!(same().is_err(), "nobody needs to ask the same as often as this");
    }

    /// R-SEC-01: a question that was refused was not asked, and so cannot be joined.
    #[test]
    fn a_refused_question_is_not_joined() {
        let limits = Limits::default();
        let alice = principal("alice", "one");
        while limits.count(&alice, "weather").is_ok() {}
        for _ in 0..3 {
            assert!(limits.count_once(&alice, "weather", vec!["new".to_owned()]).is_err());
        }
    }

    #[test]
    fn a_decline_rests_for_that_question_alone() {
        let limits = Limits::default();
        let alice = principal("alice", "one");
        let now = Timestamp::from_second(1_800_000_000).unwrap();
        limits.note_decline(&alice, "weather", "key", now);
        assert!(limits.rests(&alice, "weather", "key", now));
        assert!(!limits.rests(&alice, "weather", "key", now + DECLINE_RESTS));
        assert!(!limits.rests(&alice, "weather", "other", now));
        assert!(!limits.rests(&alice, "other", "key", now));
        assert!(!limits.rests(&principal("bob", "one"), "weather", "key", now));
        assert!(!limits.rests(&principal("alice", "two"), "weather", "key", now));
    }
}
