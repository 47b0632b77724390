//! PostgreSQL behind a proxy that cuts, refuses, stalls, is slow, or strands connections.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::Instant;
use url::Url;
use usher::{config::Config, serve::start};
use usher_store::AuditAction;
use usher_testkit::{
    DEADLINE,
    chaos::{Chaos, Mode},
    client::{Legacy, Reply, Stream},
    person::{Page, Person},
    provider::Api,
    upstream::Upstream,
    within,
};

use crate::{
    database::{Database, TOKEN, open},
    harness::{ACCEPT, CALLS, KEY, SECOND, Setup, Stage, answered},
};

const COMPLETE: &str = "notifications/elicitation/complete";

/// How long a client waits that has no patience.
const IMPATIENT: Duration = Duration::from_secs(3);

/// How long whoever needs the database waits at most until they are told that it is not there.
const TOLD: Duration = Duration::from_secs(12);

/// Makes a test of each line.
macro_rules! on_postgres {
    ($($test:ident => $story:expr;)*) => {
        $(#[test]
        #[ignore = "needs a PostgreSQL server, its URL in USHER_TEST_POSTGRES"]
        fn $test() {
            crate::database::on_postgres($story);
        })*
    };
}

on_postgres! {
    waits_outlive_a_cut => |database| waits_outlive(database, Mode::Cut);
    waits_outlive_a_restart => |database| waits_outlive(database, Mode::Refuse);
    waits_outlive_a_silence => |database| waits_outlive(database, Mode::Stall);
    waits_outlive_a_slow_database => |database| waits_outlive(database, Mode::Slow(Duration::from_millis(5)));
    a_silent_database_keeps_nobody_beyond_their_deadline => silence;
    calls_go_on_without_the_database => calls_go_on;
    a_page_says_what_it_could_not_save_and_nothing_is_stored_twice => submits;
    connections_to_a_machine_that_is_gone_are_given_up => stranded;
    a_notice_outlives_a_short_cut => short_cut;
    a_start_waits_for_a_database_that_is_not_up => starts;
}

/// A service with a proxy before its database.
struct Outage {
    stage: Stage,
    chaos: Chaos,
    /// The database past the proxy.
    url: String,
}

impl Outage {
    async fn new(database: Database, lines: &str) -> Self {
        let mut through = Url::parse(&database.url).unwrap();
        let target = format!("{}:{}", through.host_str().unwrap(), through.port().unwrap_or(5432));
        let chaos = Chaos::start(target).await;
        through.set_port(Some(chaos.address().port())).unwrap();
        let more = Database::section(through.as_str());
        let setup = Setup { upstream: lines.to_owned(), more, ..Setup::default() };
        let Database { folder, url } = database;
        let api = Api::start("x-api-key", KEY).await;
        let stage = Stage::furnished(&setup, folder, Upstream::start().await, api).await;
        Self { stage, chaos, url }
    }

    /// Waits until `/readyz` says so.
    async fn until_ready(&self, ready: bool) {
        let somebody = Person::new(&self.stage.origin);
        let expected = if ready { 200 } else { 503 };
        let turned = async { while somebody.get("/readyz").await.status != expected {} };
        within(TOLD, &format!("/readyz does not turn {expected}"), turned).await;
    }

    /// Another replica has the person connect.
    async fn connect_elsewhere(&self, link: &str) {
        let store = open(&self.url, self.stage.folder.path()).await;
        self.stage.connect_at(store, link, KEY).await;
    }

    /// More calls at once than the pool has connections, of clients that have so much patience.
    async fn several(&self, patience: Duration) {
        let client = self.stage.modern();
        let call = |_| {
            let client = client.clone();
            async move { drop(tokio::time::timeout(patience, client.call(CALLS[0].0, CALLS[0].1)).await) }
        };
        join_all((0..24).map(call)).await;
    }

    async fn completed(&self) -> usize {
        let store = open(&self.url, self.stage.folder.path()).await;
        let rows = store.audit_of(&usher::identity::tokens::local_user(), 1000).await.unwrap();
        store.close().await;
        rows.iter().filter(|row| row.action == Some(AuditAction::InteractionCompleted)).count()
    }
}

/// All that can wait for one question: a modern retry, a legacy call, and the GET stream of a session whose call has left.
struct Waits {
    link: String,
    retry: Stream,
    call: Stream,
    stream: Stream,
    _clients: [Legacy; 2],
}

impl Waits {
    async fn all(stage: &Stage, token: &str) -> Self {
        let modern = stage.modern().token(token);
        let round = modern.call(CALLS[0].0, CALLS[0].1).await;
        let state = round.request_state();
        let responses = round.answer_all(ACCEPT);
        let retry = modern.retrying(CALLS[0].0, CALLS[0].1, Some(&responses), state.as_deref()).stream().await;
        let clients = [stage.legacy().token(token), stage.legacy().token(token)];
        for client in &clients {
            assert_eq!(client.initialize().await.status, 200);
        }
        let [client, left] = &clients;
        let mut call = client.open(CALLS[1].0, CALLS[1].1).await;
        call.expect("elicitation/create").await;
        let mut gone = left.open(CALLS[2].0, CALLS[2].1).await;
        gone.expect("elicitation/create").await;
        drop(gone);
        let stream = left.open_get(None).await;
        Self { link: round.url(), retry, call, stream, _clients: clients }
    }

    /// All of them hear of the completion.
    async fn go_on(mut self) {
        assert!(answered(&self.retry.reply().await));
        self.call.expect(COMPLETE).await;
        assert!(answered(&self.call.reply().await));
        self.stream.expect(COMPLETE).await;
    }
}

/// The database is away while all wait, and comes back; the person connects at another replica, so that the word of it comes
/// over the connection that was lost.
async fn waits_outlive(database: Database, mode: Mode) {
    let outage = Outage::new(database, "hold = \"1m\"").await;
    let waits = Waits::all(&outage.stage, TOKEN).await;
    outage.chaos.set(mode).await;
    outage.until_ready(matches!(mode, Mode::Slow(_))).await;
    if !matches!(mode, Mode::Slow(_)) {
        outage.chaos.set(Mode::Pass).await;
        outage.until_ready(true).await;
    }
    outage.connect_elsewhere(&waits.link).await;
    waits.go_on().await;
    assert_eq!(outage.completed().await, 1);
    outage.stage.upstream.assert_clean();
}

/// What is in memory serves calls while the database is away, in both eras; what needs the database says so.
async fn calls_go_on(database: Database) {
    let outage = Outage::new(database, "").await;
    let stage = &outage.stage;
    stage.connected().await;
    let (modern, legacy) = (stage.modern(), stage.ready().await);
    for mode in [Mode::Cut, Mode::Refuse] {
        assert!(answered(&modern.call(CALLS[0].0, CALLS[0].1).await));
        assert!(answered(&legacy.call(CALLS[0].0, CALLS[0].1).await));
        outage.chaos.set(mode).await;
        outage.until_ready(false).await;
        for call in CALLS {
            for reply in [modern.call(call.0, call.1).await, legacy.call(call.0, call.1).await] {
                assert!(answered(&reply), "{mode:?}: {}", reply.text());
            }
        }
        if mode == Mode::Cut {
            needs_the_store(&stage.legacy().initialize().await);
        }
        outage.chaos.set(Mode::Pass).await;
        outage.until_ready(true).await;
    }
    stage.upstream.assert_clean();
}

fn needs_the_store(reply: &Reply) {
    assert_eq!(reply.error_code(), -32603, "{}", reply.text());
    assert!(reply.error_message().contains("store"), "{}", reply.text());
}

/// A database that takes everything and says nothing, for longer than anybody may wait: held calls end when their time is
/// over, a page says that nothing may have been saved, and calls that need no database go on. It takes the ten seconds that
/// one step may wait for a database; all of it happens at once.
async fn silence(database: Database) {
    let outage = Outage::new(database, "hold = \"2s\"").await;
    let stage = &outage.stage;
    let person = stage.connected().await;
    let (modern, legacy) = (stage.modern(), stage.ready().await);
    assert!(answered(&modern.call(CALLS[0].0, CALLS[0].1).await));
    let waits = Waits::all(stage, SECOND).await;
    let page = person.get(&waits.link).await;
    let allows = person.agreement(&page, &[]).patience(TOLD);
    outage.chaos.set(Mode::Stall).await;

    let held = async {
        let began = Instant::now();
        for reply in <[Reply; 2]>::from(tokio::join!(waits.retry.reply(), waits.call.reply())) {
            needs_the_store(&reply);
        }
        assert!(began.elapsed() < Duration::from_secs(7), "{:?}", began.elapsed());
    };
    let passing = async {
        for reply in
            <[Reply; 2]>::from(tokio::join!(modern.call(CALLS[0].0, CALLS[0].1), legacy.call(CALLS[0].0, CALLS[0].1)))
        {
            assert!(answered(&reply), "{}", reply.text());
        }
        outage.until_ready(false).await;
    };
    let (saved, (), ()) = tokio::join!(allows.try_send(), held, passing);
    says_that_nothing_may_be_saved(&saved.unwrap());

    outage.chaos.set(Mode::Pass).await;
    outage.until_ready(true).await;
    allowed_once(&outage, &person, &waits.link).await;
}

fn says_that_nothing_may_be_saved(page: &Page) {
    assert_eq!(page.status, 503, "{}", page.describe());
    assert!(page.text().contains("may not have been saved: open the page again"), "{}", page.text());
}

/// The second client is allowed, now or before, and once.
async fn allowed_once(outage: &Outage, person: &Person, link: &str) {
    let page = person.get(link).await;
    if page.heading().as_deref() != Some("Connected") {
        let done = person.agree(&page, &[]).await;
        assert_eq!(done.heading().as_deref(), Some("Connected"), "{}", done.describe());
    }
    let second = outage.stage.modern().token(SECOND);
    assert!(answered(&second.call(CALLS[0].0, CALLS[0].1).await));
    assert_eq!(outage.completed().await, 2, "the first client's, and this");
}

/// The person agrees while the database is cut off: what they are told is true, and it can be done again.
async fn submits(database: Database) {
    let outage = Outage::new(database, "").await;
    let person = outage.stage.connected().await;
    let link = outage.stage.modern().token(SECOND).call(CALLS[0].0, CALLS[0].1).await.url();
    let page = person.get(&link).await;
    outage.chaos.set(Mode::Cut).await;
    says_that_nothing_may_be_saved(&person.agree(&page, &[]).await);
    outage.chaos.set(Mode::Pass).await;
    outage.until_ready(true).await;
    allowed_once(&outage, &person, &link).await;
}

/// Every connection breaks and can be made again at once: what the service then looks for, over connections that it does not
/// know to be broken, it still finds.
async fn short_cut(database: Database) {
    let outage = Outage::new(database, "hold = \"1m\"").await;
    let mut waits = Waits::all(&outage.stage, TOKEN).await;
    outage.several(DEADLINE).await;
    outage.chaos.set(Mode::Cut).await;
    outage.connect_elsewhere(&waits.link).await;
    outage.chaos.set(Mode::Pass).await;
    waits.stream.expect(COMPLETE).await;
    waits.call.expect(COMPLETE).await;
}

/// The machine of the database is gone without a word, and another one has its place: old connections never answer.
async fn stranded(database: Database) {
    let outage = Outage::new(database, "hold = \"1m\"").await;
    let waits = Waits::all(&outage.stage, TOKEN).await;
    // All connections of the pool are open and in use, and their calls are given up by their clients.
    outage.chaos.set(Mode::Slow(Duration::from_millis(20))).await;
    outage.several(DEADLINE).await;
    assert!(outage.chaos.connections() >= 16, "{}", outage.chaos.connections());
    outage.chaos.set(Mode::Pass).await;
    // The pool looks at each connection that comes back, without a limit of time; that is over now.
    outage.chaos.until_quiet(Duration::from_millis(100)).await;
    outage.chaos.strand();
    outage.several(Duration::from_millis(200)).await;
    outage.until_ready(true).await;
    let asked = async {
        loop {
            let client = outage.stage.modern();
            let reply = tokio::time::timeout(IMPATIENT, client.call(CALLS[0].0, CALLS[0].1)).await;
            if let Ok(reply) = reply
                && reply.response().result().is_some()
            {
                return reply;
            }
        }
    };
    assert_eq!(within(TOLD, "nobody is asked", asked).await.url(), waits.link);
    outage.connect_elsewhere(&waits.link).await;
    // The event connection is asked for a sign of life only every half minute: these two are found by the poll.
    let Waits { retry, call, .. } = waits;
    for reply in <[Reply; 2]>::from(tokio::join!(retry.reply_within(2 * DEADLINE), call.reply_within(2 * DEADLINE))) {
        assert!(answered(&reply), "{}", reply.text());
    }
}

/// The database comes up after the service was started.
async fn starts(database: Database) {
    let mut outage = Outage::new(database, "").await;
    outage.stage.stop().await;
    outage.chaos.set(Mode::Refuse).await;
    let path = outage.stage.folder.path().join("usher.toml");
    let config = || Config::load(&path, &|_| None).unwrap();
    let begun = start(config(), None, outage.stage.clock.clone(), std::sync::Arc::new(elicit::SystemRandom), None);
    tokio::pin!(begun);
    let early = tokio::time::timeout(Duration::from_millis(700), &mut begun).await;
    assert!(early.is_err(), "it waits: {:?}", early.map(Result::err));
    outage.chaos.set(Mode::Pass).await;
    let running = within(DEADLINE, "it does not start", begun).await.unwrap();
    assert_eq!(Person::new(&outage.stage.origin).get("/readyz").await.status, 200);
    running.stop().await;
}
