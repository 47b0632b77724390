//! Processes that end by themselves, or never begin.

use serde_json::json;
use usher_testkit::client::Legacy;

use super::{gone, pid, said, stage, stage_of};

/// The calls under way get an error that says what happened; the next one finds a server, and its session.
#[tokio::test]
async fn a_crash_is_told_to_the_calls_under_way_and_the_next_call_goes_on() {
    let stage = stage("", false).await;
    let client = stage.local_legacy().await;
    client.notify("notifications/initialized", "{}").await;
    let before = pid(&client).await;
    let mut hanging = client.open_tool("linger", "{}").await;
    hanging.expect("notifications/message").await;
    let crashed = client.tool("exit", r#"{"code":7}"#).await;
    for reply in [hanging.reply().await, crashed] {
        let text = reply.error_message();
        assert!(text.contains("the server local ended") && text.contains("exit status: 7"), "{text}");
    }
    gone(before).await;
    let who = said(&client.tool("whoami", "{}").await);
    assert!(who["pid"].as_u64().unwrap() != before && who["initialized"] == true, "{who}");
}

/// R-ID-01: an answer to a question of a run that is over reaches no other run.
#[tokio::test]
async fn an_answer_to_a_crashed_server_is_dropped() {
    let stage = stage("", false).await;
    let client = stage.local_legacy().await;
    let mut stream = client.open_tool("ask", r#"{"message":"one"}"#).await;
    let old = stream.expect("elicitation/create").await;
    client.tool("exit", r#"{"code":1}"#).await;
    let mut stream = client.open_tool("ask", r#"{"message":"two"}"#).await;
    let new = stream.expect("elicitation/create").await;
    assert_ne!(old.id(), new.id());
    client.respond(old.id().unwrap(), r#"{"action":"accept","content":{"name":"wrong"}}"#).await;
    client.respond(new.id().unwrap(), r#"{"action":"decline"}"#).await;
    assert_eq!(said(&stream.reply().await), json!({ "action": "decline" }));
}

/// R-SEC-04: a program that cannot be started, or never answers, is an error in time that names the server.
#[tokio::test]
async fn a_program_that_does_not_start_or_answer_is_an_error() {
    for (command, text) in [
        ("[\"/no/such/program\"]", "the server local cannot be started"),
        ("[\"false\"]", "the server local ended"),
        ("[\"sleep\", \"60\"]", "the server local did not answer within 1 s"),
    ] {
        let stage = stage_of(command, "[[upstream]]\ntimeout = \"1s\"", false).await;
        let client = Legacy::new(stage.local()).token(&stage.token);
        let message = client.initialize().await.error_message();
        assert!(message.contains(text), "{command}: {message}");
    }
}

/// A server that keeps ending is not started again and again.
#[tokio::test]
async fn a_server_that_keeps_ending_is_given_a_rest() {
    let stage = stage_of("[\"false\"]", "[[upstream]]\ntimeout = \"2s\"", false).await;
    let client = stage.local_modern();
    let mut last = String::new();
    for _ in 0..8 {
        last = client.tool("whoami", "{}").await.error_message();
        if last.contains("keeps ending; it is started again in") {
            return;
        }
    }
    panic!("{last}");
}
