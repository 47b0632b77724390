//! Requests under way, and streams.

use usher_store::AuditAction;
use usher_testkit::upstream::{Gate, Script};

use super::{free, refused, second, until_served};
use crate::harness::SECOND;

const FILTER: &str = r#"{"notifications":{}}"#;

/// R-SEC-01: so many requests of one client are under way; others are not concerned.
#[tokio::test]
async fn requests_under_way_are_limited() {
    let stage = free("client_requests = 1").await;
    let gate = Gate::new();
    stage.upstream.tool("slow", Script::new().wait(&gate).text("done"));
    let client = stage.modern();
    let slow = tokio::spawn({
        let client = client.clone();
        async move { client.tool("slow", "{}").await }
    });
    gate.reached(1).await;
    refused(&client.call("tools/list", "{}").await);
    assert_eq!(second(&stage, "weather").call("tools/list", "{}").await.status, 200);
    assert_eq!(stage.upstream.requests_of("tools/list").len(), 1, "what is refused goes nowhere");
    assert_eq!(stage.audited(AuditAction::ClientLimited).await, 1);
    gate.open();
    assert_eq!(slow.await.unwrap().content_text(), "done");
    until_served(async || client.call("tools/list", "{}").await.status == 200).await;
}

/// R-SEC-01: a client that leaves gives its place up, though the server goes on.
#[tokio::test]
async fn a_client_that_leaves_makes_room() {
    let stage = free("client_requests = 1").await;
    let gate = Gate::new();
    stage.upstream.tool("slow", Script::new().wait(&gate).text("done"));
    let client = stage.modern();
    let slow = tokio::spawn({
        let client = client.clone();
        async move { client.tool("slow", "{}").await }
    });
    gate.reached(1).await;
    slow.abort();
    until_served(async || client.call("tools/list", "{}").await.status == 200).await;
    gate.open();
}

/// R-SEC-01: streams that stay open are counted apart from requests, in both eras together.
#[tokio::test]
async fn streams_are_limited() {
    let stage = free("client_streams = 1\nclient_requests = 2").await;
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
