//! Requests under way, and streams.

use tokio::task::JoinHandle;
use usher_store::AuditAction;
use usher_testkit::{
    client::{Modern, Reply},
    upstream::{Gate, Script},
};

use super::{free, refused, second, until_served};
use crate::harness::{SECOND, Stage};

/// The fewest requests that there can be: one waits, one is told so.
const TWO: &str = "client_requests = 2\nclient_held_calls = 1";

const FILTER: &str = r#"{"notifications":{}}"#;

/// As many calls as may be under way, which end with the gate.
async fn two_under_way(stage: &Stage, client: &Modern) -> (Gate, [JoinHandle<Reply>; 2]) {
    let gate = Gate::new();
    stage.upstream.tool("slow", Script::new().wait(&gate).text("done"));
    let calls =
        [client.clone(), client.clone()].map(|client| tokio::spawn(async move { client.tool("slow", "{}").await }));
    gate.reached(2).await;
    (gate, calls)
}

/// R-SEC-01: so many requests of one client are under way; others are not concerned.
#[tokio::test]
async fn requests_under_way_are_limited() {
    let stage = free(TWO).await;
    let client = stage.modern();
    let (gate, [slow, other]) = two_under_way(&stage, &client).await;
    refused(&client.call("tools/list", "{}").await);
    assert_eq!(second(&stage, "weather").call("tools/list", "{}").await.status, 200);
    assert_eq!(stage.upstream.requests_of("tools/list").len(), 1, "what is refused goes nowhere");
    assert_eq!(stage.audited(AuditAction::ClientLimited).await, 1);
    gate.open();
    for slow in [slow, other] {
        assert_eq!(slow.await.unwrap().content_text(), "done");
    }
    until_served(async || client.call("tools/list", "{}").await.status == 200).await;
}

/// R-SEC-01: a client that leaves gives its place up, though the server goes on.
#[tokio::test]
async fn a_client_that_leaves_makes_room() {
    let stage = free(TWO).await;
    let client = stage.modern();
    let (gate, [slow, other]) = two_under_way(&stage, &client).await;
    refused(&client.call("tools/list", "{}").await);
    slow.abort();
    until_served(async || client.call("tools/list", "{}").await.status == 200).await;
    gate.open();
    other.await.unwrap();
}

/// R-SEC-01: streams that stay open are counted apart from requests, in both eras together.
#[tokio::test]
async fn streams_are_limited() {
    let stage = free(&format!("client_streams = 1\n{TWO}")).await;
    let (first, second) = (stage.ready().await, stage.ready().await);
    let stream = first.open_get(None).await;
    refused(&second.open_get(None).await.reply().await);
    let subscription = stage.modern().call("subscriptions/listen", FILTER).await;
    refused(&subscription);
    assert!(subscription.text().contains("\"id\":"), "{}", subscription.text());
    assert_eq!(second.call("tools/list", "{}").await.status, 200, "requests go on");
    let stranger = stage.legacy().token(SECOND);
    stranger.initialize().await;
    let _theirs = stranger.open_get(None).await;
    drop(stream);
    until_served(async || {
        let mut stream = stage.modern().stream("subscriptions/listen", FILTER).await;
        stream.next_message().await.is_some_and(|message| !message.is_response())
    })
    .await;
}
