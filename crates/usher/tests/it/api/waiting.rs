//! A server waits for what becomes of its question.

use std::time::Duration;

use tokio::time::Instant;
use usher_testkit::{DEADLINE, within};

use super::{Server, stage};
use crate::harness::KEY;

/// Time enough for what needs no waiting at all.
const PROMPT: Duration = Duration::from_secs(5);

/// One may wait at a time, so that another is told when somebody does.
const ONE: &str = "api_waits = 1";

/// Until somebody waits.
async fn waited_for(server: &Server, path: &str) {
    let path = format!("{path}?wait=1");
    let waits = async { while server.get(&path).await.status != 429 {} };
    within(DEADLINE, "nobody waits", waits).await;
}

/// R-SEC-04: whoever waits is told within a moment of what happens, here or on another replica.
#[tokio::test]
async fn a_wait_ends_when_the_person_is_done() {
    let stage = stage(ONE).await;
    let server = Server::weather(&stage).await;
    let asked = server.asked("claude").await;
    let path = asked.path();
    let answering = async {
        waited_for(&server, &path).await;
        let person = stage.person().await;
        person.get(&asked.member("url")).await;
        person.connect(&asked.member("url"), &[("api_key", KEY)]).await;
        Instant::now()
    };
    let (answer, done) = tokio::join!(server.wait(&path), answering);
    assert_eq!(answer.member("state"), "completed", "opened is no end");
    assert!(done.elapsed() < PROMPT);
}

#[tokio::test]
async fn a_wait_ends_when_the_person_declines() {
    let stage = stage(ONE).await;
    let server = Server::weather(&stage).await;
    let asked = server.asked("claude").await;
    let path = asked.path();
    let declining = async {
        waited_for(&server, &path).await;
        stage.person().await.decline(&asked.member("url")).await;
    };
    let (answer, ()) = tokio::join!(server.wait(&path), declining);
    assert_eq!(answer.member("state"), "declined");
}

/// R-SEC-04: a wait lasts no longer than was asked, and nothing is waited for that is over.
#[tokio::test]
async fn a_wait_never_exceeds_its_time() {
    let stage = stage("").await;
    let server = Server::weather(&stage).await;
    let asked = server.asked("claude").await;
    let before = Instant::now();
    let answer = server.get(&format!("{}?wait=1", asked.path())).await;
    assert_eq!(answer.member("state"), "created");
    let waited = before.elapsed();
    assert!(waited >= Duration::from_secs(1) && waited < PROMPT, "{waited:?}");

    server.post(&format!("{}/cancel", asked.path()), "{}").await;
    let before = Instant::now();
    assert_eq!(server.get(&format!("{}?wait=60", asked.path())).await.member("state"), "expired");
    assert!(before.elapsed() < PROMPT);
}

/// The end of a question is an end of the wait, though nobody does anything.
#[tokio::test]
async fn a_wait_ends_with_the_time_of_its_question() {
    let stage = stage("").await;
    let server = Server::weather(&stage).await;
    let asked = server.asked("claude").await;
    stage.clock.forward(15 * 60 - 1);
    let before = Instant::now();
    let answer = server.get(&format!("{}?wait=60", asked.path())).await;
    assert!(before.elapsed() < PROMPT, "{:?}", before.elapsed());
    assert!(["created", "expired"].contains(&answer.member("state").as_str()), "{answer:?}");
}

/// R-SEC-04: the service does not wait for those who wait.
#[tokio::test]
async fn a_wait_ends_with_the_service() {
    let mut stage = stage(ONE).await;
    let server = Server::weather(&stage).await;
    let asked = server.asked("claude").await;
    let path = asked.path();
    let (waits, path_of_wait) = (server.clone(), path.clone());
    let waiting = tokio::spawn(async move { waits.wait(&path_of_wait).await });
    waited_for(&server, &path).await;
    let before = Instant::now();
    stage.stop().await;
    let answer = waiting.await.unwrap();
    assert_eq!((answer.status.as_u16(), answer.member("state").as_str()), (200, "created"));
    assert!(before.elapsed() < PROMPT, "{:?}", before.elapsed());
}

#[tokio::test]
async fn what_a_query_says_is_checked() {
    let stage = stage("").await;
    let server = Server::weather(&stage).await;
    let path = server.asked("claude").await.path();
    assert_eq!(server.get(&format!("{path}?wait=61")).await.faults(), ["wait"]);
    assert_eq!(server.get(&format!("{path}?wait=-1&until=x&wait=1")).await.faults(), ["wait", "until", "wait"]);
    assert_eq!(server.get(&format!("{path}?wait=0")).await.status, 200);
}
