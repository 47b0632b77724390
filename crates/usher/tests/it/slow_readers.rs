//! Clients that do not read (R-SEC-04): the server behind feels it, memory stays bounded, and others go on.

use std::{
    fmt::Write as _,
    io::{Read as _, Write as _},
    net::TcpStream,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::State,
    response::{IntoResponse, Response},
    routing::post,
};
use bytes::Bytes;
use futures_util::stream;
use tokio::net::TcpListener;
use usher::relay::Pace;
use usher_testkit::{
    DEADLINE,
    client::{Legacy, Modern},
    upstream::Upstream,
    within,
};

use crate::{
    harness::{Setup, Stage},
    raw::address,
};

const MIB: usize = 1024 * 1024;

/// What all sockets between here and there can hold, and some more. Ours is well below a MiB.
const BOUND: usize = 48 * MIB;

/// How long a reader may take nothing in these tests.
const PATIENCE: Duration = Duration::from_millis(600);

/// A server that answers every call and every GET by a stream without an end, as fast as it is read.
#[derive(Clone, Default)]
struct Flood {
    open: Arc<AtomicUsize>,
    sent: Arc<AtomicUsize>,
    /// Without an end of any event.
    endless: bool,
}

struct Open(Flood);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Flood {
    fn answer(self) -> Response {
        self.open.fetch_add(1, Ordering::SeqCst);
        let text =
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/x","params":{{"x":"{}"}}}}"#, "x".repeat(64 * 1024));
        let event = Bytes::from(format!("data: {text}\n{}", if self.endless { "" } else { "\n" }));
        let body = stream::unfold(Open(self), move |open| {
            let event = event.clone();
            async move {
                let sent = open.0.sent.fetch_add(event.len(), Ordering::SeqCst);
                // Far beyond the bound it would be a test that fills the machine.
                (sent < 4 * BOUND).then_some((Ok::<_, std::convert::Infallible>(event), open))
            }
        });
        ([("content-type", "text/event-stream")], Body::from_stream(body)).into_response()
    }

    async fn start(&self) -> String {
        async fn message(State(flood): State<Flood>, body: String) -> Response {
            let result = if body.contains("\"initialize\"") {
                r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"flood","version":"1"}}"#
            } else if body.contains("\"ping\"") {
                "{}"
            } else if body.contains("\"id\"") {
                return flood.answer();
            } else {
                return http::StatusCode::ACCEPTED.into_response();
            };
            let id = if body.contains("\"initialize\"") { "1" } else { "2" };
            let headers = [("content-type", "application/json"), ("mcp-session-id", "one")];
            (headers, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)).into_response()
        }
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let get = |State(flood): State<Flood>| async move { flood.answer() };
        let router = Router::new().route("/mcp", post(message).get(get)).with_state(self.clone());
        // It ends with the test's runtime.
        tokio::spawn(async move { axum::serve(listener, router).await });
        format!("http://{address}/mcp")
    }

    async fn until(&self, what: &str, holds: impl Fn(usize, usize) -> bool) {
        let wait = async {
            while !holds(self.open.load(Ordering::SeqCst), self.sent.load(Ordering::SeqCst)) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        within(DEADLINE, what, wait).await;
    }
}

/// A stage with a flood behind it, and a session there.
async fn flooded(flood: &Flood) -> (Stage, Legacy) {
    let more = format!("[[upstream]]\nname = \"flood\"\nurl = \"{}\"\n", flood.start().await);
    let pace = Pace { slow_reader: PATIENCE, ..Pace::default() };
    let stage = Stage::with(Setup { free: true, more, pace, ..Setup::default() }, Upstream::start().await).await;
    let client = Legacy::new(format!("{}/mcp/flood", stage.origin)).token(&stage.token);
    assert_eq!(client.initialize().await.status, 200);
    (stage, client)
}

/// Sends a request on a connection of its own, and reads nothing.
fn send(stage: &Stage, line: &str, headers: &[(&str, &str)], body: &str) -> TcpStream {
    let host = address(&stage.origin);
    let mut connection = TcpStream::connect(&host).unwrap();
    let mut text = format!("{line} /mcp/flood HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\n", stage.token);
    for (name, value) in headers {
        write!(text, "{name}: {value}\r\n").unwrap();
    }
    text.push_str("Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n");
    write!(text, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    connection.write_all(text.as_bytes()).unwrap();
    connection
}

/// What the stream is, the HTTP method, headers and body.
type Asked<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], String);

/// R-SEC-04: on every kind of stream the server is not read faster than the client reads; a client that takes nothing is cut
/// off, and the server's stream with it; others go on meanwhile.
#[tokio::test]
async fn a_client_that_reads_nothing_costs_little_and_is_gone_in_time() {
    let flood = Flood::default();
    let (stage, client) = flooded(&flood).await;
    let session = client.session().unwrap();
    let legacy = [("Mcp-Session-Id", &*session), ("MCP-Protocol-Version", "2025-11-25")];
    let modern =
        |method: &'static str| [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method), ("Mcp-Name", "x")];
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"#;
    let call =
        |method: &str, params: &str| format!(r#"{{"jsonrpc":"2.0","id":9,"method":"{method}","params":{{{params}}}}}"#);
    let streams: [Asked<'_>; 5] = [
        ("a legacy call", "POST", &legacy, call("tools/call", r#""name":"x""#)),
        ("a modern call", "POST", &modern("tools/call"), call("tools/call", &format!(r#""name":"x",{meta}"#))),
        ("a subscription", "POST", &modern("subscriptions/listen")[..2], call("subscriptions/listen", meta)),
        ("a GET stream", "GET", &legacy, String::new()),
        ("a resumed stream", "GET", &[legacy[0], legacy[1], ("Last-Event-ID", "e-1")], String::new()),
    ];
    for (what, method, headers, body) in streams {
        flood.sent.store(0, Ordering::SeqCst);
        let mut connection = send(&stage, method, headers, &body);
        flood.until(&format!("{what} does not begin"), |open, sent| open == 1 && sent > MIB).await;
        assert_eq!(client.call("ping", "{}").await.status, 200, "{what}: others go on");
        flood.until(&format!("{what} is not given up"), |open, _| open == 0).await;
        let sent = flood.sent.load(Ordering::SeqCst);
        assert!(sent < BOUND, "{what}: {sent} bytes were taken from the server for a client that reads nothing");
        // The connection is cut, and not kept for whenever the client may read.
        let rest = tokio::task::spawn_blocking(move || {
            connection.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
            let mut all = Vec::new();
            let end = connection.read_to_end(&mut all);
            (end.map_err(|error| error.kind()), all)
        });
        let (end, all) = rest.await.unwrap();
        assert_ne!(end, Err(std::io::ErrorKind::WouldBlock), "{what}: the connection is still open");
        assert!(!all.ends_with(b"0\r\n\r\n"), "{what}: it does not look complete");
    }
}

/// R-SEC-04: an event that never ends is not collected for ever.
#[tokio::test]
async fn an_event_without_an_end_is_given_up() {
    let flood = Flood { endless: true, ..Flood::default() };
    let (stage, client) = flooded(&flood).await;
    let modern = Modern::new(format!("{}/mcp/flood", stage.origin)).token(&stage.token);
    for reply in [client.tool("x", "{}").await, modern.tool("x", "{}").await] {
        assert_eq!(reply.error_code(), -32603, "{}", reply.text());
        assert!(reply.error_message().contains("the server flood sent an event that is too long"), "{}", reply.text());
    }
    assert!(client.open_get(None).await.reply().await.messages.is_empty(), "a GET stream ends");
    flood.until("the server's streams are let go of", |open, _| open == 0).await;
}
