//! How the service stops: what is under way ends well, what waits is answered, and nothing holds it up (R-SEC-04).

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use usher::serve::Running;
use usher_testkit::{
    client::Stream,
    sse::Item,
    upstream::{Gate, Script, Upstream},
    within,
};

use crate::{
    harness::{ACCEPT, CALLS, Stage},
    raw::address,
};

/// Time enough for what needs no waiting at all.
const PROMPT: Duration = Duration::from_secs(5);

/// Asks the service to stop, and returns when it has begun to.
async fn begin(running: Running) -> JoinHandle<()> {
    let stopping: CancellationToken = running.app.stopping.clone();
    let stop = tokio::spawn(running.stop());
    stopping.cancelled().await;
    stop
}

async fn done(stop: JoinHandle<()>) {
    within(PROMPT, "the service does not stop", stop).await.unwrap();
}

/// A call that finishes within the time for that is not cut.
#[tokio::test]
async fn calls_under_way_finish() {
    let mut stage = Stage::free(Upstream::start().await).await;
    let (gate, silent) = (Gate::new(), Gate::new());
    stage.upstream.tool("slow", Script::new().event(": on its way\n\n").wait(&gate).text("finished"));
    stage.upstream.tool("silent", Script::new().wait(&silent).text("finished"));
    let legacy = stage.ready().await;
    let modern = stage.modern();
    let mut streams = vec![
        modern.stream("tools/call", r#"{"name":"slow"}"#).await,
        legacy.open("tools/call", r#"{"name":"slow"}"#).await,
    ];
    for stream in &mut streams {
        assert!(matches!(stream.next_item().await, Some(Item::Comment(_))));
    }
    let silent_call = tokio::spawn(async move { modern.tool("silent", "{}").await });
    silent.reached(1).await;
    let stop = begin(stage.running.take().unwrap()).await;
    gate.open();
    silent.open();
    for stream in streams {
        assert_eq!(stream.reply().await.content_text(), "finished");
    }
    assert_eq!(silent_call.await.unwrap().content_text(), "finished");
    done(stop).await;
}

/// R-MRTR-06: a held retry is answered at once, by a round that any other replica can take up.
#[tokio::test]
async fn a_held_retry_ends_in_another_round() {
    let mut stage = Stage::new().await;
    let client = stage.modern();
    let mut held: Vec<Stream> = Vec::new();
    for (method, params) in CALLS {
        let asked = client.call(method, params).await;
        let members = params.trim_end_matches('}');
        let close = if params.ends_with("}}") { "}," } else { "," };
        let retry = format!(
            r#"{members}{close}"inputResponses":{},"requestState":{}}}"#,
            asked.answer_all(ACCEPT),
            usher_testkit::quote(&asked.request_state().unwrap())
        );
        let stream = client.stream(method, &retry).await;
        assert!(stream.is_sse(), "{method} is held");
        held.push(stream);
    }
    let stop = begin(stage.running.take().unwrap()).await;
    for stream in held {
        let reply = stream.reply_within(PROMPT).await;
        assert!(reply.is_input_required(), "{}", reply.text());
        assert!(reply.request_state().is_some());
    }
    done(stop).await;
    assert!(stage.upstream.requests_of("tools/call").is_empty());
}

/// R-ERR-01: a held legacy call is answered at once by -32042 that names the question which was asked.
#[tokio::test]
async fn a_held_call_ends_in_a_required_url() {
    let mut stage = Stage::new().await;
    let mut held = Vec::new();
    for (method, params) in CALLS {
        // A session of its own: one session is asked once.
        let client = stage.ready().await;
        let mut stream = client.open(method, params).await;
        let asked = stream.expect("elicitation/create").await;
        held.push((stream, asked.string(&["params", "elicitationId"]).unwrap()));
    }
    let stop = begin(stage.running.take().unwrap()).await;
    for (stream, id) in held {
        let reply = stream.reply_within(PROMPT).await;
        assert_eq!(reply.error_code(), -32042, "{}", reply.text());
        assert_eq!(reply.error()["data"]["elicitations"][0]["elicitationId"], id.as_str());
    }
    done(stop).await;
}

/// 2026-07-28, "Cancellation" and "Subscriptions": a subscription that the server ends is cancelled and then ended by its
/// result; a GET stream just ends.
#[tokio::test]
async fn long_streams_end_in_good_order() {
    let mut stage = Stage::free(Upstream::start().await).await;
    let client = stage.ready().await;
    let get = client.open_get(None).await;
    let request = stage.modern().request("subscriptions/listen", "{}").id(Some("\"l1\""));
    let mut listen = request.stream().await;
    listen.expect("notifications/subscriptions/acknowledged").await;
    let stop = begin(stage.running.take().unwrap()).await;
    let reply = listen.reply_within(PROMPT).await;
    assert_eq!(reply.response().id(), Some("\"l1\""));
    let result = r#"{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":"l1"}}"#;
    assert_eq!(reply.result_raw(), result);
    let cancelled = &reply.messages[reply.messages.len() - 2];
    assert_eq!(cancelled.method().as_deref(), Some("notifications/cancelled"), "{}", reply.text());
    assert_eq!(cancelled.at(&["params", "requestId"]), Some("\"l1\""));
    assert_eq!(cancelled.at(&["params", "_meta"]), Some(r#"{"io.modelcontextprotocol/subscriptionId":"l1"}"#));
    assert!(get.reply_within(PROMPT).await.messages.is_empty());
    done(stop).await;
    stage.upstream.wait_until("nobody listens", |upstream| upstream.listeners() + upstream.get_streams() == 0).await;
}

/// R-SEC-04: connections on which nothing happens do not hold the service up.
#[tokio::test]
async fn idle_connections_do_not_hold_the_service_up() {
    let mut stage = Stage::free(Upstream::start().await).await;
    let address = address(&stage.origin);
    let talk = move || {
        let open = || TcpStream::connect(&address).unwrap();
        let (nothing, mut kept) = (open(), open());
        write!(kept, "GET /healthz HTTP/1.1\r\nHost: {address}\r\n\r\n").unwrap();
        let mut answer = [0; 1024];
        let length = kept.read(&mut answer).unwrap();
        assert!(answer[..length].starts_with(b"HTTP/1.1 200"));
        [nothing, kept]
    };
    let connections = tokio::task::spawn_blocking(talk).await.unwrap();
    let stop = begin(stage.running.take().unwrap()).await;
    done(stop).await;
    drop(connections);
}

/// A service that stops takes nobody in any more.
#[tokio::test]
async fn new_connections_are_refused_while_calls_finish() {
    let mut stage = Stage::free(Upstream::start().await).await;
    let gate = Gate::new();
    stage.upstream.tool("slow", Script::new().event(": on its way\n\n").wait(&gate).text("finished"));
    let mut stream = stage.modern().stream("tools/call", r#"{"name":"slow"}"#).await;
    assert!(stream.next_item().await.is_some());
    let stop = begin(stage.running.take().unwrap()).await;
    let refused = async {
        while tokio::net::TcpStream::connect(address(&stage.origin)).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    within(PROMPT, "still taken in", refused).await;
    gate.open();
    assert_eq!(stream.reply().await.content_text(), "finished");
    done(stop).await;
}
