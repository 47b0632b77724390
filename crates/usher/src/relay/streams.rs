//! The GET streams of legacy sessions on this replica: where a message goes that belongs to no call.
//!
//! A session has one stream of its own; a second one takes over from it. Streams that resume a call (`Last-Event-ID`) stand
//! beside it, as many as the client opens.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;
use tokio_util::sync::CancellationToken;
use usher_store::{InteractionId, SessionKey};

use super::pipe::{Pipe, Rest};

type Open = HashMap<SessionKey, Session>;

/// What is open for one session.
#[derive(Default)]
struct Session {
    streams: Vec<Arc<Stream>>,
    delivery: Arc<Delivery>,
}

/// One task at a time delivers to a session.
#[derive(Debug, Default)]
pub(super) struct Delivery {
    pub(super) turn: tokio::sync::Mutex<()>,
    /// Ends the pause of one that waits for the store.
    pub(super) at_once: tokio::sync::Notify,
    /// Set before the turn is asked for: whoever has it looks once more.
    wanted: AtomicBool,
}

/// What a stream is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The session's own.
    Own,
    /// The rest of a stream that broke off.
    Resumed,
}

/// An open stream.
struct Stream {
    kind: Kind,
    /// Whether the upstream had not begun its side of the session when the stream was opened.
    stands_in: bool,
    pipe: Pipe,
    /// Set when the upstream's part is open, or is not waited for any more.
    opened: CancellationToken,
    /// It is to end: nothing more of the upstream goes into it.
    over: CancellationToken,
}

/// The open GET streams.
#[derive(Default)]
pub(super) struct Streams {
    open: Arc<Mutex<Open>>,
}

/// A stream's place in the list; given up when dropped.
pub(super) struct Place {
    key: SessionKey,
    stream: Arc<Stream>,
    open: Arc<Mutex<Open>>,
}

impl Streams {
    /// Takes a place for a stream. An own stream of the same session that was there before ends: a client that opens a second
    /// one has lost the first. What nobody has read of that goes on the new one.
    pub(super) fn take(&self, key: &SessionKey, kind: Kind, stands_in: bool, pipe: Pipe) -> Place {
        let (opened, over) = (CancellationToken::new(), CancellationToken::new());
        let stream = Arc::new(Stream { kind, stands_in, pipe, opened, over });
        let mut open = lock(&self.open);
        let session = open.entry(key.clone()).or_default();
        if kind == Kind::Own {
            let (before, beside) = std::mem::take(&mut session.streams).into_iter().partition(|one| one.kind == kind);
            session.streams = beside;
            let before: Vec<Arc<Stream>> = before;
            stream.pipe.begin_with(before.iter().fold(Rest::default(), |rest, one| rest.and(one.end())));
        }
        session.streams.push(Arc::clone(&stream));
        Place { key: key.clone(), stream, open: Arc::clone(&self.open) }
    }

    /// Ends the session's streams that are open here.
    pub(super) fn end(&self, key: &SessionKey) {
        if let Some(mut session) = lock(&self.open).remove(key) {
            end_those(&mut session.streams, |_| true);
        }
    }

    /// Ends the streams that were opened before the upstream began its side of the session, with `news` as the last word.
    /// The client opens a new one, which reaches the upstream.
    pub(super) fn upstream_began(&self, key: &SessionKey, news: &Bytes) {
        let mut open = lock(&self.open);
        let Some(session) = open.get_mut(key) else { return };
        for stream in session.streams.iter().filter(|stream| stream.stands_in) {
            // A client whose stream is full or closed opens another one, and lists the tools by itself.
            let _ = stream.pipe.try_push(news.clone());
        }
        end_those(&mut session.streams, |stream| stream.stands_in);
        if session.streams.is_empty() {
            open.remove(key);
        }
    }

    /// The stream of the session that takes what belongs to no call: its own, else one that resumed a call.
    pub(super) fn of(&self, key: &SessionKey) -> Option<Pipe> {
        lock(&self.open).get(key)?.own_or_other().map(|stream| stream.pipe.clone())
    }

    /// Puts a completion notice into that stream. False where there is none.
    pub(super) fn push_notice(&self, key: &SessionKey, notice: Bytes, interaction: &InteractionId) -> bool {
        // Under the lock, so that no stream takes over in between.
        let open = lock(&self.open);
        let stream = open.get(key).and_then(Session::own_or_other);
        stream.is_some_and(|stream| stream.pipe.push_notice(notice, interaction))
    }

    /// Waits while the stream of the session is on its way to the upstream. A client opens it and calls at the same moment;
    /// a server that gets the call first has no stream to ask on, and its question is lost.
    pub(super) async fn opened(&self, key: &SessionKey) {
        let opened = lock(&self.open).get(key).and_then(Session::own_or_other).map(|stream| stream.opened.clone());
        if let Some(opened) = opened {
            opened.cancelled().await;
        }
    }

    /// Who delivers to the session, if a stream of it is open here.
    pub(super) fn delivery(&self, key: &SessionKey) -> Option<Arc<Delivery>> {
        lock(&self.open).get(key).map(|session| Arc::clone(&session.delivery))
    }

    /// The sessions with a stream here.
    pub(super) fn sessions(&self) -> Vec<SessionKey> {
        lock(&self.open).keys().cloned().collect()
    }
}

impl Session {
    fn own_or_other(&self) -> Option<&Arc<Stream>> {
        let mut read = self.streams.iter().filter(|stream| stream.pipe.is_read());
        read.clone().find(|stream| stream.kind == Kind::Own).or_else(|| read.next_back())
    }
}

impl Stream {
    fn end(&self) -> Rest {
        self.over.cancel();
        self.pipe.end()
    }
}

impl Place {
    /// Nobody waits any more for the upstream's part of the stream.
    pub(super) fn opened(&self) {
        self.stream.opened.cancel();
    }

    /// Resolves when the stream is to end: another one took over, or its session is over.
    pub(super) async fn over(&self) {
        self.stream.over.cancelled().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.stream.opened.cancel();
        let mut open = lock(&self.open);
        if let Some(session) = open.get_mut(&self.key) {
            session.streams.retain(|stream| !Arc::ptr_eq(stream, &self.stream));
            if session.streams.is_empty() {
                open.remove(&self.key);
            }
        }
    }
}

fn end_those(streams: &mut Vec<Arc<Stream>>, ends: impl Fn(&Stream) -> bool) {
    streams.retain(|stream| {
        if ends(stream) {
            stream.over.cancel();
        }
        !ends(stream)
    });
}

impl Delivery {
    /// Asks for a delivery; whoever has the turn sees it.
    pub(super) fn want(&self) {
        self.wanted.store(true, Ordering::Release);
    }

    /// Whether one was asked for since the last time.
    pub(super) fn take_wanted(&self) -> bool {
        self.wanted.swap(false, Ordering::AcqRel)
    }

    /// Whether one is asked for.
    pub(super) fn is_wanted(&self) -> bool {
        self.wanted.load(Ordering::Acquire)
    }
}

/// A panic while the lock is held leaves a map that is still whole.
fn lock(mutex: &Mutex<Open>) -> MutexGuard<'_, Open> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use elicit::SystemRandom;
    use futures_util::FutureExt as _;
    use http_body_util::BodyExt as _;
    use usher_store::SessionId;

    use super::*;
    use crate::relay::{
        Pace,
        pipe::{self, AHEAD, Writer},
    };

    struct Opened {
        place: Place,
        writer: Writer,
        body: Body,
    }

    fn open_with(streams: &Streams, key: &SessionKey, kind: Kind, stands_in: bool) -> Opened {
        let (writer, body) = pipe::open(&Pace::default());
        Opened { place: streams.take(key, kind, stands_in, Pipe::clone(&writer)), writer, body }
    }

    fn open(streams: &Streams, key: &SessionKey, kind: Kind) -> Opened {
        open_with(streams, key, kind, false)
    }

    fn is_over(opened: &Opened) -> bool {
        opened.place.over().now_or_never().is_some()
    }

    /// What is in the stream.
    async fn read(opened: Opened) -> String {
        drop((opened.writer, opened.place));
        String::from_utf8(opened.body.collect().await.unwrap().to_bytes().to_vec()).unwrap()
    }

    fn bytes(text: &'static str) -> Bytes {
        Bytes::from_static(text.as_bytes())
    }

    #[tokio::test]
    async fn the_newest_own_stream_has_the_place_and_the_older_one_ends() {
        let streams = Streams::default();
        let key = SessionId::new(&SystemRandom).key();
        let old = open(&streams, &key, Kind::Own);
        let new = open(&streams, &key, Kind::Own);
        assert!(is_over(&old) && !is_over(&new));
        drop(old);
        assert!(streams.of(&key).is_some());
        drop(new);
        assert!(streams.of(&key).is_none() && lock(&streams.open).is_empty());
    }

    /// R-DONE-01: what nobody has read of the older one is not lost, and comes once.
    #[tokio::test]
    async fn what_was_not_read_goes_on_the_newer_stream() {
        let streams = Streams::default();
        let key = SessionId::new(&SystemRandom).key();
        let interaction = InteractionId::new(&SystemRandom);
        assert!(!streams.push_notice(&key, bytes("none"), &interaction));
        let mut old = open(&streams, &key, Kind::Own);
        for text in ["one,", "two,"] {
            assert!(streams.push_notice(&key, bytes(text), &interaction));
        }
        assert_eq!(old.body.frame().await.unwrap().unwrap().into_data().unwrap(), "one,");
        let late = streams.of(&key).unwrap();
        let new = open(&streams, &key, Kind::Own);
        assert!(!late.push(bytes("late")), "whoever writes to the older one hears of it");
        assert!(streams.push_notice(&key, bytes("three"), &interaction));
        assert_eq!(read(old).await, "");
        assert_eq!(read(new).await, "two,three");
        let gone = open(&streams, &key, Kind::Own);
        assert!(streams.push_notice(&key, bytes("four"), &interaction));
        drop((gone.body, gone.place));
        assert!(!streams.push_notice(&key, bytes("five"), &interaction), "nobody reads it");
        assert_eq!(gone.writer.end().notices().collect::<Vec<_>>(), [interaction]);
    }

    /// Transports 2025-11-25, "Multiple Connections": what resumes a call stands beside the session's own stream.
    #[tokio::test]
    async fn resumed_streams_stand_beside_the_own_one() {
        let streams = Streams::default();
        let key = SessionId::new(&SystemRandom).key();
        let own = open(&streams, &key, Kind::Own);
        let (first, second) = (open(&streams, &key, Kind::Resumed), open(&streams, &key, Kind::Resumed));
        assert!(![&own, &first, &second].into_iter().any(is_over));
        assert!(streams.of(&key).unwrap().try_push(bytes("x")));
        assert_eq!(read(own).await, "x");
        assert!(streams.of(&key).is_some(), "better than none");
        streams.end(&key);
        assert!(is_over(&first) && is_over(&second));
    }

    /// R-GW-02: the order in which a client opens its stream and calls reaches the upstream.
    #[test]
    fn a_call_waits_for_the_stream_that_is_on_its_way() {
        let streams = Streams::default();
        let key = SessionId::new(&SystemRandom).key();
        assert!(streams.opened(&key).now_or_never().is_some(), "there is no stream");
        let place = open(&streams, &key, Kind::Own);
        let mut waits = std::pin::pin!(streams.opened(&key));
        assert!(waits.as_mut().now_or_never().is_none());
        place.place.opened();
        assert!(waits.now_or_never().is_some() && streams.opened(&key).now_or_never().is_some());
        let given_up = open(&streams, &key, Kind::Own);
        let mut waits = std::pin::pin!(streams.opened(&key));
        assert!(waits.as_mut().now_or_never().is_none());
        drop(given_up);
        assert!(waits.now_or_never().is_some());
    }

    #[tokio::test]
    async fn what_stood_in_for_an_upstream_ends_with_the_news() {
        let streams = Streams::default();
        let key = SessionId::new(&SystemRandom).key();
        let before = open_with(&streams, &key, Kind::Own, true);
        let beside = open(&streams, &key, Kind::Resumed);
        streams.upstream_began(&key, &bytes("news"));
        assert!(is_over(&before) && !is_over(&beside));
        assert_eq!(read(before).await, "news");
    }

    /// R-SEC-04: nobody waits for a reader that takes nothing, nor for one whose stream was taken over.
    #[tokio::test(start_paused = true)]
    async fn a_reader_that_takes_nothing_holds_nobody_up() {
        let streams = Streams::default();
        let key = SessionId::new(&SystemRandom).key();
        let full = Bytes::from(vec![b'x'; AHEAD]);
        let first = open(&streams, &key, Kind::Own);
        let stream = streams.of(&key).unwrap();
        assert!(stream.try_push(full.clone()) && !stream.try_push(full.clone()));
        let mut waits = std::pin::pin!(stream.room());
        assert!(waits.as_mut().now_or_never().is_none());
        let second = open(&streams, &key, Kind::Own);
        assert!(waits.await.is_err(), "taken over");
        drop(first);
        let stream = streams.of(&key).unwrap();
        assert!(stream.room().await.is_err(), "its time is up");
        assert!(streams.of(&key).is_none() && !is_over(&second));
    }
}
