//! Streams that belong to no call: a legacy session's GET stream, and the modern `subscriptions/listen`.

use std::{sync::Arc, time::Duration};

use axum::response::Response;
use bytes::Bytes;
use elicit::codes;
use http::{HeaderMap, Method, StatusCode, header};
use serde_json::value::RawValue;
use tokio::{sync::oneshot, time::MissedTickBehavior};

use super::{
    call::{Attempt, Call, Caller},
    forward, notices,
    pipe::{self, Pipe, Writer},
    reply,
    resume::nothing_follows,
    screen::{Screen, Screened},
    streams::{Kind, Place},
    upstream::Answer,
};
use crate::mcp::{
    envelope::result_text,
    headers::{LAST_EVENT_ID, accepts_events, is_type},
    sse::{Event, Events, KEEP_ALIVE, message_event},
};

/// How long a stream that is closing may take to give its last words to a slow reader.
const LAST_WORDS: Duration = Duration::from_secs(2);

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
    Open(Box<Answer>),
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
    let relay = &caller.app.relay;
    if let Some(id) = relay.resumes.named(headers) {
        return relay.resumes.resume(&caller, &session.key, id);
    }
    let kind = if headers.contains_key(LAST_EVENT_ID) { Kind::Resumed } else { Kind::Own };
    let (writer, body) = pipe::open(&relay.pace);
    // An earlier stream of the session ends first, and the upstream's with it: many servers allow one at a time.
    let place = relay.streams.take(&session.key, kind, !session.begun, Pipe::clone(&writer));
    let (refuse, refused) = oneshot::channel();
    // Not in the handler, which goes without a word when its client leaves: what then lies in the stream is due again.
    tokio::spawn(async move {
        serve(&caller, kind, &place, &writer, refuse).await;
        end(&caller, place, writer).await;
    });
    match refused.await {
        Ok(response) => response,
        Err(_) => reply::events(body),
    }
}

/// A stream from its opening to its end. Where it does not come about, `refuse` takes the response; it is dropped where it does.
async fn serve(caller: &Caller, kind: Kind, place: &Place, writer: &Writer, refuse: oneshot::Sender<Response>) {
    let Some(session) = &caller.session else { return };
    let opened = tokio::select! {
        opened = opening(place, upstream_stream(caller, kind)) => opened,
        // Another one took over, or the session is over: the client reads the end of this stream.
        () = place.over() => Ok(Leg::None),
        () = writer.gone() => return,
    };
    let leg = match opened {
        Ok(leg) => leg,
        Err(response) => {
            // A client that has left needs none.
            let _ = refuse.send(response);
            return;
        }
    };
    drop(refuse);
    tokio::select! {
        () = run(caller, leg, place, writer) => {}
        // The client opens it anew, with a token that is good.
        () = caller.token_ends() => {}
        () = async {
            notices::deliver_due(&caller.app, &session.key).await;
            std::future::pending::<()>().await;
        } => {}
    }
}

/// Gives a stream's place up. What nobody reads of its notices by then is due again.
async fn end(caller: &Caller, place: Place, writer: Writer) {
    let pipe = Pipe::clone(&writer);
    drop((place, writer));
    let _ = tokio::time::timeout(caller.app.relay.pace.slow_reader, pipe.left()).await;
    if let Some(session) = &caller.session {
        notices::put_back(&caller.app, &session.key, pipe.end().notices()).await;
    }
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

async fn upstream_stream(caller: &Caller, kind: Kind) -> Result<Leg, Response> {
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
                return match kind {
                    Kind::Own => Ok(Leg::Missing),
                    Kind::Resumed => {
                        let text = error.to_string();
                        Err(reply::error(StatusCode::BAD_GATEWAY, None, codes::INTERNAL_ERROR, &text))
                    }
                };
            }
        }
    };
    if forward::session_is_over(caller, &response).await {
        return Err(reply::error(StatusCode::NOT_FOUND, None, codes::INVALID_REQUEST, forward::SESSION_OVER));
    }
    let is_stream =
        response.status().is_success() && is_type(response.headers().get(header::CONTENT_TYPE), "text/event-stream");
    match kind {
        _ if is_stream => Ok(Leg::Open(Box::new(response))),
        Kind::Own => Ok(Leg::None),
        // Nobody has what the client waits for.
        Kind::Resumed => Err(nothing_follows()),
    }
}

async fn run(caller: &Caller, leg: Leg, place: &Place, writer: &Writer) {
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
    let mut ticks = tokio::time::interval(caller.app.relay.pace.keep_alive);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            () = writer.gone() => return,
            () = place.over() => return,
            () = caller.app.stopping.cancelled() => return,
            () = &mut end, if short => return,
            _ = ticks.tick() => writer.sign_of_life(KEEP_ALIVE),
            chunk = next_chunk(&mut upstream) => {
                if chunk.is_none_or(|chunk| events.push(&chunk).is_err()) {
                    // The client reconnects, and so do we.
                    return;
                }
            }
        }
        while let Some(event) = events.next_event() {
            let Some(bytes) = look_at(caller, &screen, event) else { continue };
            // Who does not read is not waited for when the stream is over.
            tokio::select! {
                sent = writer.send(bytes) => if sent.is_err() { return },
                () = place.over() => return,
                () = caller.app.stopping.cancelled() => return,
            }
        }
    }
}

/// What goes to the client for one event.
fn look_at(caller: &Caller, screen: &Screen, event: Event) -> Option<Bytes> {
    let screened =
        event.data().map_or(Screened::Pass, |data| screen.data(&data, |message| screen.legacy(caller, message)));
    match screened {
        Screened::Pass => Some(event.raw),
        Screened::Replace { text, .. } => Some(event.with_data(&text)),
        Screened::Drop => None,
    }
}

async fn next_chunk(upstream: &mut Option<Box<Answer>>) -> Option<Bytes> {
    match upstream {
        Some(response) => response.chunk().await.ok().flatten(),
        None => std::future::pending().await,
    }
}

/// `subscriptions/listen`: the upstream's stream, kept alive, with an orderly end when the service stops.
pub(super) async fn subscribe(mut call: Call) -> Response {
    match call.caller.place.for_stream() {
        Ok(place) => call.caller.place = Arc::new(place),
        Err(full) => return call.no_room(full),
    }
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
    let (writer, body) = pipe::open(&call.caller.app.relay.pace);
    tokio::spawn(async move {
        // It is kept alive as every stream of a call is.
        let mut chunks = response.into_body().into_data_stream();
        let over = async {
            tokio::select! {
                () = call.caller.app.stopping.cancelled() => {}
                () = call.caller.token_ends() => {}
            }
        };
        let mut over = std::pin::pin!(over);
        loop {
            let chunk = tokio::select! {
                () = writer.gone() => return,
                () = &mut over => break,
                chunk = futures_util::StreamExt::next(&mut chunks) => chunk,
            };
            let Some(Ok(chunk)) = chunk else { return };
            tokio::select! {
                sent = writer.send(chunk) => if sent.is_err() { return },
                () = &mut over => break,
            }
        }
        tear_down(&call.id, &writer).await;
    });
    reply::events(body)
}

/// The messages that end a subscription: `notifications/cancelled`, which servers must send (2026-07-28, "Cancellation"), and
/// then the result, which they should (2026-07-28, "Subscriptions").
pub(super) fn subscription_end(id: &RawValue) -> [String; 2] {
    let meta = format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{}}}"#, id.get());
    let params = format!(r#"{{{meta},"requestId":{},"reason":"the subscription has ended"}}"#, id.get());
    let cancelled = format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#);
    let result = result_text(id, &format!(r#"{{"resultType":"complete",{meta}}}"#));
    [cancelled, result]
}

/// Ends a subscription on our own account.
pub(super) async fn tear_down(id: &RawValue, pipe: &Pipe) {
    for message in subscription_end(id) {
        // A client that has left hears nothing more.
        let sent = tokio::time::timeout(LAST_WORDS, pipe.send(message_event(&message))).await;
        if !matches!(sent, Ok(Ok(()))) {
            return;
        }
    }
}
