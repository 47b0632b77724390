//! A crowd whose tokens are due in one moment: no pile-up, neither at their provider, nor in the store, nor for anybody else.

use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    time::Duration,
};

use sqlx::{Connection as _, Executor as _, SqliteConnection};
use tokio::time::Instant;
use usher_store::{Credential, CredentialStatus};
use usher_testkit::{
    oauth::{Endpoint, Trouble},
    within,
};

use super::{
    ahead::{AT_A_TIME, DUE, commits, crowd, due, one_of_crowd},
    scene::Scene,
};
use crate::harness::{CALLS, answered};

/// How long the provider takes for a reply: long enough that others come meanwhile.
const REPLY: Duration = Duration::from_millis(30);

/// How long a crowd may take: on a machine with other work.
const PATIENCE: Duration = Duration::from_secs(80);

/// Of the calls of somebody else meanwhile, half must not take longer.
const TYPICAL_CALL: Duration = Duration::from_millis(100);
/// And none longer than this. Who waited for a crowd of 200 without order would wait longer.
const LONGEST_CALL: Duration = Duration::from_secs(1);

/// What a crowd took.
#[derive(Debug)]
#[allow(dead_code, reason = "it is printed")]
struct Took {
    /// From the first refresh until the last one was stored.
    all: Duration,
    /// How many calls of somebody else went through meanwhile.
    calls: usize,
    /// The median of their times.
    typical: Duration,
    /// The longest of them.
    longest: Duration,
    /// How many commits there were.
    commits: usize,
}

/// R-SEC-04: 200 that are due in one moment are each renewed once, a few at a time, at two commits each; and the calls of
/// somebody else go on.
#[tokio::test]
async fn a_crowd_that_is_due_at_once_makes_no_pile_up() {
    is_renewed_without_a_pile_up(200).await;
}

/// The same of 1,000. Prints numbers for docs/performance.md.
#[tokio::test]
#[ignore = "takes long, and prints"]
async fn a_thousand_that_are_due_at_once_make_no_pile_up() {
    is_renewed_without_a_pile_up(1000).await;
}

#[allow(clippy::print_stdout, reason = "a measurement")]
async fn is_renewed_without_a_pile_up(count: usize) {
    let scene = Scene::new().await;
    scene.hub.trouble(Endpoint::Refresh, Trouble::ReplyLate(REPLY));
    crowd(&scene, count).await;
    let kept = LogKept::new(&scene).await;
    let before = commits(scene.stage.folder.path());
    scene.stage.clock.forward(DUE);
    scene.hub.wait_for(Endpoint::Refresh, 1).await;

    let (began, over, times) = (Instant::now(), Cell::new(false), RefCell::new(Vec::new()));
    let client = scene.stage.modern();
    let somebody_else = async {
        while !over.get() {
            let began = Instant::now();
            let reply = client.call(CALLS[0].0, CALLS[0].1).await;
            times.borrow_mut().push(began.elapsed());
            assert!(answered(&reply), "{}", reply.text());
        }
    };
    let renewed = within(PATIENCE, "not all are renewed", async {
        for some in (0..=count).step_by(50) {
            scene.hub.wait_until("more are renewed", |hub| hub.counts().refreshes >= some).await;
        }
        for number in 0..count {
            super::until("it is stored", || async { stored(&scene, number).await.version > 1 }).await;
        }
        over.set(true);
    });
    tokio::join!(somebody_else, renewed);
    let all = began.elapsed();
    let commits = commits(scene.stage.folder.path()) - before;
    drop(kept);

    // Each once, and each has what came of it.
    let requests = scene.hub.requests_to(Endpoint::Refresh);
    assert_eq!((requests.len(), scene.hub.counts().refreshes), (count, count));
    let tokens: BTreeSet<String> = requests.iter().map(|request| token_of(request.text())).collect();
    assert_eq!(tokens.len(), count, "a grant was renewed twice");
    for number in 0..count {
        let stored = stored(&scene, number).await;
        assert_eq!((stored.version, stored.status, stored.attempts), (2, CredentialStatus::Working, 0), "{number}");
    }
    assert!(due(&scene).await.is_empty());
    let most = scene.hub.most_at_once(Endpoint::Refresh);
    assert!((2..=AT_A_TIME).contains(&most), "{most} at a time");
    // Somebody else's use of a credential is noted, once a minute.
    assert!((2 * count..=2 * count + 3).contains(&commits), "{commits} commits for {count}");
    let mut times = times.into_inner();
    times.sort();
    let took =
        Took { all, calls: times.len(), typical: times[times.len() / 2], longest: times[times.len() - 1], commits };
    assert!(took.typical < TYPICAL_CALL && took.longest < LONGEST_CALL && took.calls >= 10, "{took:?}");
    scene.assert_clean();
    println!("{count} refreshes, {most} at a time: {took:?}");
}

/// What one of the crowd has.
async fn stored(scene: &Scene, number: usize) -> Credential {
    scene.stage.app().store.credential(&one_of_crowd(number), "hub").await.unwrap().unwrap()
}

/// The refresh token of a request.
fn token_of(form: &str) -> String {
    let mut pairs = url::form_urlencoded::parse(form.as_bytes());
    pairs.find(|(name, _)| name == "refresh_token").unwrap().1.into_owned()
}

/// As long as this is there, the log of the store is not begun anew, and all its commits can be counted: somebody reads what
/// stands in its middle.
struct LogKept {
    _reader: SqliteConnection,
}

impl LogKept {
    /// The person connects, which is what stands there.
    async fn new(scene: &Scene) -> Self {
        let path = scene.stage.folder.path().join("usher.db");
        let mut reader = SqliteConnection::connect(&format!("sqlite:{}", path.display())).await.unwrap();
        reader.execute("PRAGMA wal_checkpoint(TRUNCATE)").await.unwrap();
        scene.connect().await;
        scene.goes_through().await;
        reader.execute("BEGIN").await.unwrap();
        reader.execute("SELECT COUNT(*) FROM credentials").await.unwrap();
        Self { _reader: reader }
    }
}
