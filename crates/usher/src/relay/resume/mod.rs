//! Streams of held calls that can be resumed (streamable HTTP 2025-11-25, "Resumability and Redelivery"): a client whose
//! connection broke off comes back with the id of the last event that it read, and gets the rest.

mod id;
mod ledger;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use elicit::{Random, codes};
use futures_util::{StreamExt, stream};
use http::{HeaderMap, StatusCode};
use serde_json::value::RawValue;
use usher_store::SessionKey;

#[cfg(test)]
pub(super) use self::ledger::SESSION_AT_MOST;
use self::{
    id::{EventId, Ids, Nonce},
    ledger::{Ledger, Share},
};
use super::{
    Pace,
    call::Caller,
    pipe::{self, Pipe, Resumed, Writer},
    reply,
};
use crate::mcp::{
    envelope::{error_object, error_text},
    headers::LAST_EVENT_ID,
    sse::{event_with_id, message_event},
};

/// How long a client waits before it comes back, in milliseconds.
const RETRY: u32 = 1000;

/// The number in the id of a stream's last word, where the stream itself is not here.
const LAST: u32 = u32::MAX;

type Open = HashMap<SessionKey, HashMap<Nonce, Pipe>>;

/// The streams of this replica that can be resumed.
pub(super) struct Resumes {
    ids: Ids,
    ledger: Arc<Ledger>,
    open: Arc<Mutex<Open>>,
}

/// A stream's place in the list; given up when dropped. Then it cannot be resumed any more.
pub(super) struct Listed {
    session: SessionKey,
    stream: Nonce,
    open: Arc<Mutex<Open>>,
}

/// What a stream keeps.
pub(super) struct Keeping {
    /// What its ids begin with.
    prefix: String,
    /// The number of the next event.
    next: u32,
    share: Share,
    /// Nothing was too much to keep.
    whole: bool,
    /// The upstream's events have ids of their own by now.
    handed_over: bool,
}

impl Keeping {
    /// Numbers an event and gives it its id. `None` where it is too much to keep.
    pub(super) fn number(&mut self, event: &Bytes) -> Option<(u32, Bytes)> {
        let number = self.next;
        let bytes = event_with_id(&format!("{}{number}", self.prefix), event);
        self.take(bytes.len()).then_some((number, bytes))
    }

    /// Numbers an event that has an id of the upstream: from now on a client resumes there. `None` as above.
    pub(super) fn hand_over(&mut self, event: &Bytes) -> Option<u32> {
        self.handed_over = true;
        let number = self.next;
        self.take(event.len()).then_some(number)
    }

    fn take(&mut self, bytes: usize) -> bool {
        self.whole = self.whole && self.share.take(bytes);
        self.next += u32::from(self.whole);
        self.whole
    }

    /// Whether everything is here since the stream began.
    pub(super) fn is_whole(&self) -> bool {
        self.whole
    }

    /// Whether the upstream has the rest.
    pub(super) fn is_handed_over(&self) -> bool {
        self.handed_over
    }
}

impl Resumes {
    /// None yet. `instance` names the store.
    pub(super) fn new(instance: &str) -> Self {
        Self { ids: Ids::new(instance), ledger: Arc::default(), open: Arc::default() }
    }

    /// Opens a stream for a call of this session. Its first event says nothing: it gives the client an id to come back with.
    /// Where nothing more can be kept it cannot be resumed, and has no place.
    pub(super) fn open(
        &self,
        session: &SessionKey,
        call: &RawValue,
        pace: &Pace,
        random: &dyn Random,
    ) -> (Writer, Body, Option<Listed>) {
        let plain = || {
            let (writer, body) = pipe::open(pace);
            (writer, body, None)
        };
        let Some((stream, prefix)) = self.ids.issue(session, call, random) else { return plain() };
        let share = Share::new(&self.ledger, session);
        let keeping = Keeping { prefix, next: 0, share, whole: true, handed_over: false };
        let (writer, body) = pipe::open_kept(pace, keeping);
        let first = Bytes::from(format!("retry: {RETRY}\ndata:\n\n"));
        if !writer.keep(&first, None) || !writer.is_whole() {
            return plain();
        }
        lock(&self.open).entry(session.clone()).or_default().insert(stream, Pipe::clone(&writer));
        (writer, body, Some(Listed { session: session.clone(), stream, open: Arc::clone(&self.open) }))
    }

    /// Whether a client comes back to a stream of ours: the `Last-Event-ID` of its request.
    pub(super) fn named<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let id = headers.get(LAST_EVENT_ID)?.to_str().ok()?;
        self.ids.is_ours(id).then_some(id)
    }

    /// The rest of a stream of this caller's session after the event with this id.
    pub(super) fn resume(&self, caller: &Caller, session: &SessionKey, id: &str) -> Response {
        let Some(event) = self.ids.read(session, id) else {
            // Another session's, or an invented one.
            return nothing_follows();
        };
        let pipe = lock(&self.open).get(session).and_then(|streams| streams.get(&event.stream)).cloned();
        match pipe.map(|pipe| pipe.resume(event.number)) {
            Some(Resumed::Rest(body)) => {
                tracing::debug!(session = %session, "a client came back to its call");
                reply::events(primed(id, body))
            }
            Some(Resumed::Nothing) => nothing_follows(),
            None if event.number == LAST => nothing_follows(),
            Some(Resumed::Lost) | None => lost(caller, id, &event),
        }
    }

    /// Ends the streams of a session that is over.
    pub(super) fn end(&self, session: &SessionKey) {
        let ended = lock(&self.open).remove(session);
        for pipe in ended.into_iter().flat_map(HashMap::into_values) {
            let _ = pipe.end();
        }
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        let mut open = lock(&self.open);
        if let Some(streams) = open.get_mut(&self.session) {
            streams.remove(&self.stream);
            if streams.is_empty() {
                open.remove(&self.session);
            }
        }
    }
}

/// A stream that begins with the id from which it goes on: clients know the place of each stream by what came on it.
fn primed(id: &str, rest: Body) -> Body {
    let first = event_with_id(id, b"data:\n\n");
    let first = stream::once(std::future::ready(Ok::<_, axum::Error>(first)));
    Body::from_stream(first.chain(rest.into_data_stream()))
}

/// Nothing comes after this event. A GET is answered by a stream or by this status (2025-11-25, "Listening for Messages from
/// the Server"), and a stream without an answer would be asked for again and again.
pub(super) fn nothing_follows() -> Response {
    let text = "nothing follows the event of this Last-Event-ID";
    reply::error(StatusCode::METHOD_NOT_ALLOWED, None, codes::INVALID_REQUEST, text)
}

/// The call ends, since what follows is not here: it was away for too long, was too much to keep, or is at another replica.
fn lost(caller: &Caller, id: &str, event: &EventId) -> Response {
    let Ok(call) = serde_json::from_str::<&RawValue>(&event.call) else { return nothing_follows() };
    let text = format!(
        "the rest of this call is not here any more: its stream was away for too long, or its answer was too long to be kept. \
         See what the server {} did with it, if anything, and send it again",
        caller.upstream().name
    );
    let error = message_event(&error_text(Some(call), &error_object(codes::INTERNAL_ERROR, &text)));
    let stream = id.rsplit_once('.').map_or(id, |(stream, _)| stream);
    reply::events(Body::from(event_with_id(&format!("{stream}.{LAST}"), &error)))
}

/// A panic while the lock is held leaves a map that is still whole.
fn lock(mutex: &Mutex<Open>) -> MutexGuard<'_, Open> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
