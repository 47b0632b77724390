//! A server that refuses even to list (R-GW-06).

use serde_json::Value;

use super::scene::{CALL, Scene, went};
use crate::harness::ACCEPT;

fn names(listed: &Value) -> Vec<&str> {
    listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// R-GW-06: one tool that connects, then the server's own; and word of it.
#[tokio::test]
async fn a_modern_client_connects_by_the_one_tool() {
    let scene = Scene::new().await;
    let client = scene.stage.modern();
    assert_eq!(names(&client.call("tools/list", "{}").await.result()), ["connect"]);
    let mut stream = client.stream("subscriptions/listen", r#"{"notifications":{"toolsListChanged":true}}"#).await;
    stream.expect("notifications/subscriptions/acknowledged").await;
    let asked = client.tool("connect", "{}").await;
    let done = scene.connect(&scene.stage.person().await, &asked.url()).await;
    assert_eq!(done.heading().as_deref(), Some("Connected"), "{}", done.describe());
    stream.expect("notifications/tools/list_changed").await;
    assert!(names(&client.call("tools/list", "{}").await.result()).contains(&"list_notes"));
    scene.assert_clean();
}

/// R-GW-06: the same in the legacy era, where even the handshake is answered in place of the server.
#[tokio::test]
async fn a_legacy_client_connects_by_the_one_tool() {
    let scene = Scene::new().await;
    let client = scene.stage.legacy();
    client.initialize().await.result();
    assert_eq!(names(&client.call("tools/list", "{}").await.result()), ["connect"]);
    let mut get = client.open_get(None).await;
    let mut stream = client.open_tool("connect", "{}").await;
    let question = stream.expect("elicitation/create").await;
    client.respond(question.id().unwrap(), ACCEPT).await;
    scene.connect(&scene.stage.person().await, &question.string(&["params", "url"]).unwrap()).await;
    assert!(stream.reply().await.content_text().contains("is connected"));
    assert!(names(&client.call("tools/list", "{}").await.result()).contains(&"list_notes"));
    get.expect("notifications/tools/list_changed").await;
    assert!(went(&client.call(CALL.0, CALL.1).await));
    scene.assert_clean();
}
