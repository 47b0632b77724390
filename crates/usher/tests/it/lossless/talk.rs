//! What two sides say to each other through one running gateway, and that it arrived.

use std::sync::atomic::{AtomicU32, Ordering};

use elicit::Digest;
use proptest::prelude::*;
use usher_testkit::{
    Era, MODERN,
    client::{Legacy, Modern, Reply},
    sse::{Item, Parser},
    upstream::{Question, Script, Upstream},
};

use super::{
    json::{Draft, document, draft, tight, value},
    stream::{Stream, notification, stream},
};
use crate::harness::Stage;

/// How an answer travels.
#[derive(Debug, Clone)]
enum Way {
    Json(u16),
    Events(Stream),
}

/// One exchange: both directions at once, since each costs a call.
#[derive(Debug, Clone)]
pub struct Case {
    talk: Talk,
    way: Way,
    /// What stands beside the known members of messages, of params and results.
    message: Draft,
    inner: Draft,
    up: String,
    down: String,
    text_id: bool,
}

#[derive(Debug, Clone, Copy)]
enum Talk {
    Call { era: Era, known: bool, fails: bool },
    Notification(Era),
    Listen,
    Question { fails: bool },
    Round,
    Initialize,
}

/// Any exchange.
pub fn case() -> impl Strategy<Value = Case> {
    let era = || prop::sample::select(vec![Era::Legacy, Era::Modern]);
    let talk = prop_oneof![
        8 => (era(), any::<bool>(), any::<bool>()).prop_map(|(era, known, fails)| Talk::Call { era, known, fails }),
        2 => era().prop_map(Talk::Notification),
        2 => Just(Talk::Listen),
        3 => any::<bool>().prop_map(|fails| Talk::Question { fails }),
        4 => Just(Talk::Round),
        1 => Just(Talk::Initialize),
    ];
    let json = prop::sample::select(vec![200, 200, 400, 422, 500]).prop_map(Way::Json);
    let way = prop_oneof![json, stream().prop_map(Way::Events)];
    (talk, way, draft(), draft(), document(), prop_oneof![document(), value()], any::<bool>()).prop_map(
        |(talk, way, message, inner, up, down, text_id)| Case { talk, way, message, inner, up, down, text_id },
    )
}

/// One gateway, a client of each era, and an upstream of both.
pub struct Both {
    stage: Stage,
    modern: Modern,
    legacy: Legacy,
    ids: AtomicU32,
}

impl Both {
    pub async fn start() -> Self {
        let stage = Stage::free(Upstream::start().await).await;
        let (modern, legacy) = (stage.modern(), stage.ready().await);
        Self { stage, modern, legacy, ids: AtomicU32::new(1000) }
    }

    pub async fn hold(&self, case: &Case) {
        match case.talk {
            Talk::Call { era, known, fails } => self.call(case, era, known, fails).await,
            Talk::Notification(era) => self.notify(case, era).await,
            Talk::Listen => self.listen(case).await,
            Talk::Question { fails } => self.question(case, fails).await,
            Talk::Round => self.round(case).await,
            Talk::Initialize => self.initialize(case).await,
        }
        let violations = self.stage.upstream.take_violations();
        assert!(violations.is_empty(), "the upstream objects: {}", violations.join("; "));
    }

    fn id(&self, case: &Case) -> String {
        let number = self.ids.fetch_add(1, Ordering::Relaxed);
        if case.text_id { format!("\"\\u0061{number}\"") } else { format!("900719925474{number}") }
    }

    /// A request there and its response back.
    async fn call(&self, case: &Case, era: Era, known: bool, fails: bool) {
        let (id, method) = (self.id(case), if known { "tools/call" } else { "any/method" });
        let meta = case.inner.with(&meta(era));
        let params = case.inner.with(&[("name", "\"echo\""), ("arguments", &case.up), ("_meta", &meta)]);
        let body = case.request(&id, method, &params);
        let answer = case.answer(&id, fails);
        let sent = self.answers(case, method, era == Era::Legacy, &answer);
        let reply = self.post(era, method, &params, body.clone()).await;
        assert_eq!(self.arrived(), body);
        assert_eq!(reply.text(), sent);
        let Way::Json(status) = case.way else { return };
        assert_eq!(reply.status, status);
    }

    /// Has the upstream answer the next request of this method, and returns the bytes that it sends.
    fn answers(&self, case: &Case, method: &str, requests: bool, answer: &str) -> String {
        let script = Script::new().any_state();
        let (script, sent) = match &case.way {
            Way::Json(status) => (script.body(*status, "application/json", answer.to_owned()), answer.to_owned()),
            Way::Events(stream) => {
                let text = stream.text(requests, answer);
                let script = script.sse().in_pieces_of(stream.piece);
                (script.body(200, "text/event-stream", text.clone()), text)
            }
        };
        self.stage.upstream.method(method, script);
        sent
    }

    async fn post(&self, era: Era, method: &str, params: &str, body: String) -> Reply {
        match era {
            Era::Legacy => self.legacy.post(body).await.reply().await,
            Era::Modern => self.modern.request(method, params).body(body).send().await,
        }
    }

    /// The body that the upstream got last.
    fn arrived(&self) -> String {
        self.stage.upstream.last().expect("something came").text().to_owned()
    }

    /// A notification there.
    async fn notify(&self, case: &Case, era: Era) {
        let body = notification(&case.message, "notifications/up");
        let reply = self.post(era, "notifications/up", "{}", body.clone()).await;
        assert_eq!(reply.status, 202);
        assert_eq!(self.arrived(), body);
    }

    /// Whatever the upstream sends down a GET stream.
    async fn listen(&self, case: &Case) {
        let Way::Events(stream) = &case.way else { return };
        let mut get = self.legacy.open_get(None).await;
        let sent = stream.text(true, &notification(&case.inner, "notifications/last"));
        let session = self.stage.upstream.sessions()[0].id.clone();
        let cut = sent.char_indices().map(|(place, _)| place).nth(stream.piece).unwrap_or(sent.len());
        for part in [&sent[..cut], &sent[cut..]] {
            self.stage.upstream.push_to(&session, part).await;
        }
        get.expect("notifications/last").await;
        let came = String::from_utf8(get.bytes().to_vec()).unwrap();
        // The first sign of life may come between any two events.
        assert_eq!(came.replacen(": waiting\n\n", "", 1), sent);
    }

    /// A question of the upstream on the stream of a call, and the client's response to it.
    async fn question(&self, case: &Case, fails: bool) {
        let schema = format!(r#"{{"type":"object","x":{},"properties":{{"a":{{"type":"string"}}}}}}"#, case.down);
        let params = case.inner.with(&[("message", "\"m\""), ("requestedSchema", &schema)]);
        let question = Question::request("q", "elicitation/create", &params);
        self.stage.upstream.method("tools/call", Script::new().ask(question).result("{}"));
        let mut stream = self.legacy.open_tool("ask", "{}").await;
        let asked = stream.expect("elicitation/create").await;
        assert_eq!(asked.params(), Some(params.as_str()));
        let result = case.inner.with(&[("action", "\"accept\""), ("content", &case.up)]);
        let error = case.inner.with(&[("code", "-1"), ("message", "\"m\""), ("data", &case.up)]);
        let (name, outcome) = if fails { ("error", &error) } else { ("result", &result) };
        let body = case.message.with(&[("jsonrpc", "\"2.0\""), ("id", asked.id().unwrap()), (name, outcome)]);
        assert_eq!(self.legacy.post(body.clone()).await.reply().await.status, 202);
        stream.reply().await;
        assert_eq!(self.arrived(), body);
    }

    /// A round of the upstream's: nothing but its state is another one for the client, and the other way round.
    async fn round(&self, case: &Case) {
        let state = format!("\"state.{} é\\\"\"", self.id(&Case { text_id: false, ..case.clone() }));
        let (id, again) = (self.id(case), self.id(case));
        let meta = case.inner.with(&meta(Era::Modern));
        // A call with anything else in its arguments has no rounds, since its state could not be bound to them.
        let arguments = if Digest::of_json(&case.up).is_ok() { &*case.up } else { "{}" };
        let known = [("name", "\"echo\""), ("arguments", arguments), ("_meta", &*meta)];
        let asked = self.answers(case, "tools/call", false, &case.asking(&id, &state));
        let params = case.inner.with(&known);
        let reply = self.post(Era::Modern, "tools/call", &params, case.request(&id, "tools/call", &params)).await;
        let sealed = reply.response().at(&["result", "requestState"]).expect("a state").to_owned();
        assert_ne!(sealed, state);
        assert_eq!(events(&reply.text()), events(&asked.replacen(&state, &sealed, 1)));

        let responses = format!(r#"{{"q" : {}}}"#, case.inner.with(&[("action", "\"accept\""), ("content", &case.up)]));
        let known = [&known[..], &[("inputResponses", &responses), ("requestState", &sealed)]].concat();
        let params = case.inner.with(&known);
        let retry = case.request(&again, "tools/call", &params);
        let answered = self.answers(case, "tools/call", false, &case.answer(&again, false));
        let reply = self.post(Era::Modern, "tools/call", &params, retry.clone()).await;
        assert_eq!(tight(&self.arrived()), tight(&retry.replacen(&sealed, &state, 1)));
        assert_eq!(reply.text(), answered);
    }

    /// A handshake.
    async fn initialize(&self, case: &Case) {
        let id = self.id(case);
        let info = r#"{"name":"a","version":"1"}"#;
        let capabilities = format!(r#"{{"experimental":{{"x":{}}}}}"#, case.up);
        let known = [("protocolVersion", "\"2025-11-25\""), ("capabilities", &*capabilities), ("clientInfo", info)];
        let params = case.inner.with(&known);
        if params.len() > 64 * 1024 {
            // They are kept with the session, and are refused where they are this long.
            return;
        }
        let body = case.request(&id, "initialize", &params);
        let result = case.inner.with(&[
            ("protocolVersion", "\"2025-11-25\""),
            ("capabilities", &case.down),
            ("serverInfo", info),
            ("instructions", "\"\\u0069\""),
        ]);
        let answer = case.message.with(&[("jsonrpc", "\"2.0\""), ("id", &id), ("result", &result)]);
        let script = Script::new().body(200, "application/json", answer.clone());
        self.stage.upstream.method("initialize", script);
        let client = self.stage.legacy();
        let reply = client.post(body.clone()).await.reply().await;
        assert_eq!(self.arrived(), body);
        assert_eq!(reply.text(), answer);
        assert!(reply.header("mcp-session-id").is_some());
    }
}

impl Case {
    fn request(&self, id: &str, method: &str, params: &str) -> String {
        let method = format!("\"{method}\"");
        self.message.with(&[("jsonrpc", "\"2.0\""), ("id", id), ("method", &method), ("params", params)])
    }

    fn answer(&self, id: &str, fails: bool) -> String {
        let result = self.inner.with(&[("content", "[ ]"), ("structuredContent", &self.down)]);
        let error = self.inner.with(&[("code", "-32000"), ("message", "\"m\""), ("data", &self.down)]);
        let (name, outcome) = if fails { ("error", error) } else { ("result", result) };
        self.message.with(&[("jsonrpc", "\"2.0\""), ("id", id), (name, &outcome)])
    }

    /// A response that asks, with this state.
    fn asking(&self, id: &str, state: &str) -> String {
        let schema = format!(r#"{{"type":"object","x":{},"properties":{{"a":{{"type":"string"}}}}}}"#, self.down);
        let params = self.inner.with(&[("message", "\"m\""), ("requestedSchema", &schema)]);
        let request = self.inner.with(&[("method", "\"elicitation/create\""), ("params", &params)]);
        let requests = format!("{{ \"q\":{request}}}");
        let kind = "\"input_required\"";
        let known = [("resultType", kind), ("inputRequests", &requests), ("requestState", state)];
        self.message.with(&[("jsonrpc", "\"2.0\""), ("id", id), ("result", &self.inner.with(&known))])
    }
}

fn meta(era: Era) -> Vec<(&'static str, &'static str)> {
    match era {
        Era::Legacy => vec![("progressToken", "9007199254740993")],
        Era::Modern => {
            assert_eq!(MODERN, "2026-07-28");
            vec![
                ("io.modelcontextprotocol/protocolVersion", "\"2026-07-28\""),
                ("io.modelcontextprotocol/clientCapabilities", r#"{"elicitation":{"form":{}}}"#),
            ]
        }
    }
}

/// What a stream says, or the body that is none.
fn events(text: &str) -> Result<Vec<Item>, String> {
    let items = Parser::new().push(text.as_bytes());
    if items.is_empty() { Err(text.to_owned()) } else { Ok(items) }
}
