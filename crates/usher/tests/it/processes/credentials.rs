//! A person's credential in the environment of a process, from connecting to disconnecting.

use serde_json::json;
use usher::{clock::Clock as _, identity::tokens::local_user};
use usher_testkit::client::{Legacy, Modern, Reply};

use super::{gone, pid, said, stage};
use crate::{
    harness::{ACCEPT, KEY, Stage},
    needs_modern::{ask, retry},
};

const ENV: &str = r#"{"name":"WEATHER_KEY"}"#;

/// Asks for the credential, connects it, and returns what the call went on to answer.
async fn asked_and_connected(stage: &Stage, client: &Legacy) -> Reply {
    asked_and_connected_with(stage, client, KEY).await
}

async fn asked_and_connected_with(stage: &Stage, client: &Legacy, key: &str) -> Reply {
    let mut stream = client.open_tool("env", ENV).await;
    let question = stream.expect("elicitation/create").await;
    client.respond(question.id().unwrap(), ACCEPT).await;
    let url = question.string(&["params", "url"]).unwrap();
    stage.person().await.connect(&url, &[("api_key", key)]).await;
    stream.reply().await
}

/// The same in rounds.
async fn asked_and_connected_in_rounds(stage: &Stage, client: &Modern) -> Reply {
    let call = ("tools/call", r#"{"name":"env","arguments":{"name":"WEATHER_KEY"}}"#);
    let asked = ask(client, call).await;
    stage.person().await.connect(&asked.url(), &[("api_key", KEY)]).await;
    retry(client, call, &asked, ACCEPT).await
}

/// R-GW-03, R-OAUTH-01: the call asks, and goes on in a process that has the key; the session goes on with it.
#[tokio::test]
async fn a_legacy_call_asks_and_goes_on_with_the_key_in_the_environment() {
    let stage = stage("", true).await;
    let client = stage.local_legacy().await;
    client.notify("notifications/initialized", "{}").await;
    let before = pid(&client).await;
    assert_eq!(said(&asked_and_connected(&stage, &client).await), json!(KEY));
    gone(before).await;
    let who = said(&client.tool("whoami", "{}").await);
    assert_eq!(who["initialized"], true, "the handshake was repeated");
}

/// R-GW-03: the same in rounds.
#[tokio::test]
async fn a_modern_call_asks_and_goes_on_with_the_key_in_the_environment() {
    let stage = stage("", true).await;
    let client = stage.local_modern();
    assert_eq!(said(&asked_and_connected_in_rounds(&stage, &client).await), json!(KEY));
}

/// R-GW-04: the page shows the command that gets the key.
#[tokio::test]
async fn the_page_names_the_command() {
    let stage = stage("", true).await;
    let asked = stage.local_modern().call("tools/call", r#"{"name":"env","arguments":{}}"#).await;
    let page = stage.person().await.get(&asked.url()).await;
    assert!(page.text().contains("examples/stdio_server"), "{}", page.describe());
}

/// R-GW-04: what is disconnected is gone at once, also from the environment of a process.
#[tokio::test]
async fn disconnecting_stops_the_process_at_once() {
    let stage = stage("", true).await;
    let client = stage.local_legacy().await;
    asked_and_connected(&stage, &client).await;
    let before = pid(&client).await;
    let mut stream = client.open_tool("linger", "{}").await;
    stream.expect("notifications/message").await;
    let app = stage.app();
    app.store.disconnect(&local_user(), "weather", stage.clock.now()).await.unwrap();
    gone(before).await;
    let text = stream.reply().await.text();
    assert!(text.contains("the server local was stopped"), "{text}");
    let mut stream = client.open_tool("env", ENV).await;
    stream.expect("elicitation/create").await;
}

/// A key that was replaced reaches the server with the next call, when nothing is under way.
#[tokio::test]
async fn another_key_replaces_the_process_when_it_is_idle() {
    const OTHER: &str = "another-key-0123456789";
    let stage = stage("", true).await;
    let client = stage.local_legacy().await;
    asked_and_connected(&stage, &client).await;
    let before = pid(&client).await;
    let other = stage.local_legacy().await;
    assert_eq!(said(&other.tool("env", ENV).await), json!(KEY), "another session of the client needs no question");
    let marked = stage.app().store.credential(&local_user(), "weather").await.unwrap().unwrap();
    stage.app().store.reject_credential(&local_user(), "weather", marked.version, stage.clock.now()).await.unwrap();
    assert_eq!(said(&asked_and_connected_with(&stage, &client, OTHER).await), json!(OTHER));
    assert_ne!(pid(&client).await, before);
}

/// An open subscription holds up no credential: it ends in good order with the process that had none.
#[tokio::test]
async fn a_subscription_holds_up_no_credential() {
    let stage = stage("", true).await;
    let client = stage.local_modern();
    let mut subscription = client.request("subscriptions/listen", "{}").id(Some("\"s\"")).stream().await;
    subscription.expect("notifications/tools/list_changed").await;
    assert_eq!(said(&asked_and_connected_in_rounds(&stage, &client).await), json!(KEY));
    subscription.expect("notifications/cancelled").await;
    let ended = subscription.reply().await;
    assert_eq!((ended.response().id(), &ended.result()["resultType"]), (Some("\"s\""), &json!("complete")));
}

/// A session that ends while its process is being started leaves none behind.
#[tokio::test]
async fn a_session_that_ends_leaves_no_process_behind() {
    let stage = stage("", false).await;
    let client = stage.local_legacy().await;
    let first = pid(&client).await;
    client.tool("exit", r#"{"code":1}"#).await;
    gone(first).await;
    let calls = (0..8).map(|_| client.tool("whoami", "{}"));
    let (replies, deleted) = tokio::join!(futures_util::future::join_all(calls), client.delete());
    assert_eq!(deleted.status, 200);
    for reply in replies.iter().filter(|reply| reply.text().contains("pid")) {
        gone(said(reply)["pid"].as_u64().unwrap()).await;
    }
}
