//! A client that cancels its call, or leaves.

use usher_testkit::{
    Outcome,
    upstream::{Gate, Script},
};

use super::{accept, asked, connect, ready, url};
use crate::harness::{CALLS, KEY, Stage, answered};

/// R-SEC-04: a cancelled call takes its question back, sends no answer, and never reaches the server.
#[tokio::test]
async fn a_cancelled_call_takes_its_question_back() {
    for (method, params) in CALLS {
        let stage = Stage::new().await;
        let client = ready(&stage).await;
        let mut stream = client.open_as("\"call-1\"", method, params).await;
        let question = stream.expect("elicitation/create").await;
        let cancel = r#"{"requestId":"call-1","reason":"changed my mind"}"#;
        assert_eq!(client.notify("notifications/cancelled", cancel).await.status, 202);
        let withdrawn = stream.next_message().await.unwrap();
        assert_eq!(withdrawn.method().as_deref(), Some("notifications/cancelled"), "{}", withdrawn.text);
        assert_eq!(withdrawn.at(&["params", "requestId"]), question.id());
        assert_eq!(stream.next_message().await, None, "a cancelled call has no answer");
        connect(&stage.person().await, &question, KEY).await;
        assert!(answered(&client.call(method, params).await));
        assert_eq!(stage.upstream.requests_of(method).len(), 1);
        assert!(stage.upstream.requests_of("notifications/cancelled").is_empty(), "the server knew nothing of it");
        stage.upstream.assert_clean();
    }
}

/// R-GW-02: once the person is done and the call is at the server, a cancellation goes there.
#[tokio::test]
async fn a_cancellation_after_the_question_goes_to_the_server() {
    let stage = Stage::new().await;
    let gate = Gate::new();
    stage.upstream.tool("get_forecast", Script::new().require("x-api-key", KEY).wait(&gate).text("sunny"));
    let client = ready(&stage).await;
    let mut stream = client.open_as("\"call-1\"", CALLS[0].0, CALLS[0].1).await;
    let question = stream.expect("elicitation/create").await;
    accept(&client, &question).await;
    connect(&stage.person().await, &question, KEY).await;
    gate.reached(1).await;
    assert_eq!(client.notify("notifications/cancelled", r#"{"requestId":"call-1"}"#).await.status, 202);
    stage.upstream.wait_outcome("tools/call", Outcome::Cancelled).await;
}

/// Cancelling a call of another session changes nothing.
#[tokio::test]
async fn a_cancellation_of_another_session_is_none() {
    let stage = Stage::new().await;
    let (client, stranger) = (ready(&stage).await, ready(&stage).await);
    let mut stream = client.open_as("\"call-1\"", CALLS[0].0, CALLS[0].1).await;
    let question = stream.expect("elicitation/create").await;
    stranger.notify("notifications/cancelled", r#"{"requestId":"call-1"}"#).await;
    accept(&client, &question).await;
    connect(&stage.person().await, &question, KEY).await;
    assert!(answered(&stream.reply().await));
}

/// A client that closes the stream has left: its call is not sent to the server.
#[tokio::test]
async fn a_call_whose_client_has_left_is_not_sent_upstream() {
    for call in CALLS {
        let stage = Stage::new().await;
        let client = ready(&stage).await;
        let (stream, question) = asked(&client, call).await;
        accept(&client, &question).await;
        drop(stream);
        connect(&stage.person().await, &question, KEY).await;
        assert!(answered(&client.call(call.0, call.1).await));
        assert_eq!(stage.upstream.requests_of(call.0).len(), 1, "{}", url(&question));
    }
}
