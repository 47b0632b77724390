//! `Last-Event-ID` with ids of the upstream: the upstream has the rest.

use usher_testkit::upstream::{Gate, Script, Upstream};

use crate::harness::Stage;

/// A second drop as the first: each resumption goes to the upstream.
#[tokio::test]
async fn a_call_is_resumed_at_the_upstream_as_often_as_it_breaks_off() {
    let stage = Stage::free(Upstream::start().await).await;
    let gates = [Gate::new(), Gate::new()];
    let script = Script::new().event("id: e-1\ndata:\n\n").cut("e-1").wait(&gates[0]);
    stage.upstream.tool("polls", script.event("id: e-2\ndata:\n\n").cut("e-2").wait(&gates[1]).text("after all"));
    let client = stage.ready().await;
    let mut stream = client.open_tool("polls", "{}").await;
    for (number, gate) in ["e-1", "e-2"].iter().zip(&gates) {
        gate.reached(1).await;
        if number == &"e-1" {
            assert_eq!(stream.next_message().await, None);
            assert_eq!(stream.last_event_id(), "e-1");
        }
        gate.open();
        stream = client.open_get(Some(number)).await;
        if number == &"e-1" {
            assert_eq!(stream.next_message().await, None);
            assert_eq!(stream.last_event_id(), "e-2");
        }
    }
    assert_eq!(stream.reply().await.content_text(), "after all");
    let asked = stage.upstream.http_requests(&http::Method::GET);
    let ids: Vec<_> = asked.iter().map(|request| request.header("last-event-id").unwrap_or_default()).collect();
    assert_eq!(ids, ["e-1", "e-2"]);
    stage.upstream.assert_clean();
}

/// R-CAP-03: -32042 is for clients that declared url mode, on whichever stream it comes.
#[tokio::test]
async fn a_required_url_on_a_resumed_stream_does_not_reach_a_client_without_url_mode() {
    const REQUIRED: &str = r#"{"code":-32042,"message":"visit","data":{"elicitations":[]}}"#;
    for (modes, reaches) in [(&["form"][..], false), (&["form", "url"][..], true)] {
        let stage = Stage::free(Upstream::start().await).await;
        let script = Script::new().event("id: e-1\ndata:\n\n").cut("e-1").event("id: e-2\n").error_raw(REQUIRED);
        stage.upstream.tool("wants", script);
        let client = stage.legacy().elicitation(modes);
        client.initialize().await;
        let mut stream = client.open_as("\"c\"", "tools/call", r#"{"name":"wants"}"#).await;
        assert_eq!(stream.next_message().await, None);
        let mut stream = client.open_get(Some("e-1")).await;
        let answer = stream.next_message().await.unwrap();
        assert_eq!(answer.id(), Some("\"c\""));
        assert_eq!(answer.text.contains("-32042"), reaches, "{}", answer.text);
        assert_eq!(answer.text.contains("the server weather"), !reaches, "{}", answer.text);
        assert_eq!(stream.last_event_id(), "e-2", "the place in the stream stays");
    }
}

/// R-CAP-03: likewise a question in a mode that was not declared, which the upstream hears of.
#[tokio::test]
async fn a_question_on_a_resumed_stream_is_looked_at_too() {
    let stage = Stage::free(Upstream::start().await).await;
    let gate = Gate::new();
    let question = r#"{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"mode":"url","message":"m","url":"https://x.example/","elicitationId":"1"}}"#;
    let script = Script::new().event("id: e-1\ndata:\n\n").cut("e-1").message(question).wait(&gate).text("done");
    stage.upstream.tool("asks", script);
    let client = stage.legacy().elicitation(&["form"]);
    client.initialize().await;
    assert_eq!(client.open_tool("asks", "{}").await.next_message().await, None);
    let stream = client.open_get(Some("e-1")).await;
    let refusal = stage.upstream.wait_for("response", 1).await;
    assert!(String::from_utf8_lossy(&refusal[0].body).contains("-32602"));
    gate.open();
    let reply = stream.reply().await;
    assert_eq!(reply.messages.len(), 1, "{}", reply.text());
}

/// R-SEC-04: where the upstream has no such streams the client does not wait for ever on a silent one.
#[tokio::test]
async fn what_the_upstream_does_not_resume_is_not_waited_for() {
    let stage = Stage::free(Upstream::builder().without_get_stream().start().await).await;
    let client = stage.ready().await;
    assert_eq!(client.open_get(Some("e-1")).await.status, 405);
    assert_eq!(client.open_get(None).await.status, 200, "its own stream is another matter");
    stage.upstream.stop();
    assert_eq!(client.open_get(Some("e-1")).await.status, 502);
}

/// Transports 2025-11-25, "Sending Messages to the Server": a connection that breaks is no cancellation.
#[tokio::test]
async fn a_client_that_leaves_a_call_has_not_cancelled_it() {
    let stage = Stage::free(Upstream::start().await).await;
    let gate = Gate::new();
    stage.upstream.tool("slow", Script::new().event("id: e-1\ndata:\n\n").wait(&gate));
    let client = stage.ready().await;
    let mut stream = client.open_tool("slow", "{}").await;
    while stream.last_event_id() != "e-1" {
        assert!(stream.next_item().await.is_some());
    }
    drop(stream);
    stage.upstream.wait_left("tools/call").await;
    assert_eq!(client.call("ping", "{}").await.status, 200);
    assert!(stage.upstream.requests_of("notifications/cancelled").is_empty());
    stage.upstream.assert_clean();
}
