//! Whole messages and the streams of calls in a legacy session.

use usher_testkit::{
    Outcome,
    sse::event,
    upstream::{Gate, Script, Upstream},
};

use crate::{
    harness::{CALLS, Stage},
    relay_modern::odd,
};

const URL_ERROR: &str = r#"{"message":"Please visit","code":-32042,"data":{"elicitations":[{"mode":"url","elicitationId":"e-1","url":"https://pay.example/1","message":"Pay","x":1e999}],"y":9007199254740993}}"#;

/// R-GW-02: request, result and error arrive as they were written.
#[tokio::test]
async fn a_request_and_its_answer_pass_byte_for_byte() {
    let stage = Stage::free(Upstream::start().await).await;
    let (arguments, result) = (odd(""), odd(r#","content":[]"#));
    let error = format!(r#"{{"message":"no","code":-32000,"data":{}}}"#, odd(""));
    stage.upstream.tool("odd", Script::new().result(&*result)).tool("fails", Script::new().error_raw(&*error));
    let client = stage.ready().await;
    for id in ["7", r#""\u00e9""#, "9007199254740993"] {
        let body = format!(
            r#" {{"id":{id} ,"unknown":1e999,"jsonrpc":"2.0","method":"tools\/call","params":{{"name":"odd","arguments":{arguments}}}}} "#
        );
        let reply = client.post(&*body).await.reply().await;
        assert_eq!(reply.text(), format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
        assert_eq!(stage.upstream.requests_of("tools/call").last().unwrap().text(), body);
    }
    assert_eq!(client.tool("fails", "{}").await.response().error(), Some(error.as_str()));
    stage.upstream.assert_clean();
}

/// R-GW-02: what we have never heard of is the upstream's to know.
#[tokio::test]
async fn unknown_methods_and_notifications_pass() {
    let stage = Stage::free(Upstream::start().await).await;
    let client = stage.ready().await;
    let reply = client.call("weather/unknown", &odd("")).await;
    assert_eq!((reply.status.as_u16(), reply.error_code()), (200, -32601));
    assert_eq!(reply.error_message(), "unknown method weather/unknown");
    assert_eq!(stage.upstream.requests_of("weather/unknown")[0].raw(&["params"]), Some(odd("").as_str()));
    for method in ["notifications/unknown", "notifications/roots/list_changed", "notifications/progress"] {
        let params = r#"{"n":1e999,"progressToken":9007199254740993}"#;
        let reply = client.notify(method, params).await;
        assert_eq!((reply.status.as_u16(), reply.text().as_str()), (202, ""), "{method}");
        assert_eq!(stage.upstream.requests_of(method)[0].raw(&["params"]), Some(params));
    }
    for method in
        ["ping", "tools/list", "prompts/list", "resources/list", "logging/setLevel", "resources/templates/list"]
    {
        assert!(client.call(method, "{}").await.response().result().is_some(), "{method}");
    }
    stage.upstream.assert_clean();
}

/// R-GW-02: events of a call arrive as they were sent, while it runs.
#[tokio::test]
async fn the_stream_of_a_call_passes_byte_for_byte_while_it_runs() {
    let stage = Stage::free(Upstream::start().await).await;
    let gate = Gate::new();
    let progress =
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.10}}"#;
    let before = format!(": hi\n\nid: 1\nretry: 9\ndata:\n\nid: 2\r\nevent: message\r\ndata: {progress}\r\n\r\n");
    stage.upstream.tool("slow", Script::new().event(&*before).wait(&gate).text("done").in_pieces_of(3));
    let client = stage.ready().await;
    let mut stream = client.open_as("5", "tools/call", r#"{"name":"slow","_meta":{"progressToken":1}}"#).await;
    assert_eq!(stream.expect("notifications/progress").await.text, progress);
    assert_eq!(stage.upstream.requests_of("tools/call")[0].outcome(), Outcome::Pending);
    gate.open();
    let end = event(r#"{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"done"}]}}"#);
    assert_eq!(stream.reply().await.text(), format!("{before}{end}"));
    stage.upstream.assert_clean();
}

/// R-GW-02: a cancellation reaches the call that it names.
#[tokio::test]
async fn a_cancellation_passes() {
    let stage = Stage::free(Upstream::start().await).await;
    let gate = Gate::new();
    stage.upstream.tool("slow", Script::new().sse().wait(&gate));
    let client = stage.ready().await;
    let stream = client.open_as("\"c\"", "tools/call", r#"{"name":"slow"}"#).await;
    gate.reached(1).await;
    let params = r#"{"requestId":"c","reason":"enough"}"#;
    assert_eq!(client.notify("notifications/cancelled", params).await.status, 202);
    stage.upstream.wait_outcome("tools/call", Outcome::Cancelled).await;
    assert_eq!(stage.upstream.requests_of("notifications/cancelled")[0].raw(&["params"]), Some(params));
    drop(stream);
    stage.upstream.assert_clean();
}

/// R-GW-02: a stream that breaks off after an event with an id is resumed, and the rest comes.
#[tokio::test]
async fn a_call_that_broke_off_can_be_resumed() {
    let stage = Stage::free(Upstream::start().await).await;
    let script = Script::new().event("id: e-7\nretry: 1\ndata:\n\n").cut("e-7").text("after all");
    stage.upstream.tool("polls", script);
    let client = stage.ready().await;
    let first = client.tool("polls", "{}").await;
    assert!(first.messages.iter().all(|message| !message.is_response()), "{}", first.text());
    let mut resumed = client.open_get(Some("e-7")).await;
    let message = resumed.next_message().await.unwrap();
    assert_eq!(message.at(&["result", "content"]), Some(r#"[{"type":"text","text":"after all"}]"#));
    assert_eq!(stage.upstream.http_requests(&http::Method::GET)[0].header("last-event-id"), Some("e-7"));
    stage.upstream.assert_clean();
}

/// R-SEC-04: a stream that ends early and cannot be resumed ends in an error.
#[tokio::test]
async fn a_stream_that_ends_without_an_answer_ends_in_an_error() {
    let stage = Stage::free(Upstream::start().await).await;
    stage.upstream.tool("ends", Script::new().event(": a\n\n").body(200, "", ""));
    let reply = stage.ready().await.tool("ends", "{}").await;
    assert_eq!(reply.error_code(), -32603, "{}", reply.text());
    assert!(reply.error_message().contains("weather"));
}

/// R-ERR-01: an upstream's own -32042 reaches a client that can open it, with all its data, for every kind of call.
#[tokio::test]
async fn a_required_url_reaches_a_client_with_url_mode_unchanged() {
    let stage = Stage::free(Upstream::start().await).await;
    let client = stage.ready().await;
    for script in [Script::new(), Script::new().sse()] {
        let script = script.error_raw(URL_ERROR);
        stage.upstream.tool("get_forecast", script.clone()).prompt("plan", script.clone());
        stage.upstream.resource("weather://berlin", script);
        for (method, params) in CALLS {
            let reply = client.call(method, params).await;
            assert_eq!(reply.status, 200);
            assert_eq!(reply.response().error(), Some(URL_ERROR), "{method}");
        }
    }
}

/// R-CAP-03: a client without url mode gets no link that it could not show, however the error is written.
#[tokio::test]
async fn a_required_url_does_not_reach_a_client_without_url_mode() {
    let stage = Stage::free(Upstream::start().await).await;
    let client = stage.legacy().elicitation(&["form"]);
    client.initialize().await;
    let written = [
        URL_ERROR.to_owned(),
        URL_ERROR.replace("-32042", "-32042.0"),
        URL_ERROR.replace("-32042", "-3.2042e4"),
        URL_ERROR.replace("\"code\":", "\"code\":1,\"code\":"),
    ];
    for error in &written {
        for script in [Script::new(), Script::new().sse()] {
            stage.upstream.tool("pay", script.error_raw(&**error));
            let reply = client.tool("pay", "{}").await;
            assert_eq!(reply.error_code(), -32603, "{error}: {}", reply.text());
            assert!(!reply.text().contains("pay.example"), "{}", reply.text());
        }
    }
}

/// R-DONE-01: an upstream's completion notice passes to who can use it, on the call's stream and on the GET stream.
#[tokio::test]
async fn a_completion_notice_of_the_upstream_passes() {
    let notice =
        r#"{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e-1","x":1e999}}"#;
    let stage = Stage::free(Upstream::start().await).await;
    stage.upstream.tool("done", Script::new().message(notice).text("done"));
    let client = stage.ready().await;
    let reply = client.tool("done", "{}").await;
    assert_eq!(reply.messages[0].text, notice);
    let mut stream = client.open_get(None).await;
    stage.upstream.push_message(notice).await;
    assert_eq!(stream.expect("notifications/elicitation/complete").await.text, notice);
    let form_only = stage.legacy().elicitation(&["form"]);
    form_only.initialize().await;
    assert_eq!(form_only.tool("done", "{}").await.messages.len(), 1);
}
