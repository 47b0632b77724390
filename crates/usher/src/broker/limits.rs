//! How often people are asked. Being asked over and over is an attack of its own (prompt fatigue), so questions are limited
//! per user, per client and per upstream (R-SEC-01), and one that was declined rests for a while.
//!
//! All of it is bounded: counts are dropped once they are full again, and what is remembered of questions has a limit.

mod rate;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use elicit::{Digest, Principal, UserId};
use jiff::Timestamp;
use moka::{Entry, ops::compute::Op, sync::Cache};
use usher_store::{ApiKeyId, AuditAction};

use self::rate::Rate;
use crate::{
    clock::Clock,
    config,
    slots::{Full, Slot, Slots},
};

/// How long a question is the same one: whoever asks it again joins it and is not counted.
const JOINED_FOR: Duration = Duration::from_mins(1);
/// How often it is joined without being counted. Agents call in parallel; nobody needs to ask the same more often.
pub(super) const JOINED_AT_MOST: u32 = 100;

/// How long the same refusal of one client is not written into the audit log again.
const AUDIT_RESTS: Duration = Duration::from_mins(1);

/// Refused tokens that are audited a minute; more are only logged, so that a flood does not fill the store.
const AUDITED_TOKENS: u32 = 60;

/// Ways back that are refused and audited a minute, of one person; more are only logged.
const AUDITED_CALLBACKS: u32 = 60;

/// How long the store is not asked again whether a declined question rests. Another replica may hear of its end so much later.
const REST_IS_KNOWN: Duration = Duration::from_secs(5);

/// The most questions remembered, of each kind.
const REMEMBERED_AT_MOST: u64 = 100_000;

/// Too many questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooMany {
    /// When to come back.
    pub retry_after: Duration,
}

/// What makes two questions the same one here: who is asked, because of which upstream, for which provider, and, where the
/// answer is good for one call alone, for which call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Question {
    principal: Principal,
    upstream: String,
    provider: String,
    digest: Option<Digest>,
}

impl Question {
    /// The question to `principal`; of one call alone with its digest.
    pub fn new(principal: &Principal, upstream: &str, provider: &str, digest: Option<&Digest>) -> Self {
        Self {
            principal: principal.clone(),
            upstream: upstream.to_owned(),
            provider: provider.to_owned(),
            digest: digest.copied(),
        }
    }
}

/// A question that was counted.
struct Counted {
    at: Timestamp,
    joined: AtomicU32,
}

/// A question that rests.
#[derive(Clone, Copy)]
struct Rest {
    until: Timestamp,
    known_at: Timestamp,
}

/// What is counted on this replica. The caches forget by their own clock as well, so that they stay small.
pub struct Limits {
    clock: Arc<dyn Clock>,
    users: Rate<UserId>,
    clients: Rate<Principal>,
    upstreams: Rate<String>,
    tokens: Rate<()>,
    callbacks: Rate<UserId>,
    api: Rate<ApiKeyId>,
    api_waits: Slots<ApiKeyId>,
    asked: Cache<Question, Arc<Counted>>,
    audited: Cache<(Principal, AuditAction), Timestamp>,
    resting: Cache<Question, Rest>,
}

impl Limits {
    /// Nothing counted yet.
    pub fn new(limits: &config::Limits, clock: &Arc<dyn Clock>) -> Self {
        Self {
            clock: Arc::clone(clock),
            users: Rate::per_minute(limits.user_questions_per_minute, clock),
            clients: Rate::per_minute(limits.client_questions_per_minute, clock),
            upstreams: Rate::per_minute(limits.upstream_questions_per_minute, clock),
            tokens: Rate::per_minute(AUDITED_TOKENS, clock),
            callbacks: Rate::per_minute(AUDITED_CALLBACKS, clock),
            api: Rate::per_minute(limits.api_requests_per_minute, clock),
            api_waits: Slots::new(limits.api_waits, limits.api_waits_total),
            asked: remembering(JOINED_FOR),
            audited: remembering(AUDIT_RESTS),
            resting: remembering(REST_IS_KNOWN),
        }
    }

    /// Counts each question, unless the same was counted within the last minute: calls in parallel join one question.
    pub fn count_once<'q>(&self, questions: impl IntoIterator<Item = &'q Question>) -> Result<(), TooMany> {
        for question in questions {
            let now = self.clock.now();
            self.asked.entry(question.clone()).and_try_compute_with(|counted| {
                let same = counted.as_ref().map(Entry::value).filter(|same| is_within(same.at, now, JOINED_FOR));
                if same.is_some_and(|same| same.joined.fetch_add(1, Ordering::Relaxed) < JOINED_AT_MOST) {
                    return Ok::<_, TooMany>(Op::Nop);
                }
                self.count(&question.principal, &question.upstream)?;
                // Whoever comes after the last that may join is counted, and brings nobody along.
                let new = || Op::Put(Arc::new(Counted { at: now, joined: AtomicU32::new(0) }));
                Ok(if same.is_some() { Op::Nop } else { new() })
            })?;
        }
        Ok(())
    }

    /// Counts one question.
    pub fn count(&self, principal: &Principal, upstream: &str) -> Result<(), TooMany> {
        self.clients.count(principal)?;
        self.users.count(&principal.user)?;
        self.upstreams.count(&upstream.to_owned())
    }

    /// The client says that the person dismissed a question: the next one is another one, and counts. Otherwise a client
    /// that dismisses by itself could ask on and on.
    pub fn dismissed(&self, question: &Question) {
        self.asked.invalidate(question);
    }

    /// Whether a refusal is to be written into the audit log: once a minute for each client and kind, so that a client
    /// which goes on and on cannot fill it.
    pub fn audits(&self, principal: &Principal, action: AuditAction) -> bool {
        let now = self.clock.now();
        let fresh = |at: Timestamp| is_within(at, now, AUDIT_RESTS);
        let entry = self.audited.entry((principal.clone(), action)).or_insert_with_if(|| now, |at| !fresh(*at));
        entry.is_fresh()
    }

    /// The same for a token that is nobody's.
    pub fn audits_token(&self) -> bool {
        self.tokens.count(&()).is_ok()
    }

    /// The same for a way back from a provider that is refused: one may be tried over and over.
    pub fn audits_callback(&self, user: &UserId) -> bool {
        self.callbacks.count(user).is_ok()
    }

    /// Notes what the store says of a question that was declined. It is the store that knows; this spares it whoever asks
    /// again and again.
    pub fn note_rest(&self, question: Question, until: Timestamp) {
        self.resting.insert(question, Rest { until, known_at: self.clock.now() });
    }

    /// How long this question rests still, as far as it is known here.
    pub fn rests(&self, question: &Question) -> Option<Duration> {
        let rest = self.resting.get(question)?;
        let now = self.clock.now();
        let left = Duration::try_from(rest.until.duration_since(now)).ok().filter(|left| !left.is_zero())?;
        is_within(rest.known_at, now, REST_IS_KNOWN).then_some(left)
    }

    /// The person answered after all.
    pub fn forget_rest(&self, question: &Question) {
        self.resting.invalidate(question);
    }

    /// Counts one request with a key of the API.
    pub fn count_api_request(&self, key: &ApiKeyId) -> Result<(), TooMany> {
        self.api.count(key)
    }

    /// Takes a place for a request with a key of the API that waits.
    pub(crate) fn api_wait(&self, key: &ApiKeyId) -> Result<Slot<ApiKeyId>, Full> {
        self.api_waits.take(key)
    }

    /// Drops counts that are full again. Called now and then, so that memory does not grow with users.
    pub fn shrink(&self) {
        self.users.shrink();
        self.clients.shrink();
        self.upstreams.shrink();
        self.api.shrink();
    }
}

fn remembering<K: std::hash::Hash + Eq + Send + Sync + 'static, V: Clone + Send + Sync + 'static>(
    time: Duration,
) -> Cache<K, V> {
    Cache::builder().time_to_live(time).max_capacity(REMEMBERED_AT_MOST).build()
}

/// Whether `now` is less than `time` after `at`. What lies ahead, since the clock was set back, is not.
fn is_within(at: Timestamp, now: Timestamp, time: Duration) -> bool {
    Duration::try_from(now.duration_since(at)).is_ok_and(|passed| passed < time)
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Mutex;

    use elicit::ClientId;
    use jiff::SignedDuration;

    use super::*;

    /// A clock that is set by hand.
    pub(in crate::broker) struct Hand(Arc<Mutex<Timestamp>>);

    impl Hand {
        pub(in crate::broker) fn new() -> Self {
            Self(Arc::new(Mutex::new(Timestamp::from_second(1_800_000_000).unwrap())))
        }

        pub(in crate::broker) fn clock(&self) -> Arc<dyn Clock> {
            Arc::new(Self(Arc::clone(&self.0)))
        }

        pub(in crate::broker) fn forward(&self, seconds: i64) {
            *self.0.lock().unwrap() += SignedDuration::from_secs(seconds);
        }
    }

    impl Clock for Hand {
        fn now(&self) -> Timestamp {
            *self.0.lock().unwrap()
        }
    }

    fn principal(subject: &str, client: &str) -> Principal {
        Principal { user: UserId::new("issuer", subject).unwrap(), client: ClientId::new(client).unwrap() }
    }

    fn question(principal: &Principal, upstream: &str, provider: &str) -> Question {
        Question::new(principal, upstream, provider, None)
    }

    fn limits(hand: &Hand) -> Limits {
        let limits = config::Limits {
            client_questions_per_minute: 3,
            user_questions_per_minute: 6,
            upstream_questions_per_minute: 12,
            ..config::Limits::default()
        };
        Limits::new(&limits, &hand.clock())
    }

    fn until_refused(limits: &Limits, who: impl Fn(u32) -> Principal) -> (u32, Duration) {
        let refused = |count| Some((count, limits.count(&who(count), "weather").err()?.retry_after));
        (0..100).find_map(refused).unwrap()
    }

    /// R-SEC-01: each of user, client and upstream has its own limit, and what is refused says when to come back.
    #[test]
    fn each_limit_holds_by_itself() {
        let hand = Hand::new();
        let by_client = limits(&hand);
        assert_eq!(until_refused(&by_client, |_| principal("alice", "one")), (3, Duration::from_secs(20)));
        by_client.count(&principal("alice", "two"), "weather").unwrap();
        hand.forward(20);
        by_client.count(&principal("alice", "one"), "weather").unwrap();

        let by_user = limits(&hand);
        let each = |count: u32| principal("alice", &count.to_string());
        assert_eq!(until_refused(&by_user, each), (6, Duration::from_secs(10)));
        by_user.count(&principal("bob", "one"), "weather").unwrap();
        hand.forward(10);
        by_user.count(&principal("alice", "another"), "weather").unwrap();

        let by_upstream = limits(&hand);
        let each = |count: u32| principal(&count.to_string(), "one");
        assert_eq!(until_refused(&by_upstream, each), (12, Duration::from_secs(5)));
        by_upstream.count(&principal("bob", "one"), "other").unwrap();
        hand.forward(5);
        by_upstream.count(&principal("bob", "one"), "weather").unwrap();
    }

    /// R-SEC-01: who joins a question is not counted, up to a point; another question is.
    #[test]
    fn the_same_question_counts_once_a_minute() {
        let hand = Hand::new();
        let limits = limits(&hand);
        let alice = principal("alice", "one");
        let ask = |provider| limits.count_once([&question(&alice, "weather", provider)]);
        for _ in 0..=JOINED_AT_MOST {
            ask("key").unwrap();
        }
        ask("other").unwrap();
        ask("key").unwrap();
        assert!(ask("key").is_err(), "nobody needs to ask the same as often as this");
        assert!(limits.count(&alice, "weather").is_err(), "the limit is the client's");
        ask("other").unwrap();
        hand.forward(60);
        for _ in 0..=JOINED_AT_MOST {
            ask("key").unwrap();
        }
        limits.count(&alice, "weather").unwrap();
        limits.count(&alice, "weather").unwrap();
        assert!(limits.count(&alice, "weather").is_err(), "after a minute it counts again");
    }

    /// R-SEC-01: a question that was refused was not asked, and so cannot be joined.
    #[test]
    fn a_refused_question_is_not_joined() {
        let limits = limits(&Hand::new());
        let alice = principal("alice", "one");
        while limits.count(&alice, "weather").is_ok() {}
        for _ in 0..3 {
            assert!(limits.count_once([&question(&alice, "weather", "new")]).is_err());
        }
    }

    /// R-SEC-01: a client that dismisses by itself, over and over, meets the limit like one that asks for something new.
    #[test]
    fn what_follows_a_dismissal_is_counted() {
        let limits = limits(&Hand::new());
        let alice = principal("alice", "one");
        let asked = (0..100).take_while(|_| {
            let asked = limits.count_once([&question(&alice, "weather", "key")]).is_ok();
            limits.dismissed(&question(&alice, "weather", "key"));
            asked
        });
        assert_eq!(asked.count(), 3);
    }

    #[test]
    fn a_rest_is_known_for_that_question_alone_and_for_seconds() {
        let hand = Hand::new();
        let limits = limits(&hand);
        let alice = principal("alice", "one");
        let until = hand.now() + Duration::from_mins(2);
        limits.note_rest(question(&alice, "weather", "key"), until);
        assert_eq!(limits.rests(&question(&alice, "weather", "key")), Some(Duration::from_mins(2)));
        assert_eq!(limits.rests(&question(&alice, "weather", "other")), None);
        assert_eq!(limits.rests(&question(&alice, "other", "key")), None);
        let digest = Digest::of_json("1").unwrap();
        assert_eq!(limits.rests(&Question::new(&alice, "weather", "key", Some(&digest))), None, "one call alone");
        assert_eq!(limits.rests(&question(&principal("bob", "one"), "weather", "key")), None);
        assert_eq!(limits.rests(&question(&principal("alice", "two"), "weather", "key")), None);
        hand.forward(4);
        assert_eq!(limits.rests(&question(&alice, "weather", "key")), Some(Duration::from_secs(116)));
        hand.forward(1);
        assert_eq!(limits.rests(&question(&alice, "weather", "key")), None, "then the store is asked");
        limits.note_rest(question(&alice, "weather", "key"), hand.now());
        assert_eq!(limits.rests(&question(&alice, "weather", "key")), None, "it is over");
        limits.note_rest(question(&alice, "weather", "key"), until);
        limits.forget_rest(&question(&alice, "weather", "key"));
        assert_eq!(limits.rests(&question(&alice, "weather", "key")), None);
    }

    /// R-SEC-03: a client that goes on and on is audited once a minute, for each kind.
    #[test]
    fn a_refusal_is_audited_once_a_minute() {
        let hand = Hand::new();
        let limits = limits(&hand);
        let alice = principal("alice", "one");
        assert!(limits.audits(&alice, AuditAction::InteractionLimited));
        assert!(!limits.audits(&alice, AuditAction::InteractionLimited));
        assert!(limits.audits(&alice, AuditAction::StateRefused));
        assert!(limits.audits(&principal("bob", "one"), AuditAction::InteractionLimited));
        hand.forward(60);
        assert!(limits.audits(&alice, AuditAction::InteractionLimited));
    }
}
