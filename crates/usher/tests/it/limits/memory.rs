//! Bytes in memory.

use usher_testkit::{
    client::{Modern, Reply},
    upstream::{Gate, Script},
};

use super::{free, refused, second, until_served};

/// A call whose message is about so many bytes long.
async fn call(client: &Modern, tool: &str, bytes: usize) -> Reply {
    client.tool(tool, &format!("{{\"text\":\"{}\"}}", "x".repeat(bytes))).await
}

/// R-SEC-01: a message has a largest size.
#[tokio::test]
async fn a_message_has_a_largest_size() {
    let stage = free("body_size = \"16KiB\"").await;
    let client = stage.modern();
    let mut body = client.request("tools/list", "{}").to_body();
    body.resize(16 * 1024, b' ');
    assert_eq!(client.request("tools/list", "{}").body(body.clone()).send().await.status, 200);
    body.push(b' ');
    let reply = client.request("tools/list", "{}").body(body).send().await;
    assert_eq!(reply.status, 413);
    assert!(reply.error_message().contains("16384 bytes"), "{}", reply.text());
}

/// R-SEC-01: messages of calls under way have room for each client, and come back with their calls.
#[tokio::test]
async fn messages_of_one_client_have_so_much_room() {
    let stage = free("body_size = \"1MiB\"\nclient_memory = \"1MiB\"").await;
    let gate = Gate::new();
    stage.upstream.tool("slow", Script::new().wait(&gate).text("done"));
    stage.upstream.tool("fast", Script::new().text("done"));
    let client = stage.modern();
    let slow = tokio::spawn({
        let client = client.clone();
        async move { call(&client, "slow", 700_000).await }
    });
    gate.reached(1).await;
    refused(&call(&client, "fast", 700_000).await);
    assert_eq!(call(&client, "fast", 200_000).await.content_text(), "done", "a small one has room");
    assert_eq!(call(&second(&stage, "weather"), "fast", 700_000).await.content_text(), "done");
    gate.open();
    assert_eq!(slow.await.unwrap().content_text(), "done");
    until_served(async || call(&client, "fast", 700_000).await.status == 200).await;
}

/// R-SEC-01: the same for all clients together.
#[tokio::test]
async fn messages_of_all_have_so_much_room() {
    let stage = free("body_size = \"1MiB\"\nclient_memory = \"1MiB\"\nmemory = \"1MiB\"").await;
    let gate = Gate::new();
    stage.upstream.tool("slow", Script::new().wait(&gate).text("done"));
    stage.upstream.tool("fast", Script::new().text("done"));
    let (client, other) = (stage.modern(), second(&stage, "weather"));
    let slow = tokio::spawn(async move { call(&client, "slow", 700_000).await });
    gate.reached(1).await;
    refused(&call(&other, "fast", 700_000).await);
    gate.open();
    slow.await.unwrap();
    until_served(async || call(&other, "fast", 700_000).await.status == 200).await;
}

/// A large answer arrives whole, in however many pieces it goes.
#[tokio::test]
async fn a_large_answer_arrives_whole() {
    let stage = free("").await;
    let text = "y".repeat(1_000_000);
    stage.upstream.tool("large", Script::new().text(&text));
    assert_eq!(stage.modern().tool("large", "{}").await.content_text(), text);
}
