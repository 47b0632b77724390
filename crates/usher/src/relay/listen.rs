//! Streams that belong to no call: a legacy session's GET stream, and the modern `subscriptions/listen`.

use std::time::Duration;

use axum::response::Response;
use bytes::Bytes;
use elicit::codes;
use http::{HeaderMap, Method, StatusCode, header};
use tokio::{sync::mpsc, time::MissedTickBehavior};

use super::{
    call::{Attempt, Call, Caller},
    forward, held, notices, reply,
    screen::{Screen, Screened},
};
use crate::mcp::{
    envelope::{Message, result_text},
    headers::{accepts_events, is_type},
    sse::{Events, KEEP_ALIVE, message_event},
};

/// How long a stream that is closing may take to give its last words to a slow reader.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// GET: the session's own stream. It carries what the upstream sends outside of calls, and our completion notices. An
/// upstream without such a stream does not take it from the client.
pub(super) async fn open(caller: Caller, headers: &HeaderMap) -> Response {
    if !accepts_events(headers) {
        return reply::error(StatusCode::NOT_ACCEPTABLE, None, codes::INVALID_REQUEST, "GET needs `Accept: text/event-stream`");
    }
    let Some(session) = caller.session.clone() else {
        return reply::error(StatusCode::NOT_FOUND, None, codes::INVALID_REQUEST, forward::SESSION_OVER);
    };
    let upstream = match upstream_stream(&caller).await {
        Ok(upstream) => upstream,
        Err(response) => return response,
    };
    let (sender, receiver) = mpsc::channel(16);
    let (place, injected) = caller.app.relay.streams.take(&session.key);
    tokio::spawn(async move {
        let _place = place;
        notices::deliver_due(&caller.app, &session.key).await;
        run(&caller, upstream, injected, &sender).await;
    });
    reply::events(held::receiver_body(receiver))
}

async fn upstream_stream(caller: &Caller) -> Result<Option<reqwest::Response>, Response> {
    let injection = caller.available().await.unwrap_or_default();
    let response = match forward::send(caller, &injection, Method::GET, Bytes::new()).await {
        Ok(response) => response,
        Err(error) => {
            tracing::info!(upstream = caller.upstream().name, %error, "no stream of the upstream for a session");
            return Ok(None);
        }
    };
    if forward::session_is_over(caller, &response).await {
        return Err(reply::error(StatusCode::NOT_FOUND, None, codes::INVALID_REQUEST, forward::SESSION_OVER));
    }
    let is_stream = response.status().is_success() && is_type(response.headers().get(header::CONTENT_TYPE), "text/event-stream");
    Ok(is_stream.then_some(response))
}

async fn run(caller: &Caller, mut upstream: Option<reqwest::Response>, mut injected: mpsc::Receiver<Bytes>, sender: &mpsc::Sender<Bytes>) {
    let Some(session) = &caller.session else { return };
    let screen = Screen { revision: session.revision, capabilities: std::sync::Arc::new(session.capabilities.clone()) };
    let had_upstream = upstream.is_some();
    let mut events = Events::default();
    let mut ticks = tokio::time::interval(caller.app.relay.keep_alive);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let bytes = tokio::select! {
            () = sender.closed() => return,
            () = caller.app.stopping.cancelled() => return,
            bytes = injected.recv() => match bytes {
                Some(bytes) => bytes,
                None => return,
            },
            _ = ticks.tick() => KEEP_ALIVE,
            chunk = next_chunk(&mut upstream) => {
                let Some(chunk) = chunk.filter(|chunk| events.push(chunk).is_ok()) else {
                    upstream = None;
                    // The client reconnects, and so do we; without a stream upstream from the start there is none to lose.
                    if had_upstream { return }
                    continue;
                };
                let mut passed = Vec::new();
                while let Some(event) = events.next_event() {
                    let message = event.data();
                    let screened = match message.as_deref().map(|data| Message::parse(data.as_bytes())) {
                        Some(Ok(message)) => screen.legacy(caller, &message),
                        _ => Screened::Pass,
                    };
                    if matches!(screened, Screened::Pass) {
                        passed.extend_from_slice(&event.raw);
                    }
                }
                if passed.is_empty() { continue }
                Bytes::from(passed)
            }
        };
        if sender.send(bytes).await.is_err() {
            return;
        }
    }
}

async fn next_chunk(upstream: &mut Option<reqwest::Response>) -> Option<Bytes> {
    match upstream {
        Some(response) => response.chunk().await.ok().flatten(),
        None => std::future::pending().await,
    }
}

/// `subscriptions/listen`: the upstream's stream, kept alive, with an orderly end when the service stops.
pub(super) async fn subscribe(call: Call) -> Response {
    let response = match call.attempt().await {
        Attempt::Done(response) => response,
        // It names nothing, so nothing can be missing.
        Attempt::Ask(_) => return reply::error(StatusCode::OK, Some(&call.id), codes::INTERNAL_ERROR, "cannot subscribe"),
    };
    if !is_type(response.headers().get(header::CONTENT_TYPE), "text/event-stream") {
        return response;
    }
    let (sender, receiver) = mpsc::channel(16);
    tokio::spawn(async move {
        let mut body = response.into_body().into_data_stream();
        let mut ticks = tokio::time::interval(call.caller.app.relay.keep_alive);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.tick().await;
        loop {
            let bytes = tokio::select! {
                () = sender.closed() => return,
                () = call.caller.app.stopping.cancelled() => break,
                _ = ticks.tick() => KEEP_ALIVE,
                chunk = futures_util::StreamExt::next(&mut body) => match chunk {
                    Some(Ok(chunk)) => chunk,
                    Some(Err(_)) | None => return,
                },
            };
            if sender.send(bytes).await.is_err() {
                return;
            }
        }
        let id = call.id.get();
        let result = format!(r#"{{"resultType":"complete","_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}"#);
        let _ = sender.send_timeout(message_event(&result_text(&call.id, &result)), LAST_WORDS).await;
    });
    reply::events(held::receiver_body(receiver))
}
