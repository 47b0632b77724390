//! Legacy clients, each with a process of its own for each session.

use serde_json::json;
use usher_testkit::client::Legacy;

use super::{gone, pid, said, stage};
use crate::harness::SECOND;

/// R-GW-01: tools pass, and each session has its own process; nothing of our environment stands in it.
#[tokio::test]
async fn each_session_has_a_process_of_its_own_with_a_cleared_environment() {
    let stage = stage("[[upstream]]\nenv = { MODE = \"test\" }", false).await;
    let (one, other) = (stage.local_legacy().await, stage.local_legacy().await);
    one.notify("notifications/initialized", "{}").await;
    let who = said(&one.tool("whoami", "{}").await);
    // The path is the test runner's, where it has one.
    let env = who["env"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
    let env: Vec<_> = env.filter(|name| *name != "PATH").collect();
    assert_eq!((env, &who["initialized"]), (vec!["MODE"], &json!(true)));
    assert_eq!(pid(&one).await, who["pid"].as_u64().unwrap());
    let (first, second) = (pid(&one).await, pid(&other).await);
    assert_ne!(first, second);
    one.delete().await;
    gone(first).await;
    assert_eq!(pid(&other).await, second, "somebody else's goes on");
}

/// R-ID-01: a session's process is that of its client.
#[tokio::test]
async fn nobody_reaches_the_process_of_another_client() {
    let stage = stage("", false).await;
    let client = stage.local_legacy().await;
    let thief = Legacy::new(stage.local()).token(SECOND).with_session(client.session().unwrap());
    assert_eq!(thief.tool("whoami", "{}").await.status, 404);
}

/// R-GW-02: progress and logs come on the call's stream under the client's own names.
#[tokio::test]
async fn progress_and_logs_come_on_the_stream_of_the_call() {
    let stage = stage("", false).await;
    let client = stage.local_legacy().await;
    let params = r#"{"name":"progress","_meta":{"progressToken":"the client's"}}"#;
    let mut stream = client.open("tools/call", params).await;
    let progress = stream.expect("notifications/progress").await;
    assert_eq!(progress.json()["params"], json!({ "progressToken": "the client's", "progress": 1 }));
    stream.expect("notifications/message").await;
    assert_eq!(said(&stream.reply().await), json!("done"));
}

/// R-GW-01: a server's question in a form reaches the person, and the answer the server.
#[tokio::test]
async fn a_question_is_asked_on_the_stream_of_the_call_and_answered() {
    let stage = stage("", false).await;
    let client = stage.local_legacy().await;
    let answers = [
        json!({ "action": "accept", "content": { "name": "Ada" } }),
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
    ];
    for answer in answers {
        let mut stream = client.open_tool("ask", r#"{"message":"Who are you?"}"#).await;
        let question = stream.expect("elicitation/create").await;
        assert_eq!(question.json()["params"]["message"], "Who are you?");
        client.respond(question.id().unwrap(), &answer.to_string()).await;
        assert_eq!(said(&stream.reply().await), answer);
    }
}

/// What two calls at once cannot be told apart for goes to the client's own stream.
#[tokio::test]
async fn with_two_calls_under_way_a_question_comes_on_the_clients_own_stream() {
    let stage = stage("", false).await;
    let client = stage.local_legacy().await;
    let mut own = client.open_get(None).await;
    // Begins to be answered, so that it is under way before the other call.
    let busy = client.open_as("77", "tools/call", r#"{"name":"hang"}"#);
    let ask = async {
        let ask = client.open_tool("ask", r#"{"message":"Who?"}"#);
        let answer = async {
            let question = own.expect("elicitation/create").await;
            client.respond(question.id().unwrap(), r#"{"action":"decline"}"#).await;
        };
        let (stream, ()) = tokio::join!(ask, answer);
        assert_eq!(said(&stream.reply().await), json!({ "action": "decline" }));
        client.notify("notifications/cancelled", r#"{"requestId":77}"#).await;
    };
    let (_, ()) = tokio::join!(busy, ask);
    assert_eq!(said(&client.tool("cancelled", "{}").await), json!(1), "the cancellation reached the server");
}

/// Lines that are no messages, and what stands in standard error, disturb nothing.
#[tokio::test]
async fn chatter_disturbs_nothing() {
    let stage = stage("", false).await;
    let client = stage.local_legacy().await;
    assert_eq!(said(&client.tool("chatter", r#"{"text":"a line"}"#).await), json!("said"));
    assert_eq!(said(&client.tool("flood", r#"{"count":2000}"#).await), json!("flooded"));
}

/// A wrapper stands before the command, and a process starts where it is told to.
#[tokio::test]
async fn a_wrapper_stands_before_the_command() {
    let keys =
        "[[upstream]]\nwrapper = [\"/usr/bin/env\", \"WRAPPED=yes\"]\ntrusted = true\npass = []\ndirectory = \"/\"";
    let stage = stage(keys, false).await;
    let who = said(&stage.local_legacy().await.tool("whoami", "{}").await);
    assert_eq!((&who["env"], &who["directory"]), (&json!(["WRAPPED"]), &json!("/")));
}
