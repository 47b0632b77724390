//! The legacy client against the fake upstream.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

use usher_testkit::Outcome;
use usher_testkit::client::Legacy;
use usher_testkit::sse::Item;
use usher_testkit::upstream::{Eras, Gate, Question, Refusal, Script, Upstream};

const SCHEMA: &str = r#"{"type":"object","properties":{"name":{"type":"string"}}}"#;

async fn connected(upstream: &Upstream) -> Legacy {
    let client = Legacy::new(upstream.url()).elicitation(&["form", "url"]);
    let reply = client.initialize().await;
    assert_eq!(reply.status, 200);
    client
}

#[tokio::test]
async fn a_result_comes_back_byte_for_byte() {
    let upstream = Upstream::start().await;
    let raw = r#"{"z":9007199254740993 , "a":1e999,"content":[]}"#;
    upstream.tool("t", Script::new().result(raw));
    let client = connected(&upstream).await;
    let reply = client.tool("t", r#"{"b":1,"a":1e999}"#).await;
    assert_eq!(reply.result_raw(), raw);
    let seen = &upstream.requests_of("tools/call")[0];
    assert_eq!(seen.raw(&["params", "arguments"]), Some(r#"{"b":1,"a":1e999}"#));
    assert_eq!(seen.outcome(), Outcome::Answered);
    upstream.assert_clean();
}

#[tokio::test]
async fn a_question_is_asked_on_the_stream_of_the_call_and_its_answer_counts() {
    let upstream = Upstream::start().await;
    let script = Script::new()
        .ask(Question::form("who", "Name?", SCHEMA).and_url("pay", "Pay", "https://pay.example/1"))
        .result_with(|call| format!(r#"{{"who":{}}}"#, call.answer("who").unwrap()));
    upstream.tool("ask", script);
    let client = connected(&upstream).await;
    let mut asked = Vec::new();
    let response = client
        .call_answering("tools/call", r#"{"name":"ask"}"#, |message| {
            asked.push(message.string(&["params", "mode"]).unwrap());
            Some(r#"{"action":"accept","content":{"name":"octocat"}}"#.to_owned())
        })
        .await;
    assert_eq!(asked, ["form", "url"]);
    assert_eq!(response.at(&["result", "who"]), Some(r#"{"action":"accept","content":{"name":"octocat"}}"#));
    upstream.assert_clean();
}

#[tokio::test]
async fn a_second_answer_to_one_question_is_a_violation() {
    let upstream = Upstream::start().await;
    upstream.tool("ask", Script::new().ask(Question::form("who", "Name?", SCHEMA)));
    let client = connected(&upstream).await;
    let mut stream = client.open_tool("ask", "{}").await;
    let question = stream.expect("elicitation/create").await;
    let id = question.id().unwrap();
    client.respond(id, r#"{"action":"cancel"}"#).await;
    assert_eq!(stream.reply().await.content_text(), "ok");
    upstream.assert_clean();
    client.respond(id, r#"{"action":"cancel"}"#).await;
    assert_eq!(upstream.take_violations().len(), 1);
}

#[tokio::test]
async fn events_come_in_pieces_and_in_order_before_the_result() {
    let upstream = Upstream::start().await;
    let script = Script::new()
        .event(": hello\n\nid: 1\nretry: 20\ndata:\n\n")
        .progress(1, Some(2), Some("half"))
        .message(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#)
        .text("done")
        .in_pieces_of(3);
    upstream.tool("t", script);
    let client = connected(&upstream).await;
    let params = r#"{"name":"t","_meta":{"progressToken":"p"}}"#;
    let mut stream = client.open("tools/call", params).await;
    assert!(stream.is_sse());
    assert_eq!(stream.next_item().await, Some(Item::Comment("hello".into())));
    assert_eq!(stream.next_item().await, Some(Item::Retry(20)));
    assert!(stream.next_item().await.is_some());
    assert_eq!(stream.last_event_id(), "1");
    let progress = stream.expect("notifications/progress").await;
    assert_eq!(progress.string(&["params", "progressToken"]).as_deref(), Some("p"));
    let reply = stream.reply().await;
    assert_eq!(reply.messages.len(), 3);
    assert_eq!(reply.content_text(), "done");
}

#[tokio::test]
async fn leaving_a_call_that_waits_at_a_gate_is_noticed() {
    let upstream = Upstream::start().await;
    let gate = Gate::new();
    upstream.tool("slow", Script::new().sse().wait(&gate));
    upstream.tool("silent", Script::new().wait(&gate));
    let client = connected(&upstream).await;
    let stream = client.open_tool("slow", "{}").await;
    gate.reached(1).await;
    drop(stream);
    upstream.wait_left("tools/call").await;
    tokio::select! {
        _ = client.open_tool("silent", "{}") => panic!("an answer through a closed gate"),
        () = gate.reached(2) => {}
    }
    upstream
        .wait_until("two calls left", |upstream| {
            let calls = upstream.requests_of("tools/call");
            calls.iter().filter(|call| call.outcome() == Outcome::Left).count() == 2
        })
        .await;
    gate.open();
    assert_eq!(client.tool("slow", "{}").await.content_text(), "ok");
}

#[tokio::test]
async fn a_cancelled_call_ends_without_a_response() {
    let upstream = Upstream::start().await;
    let gate = Gate::new();
    upstream.tool("slow", Script::new().wait(&gate));
    let client = std::sync::Arc::new(connected(&upstream).await);
    let caller = std::sync::Arc::clone(&client);
    let call = tokio::spawn(async move { caller.tool("slow", "{}").await });
    gate.reached(1).await;
    let id = upstream.requests_of("tools/call")[0].raw(&["id"]).unwrap().to_owned();
    client.notify("notifications/cancelled", &format!(r#"{{"requestId":{id}}}"#)).await;
    assert!(call.await.unwrap().messages.is_empty());
    upstream.wait_outcome("tools/call", Outcome::Cancelled).await;
    upstream.assert_clean();
}

#[tokio::test]
async fn a_missing_header_is_refused_where_it_is_required() {
    let upstream = Upstream::start().await;
    upstream.tool("t", Script::new().require("x-api-key", "k1"));
    upstream.prompt("p", Script::new().require_or("x-api-key", "k1", Refusal::forbidden()));
    let client = connected(&upstream).await;
    let reply = client.tool("t", "{}").await;
    assert_eq!(reply.status, 401);
    assert!(reply.header("www-authenticate").unwrap().starts_with("Bearer"));
    assert_eq!(client.call("prompts/get", r#"{"name":"p"}"#).await.status, 403);
    let client = client.header("x-api-key", Some("k1"));
    assert_eq!(client.tool("t", "{}").await.content_text(), "ok");
    let prompt = client.call("prompts/get", r#"{"name":"p"}"#).await;
    assert_eq!(prompt.result()["messages"][0]["content"]["text"], "ok");
}

#[tokio::test]
async fn sessions_are_required_deleted_and_forgotten() {
    let upstream = Upstream::start().await;
    let client = connected(&upstream).await;
    let id = client.session().unwrap();
    assert_eq!(upstream.sessions()[0].capabilities(), r#"{"elicitation":{"form":{},"url":{}}}"#);
    let stranger = Legacy::new(upstream.url());
    assert_eq!(stranger.call("ping", "{}").await.status, 400);
    let thief = Legacy::new(upstream.url()).with_session("made-up");
    assert_eq!(thief.call("ping", "{}").await.status, 404);
    assert_eq!(upstream.take_violations().len(), 2);
    assert_eq!(client.call("ping", "{}").await.result_raw(), "{}");
    assert_eq!(client.delete().await.status, 200);
    upstream.wait_deleted(&id).await;
    assert_eq!(client.call("ping", "{}").await.status, 404);
    let client = connected(&upstream).await;
    upstream.forget_sessions();
    assert_eq!(client.call("ping", "{}").await.status, 404);
    upstream.assert_clean();
}

#[tokio::test]
async fn the_get_stream_carries_pushes_until_the_session_ends() {
    let upstream = Upstream::start().await;
    let client = connected(&upstream).await;
    let note = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    let (mut stream, ()) = tokio::join!(client.open_get(None), upstream.push_message(note));
    assert_eq!(stream.next_message().await.unwrap().text, note);
    assert_eq!(upstream.get_streams(), 1);
    client.delete().await;
    assert!(stream.next_message().await.is_none());
}

#[tokio::test]
async fn a_stream_that_was_cut_goes_on_at_the_last_event_id() {
    let upstream = Upstream::start().await;
    upstream.tool("t", Script::new().event("id: e1\ndata:\n\n").cut("e1").text("later"));
    let client = connected(&upstream).await;
    let mut stream = client.open_tool("t", "{}").await;
    assert!(stream.next_message().await.is_none());
    let mut rest = client.open_get(Some(stream.last_event_id())).await;
    assert!(rest.next_message().await.unwrap().text.contains("later"));
    assert!(rest.next_message().await.is_none());
}

#[tokio::test]
async fn cut_connections_and_stopped_servers_fail_fast_and_come_back() {
    let upstream = Upstream::builder().eras(Eras::Legacy).without_sessions().start().await;
    upstream.tool("dead", Script::new().drop_connection());
    upstream.tool("half", Script::new().event(": x\n\n").drop_connection());
    upstream.tool("ok", Script::new());
    upstream.tool("noise", Script::new().garbage());
    let client = connected(&upstream).await;
    assert_eq!(client.session(), None);
    assert!(client.try_open("tools/call", r#"{"name":"dead"}"#).await.is_err());
    upstream.wait_outcome("tools/call", Outcome::Dropped).await;
    let half = client.tool("half", "{}").await;
    assert_eq!((half.status.as_u16(), half.text().as_str()), (200, ": x\n\n"));
    assert!(!client.tool("noise", "{}").await.body.is_empty());
    upstream.stop();
    assert!(client.try_open("tools/call", r#"{"name":"ok"}"#).await.is_err());
    upstream.restart().await;
    assert_eq!(client.tool("ok", "{}").await.content_text(), "ok");
    upstream.assert_clean();
}

#[tokio::test]
async fn a_server_that_always_streams_does_so_from_initialize_on() {
    let upstream = Upstream::builder().always_sse().without_get_stream().start().await;
    let client = Legacy::new(upstream.url()).revision("1999-01-01");
    let reply = client.initialize().await;
    assert!(reply.sse);
    assert_eq!(reply.result()["protocolVersion"], "2025-11-25");
    assert!(client.call("tools/list", "{}").await.sse);
    assert_eq!(client.open_get(None).await.status, 405);
    upstream.assert_clean();
}

#[tokio::test]
async fn what_must_not_leak_is_found_wherever_it_is() {
    let upstream = Upstream::start().await;
    upstream.forbid("client-token");
    let client = Legacy::new(upstream.url()).token("client-token");
    client.initialize().await;
    assert!(upstream.violations()[0].contains("leaked"));
}

#[tokio::test]
async fn everything_ends_when_the_upstream_is_dropped() {
    let upstream = Upstream::start().await;
    let client = connected(&upstream).await;
    let mut stream = client.open_get(None).await;
    drop(upstream);
    assert!(stream.next_message().await.is_none());
    assert!(client.try_open("ping", "{}").await.is_err());
}
