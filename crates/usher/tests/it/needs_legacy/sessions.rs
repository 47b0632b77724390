//! A question and the session that it was asked in.

use usher::clock::Clock;
use usher_store::SessionId;

use super::{accept, asked, connect, holding, ready, url};
use crate::harness::{CALLS, KEY, Stage, answered};

const DAY: i64 = 24 * 60 * 60;

/// Removes what has expired, here and in memory.
async fn tidy(stage: &Stage) {
    stage.app().relay.forget_sessions();
    stage.app().store.prune(Clock::now(&*stage.clock)).await.unwrap();
}

/// R-GW-09: a pending question keeps its session alive until the question itself is over.
#[tokio::test]
async fn a_pending_question_keeps_its_session_alive() {
    let stage = holding("10m").await;
    let (client, idle) = (ready(&stage).await, ready(&stage).await);
    stage.clock.forward(DAY - 5 * 60);
    let (stream, question) = asked(&client, CALLS[0]).await;
    accept(&client, &question).await;
    stage.clock.forward(10 * 60);
    tidy(&stage).await;
    assert_eq!(idle.call("ping", "{}").await.status, 404, "a session without a question is over by now");
    assert_eq!(client.call("ping", "{}").await.status, 200);
    connect(&stage.person().await, &question, KEY).await;
    assert!(answered(&stream.reply().await));
}

/// R-GW-09: a person who takes more time keeps the session alive as long; not longer, when nothing is asked any more.
#[tokio::test]
async fn a_question_that_is_kept_open_keeps_its_session_alive_until_its_own_deadline() {
    let stage = holding("10m").await;
    let client = ready(&stage).await;
    stage.clock.forward(DAY - 5 * 60);
    // The question lasts until 10 minutes after the day.
    let (stream, question) = asked(&client, CALLS[0]).await;
    let (person, url) = (stage.person().await, url(&question));
    let mut page = person.get(&url).await;
    for _ in 0..3 {
        stage.clock.forward(14 * 60);
        let csrf = page.main_form().input("csrf").unwrap().value.clone();
        page = person.post_form(&url, &[("csrf", &csrf), ("action", "extend")]).await;
        assert_eq!(page.status, 200, "{}", page.describe());
        tidy(&stage).await;
    }
    // By now 37 minutes after the day; and the question, and so its session, last for 15 more.
    let id = SessionId::parse(&client.session().unwrap()).unwrap();
    let alive = async || stage.app().store.session(&id, Clock::now(&*stage.clock)).await.unwrap().is_some();
    stage.clock.forward(14 * 60);
    tidy(&stage).await;
    assert!(alive().await, "the question is open");
    stage.clock.forward(2 * 60);
    tidy(&stage).await;
    assert!(!alive().await, "nothing keeps it any more");
    assert_eq!(client.call("ping", "{}").await.status, 404);
    drop(stream);
}

/// R-GW-09: so does one that the client was told of by an error.
#[tokio::test]
async fn a_question_named_in_an_error_keeps_its_session_alive() {
    let stage = holding("0s").await;
    let client = ready(&stage).await;
    stage.clock.forward(DAY - 5 * 60);
    let url = client.call(CALLS[0].0, CALLS[0].1).await.url();
    stage.clock.forward(10 * 60);
    tidy(&stage).await;
    stage.person().await.connect(&url, &[("api_key", KEY)]).await;
    assert!(answered(&client.call(CALLS[0].0, CALLS[0].1).await));
}

/// R-ID-01: the question of an ended session is nobody's; the page still works, and a new session goes on.
#[tokio::test]
async fn a_session_that_ends_takes_its_held_call_with_it() {
    let stage = Stage::new().await;
    let client = ready(&stage).await;
    let (stream, question) = asked(&client, CALLS[0]).await;
    assert_eq!(client.delete().await.status, 200);
    drop(stream);
    connect(&stage.person().await, &question, KEY).await;
    let client = ready(&stage).await;
    assert!(answered(&client.call(CALLS[0].0, CALLS[0].1).await));
    assert_eq!(stage.upstream.requests_of("tools/call").len(), 1);
    stage.upstream.assert_clean();
}
