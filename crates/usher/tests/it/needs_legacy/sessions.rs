//! A question and the session that it was asked in.

use super::{accept, asked, connect, holding, ready};
use crate::harness::{CALLS, KEY, Stage, answered};

const DAY: i64 = 24 * 60 * 60;

/// Removes what has expired, here and in memory.
async fn tidy(stage: &Stage) {
    stage.app().relay.forget_sessions();
    stage.app().store.prune(usher::clock::Clock::now(&*stage.clock)).await.unwrap();
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
