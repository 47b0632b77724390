//! What is limited, and what rests, is held by the store (R-SEC-01).

use std::collections::HashSet;

use jiff::Timestamp;
use usher_store::{
    Asked, Begun, DECLINE_RESTS, DeclinedBy, Event, Interaction, InteractionState, NewInteraction, NewSession,
    OpenLimits, SessionId, SessionKey, SessionLimits, Step, Store,
};

use crate::samples::{DAY, HOUR, at, client, connect, consent, destination, done, question, session, user};
use crate::setup::Database;

const MANY: OpenLimits = OpenLimits { user: 100, client: 100 };

/// Asks by itself, with room for many.
async fn ask(store: &Store, new: NewInteraction, now: Timestamp) -> Asked {
    store.ask_within(&[new], None, MANY, now).await.unwrap()
}

/// A question that lasts for ten minutes from `now`.
fn until(now: i64) -> NewInteraction {
    NewInteraction { expires_at: at(now + 600), ..question("user-1") }
}

/// What was asked, where it was.
fn open(asked: Asked) -> Interaction {
    match asked {
        Asked::Open(mut asked) => asked.remove(0),
        other => panic!("not asked: {other:?}"),
    }
}

/// Asks and declines, both at `now`.
async fn decline(store: &Store, now: i64) -> Interaction {
    let asked = open(ask(store, until(now), at(now)).await);
    let step = Step::Decline { by: DeclinedBy::Client };
    done(store.advance(asked, step, at(now)).await.unwrap())
}

/// From when on it may be asked, in seconds after `now`.
async fn rest(store: &Store, now: i64) -> i64 {
    match ask(store, until(now), at(now)).await {
        Asked::Resting { provider, until } => {
            assert_eq!(provider, "weather");
            until.duration_since(at(now)).as_secs()
        }
        other => panic!("it does not rest: {other:?}"),
    }
}

/// Prompt fatigue: each decline of the same question makes it rest for longer, up to an hour.
pub(crate) async fn a_declined_question_rests_longer_each_time(database: Database) {
    let store = database.store().await;
    let mut now = 0;
    for expected in [120, 600, 3600, 3600] {
        let declined = decline(&store, now).await;
        assert_eq!(store.rest_of(&declined.id, at(now)).await.unwrap(), Some(at(now + expected)));
        assert_eq!(rest(&store, now + 1).await, expected - 1);
        assert_eq!(rest(&store, now + expected - 1).await, 1);
        assert!(store.waiting_interactions(&user("user-1"), at(now + 1)).await.unwrap().is_empty());
        now += expected;
        assert_eq!(store.rest_of(&declined.id, at(now)).await.unwrap(), None);
    }
    assert_eq!(DECLINE_RESTS.map(|rest| rest.as_secs()), [120, 600, 3600]);
    open(ask(&store, until(now), at(now)).await);
}

/// A decline of long ago makes nothing rest for longer.
pub(crate) async fn declines_count_together_within_a_day(database: Database) {
    let store = database.store().await;
    decline(&store, 0).await;
    decline(&store, DAY - 1).await;
    assert_eq!(rest(&store, DAY - 1).await, 600);
    decline(&store, 2 * DAY - 1).await;
    assert_eq!(rest(&store, 2 * DAY - 1).await, 120);
    decline(&store, 2 * DAY + HOUR).await;
    assert_eq!(store.prune(at(3 * DAY)).await.unwrap().declines, 0);
    assert_eq!(store.prune(at(3 * DAY + HOUR)).await.unwrap().declines, 1);
}

/// R-GW-08: it rests on every replica, and after a restart.
pub(crate) async fn a_declined_question_rests_on_every_replica(database: Database) {
    decline(&database.store().await, 0).await;
    assert_eq!(rest(&database.store().await, 1).await, 119);
}

/// Nobody refused it, so it may be asked anew at once.
pub(crate) async fn a_question_that_is_taken_back_does_not_rest(database: Database) {
    let store = database.store().await;
    let asked = open(ask(&store, until(0), at(0)).await);
    let withdrawn = done(store.advance(asked, Step::Withdraw, at(1)).await.unwrap());
    assert_eq!(withdrawn.state, InteractionState::Expired);
    assert!(store.waiting_interactions(&user("user-1"), at(1)).await.unwrap().is_empty());
    assert_ne!(open(ask(&store, until(1), at(1)).await).id, withdrawn.id);
}

pub(crate) async fn another_question_does_not_rest(database: Database) {
    let store = database.store().await;
    decline(&store, 0).await;
    let mut other_client = question("user-1");
    other_client.principal.client = client("client-2");
    for other in [
        question("user-2"),
        other_client,
        NewInteraction { provider: "maps".to_owned(), ..question("user-1") },
        NewInteraction { destination: destination("almanac"), ..question("user-1") },
    ] {
        open(ask(&store, other, at(1)).await);
    }
}

/// Where one of several rests, none is asked.
pub(crate) async fn nothing_is_asked_beside_what_rests(database: Database) {
    let store = database.store().await;
    decline(&store, 0).await;
    let other = NewInteraction { provider: "maps".to_owned(), ..question("user-1") };
    for both in [[question("user-1"), other.clone()], [other, question("user-1")]] {
        let asked = store.ask_within(&both, None, MANY, at(1)).await.unwrap();
        assert!(matches!(asked, Asked::Resting { .. }), "{asked:?}");
    }
    assert!(store.waiting_interactions(&user("user-1"), at(1)).await.unwrap().is_empty());
}

/// A person who wants it is asked at once, and once they connected nothing is held against the client.
pub(crate) async fn a_person_who_connects_ends_the_rest(database: Database) {
    let store = database.store().await;
    decline(&store, 0).await;
    decline(&store, 120).await;
    let asked = store.ask(&[until(121)], None, at(121)).await.unwrap().remove(0);
    assert_eq!(asked.state, InteractionState::Created);
    assert_eq!(rest(&store, 122).await, 598, "the client has nothing of it before they did");

    let consented = consent(&store, asked).await;
    done(store.complete(consented, connect("s-1"), at(130)).await.unwrap());

    decline(&store, 131).await;
    assert_eq!(rest(&store, 131).await, 120, "the first one again");
}

/// R-SEC-01: a user has so many open questions, and no more. What is open already is joined.
pub(crate) async fn open_questions_have_a_limit_for_each_user(database: Database) {
    let store = database.store().await;
    let of = |provider: &str, now: i64| NewInteraction { provider: provider.to_owned(), ..until(now) };
    let two = OpenLimits { user: 2, client: 100 };
    let ask = async |new: NewInteraction, now| store.ask_within(&[new], None, two, at(now)).await.unwrap();
    let first = open(ask(of("one", 0), 0).await);
    open(ask(of("two", 10), 10).await);

    assert_eq!(ask(of("three", 20), 20).await, Asked::TooMany { until: at(600) });
    let both = store.ask_within(&[of("one", 20), of("three", 20)], None, two, at(20)).await.unwrap();
    assert!(matches!(both, Asked::TooMany { .. }), "{both:?}");
    assert_eq!(open(ask(of("one", 30), 30).await).id, first.id, "it is asked already");
    open(ask(NewInteraction { principal: crate::samples::principal("user-2"), ..of("three", 20) }, 20).await);
    assert_eq!(store.waiting_interactions(&user("user-1"), at(30)).await.unwrap().len(), 2);

    assert_eq!(ask(of("three", 40), 40).await, Asked::TooMany { until: at(610) }, "the first lasts longer now");
    open(ask(of("three", 610), 610).await);
    let first = store.interaction(&first.id, at(611)).await.unwrap().unwrap();
    done(store.advance(first, Step::Decline { by: DeclinedBy::Page }, at(611)).await.unwrap());
    open(ask(of("four", 612), 612).await);
}

/// R-SEC-01: what one client asks leaves room for the others, also where each of its calls is a question of its own.
pub(crate) async fn open_questions_have_a_limit_for_each_client(database: Database) {
    let store = database.store().await;
    let of = |client_id: &str, provider: &str, now: i64| {
        let mut new = NewInteraction { provider: provider.to_owned(), ..until(now) };
        new.principal.client = client(client_id);
        new
    };
    let most = OpenLimits { user: 3, client: 2 };
    let ask = async |new: NewInteraction, now| store.ask_within(&[new], None, most, at(now)).await.unwrap();
    open(ask(of("quiet", "one", 0), 0).await);
    let first = open(ask(of("loud", "one", 10), 10).await);

    let both = store.ask_within(&[of("loud", "two", 20), of("loud", "three", 20)], None, most, at(20)).await.unwrap();
    assert_eq!(both, Asked::TooMany { until: at(610) }, "when the first of its own ends");
    open(ask(of("loud", "two", 20), 20).await);
    assert_eq!(ask(of("quiet", "two", 30), 30).await, Asked::TooMany { until: at(600) }, "the limit of the user");
    done(store.advance(first, Step::Decline { by: DeclinedBy::Page }, at(40)).await.unwrap());
    open(ask(of("quiet", "two", 50), 50).await);
}

fn limits(of_client: u32, of_user: u32, in_all: u32) -> SessionLimits {
    SessionLimits { of_client, of_user, in_all }
}

/// A session of a client, which ends an hour after `now`.
fn session_of(subject: &str, id: &str, now: i64) -> NewSession {
    let mut new = session();
    new.principal = crate::samples::principal(subject);
    new.principal.client = client(id);
    new.expires_at = at(now + HOUR);
    new
}

async fn begin(store: &Store, new: &NewSession, limits: SessionLimits, now: i64) -> Begun {
    store.create_session_within(new.clone(), limits, &|_| false, at(now)).await.unwrap()
}

async fn is_there(store: &Store, id: &SessionId, now: i64) -> bool {
    store.session(id, at(now)).await.unwrap().is_some()
}

/// R-SEC-01: beyond the limit of a client, its longest idle session ends for the new one; others' do not.
pub(crate) async fn the_longest_idle_session_of_a_client_makes_room(database: Database) {
    let store = database.store().await;
    let limits = limits(2, 100, 100);
    let (first, second) = (session_of("user-1", "one", 0), session_of("user-1", "one", 1));
    let other = session_of("user-1", "two", 0);
    for new in [&other, &first, &second] {
        assert!(matches!(begin(&store, new, limits, 1).await, Begun::Kept(ended) if ended.is_empty()));
    }
    // The first was used since.
    store.extend_session(&first.id.key(), at(10 + HOUR), at(10)).await.unwrap();
    let mut events = store.events();

    let third = session_of("user-1", "one", 20);
    let Begun::Kept(ended) = begin(&store, &third, limits, 20).await else { panic!("refused") };

    assert_eq!(ended.iter().map(|ended| ended.key.clone()).collect::<Vec<_>>(), [second.id.key()]);
    assert_eq!(ended[0].upstream_session.as_deref(), Some("upstream-session-secret"));
    assert_eq!(events.try_recv().unwrap(), Event::Session(second.id.key()));
    assert!(!is_there(&store, &second.id, 21).await);
    for kept in [&first, &third, &other] {
        assert!(is_there(&store, &kept.id, 21).await);
    }
}

pub(crate) async fn the_longest_idle_session_of_a_user_makes_room(database: Database) {
    let store = database.store().await;
    let limits = limits(2, 3, 100);
    let all: Vec<_> = ["one", "two", "three"].iter().zip(0..).map(|(id, now)| session_of("user-1", id, now)).collect();
    let stranger = session_of("user-2", "one", 0);
    for new in all.iter().chain([&stranger]) {
        assert!(matches!(begin(&store, new, limits, 3).await, Begun::Kept(ended) if ended.is_empty()));
    }
    let new = session_of("user-1", "four", 4);
    assert!(matches!(begin(&store, &new, limits, 4).await, Begun::Kept(ended) if ended.len() == 1));
    assert!(!is_there(&store, &all[0].id, 5).await);
    for kept in [&all[1], &all[2], &new, &stranger] {
        assert!(is_there(&store, &kept.id, 5).await);
    }
    // Where the client's own limit ends one, that is room for its user as well.
    let mut same = session_of("user-1", "four", 5);
    assert!(matches!(begin(&store, &same, limits, 5).await, Begun::Kept(ended) if ended.len() == 1));
    same = session_of("user-1", "four", 6);
    assert!(matches!(begin(&store, &same, limits, 6).await, Begun::Kept(ended) if ended.len() == 1));
    assert!(!is_there(&store, &new.id, 7).await && is_there(&store, &all[2].id, 7).await);
}

/// R-GW-09: a session with an open question stays, and so does one that is in use. Where none can end, the new one is refused.
pub(crate) async fn a_session_that_waits_or_is_in_use_makes_no_room(database: Database) {
    let store = database.store().await;
    let limits = limits(2, 100, 100);
    let (waits, used) = (session_of("user-1", "one", 0), session_of("user-1", "one", 1));
    for new in [&waits, &used] {
        assert!(matches!(begin(&store, new, limits, 1).await, Begun::Kept(_)));
    }
    let asked = store.ask(&[question("user-1")], Some(&waits.id.key()), at(2)).await.unwrap().remove(0);
    let in_use = used.id.key();
    let new = session_of("user-1", "one", 3);

    let begun = store.create_session_within(new.clone(), limits, &|key| *key == in_use, at(3)).await.unwrap();

    assert!(matches!(begun, Begun::Full));
    assert!(is_there(&store, &waits.id, 4).await && is_there(&store, &used.id, 4).await);
    assert!(!is_there(&store, &new.id, 4).await);
    let begun = store.create_session_within(new, limits, &|_| false, at(5)).await.unwrap();
    assert!(matches!(begun, Begun::Kept(ended) if ended[0].key == in_use), "the one that is used no longer");
    assert!(is_there(&store, &waits.id, 6).await);
    // The question is over.
    let begun = begin(&store, &session_of("user-1", "one", 601), limits, 601).await;
    assert!(matches!(begun, Begun::Kept(ended) if ended[0].key == waits.id.key()), "{}", asked.id);
}

/// However many are in use and idle for longer.
pub(crate) async fn an_idle_session_is_found_behind_many_that_are_in_use(database: Database) {
    const USED: i64 = 250;
    let store = database.store().await;
    let mut used = HashSet::new();
    for number in 0..USED {
        let new = session_of("user-1", "one", number);
        used.insert(new.id.key());
        store.create_session(new, at(0)).await.unwrap();
    }
    let idle = session_of("user-1", "one", USED);
    store.create_session(idle.clone(), at(0)).await.unwrap();
    let limits = limits(u32::try_from(USED).unwrap() + 1, 1000, 1000);
    let in_use = |key: &SessionKey| used.contains(key);

    let new = session_of("user-1", "one", USED + 1);
    let begun = store.create_session_within(new.clone(), limits, &in_use, at(USED + 1)).await.unwrap();
    assert!(matches!(&begun, Begun::Kept(ended) if ended.len() == 1 && ended[0].key == idle.id.key()), "{begun:?}");

    used.insert(new.id.key());
    let in_use = |key: &SessionKey| used.contains(key);
    let begun = store.create_session_within(idle, limits, &in_use, at(USED + 2)).await.unwrap();
    assert!(matches!(begun, Begun::Full));
}

/// R-SEC-01: sessions of all together have a limit; nobody's ends for somebody else's.
pub(crate) async fn sessions_of_all_have_a_limit(database: Database) {
    let store = database.store().await;
    let limits = limits(1, 100, 2);
    let (one, two) = (session_of("user-1", "one", 0), session_of("user-2", "one", 5));
    for new in [&one, &two] {
        assert!(matches!(begin(&store, new, limits, 5).await, Begun::Kept(ended) if ended.is_empty()));
    }
    assert!(matches!(begin(&store, &session_of("user-3", "one", 6), limits, 6).await, Begun::Full));
    let again = begin(&store, &session_of("user-2", "one", 7), limits, 7).await;
    assert!(matches!(again, Begun::Kept(ended) if ended.len() == 1), "in place of one's own there is room");
    assert!(is_there(&store, &one.id, 8).await);
    // One that has ended counts no longer, pruned or not.
    assert!(matches!(begin(&store, &session_of("user-3", "one", HOUR), limits, HOUR).await, Begun::Kept(_)));
}
