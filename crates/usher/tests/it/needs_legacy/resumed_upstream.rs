//! A held call whose stream breaks off after the person is done, while the server answers.

use usher_testkit::{
    Outcome,
    client::Legacy,
    upstream::{Gate, Script},
};

use super::{Stream, asked, connect, ready};
use crate::harness::{CALLS, KEY, Stage, answered};

const LOG: &str = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1.0}}"#;

/// A call that was asked about and is at the server by now.
async fn under_way(script: Script) -> (Stage, Legacy, Stream) {
    let stage = Stage::new().await;
    stage.upstream.tool("get_forecast", script);
    let client = ready(&stage).await;
    let (stream, question) = asked(&client, CALLS[0]).await;
    connect(&stage.person().await, &question, KEY).await;
    (stage, client, stream)
}

fn script() -> Script {
    Script::new().require("x-api-key", KEY)
}

/// R-GW-03: what the server says without ids of its own is kept for a client that comes back, and comes once.
#[tokio::test]
async fn what_the_server_says_meanwhile_waits_for_the_client() {
    let gate = Gate::new();
    let (stage, client, mut stream) = under_way(script().message(LOG).wait(&gate).message(LOG).text("sunny")).await;
    assert_eq!(stream.expect("notifications/message").await.text, LOG, "as it came");
    let id = stream.last_event_id().to_owned();
    drop(stream);
    gate.open();
    stage.upstream.wait_outcome("tools/call", Outcome::Answered).await;
    for _ in 0..2 {
        let reply = client.open_get(Some(&id)).await.reply().await;
        assert_eq!(reply.messages.len(), 2, "{}", reply.text());
        assert_eq!(reply.messages[0].text, LOG);
        assert!(answered(&reply));
    }
    assert_eq!(stage.upstream.requests_of("tools/call").len(), 1);
    stage.upstream.assert_clean();
}

/// The same with an answer that is no stream.
#[tokio::test]
async fn an_answer_that_comes_meanwhile_waits_for_the_client() {
    let gate = Gate::new();
    let (stage, client, mut stream) = under_way(script().wait(&gate).text("sunny")).await;
    stream.expect("notifications/elicitation/complete").await;
    gate.reached(1).await;
    let id = stream.last_event_id().to_owned();
    drop(stream);
    gate.open();
    let reply = client.open_get(Some(&id)).await.reply().await;
    assert!(answered(&reply), "{}", reply.text());
    stage.upstream.assert_clean();
}

/// An id of the server's own leads to the server, where the rest is; and a client that never saw one comes to it by ours.
#[tokio::test]
async fn ids_of_the_server_lead_to_the_server() {
    for saw_it in [true, false] {
        let gate = Gate::new();
        let from_theirs = script().event("id: u-1\ndata:\n\n").event("id: u-2\ndata:\n\n").cut("u-1").wait(&gate);
        let (stage, client, mut stream) = under_way(from_theirs.text("sunny")).await;
        stream.expect("notifications/elicitation/complete").await;
        let ours = stream.last_event_id().to_owned();
        assert_eq!(stream.next_message().await, None, "the server ended the connection");
        assert_eq!(stream.last_event_id(), "u-2");
        if !saw_it {
            let mut stream = client.open_get(Some(&ours)).await;
            assert_eq!(stream.next_message().await, None);
            assert_eq!(stream.last_event_id(), "u-1", "from there on the server has the rest");
            assert_eq!(client.open_get(Some(&ours)).await.status, 200, "again, if that was lost too");
        }
        let stream = client.open_get(Some("u-1")).await;
        gate.open();
        assert!(answered(&stream.reply().await));
        assert_eq!(stage.upstream.http_requests(&http::Method::GET).len(), 1);
        stage.upstream.assert_clean();
    }
}

/// A server that can resume its own stream is let go of when the client leaves; dropping is no cancellation.
#[tokio::test]
async fn a_stream_that_the_server_can_resume_ends_with_its_reader() {
    let gate = Gate::new();
    let (stage, client, mut stream) = under_way(script().event("id: u-1\ndata:\n\n").wait(&gate)).await;
    gate.reached(1).await;
    while stream.last_event_id() != "u-1" {
        assert!(stream.next_item().await.is_some());
    }
    drop(stream);
    stage.upstream.wait_left("tools/call").await;
    assert!(stage.upstream.requests_of("notifications/cancelled").is_empty());
    assert_eq!(client.call("ping", "{}").await.status, 200);
}

/// Memory is bounded: what is too long to be kept reaches a client that reads; for one that is away the call ends in an
/// error, and its server is let go of.
#[tokio::test]
async fn what_is_too_long_is_not_kept() {
    let long =
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/x","params":{{"x":"{}"}}}}"#, "x".repeat(9 * 1024 * 1024));
    let gates = [Gate::new(), Gate::new()];
    let script = || script().sse().wait(&gates[0]).message(&long).wait(&gates[1]).text("sunny");
    let (stage, client, mut stream) = under_way(script()).await;
    stream.expect("notifications/elicitation/complete").await;
    gates[0].reached(1).await;
    let id = stream.last_event_id().to_owned();
    drop(stream);
    gates[0].open();
    stage.upstream.wait_left("tools/call").await;
    let reply = client.open_get(Some(&id)).await.reply().await;
    assert_eq!(reply.error_code(), -32603, "{}", reply.text());
    assert!(reply.error_message().contains("too long to be kept"), "{}", reply.text());

    gates[1].open();
    let (_stage, _client, stream) = under_way(script()).await;
    let reply = stream.reply().await;
    assert!(answered(&reply) && reply.messages.iter().any(|message| message.text.len() == long.len()));
}
