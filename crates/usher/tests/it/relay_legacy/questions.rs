//! The upstream's own questions to a legacy client, and the way back of its answers.

use usher_testkit::upstream::{Gate, Question, Script, Upstream};

use crate::harness::{SECOND, Setup, Stage};

const SCHEMA: &str =
    r#"{"z":9007199254740993,"type":"object","properties":{"name":{"type":"string","title":"\ud83d\ude00"}}}"#;

/// R-GW-01, R-GW-02: every question that a client declared reaches it on the call's own stream, and its answer goes back as
/// it was written.
#[tokio::test]
async fn a_question_reaches_the_client_and_the_answer_goes_back_unchanged() {
    let stage = Stage::free(Upstream::start().await).await;
    let client = stage.legacy().capabilities(r#"{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}"#);
    client.initialize().await;
    let create = r#"{"message":"m","x":1e999,"requestedSchema":{"type":"object","properties":{}}}"#;
    for (question, method, result) in [
        (
            Question::form("q", "m", SCHEMA),
            "elicitation/create",
            r#"{"action":"accept","content":{"n":9007199254740993,"a":"\u00e9"},"x":1e999}"#,
        ),
        (Question::request("q", "elicitation/create", create), "elicitation/create", r#"{ "action" : "decline" }"#),
        (
            Question::url("q", "m", "https://pay.example/1"),
            "elicitation/create",
            r#"{"action":"cancel","content":null}"#,
        ),
        (
            Question::request("q", "sampling/createMessage", r#"{"maxTokens":1,"messages":[]}"#),
            "sampling/createMessage",
            r#"{"role":"assistant","model":"m","content":{"type":"text","text":"1e999"}}"#,
        ),
        (Question::request("q", "roots/list", "{}"), "roots/list", r#"{"roots":[{"uri":"file:///a","n":1e999}]}"#),
        (Question::request("q", "unknown/request", r#"{"n":1e999}"#), "unknown/request", r#"{"any":"thing"}"#),
    ] {
        stage.upstream.tool(
            "ask",
            Script::new().ask(question).result_with(|call| format!(r#"{{"said":{}}}"#, call.answer("q").unwrap())),
        );
        let mut stream = client.open_tool("ask", "{}").await;
        let asked = stream.expect(method).await;
        let reply = client.respond(asked.id().unwrap(), result).await;
        assert_eq!((reply.status.as_u16(), reply.text().as_str()), (202, ""));
        let answer = stream.reply().await;
        assert_eq!(answer.response().at(&["result", "said"]), Some(result));
        let body = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, asked.id().unwrap());
        assert_eq!(stage.upstream.requests_of("response").last().unwrap().text(), body);
    }
    stage.upstream.assert_clean();
}

/// R-GW-02: the question itself is not touched.
#[tokio::test]
async fn a_question_passes_byte_for_byte() {
    let stage = Stage::free(Upstream::start().await).await;
    let question = format!(
        r#"{{"x":1e999,"params":{{"requestedSchema":{SCHEMA},"message":"m","mode":"form","_meta":{{"y":-0.0}}}},"id":"their-1","method":"elicitation/create","jsonrpc":"2.0"}}"#
    );
    stage.upstream.tool("ask", Script::new().message(&question).text("done"));
    let reply = stage.ready().await.tool("ask", "{}").await;
    assert_eq!(reply.messages[0].text, question);
}

/// R-CAP-04: a client that answers by an error says so to the upstream.
#[tokio::test]
async fn an_answer_by_an_error_goes_back_unchanged() {
    let stage = Stage::free(Upstream::start().await).await;
    stage.upstream.tool("ask", Script::new().ask(Question::form("q", "m", SCHEMA)).text("done"));
    let client = stage.ready().await;
    let mut stream = client.open_tool("ask", "{}").await;
    let asked = stream.expect("elicitation/create").await;
    let error = r#"{"code":-32603,"message":"no screen","data":1e999}"#;
    assert_eq!(client.respond_error(asked.id().unwrap(), error).await.status, 202);
    assert_eq!(stream.reply().await.content_text(), "done");
    assert_eq!(stage.upstream.requests_of("response")[0].raw(&["error"]), Some(error));
}

/// Cases 24: a server that asks on the GET stream is heard there, and answered.
#[tokio::test]
async fn a_question_on_the_get_stream_reaches_the_client() {
    let stage = Stage::free(Upstream::start().await).await;
    let question = Question::form("q", "m", SCHEMA).on_get_stream();
    stage.upstream.tool(
        "ask",
        Script::new().ask(question).result_with(|call| format!(r#"{{"said":{}}}"#, call.answer("q").unwrap())),
    );
    let client = stage.ready().await;
    let mut get = client.open_get(None).await;
    let call = client.open_tool("ask", "{}");
    let answer = async {
        let asked = get.expect("elicitation/create").await;
        client.respond(asked.id().unwrap(), r#"{"action":"cancel"}"#).await;
    };
    let (stream, ()) = tokio::join!(call, answer);
    assert_eq!(stream.reply().await.response().at(&["result", "said"]), Some(r#"{"action":"cancel"}"#));
    stage.upstream.assert_clean();
}

/// R-ID-01, cases 25: two sessions in which the upstream uses the same ids do not answer for each other.
#[tokio::test]
async fn equal_ids_in_two_sessions_do_not_mix_up_answers() {
    let setup = Setup { free: true, second: true, ..Setup::default() };
    let stage = Stage::with(setup, Upstream::start().await).await;
    let echo = Script::new()
        .ask(Question::form("q", "m", SCHEMA))
        .result_with(|call| format!(r#"{{"said":{}}}"#, call.answer("q").unwrap()));
    stage.upstream.tool("ask", echo);
    let (first, second) = (stage.ready().await, stage.legacy().token(SECOND));
    second.initialize().await;
    let third = stage.ready().await;
    let mut streams = Vec::new();
    for client in [&first, &second, &third] {
        streams.push(client.open_as("1", "tools/call", r#"{"name":"ask"}"#).await);
    }
    let mut ids = Vec::new();
    for stream in &mut streams {
        ids.push(stream.expect("elicitation/create").await.id().unwrap().to_owned());
    }
    assert_eq!(ids, ["0", "0", "0"]);
    let answer = |name: &str| format!(r#"{{"action":"accept","content":{{"name":"{name}"}}}}"#);
    for (client, name) in [(&third, "third"), (&first, "first"), (&second, "second")] {
        assert_eq!(client.respond("0", &answer(name)).await.status, 202);
    }
    for (stream, name) in streams.into_iter().zip(["first", "second", "third"]) {
        assert_eq!(stream.reply().await.response().at(&["result", "said"]), Some(answer(name).as_str()));
    }
    stage.upstream.assert_clean();
}

/// R-ID-01: an answer counts in its own session alone.
#[tokio::test]
async fn an_answer_of_another_session_leaves_the_question_open() {
    let stage = Stage::free(Upstream::start().await).await;
    stage.upstream.tool("ask", Script::new().ask(Question::form("q", "m", SCHEMA)).text("done"));
    let (asked, other) = (stage.ready().await, stage.ready().await);
    let mut stream = asked.open_tool("ask", "{}").await;
    let id = stream.expect("elicitation/create").await.id().unwrap().to_owned();
    other.respond(&id, r#"{"action":"accept","content":{"name":"stolen"}}"#).await;
    assert_eq!(stage.upstream.take_violations().len(), 1, "the upstream does not know it in that session");
    asked.respond(&id, r#"{"action":"cancel"}"#).await;
    assert_eq!(stream.reply().await.content_text(), "done");
    let answers = stage.upstream.requests_of("response");
    assert_ne!(answers[0].header("mcp-session-id"), answers[1].header("mcp-session-id"));
    stage.upstream.assert_clean();
}

/// R-GW-02: another Usher behind this one asks under ids that look like ours; its answers are its own.
#[tokio::test]
async fn an_answer_to_an_upstream_whose_ids_look_like_ours_goes_back() {
    let stage = Stage::free(Upstream::start().await).await;
    let gate = Gate::new();
    for id in ["usher-AAAAAAAAAAAAAAAAAAAAAA", "usher-aaaaaaaa-AAAAAAAAAAAAAAAAAAAAAA"] {
        let question = format!(
            r#"{{"jsonrpc":"2.0","id":"{id}","method":"elicitation/create","params":{{"message":"m","requestedSchema":{SCHEMA}}}}}"#
        );
        stage.upstream.tool("ask", Script::new().message(&question).wait(&gate).text("done"));
        let client = stage.ready().await;
        let mut stream = client.open_tool("ask", "{}").await;
        let asked = stream.expect("elicitation/create").await;
        assert_eq!(client.respond(asked.id().unwrap(), r#"{"action":"cancel"}"#).await.status, 202);
        let answers = stage.upstream.requests_of("response");
        assert_eq!(answers.last().and_then(|answer| answer.string(&["id"])).as_deref(), Some(id));
        gate.open();
        assert_eq!(stream.reply().await.content_text(), "done");
    }
}
