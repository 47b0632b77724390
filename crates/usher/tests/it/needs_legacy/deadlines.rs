//! The call is not held for ever: -32042 names the question, and a retry after completion works.

use usher_testkit::client::Reply;

use super::{accept, asked, begun, connect, elicitation_id, holding, ready, url};
use crate::harness::{CALLS, KEY, Stage, answered};
use usher_testkit::Message;

/// R-ERR-01: a JSON-RPC error with the same elicitation that was asked.
fn assert_required(reply: &Reply, question: Option<&Message>) {
    assert_eq!(reply.status, 200, "{}", reply.text());
    assert_eq!(reply.error_code(), -32042, "{}", reply.text());
    let error = reply.error();
    let elicitations = error["data"]["elicitations"].as_array().unwrap();
    assert_eq!(elicitations.len(), 1);
    assert_eq!(elicitations[0]["mode"], "url");
    assert!(!elicitations[0]["message"].as_str().unwrap().is_empty());
    let id = elicitations[0]["elicitationId"].as_str().unwrap();
    assert!(elicitations[0]["url"].as_str().unwrap().ends_with(id));
    if let Some(question) = question {
        assert_eq!(id, elicitation_id(question));
        assert_eq!(elicitations[0]["url"], url(question));
    }
}

/// R-ERR-01, R-SEC-04, R-URL-11: the hold is over: the error names the same elicitation for tools, prompts and resources alike, and the same
/// call works once the person is done.
#[tokio::test]
async fn when_the_hold_is_over_the_error_names_the_question() {
    for call in CALLS {
        let stage = holding("1s").await;
        let client = ready(&stage).await;
        let (stream, question) = asked(&client, call).await;
        accept(&client, &question).await;
        let reply = stream.reply().await;
        assert_required(&reply, Some(&question));
        assert!(!reply.text().contains("notifications/cancelled"), "an answered question is not withdrawn");
        connect(&stage.person().await, &question, KEY).await;
        assert!(answered(&client.call(call.0, call.1).await));
        stage.upstream.assert_clean();
    }
}

/// R-SEC-04: a question that nobody answered is taken back before the call ends, so that no dialog stays open.
#[tokio::test]
async fn a_question_without_answer_is_withdrawn_when_the_hold_is_over() {
    let stage = holding("1s").await;
    let client = ready(&stage).await;
    let (mut stream, question) = asked(&client, CALLS[1]).await;
    let withdrawn = stream.expect("notifications/cancelled").await;
    assert_eq!(withdrawn.at(&["params", "requestId"]), question.id());
    assert_required(&stream.reply().await, Some(&question));
}

/// R-ERR-01: a client that takes no stream, or an operator who wants no waiting: the error comes at once.
#[tokio::test]
async fn without_a_stream_or_a_hold_the_error_comes_at_once() {
    let stage = holding("10m").await;
    let client = begun(stage.legacy().header("accept", Some("application/json"))).await;
    let first = client.call(CALLS[0].0, CALLS[0].1).await;
    assert_required(&first, None);
    for call in CALLS {
        let reply = client.call(call.0, call.1).await;
        assert!(!reply.sse);
        assert_required(&reply, None);
        assert_eq!(reply.url(), first.url());
    }
    stage.person().await.connect(&first.url(), &[("api_key", KEY)]).await;
    for call in CALLS {
        assert!(answered(&client.call(call.0, call.1).await));
    }
    let stage = holding("0s").await;
    let client = ready(&stage).await;
    for call in CALLS {
        assert_required(&client.call(call.0, call.1).await, None);
    }
}

/// R-SEC-04: the question expires while the call is held: the call ends, and a new one asks on a new page.
#[tokio::test]
async fn a_question_that_expired_is_asked_anew() {
    let stage: Stage = holding("1s").await;
    let client = ready(&stage).await;
    let (stream, question) = asked(&client, CALLS[0]).await;
    accept(&client, &question).await;
    stage.clock.forward(15 * 60 + 1);
    let ended = stream.reply().await;
    assert!(crate::harness::told("tools/call", &ended).contains(&stage.portal()), "{}", ended.text());
    let (_stream, again) = asked(&client, CALLS[0]).await;
    assert_ne!(url(&again), url(&question));
}
