//! Answers that come as a stream of events, piece by piece.

use usher_testkit::{
    Outcome,
    sse::{Item, event},
    upstream::{Gate, Script, Upstream},
};

use super::odd;
use crate::harness::Stage;

const PROGRESS: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":0.10}}"#;
const LOG: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"\ud83d\ude00 1e999"}}"#;

/// R-GW-02: comments, ids, retries, event names, other line ends and data in several lines are the upstream's own.
#[tokio::test]
async fn a_stream_passes_byte_for_byte() {
    let stage = Stage::free(Upstream::start().await).await;
    let result = format!(r#"{{"jsonrpc":"2.0","id":"x","result":{}}}"#, odd(r#","content":[]"#));
    let text = format!(
        ": hello\n\nid: 1\nretry: 20\ndata:\n\nevent: message\r\ndata: {PROGRESS}\r\n\r\n:\n\nevent: other\ndata: no json\n\n\
         data: {{\"jsonrpc\":\"2.0\",\ndata: \"method\":\"notifications/x\"}}\n\nunknown: 1\ndata:{LOG}\rid: 2\r\r\
         event: message\ndata: {result}\n\n: bye\n\ndata: left over"
    );
    for pieces in [1_usize << 20, 7, 1] {
        stage.upstream.tool("odd", Script::new().event(&*text).body(200, "", "").in_pieces_of(pieces));
        let request = stage.modern().request("tools/call", r#"{"name":"odd"}"#).id(Some("\"x\""));
        let reply = request.meta("progressToken", "\"p\"").send().await;
        assert_eq!(reply.status, 200);
        assert_eq!(reply.text(), text, "pieces of {pieces}");
        assert_eq!(reply.header("content-type"), Some("text/event-stream"));
        assert_eq!(reply.header("x-accel-buffering"), Some("no"));
    }
}

/// R-GW-02: what an upstream says on the way is said on the way, not at the end.
#[tokio::test]
async fn progress_and_log_arrive_while_the_call_still_runs() {
    let stage = Stage::free(Upstream::start().await).await;
    let gates = [Gate::new(), Gate::new(), Gate::new()];
    let script = Script::new()
        .message(PROGRESS)
        .wait(&gates[0])
        .message(LOG)
        .wait(&gates[1])
        .event(": still here\n\n")
        .wait(&gates[2])
        .text("done");
    stage.upstream.tool("slow", script);
    let request = stage.modern().request("tools/call", r#"{"name":"slow"}"#).meta("progressToken", "\"p\"");
    let mut stream = request.stream().await;
    assert!(stream.is_sse());
    for (text, gate) in [(PROGRESS, &gates[0]), (LOG, &gates[1])] {
        assert_eq!(stream.next_message().await.unwrap().text, text);
        assert_eq!(stage.upstream.requests_of("tools/call")[0].outcome(), Outcome::Pending);
        gate.open();
    }
    assert_eq!(stream.next_item().await, Some(Item::Comment("still here".to_owned())));
    gates[2].open();
    assert_eq!(stream.reply().await.content_text(), "done");
    stage.upstream.assert_clean();
}

/// Streamable HTTP 2026-07-28, "Cancellation": closing the stream cancels the call, at the upstream too.
#[tokio::test]
async fn a_client_that_leaves_the_stream_cancels_the_call_upstream() {
    let stage = Stage::free(Upstream::start().await).await;
    let gate = Gate::new();
    stage.upstream.tool("slow", Script::new().message(LOG).wait(&gate));
    let mut stream = stage.modern().stream("tools/call", r#"{"name":"slow"}"#).await;
    stream.expect("notifications/message").await;
    drop(stream);
    stage.upstream.wait_left("tools/call").await;
}

/// The same before the upstream has said anything.
#[tokio::test]
async fn a_client_that_leaves_before_the_first_byte_cancels_the_call_upstream() {
    let stage = Stage::free(Upstream::start().await).await;
    let gate = Gate::new();
    stage.upstream.tool("silent", Script::new().wait(&gate));
    let client = stage.modern();
    tokio::select! {
        _ = client.stream("tools/call", r#"{"name":"silent"}"#) => panic!("an answer through a closed gate"),
        () = gate.reached(1) => {}
    }
    stage.upstream.wait_left("tools/call").await;
}

/// R-ERR-03, R-CAP-03: this era has no requests on streams, however they are written.
#[tokio::test]
async fn a_request_of_the_upstream_on_a_stream_does_not_reach_the_client() {
    let create =
        r#"{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"m","requestedSchema":{}}}"#;
    let requests = [
        event(create),
        event(
            &create
                .replace("\"method\"", "\"m\\u0065thod\"")
                .replace("elicitation/create", "elicitat\\u0069on/cr\\u0065ate"),
        ),
        event(&create.replace(":7,", ":\"s\",").replace("elicitation/create", "sampling/createMessage")),
        event(&create.replace("elicitation/create", "roots/list")),
        event(&create.replace("elicitation/create", "unknown/request")),
        event(&create.replace(":7,", ":7.5,")),
        event(&create.replace(":7,", ":null,")),
        event(&format!("[{create}]")),
        event(&create.replace("\"id\":7,", "\"id\":7,\"method\":\"a\",")),
        event(&create.replace("{\"jsonrpc\":\"2.0\",", "{")),
        event(&create.replace(',', ",\n")),
        format!("\u{feff}data: {create}\n\n"),
        format!("data: {create}\r\r"),
        format!("id: 4\nevent: elicitation\ndata:{create}\n\n"),
        event(r#"{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"1"}}"#),
    ];
    let stage = Stage::free(Upstream::start().await).await;
    for request in requests {
        stage.upstream.tool("asks", Script::new().event(&*request).message(LOG).text("done"));
        let reply = stage.modern().tool("asks", "{}").await;
        let texts: Vec<&str> = reply.messages.iter().map(|message| message.text.as_str()).collect();
        assert_eq!(texts.len(), 2, "{request:?} gave {texts:?}");
        assert_eq!((texts[0], reply.content_text().as_str()), (LOG, "done"));
    }
}

/// The same, hidden by bytes that are no UTF-8: readers replace them and go on.
#[tokio::test]
async fn a_request_beside_broken_bytes_does_not_reach_the_client() {
    let stage = Stage::free(Upstream::start().await).await;
    let mut bytes = b": \xff\ndata: ".to_vec();
    bytes.extend_from_slice(br#"{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":""#);
    bytes.extend_from_slice(b"\xff\"}}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n");
    stage.upstream.tool("broken", Script::new().body(200, "text/event-stream", bytes));
    let reply = stage.modern().request("tools/call", r#"{"name":"broken"}"#).id(Some("1")).send().await;
    assert!(!reply.text().contains("elicitation/create"), "{}", reply.text());
    assert_eq!(reply.result_raw(), "{}");
}

/// R-SEC-04: a stream that ends early is no answer. Event ids mean nothing in this era: there is nothing to resume.
#[tokio::test]
async fn a_stream_that_ends_without_an_answer_ends_in_an_error() {
    let stage = Stage::free(Upstream::start().await).await;
    stage.upstream.tool("ends", Script::new().message(LOG).body(200, "", ""));
    stage.upstream.tool("with-id", Script::new().event("id: 1\ndata:\n\n").body(200, "", ""));
    stage.upstream.tool("cut", Script::new().message(LOG).drop_connection());
    for tool in ["ends", "with-id", "cut"] {
        let reply = stage.modern().request("tools/call", &format!(r#"{{"name":"{tool}"}}"#)).id(Some("5")).send().await;
        assert_eq!(reply.error_code(), -32603, "{tool}: {}", reply.text());
        assert_eq!(reply.response().id(), Some("5"));
        assert!(reply.error_message().contains("weather"), "{}", reply.text());
    }
}

/// R-SEC-04: an upstream cannot fill our memory; the call ends, and others go on.
#[tokio::test]
async fn an_answer_over_the_limit_ends_in_an_error() {
    const OVER: usize = 16 * 1024 * 1024 + 1;
    let stage = Stage::free(Upstream::start().await).await;
    let long = format!("{{\"a\":\"{}\"}}", "a".repeat(OVER));
    stage.upstream.tool("json", Script::new().result(&*long)).tool("event", Script::new().sse().result(long));
    stage.upstream.tool("small", Script::new().text("fine"));
    let client = stage.modern();
    for tool in ["json", "event"] {
        let reply = client.tool(tool, "{}").await;
        assert_eq!(reply.error_code(), -32603, "{tool}");
        assert!(reply.error_message().contains("weather") && reply.body.len() < 1000, "{tool}");
    }
    assert_eq!(client.tool("small", "{}").await.content_text(), "fine");
}
