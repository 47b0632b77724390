//! R-GW-02 at large: whatever JSON two sides exchange, it arrives as it was written.

use std::fmt::Write as _;

use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};
use tokio::runtime::Runtime;
use usher_testkit::{
    client::{Legacy, Modern},
    sse::event,
    upstream::{Question, Script, Upstream},
};

use crate::harness::Stage;

/// Numbers that no floating-point number holds, and all the ways to write one.
fn number() -> impl Strategy<Value = String> {
    "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?"
}

/// Strings with every escape, and with characters of every length.
fn string() -> impl Strategy<Value = String> {
    let plain = any::<char>().prop_filter("written as it is", |one| !one.is_control() && !['"', '\\'].contains(one));
    let piece = prop_oneof![
        4 => plain.prop_map(String::from),
        2 => prop::sample::select(vec!["\\n", "\\r", "\\t", "\\b", "\\f", "\\/", "\\\\", "\\\""]).prop_map(String::from),
        1 => prop::sample::select(vec!["\\u00e9", "\\ud83d\\ude00", "\\u2028", "\\u0000", "\u{2028}", "\u{feff}", "😀", "长"]).prop_map(String::from),
        1 => prop::sample::select(vec!["data: ", "id: 1", "event: x", ": ", "elicitation/create", "input_required", "-32042"]).prop_map(String::from),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

/// Blanks between tokens.
fn blank() -> impl Strategy<Value = &'static str> {
    prop_oneof![6 => Just(""), 2 => Just(" "), 1 => Just("\t "), 1 => Just("\n")]
}

fn value() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec!["null", "true", "false"]).prop_map(String::from);
    let leaf = prop_oneof![3 => number(), 3 => string(), 1 => word];
    leaf.prop_recursive(6, 60, 6, |inner| {
        let array = (prop::collection::vec(inner.clone(), 0..6), blank())
            .prop_map(|(items, blank)| format!("[{blank}{}{blank}]", items.join(&format!("{blank},"))));
        prop_oneof![array, object(inner)]
    })
}

/// Keys in any order, also such as stand twice once they are read.
fn object(inner: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    (prop::collection::vec((string(), inner), 0..6), blank()).prop_map(|(members, blank)| {
        let members: Vec<String> = members.iter().map(|(key, value)| format!("{key}{blank}:{value}")).collect();
        format!("{{{blank}{}{blank}}}", members.join(&format!(",{blank}")))
    })
}

/// An object nested far deeper than people write.
fn deep() -> impl Strategy<Value = String> {
    (1_usize..2000, value()).prop_map(|(depth, inner)| {
        let mut text = String::new();
        for level in 0..depth {
            let _ = write!(text, "{{\"{}\":[", level % 3);
        }
        text + &inner + &"]}".repeat(depth)
    })
}

fn document() -> impl Strategy<Value = String> {
    prop_oneof![8 => object(value()), 1 => deep()]
}

/// What stands in a message beside the document.
fn wrapped(document: &str) -> String {
    format!(r#"{{"content":[],"structuredContent":{document}}}"#)
}

struct Both {
    stage: Stage,
    modern: Modern,
    legacy: Legacy,
}

impl Both {
    /// Sends `arguments` there and `result` back, in both eras, as JSON and as events.
    async fn pass(&self, arguments: &str, result: &str) {
        let result = wrapped(result);
        let params = format!(r#"{{"name":"echo","arguments":{arguments}}}"#);
        for streamed in [false, true] {
            let script = if streamed { Script::new().sse() } else { Script::new() };
            self.stage.upstream.tool("echo", script.result(&*result));
            let request = self.modern.request("tools/call", &params);
            let modern_body = request.to_body();
            let modern = request.send().await;
            let id = self.legacy.next_id();
            let legacy_body = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#);
            let legacy = self.legacy.post(&*legacy_body).await.reply().await;
            for (reply, body) in [(modern, modern_body), (legacy, legacy_body.into_bytes())] {
                let seen = self.stage.upstream.requests_of("tools/call");
                let came = &seen.iter().rev().find(|seen| seen.body == body);
                assert!(came.is_some(), "{} did not arrive", String::from_utf8_lossy(&body));
                let id = usher_testkit::Message::new(String::from_utf8(body).unwrap()).id().unwrap().to_owned();
                let response = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
                assert_eq!(reply.text(), if streamed { event(&response) } else { response });
            }
        }
    }

    /// Asks a question with `any` in its schema in a legacy session, and answers it with `content`.
    async fn ask(&self, any: &str, content: &str) {
        let schema =
            format!(r#"{{"type":"object","x-any":{any},"properties":{{"a":{{"type":"string","examples":{any}}}}}}}"#);
        let params = format!(r#"{{"message":"m","requestedSchema":{schema},"x":{any}}}"#);
        let question = Question::request("q", "elicitation/create", &params);
        let echo =
            Script::new().ask(question).result_with(|call| format!(r#"{{"said":{}}}"#, call.answer("q").unwrap()));
        self.stage.upstream.tool("ask", echo);
        let mut stream = self.legacy.open_tool("ask", "{}").await;
        let asked = stream.expect("elicitation/create").await;
        assert_eq!(asked.params(), Some(params.as_str()));
        let answer = format!(r#"{{"action":"accept","content":{content}}}"#);
        self.legacy.respond(asked.id().unwrap(), &answer).await;
        assert_eq!(stream.reply().await.response().at(&["result", "said"]), Some(answer.as_str()));
    }

    /// Sends `params` of a notification up, and of another down the GET stream.
    async fn notify(&self, up: &str, down: &str) {
        let before = self.stage.upstream.requests_of("notifications/any").len();
        self.legacy.notify("notifications/any", up).await;
        let seen = &self.stage.upstream.requests_of("notifications/any")[before];
        assert_eq!(seen.text(), format!(r#"{{"jsonrpc":"2.0","method":"notifications/any","params":{up}}}"#));
        let mut get = self.legacy.open_get(None).await;
        let sent = event(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/down","params":{down}}}"#));
        let session = self.stage.upstream.sessions()[0].id.clone();
        self.stage.upstream.push_to(&session, &sent).await;
        get.expect("notifications/down").await;
        let came = String::from_utf8(get.bytes().to_vec()).unwrap();
        assert_eq!(came.trim_start_matches(": waiting\n\n"), sent);
    }
}

fn check(cases: u32, test: &impl AsyncFn(&Both, &str, &str)) {
    let runtime = Runtime::new().unwrap();
    let both = runtime.block_on(async {
        let stage = Stage::free(Upstream::start().await).await;
        let (modern, legacy) = (stage.modern(), stage.ready().await);
        Both { stage, modern, legacy }
    });
    let mut runner =
        TestRunner::new(Config { cases, max_shrink_iters: 200, failure_persistence: None, ..Config::default() });
    let result = runner.run(&(document(), document()), |(first, second)| {
        runtime.block_on(test(&both, &first, &second));
        Ok(())
    });
    result.unwrap_or_else(|failure| panic!("{failure}"));
    both.stage.upstream.assert_clean();
}

/// R-GW-02, R-FORM-11: number text, key order, escapes, blanks and unknown members of calls and results.
#[test]
fn calls_and_results_arrive_as_they_were_written() {
    check(48, &async |both, arguments, result| both.pass(arguments, result).await);
}

/// R-GW-02, R-FORM-10, R-FORM-11: questions and answers of a legacy session.
#[test]
fn questions_and_answers_arrive_as_they_were_written() {
    check(32, &async |both, schema, content| both.ask(schema, content).await);
}

/// R-GW-02: notifications in both directions.
#[test]
fn notifications_arrive_as_they_were_written() {
    check(32, &async |both, up, down| both.notify(up, down).await);
}
