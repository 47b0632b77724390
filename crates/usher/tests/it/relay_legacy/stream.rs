//! The GET stream of a legacy session.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use axum::{
    Router,
    body::Body,
    extract::State,
    response::{IntoResponse, Response},
    routing::post,
};
use bytes::Bytes;
use elicit::Principal;
use futures_util::stream;
use jiff::SignedDuration;
use secrecy::SecretString;
use tokio::net::TcpListener;
use usher::{clock::Clock, identity::tokens::local_user};
use usher_store::{Advanced, AskReason, Completion, InteractionId, NewInteraction, SessionId, Step};
use usher_testkit::{
    client::Legacy,
    sse::Item,
    upstream::{Gate, Script, Upstream},
    within,
};

use crate::harness::{Setup, Stage};

const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"n":1e999}}"#;

/// R-GW-02: what the upstream sends outside of calls passes byte for byte.
#[tokio::test]
async fn what_the_upstream_pushes_passes_byte_for_byte() {
    let stage = Stage::free(Upstream::start().await).await;
    let client = stage.ready().await;
    let mut stream = client.open_get(None).await;
    assert!(stream.is_sse());
    let raw = format!(
        ": hi\n\nid: 5\nretry: 9\nevent: message\r\ndata: {CHANGED}\r\n\r\nid: 6\ndata:\n\nevent: other\ndata: no json\n\n"
    );
    for piece in raw.as_bytes().chunks(11) {
        stage.upstream.push(std::str::from_utf8(piece).unwrap()).await;
    }
    let last = r#"{"jsonrpc":"2.0","id":"s-1","method":"ping"}"#;
    stage.upstream.push_message(last).await;
    while stream.next_message().await.unwrap().text != last {}
    let all = String::from_utf8(stream.bytes().to_vec()).unwrap();
    assert!(all.replace(": waiting\n\n", "").starts_with(&raw), "{all}");
    stage.upstream.assert_clean();
}

/// The design, section 4: a client has a stream even where the upstream has none, and it is kept alive.
#[tokio::test]
async fn an_upstream_without_a_stream_takes_it_from_no_client() {
    let stage = Stage::free(Upstream::builder().without_get_stream().start().await).await;
    let client = stage.ready().await;
    let mut stream = client.open_get(None).await;
    assert_eq!(stream.status, 200);
    assert!(matches!(stream.next_item().await, Some(Item::Comment(_))));
    assert_eq!(client.call("tools/list", "{}").await.status, 200);
    stage.upstream.assert_clean();
}

/// Transports 2025-11-25: GET is for clients that take events.
#[tokio::test]
async fn a_get_without_accepting_events_is_refused() {
    let stage = Stage::free(Upstream::start().await).await;
    let session = stage.ready().await.session().unwrap();
    let client = stage.legacy().with_session(session).header("accept", Some("application/json"));
    assert_eq!(client.open_get(None).await.status, 406);
    assert_eq!(stage.upstream.get_streams(), 0);
}

/// Transports 2025-11-25, "Multiple Connections": a message goes on one stream; the newest is the one that is read.
#[tokio::test]
async fn a_second_stream_takes_over_from_the_first() {
    let stage = Stage::free(Upstream::start().await).await;
    let client = stage.ready().await;
    let first = client.open_get(None).await;
    let mut second = client.open_get(None).await;
    let ended = first.reply().await;
    assert!(ended.messages.is_empty(), "{}", ended.text());
    stage.upstream.wait_until("one stream is left", |upstream| upstream.get_streams() == 1).await;
    stage.upstream.push_message(CHANGED).await;
    assert_eq!(second.next_message().await.unwrap().text, CHANGED);
}

/// A client that leaves is not listened for any more.
#[tokio::test]
async fn a_client_that_leaves_its_stream_closes_the_upstreams() {
    let stage = Stage::free(Upstream::start().await).await;
    let client = stage.ready().await;
    let stream = client.open_get(None).await;
    stage.upstream.wait_until("a stream", |upstream| upstream.get_streams() == 1).await;
    drop(stream);
    stage.upstream.wait_until("no stream", |upstream| upstream.get_streams() == 0).await;
}

/// R-SEC-04: a stream that the upstream ended ends here too, so that the client opens it anew.
#[tokio::test]
async fn a_stream_that_the_upstream_ends_ends_for_the_client() {
    let stage = Stage::free(Upstream::start().await).await;
    let client = stage.ready().await;
    let stream = client.open_get(None).await;
    stage.upstream.push_message(CHANGED).await;
    stage.upstream.end_streams();
    assert!(stream.reply().await.text().contains(CHANGED));
    let mut again = client.open_get(None).await;
    stage.upstream.push_message(CHANGED).await;
    assert_eq!(again.next_message().await.unwrap().text, CHANGED);
}

/// R-DONE-01: however many notices wait for a session, its next stream brings them all, each once.
#[tokio::test]
async fn all_notices_that_wait_come_on_the_next_stream() {
    const COUNT: usize = 40;
    let stage = Stage::free(Upstream::start().await).await;
    let client = stage.ready().await;
    let session = SessionId::parse(&client.session().unwrap()).unwrap().key();
    let (app, now) = (stage.app(), stage.clock.now());
    let new = |number: usize| NewInteraction {
        id: InteractionId::new(&*app.random),
        principal: Principal { user: local_user(), client: app.identity.tokens().unwrap().first().0.clone() },
        client_claim: None,
        asked_by: None,
        provider: format!("provider-{number}"),
        destination: app.config.upstreams[0].destination(),
        reason: AskReason::Missing,
        operation: None,
        expires_at: now + SignedDuration::from_mins(15),
    };
    let asked: Vec<NewInteraction> = (0..COUNT).map(new).collect();
    for mut interaction in app.store.ask(&asked, Some(&session), now).await.unwrap() {
        for step in [Step::Open, Step::Consent] {
            let Advanced::Done(next) = app.store.advance(interaction, step, now).await.unwrap() else {
                panic!("a step")
            };
            interaction = next;
        }
        let secrets = BTreeMap::from([("key".to_owned(), SecretString::from("secret"))]);
        let done = app.store.complete(interaction, Completion::Connect { secrets }, now).await.unwrap();
        assert!(matches!(done, Advanced::Done(_)));
    }
    let mut stream = client.open_get(None).await;
    let mut noticed = BTreeSet::new();
    for _ in 0..COUNT {
        let notice = stream.expect("notifications/elicitation/complete").await;
        noticed.insert(notice.string(&["params", "elicitationId"]).unwrap());
    }
    let ids: BTreeSet<String> = asked.iter().map(|asked| asked.id.to_string()).collect();
    assert_eq!(noticed, ids);
}

/// An upstream as the MCP TypeScript SDK is: one GET stream a session, a second one gets 409 until the first is gone.
async fn strict_upstream() -> String {
    struct Taken(Arc<AtomicBool>);
    impl Drop for Taken {
        fn drop(&mut self) {
            self.0.store(false, Ordering::SeqCst);
        }
    }
    async fn get(State(taken): State<Arc<AtomicBool>>) -> Response {
        if taken.swap(true, Ordering::SeqCst) {
            return http::StatusCode::CONFLICT.into_response();
        }
        let body = stream::unfold((Taken(taken), 0), |(taken, count)| async move {
            if count > 0 {
                return std::future::pending().await;
            }
            let text = format!("data: {CHANGED}\n\n");
            Some((Ok::<_, std::convert::Infallible>(Bytes::from(text)), (taken, count + 1)))
        });
        ([("content-type", "text/event-stream")], Body::from_stream(body)).into_response()
    }
    async fn message(body: String) -> Response {
        if !body.contains("\"initialize\"") {
            return http::StatusCode::ACCEPTED.into_response();
        }
        let result =
            r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"strict","version":"1"}}"#;
        let headers = [("content-type", "application/json"), ("mcp-session-id", "one")];
        (headers, format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#)).into_response()
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().route("/mcp", post(message).get(get)).with_state(Arc::default());
    // It ends with the test's runtime.
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}/mcp")
}

/// A client that comes back hears its upstream again, though the upstream allows one stream at a time.
#[tokio::test]
async fn a_stream_is_taken_over_at_an_upstream_that_allows_one() {
    let more = format!("[[upstream]]\nname = \"strict\"\nurl = \"{}\"\n", strict_upstream().await);
    let stage = Stage::with(Setup { free: true, more, ..Setup::default() }, Upstream::start().await).await;
    let client = Legacy::new(format!("{}/mcp/strict", stage.origin)).token(&stage.token);
    client.initialize().await;
    let mut streams = Vec::new();
    for round in 0..3 {
        let mut stream = client.open_get(None).await;
        let message =
            within(usher_testkit::DEADLINE, &format!("stream {round} is silent"), stream.next_message()).await;
        assert_eq!(message.unwrap().text, CHANGED);
        streams.push(stream);
    }
}

/// Transports 2025-11-25, "Multiple Connections" and "Resumability": what resumes a call stands beside the session's own
/// stream, and takes nothing from it.
#[tokio::test]
async fn a_resumed_call_stands_beside_the_sessions_own_stream() {
    let stage = Stage::free(Upstream::start().await).await;
    let gate = Gate::new();
    let script = Script::new().event("id: e-7\ndata:\n\n").cut("e-7").wait(&gate).text("after all");
    stage.upstream.tool("polls", script);
    let client = stage.ready().await;
    let mut own = client.open_get(None).await;
    stage.upstream.wait_until("a GET stream", |upstream| upstream.get_streams() == 1).await;
    client.tool("polls", "{}").await;
    let resumed = client.open_get(Some("e-7")).await;
    stage.upstream.push_message(CHANGED).await;
    assert_eq!(own.next_message().await.unwrap().text, CHANGED);
    gate.open();
    assert_eq!(resumed.reply().await.content_text(), "after all");
    stage.upstream.push_message(CHANGED).await;
    assert_eq!(own.next_message().await.unwrap().text, CHANGED, "and outlives it");
    stage.upstream.assert_clean();
}

/// R-ID-01: a stream does not outlive its session, wherever that ended.
#[tokio::test]
async fn a_stream_ends_with_its_session() {
    let stage = Stage::free(Upstream::start().await).await;
    let client = stage.ready().await;
    let stream = client.open_get(None).await;
    stage.upstream.wait_until("a GET stream", |upstream| upstream.get_streams() == 1).await;
    let session = SessionId::parse(&client.session().unwrap()).unwrap().key();
    stage.app().store.delete_session(&session).await.unwrap();
    assert!(stream.reply().await.messages.is_empty());
    stage.upstream.wait_until("no GET stream", |upstream| upstream.get_streams() == 0).await;
}

/// R-SEC-04: a client that does not read its stream holds up neither the one that takes over nor the service's stop.
#[tokio::test]
async fn a_stream_that_nobody_reads_is_given_up() {
    let mut stage = Stage::free(Upstream::start().await).await;
    let client = stage.ready().await;
    let flood = format!(r#"{{"jsonrpc":"2.0","method":"x","params":{{"text":"{}"}}}}"#, "x".repeat(100_000));
    // More than all sockets between here and there hold; the calls give it the time to get stuck.
    let stuck = async || {
        for _ in 0..600 {
            stage.upstream.push_message(&flood).await;
        }
        for _ in 0..300 {
            client.call("ping", "{}").await;
        }
    };
    let _unread = client.open_get(None).await;
    stuck().await;
    let mut second = client.open_get(None).await;
    stage.upstream.wait_until("one stream is left", |upstream| upstream.get_streams() == 1).await;
    stage.upstream.push_message(CHANGED).await;
    // After what the first one's reader did not take.
    assert_eq!(second.expect("notifications/tools/list_changed").await.text, CHANGED);
    stuck().await;
    let app = Arc::clone(&stage.running.as_ref().unwrap().app);
    app.stopping.cancel();
    stage.upstream.wait_until("no stream is left", |upstream| upstream.get_streams() == 0).await;
    stage.running = None;
}
