//! Streams that belong to no call: a legacy session's GET stream, and the modern `subscriptions/listen`.

use std::time::Duration;

use axum::response::Response;
use bytes::Bytes;
use elicit::codes;
use http::{HeaderMap, Method, StatusCode, header};
use serde_json::value::RawValue;
use tokio::{sync::mpsc, time::MissedTickBehavior};

use super::{
    call::{Attempt, Call, Caller},
    forward, held, notices, reply,
    screen::{Screen, Screened},
    streams::{Kind, Place},
    upstream::Answer,
};
use crate::mcp::{
    envelope::result_text,
    headers::{LAST_EVENT_ID, accepts_events, is_type},
    sse::{Events, KEEP_ALIVE, message_event},
};

/// How long a stream that is closing may take to give its last words to a slow reader.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Events on their way to a slow reader.
const QUEUE: usize = 16;

/// How often a stream is asked for again where the upstream says that the session has one (HTTP 409).
const CONFLICTS: u8 = 10;
/// The time in between.
const AFTER_CONFLICT: Duration = Duration::from_millis(100);

/// How long a session's calls wait for its stream to reach the upstream.
const OPENING: Duration = Duration::from_secs(1);

/// How long a stream lives whose upstream could not be reached: the client opens it anew, and so do we.
const WITHOUT_UPSTREAM: Duration = Duration::from_secs(30);

/// The upstream's part of a session's stream.
enum Leg {
    /// It sends.
    Open(Answer),
    /// The upstream has no such streams.
    None,
    /// The upstream cannot be reached at the moment, or refuses.
    Missing,
}

/// GET: the session's own stream, or with `Last-Event-ID` the rest of one that broke off. It carries what the upstream sends
/// on it, and our completion notices. An upstream without such a stream does not take it from the client.
pub(super) async fn open(caller: Caller, headers: &HeaderMap) -> Response {
    if !accepts_events(headers) {
        return reply::error(
            StatusCode::NOT_ACCEPTABLE,
            None,
            codes::INVALID_REQUEST,
            "GET needs `Accept: text/event-stream`",
        );
    }
    let Some(session) = caller.session.clone() else {
        return reply::error(StatusCode::NOT_FOUND, None, codes::INVALID_REQUEST, forward::SESSION_OVER);
    };
    let kind = if headers.contains_key(LAST_EVENT_ID) { Kind::Resumed } else { Kind::Own };
    let (sender, receiver) = mpsc::channel(QUEUE);
    // An earlier stream of the session ends first, and the upstream's with it: many servers allow one at a time.
    let place = caller.app.relay.streams.take(&session.key, kind, !session.begun, sender.clone());
    let upstream = match opening(&place, upstream_stream(&caller)).await {
        Ok(upstream) => upstream,
        Err(response) => return response,
    };
    tokio::spawn(async move {
        tokio::select! {
            () = run(&caller, upstream, &place, &sender) => {}
            () = async {
                notices::deliver_due(&caller.app, &session.key).await;
                std::future::pending::<()>().await;
            } => {}
        }
    });
    reply::events(held::receiver_body(receiver))
}

/// Waits for the upstream's part of a stream, and lets the session's calls go on after [`OPENING`].
async fn opening<T>(place: &Place, upstream: impl Future<Output = T>) -> T {
    let mut upstream = std::pin::pin!(upstream);
    let in_time = tokio::time::timeout(OPENING, upstream.as_mut()).await;
    place.opened();
    match in_time {
        Ok(opened) => opened,
        Err(_) => upstream.await,
    }
}

async fn upstream_stream(caller: &Caller) -> Result<Leg, Response> {
    let injection = caller.available().await.unwrap_or_default();
    let mut tries = 0;
    let response = loop {
        match forward::send(caller, &injection, Method::GET, Bytes::new()).await {
            // It has not noticed yet that the stream before this one is gone.
            Ok(response) if response.status() == StatusCode::CONFLICT && tries < CONFLICTS => {
                tries += 1;
                tokio::time::sleep(AFTER_CONFLICT).await;
            }
            Ok(response) => break response,
            Err(error) => {
                tracing::info!(upstream = caller.upstream().name, %error, "no stream of the upstream for a session");
                return Ok(Leg::Missing);
            }
        }
    };
    if forward::session_is_over(caller, &response).await {
        return Err(reply::error(StatusCode::NOT_FOUND, None, codes::INVALID_REQUEST, forward::SESSION_OVER));
    }
    let is_stream =
        response.status().is_success() && is_type(response.headers().get(header::CONTENT_TYPE), "text/event-stream");
    Ok(if is_stream { Leg::Open(response) } else { Leg::None })
}

async fn run(caller: &Caller, leg: Leg, place: &Place, sender: &mpsc::Sender<Bytes>) {
    let Some(session) = &caller.session else { return };
    let screen = Screen::of_session(session);
    let short = matches!(leg, Leg::Missing) && session.begun;
    let end = tokio::time::sleep(WITHOUT_UPSTREAM);
    tokio::pin!(end);
    let mut upstream = match leg {
        Leg::Open(response) => Some(response),
        Leg::None | Leg::Missing => None,
    };
    let mut events = Events::default();
    let mut ticks = tokio::time::interval(caller.app.relay.keep_alive);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let bytes = tokio::select! {
            () = sender.closed() => return,
            () = place.over() => return,
            () = caller.app.stopping.cancelled() => return,
            () = &mut end, if short => return,
            _ = ticks.tick() => KEEP_ALIVE,
            chunk = next_chunk(&mut upstream) => {
                if chunk.is_none_or(|chunk| events.push(&chunk).is_err()) {
                    // The client reconnects, and so do we.
                    return;
                }
                let mut passed = Vec::new();
                while let Some(event) = events.next_event() {
                    let data = event.data();
                    let screened = data.map_or(Screened::Pass, |data| screen.data(&data, |message| screen.legacy(caller, message)));
                    if matches!(screened, Screened::Pass) {
                        passed.extend_from_slice(&event.raw);
                    }
                }
                if passed.is_empty() { continue }
                Bytes::from(passed)
            }
        };
        // Who does not read is not waited for when the stream is over.
        tokio::select! {
            sent = held::send(sender, bytes) => if sent.is_err() { return },
            () = place.over() => return,
            () = caller.app.stopping.cancelled() => return,
        }
    }
}

async fn next_chunk(upstream: &mut Option<Answer>) -> Option<Bytes> {
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
        Attempt::Ask(_) => {
            return reply::error(StatusCode::OK, Some(&call.id), codes::INTERNAL_ERROR, "cannot subscribe");
        }
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
            tokio::select! {
                sent = held::send(&sender, bytes) => if sent.is_err() { return },
                () = call.caller.app.stopping.cancelled() => break,
            }
        }
        tear_down(&call.id, &sender).await;
    });
    reply::events(held::receiver_body(receiver))
}

/// Ends a subscription on our own account: by `notifications/cancelled`, which servers must send (2026-07-28,
/// "Cancellation"), and then by the result, which they should (2026-07-28, "Subscriptions").
pub(super) async fn tear_down(id: &RawValue, sender: &mpsc::Sender<Bytes>) {
    let meta = format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{}}}"#, id.get());
    let params = format!(r#"{{{meta},"requestId":{},"reason":"the subscription has ended"}}"#, id.get());
    let cancelled = format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#);
    let result = result_text(id, &format!(r#"{{"resultType":"complete",{meta}}}"#));
    for message in [cancelled, result] {
        // A client that has left hears nothing more.
        if sender.send_timeout(message_event(&message), LAST_WORDS).await.is_err() {
            return;
        }
    }
}
