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
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use usher_store::SessionKey;

use super::held::SLOW_READER;

type Open = HashMap<SessionKey, Session>;

/// What is open for one session.
#[derive(Debug, Default)]
struct Session {
    streams: Vec<Arc<Stream>>,
    delivery: Arc<Delivery>,
}

/// One task at a time delivers to a session.
#[derive(Debug, Default)]
pub(super) struct Delivery {
    pub(super) turn: tokio::sync::Mutex<()>,
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
#[derive(Debug)]
pub(super) struct Stream {
    kind: Kind,
    /// Whether the upstream had not begun its side of the session when the stream was opened.
    stands_in: bool,
    sender: mpsc::Sender<Bytes>,
    /// Set when the upstream's part is open, or is not waited for any more.
    opened: CancellationToken,
    over: CancellationToken,
}

/// The open GET streams.
#[derive(Debug, Default)]
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
    /// Takes a place for a stream whose reader gets what is put into `sender`. An own stream of the same session that was
    /// there before ends: a client that opens a second one has lost the first.
    pub(super) fn take(&self, key: &SessionKey, kind: Kind, stands_in: bool, sender: mpsc::Sender<Bytes>) -> Place {
        let (opened, over) = (CancellationToken::new(), CancellationToken::new());
        let stream = Arc::new(Stream { kind, stands_in, sender, opened, over });
        let mut open = lock(&self.open);
        let session = open.entry(key.clone()).or_default();
        if kind == Kind::Own {
            end_those(&mut session.streams, |stream| stream.kind == Kind::Own);
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
            let _ = stream.try_send(news.clone());
        }
        end_those(&mut session.streams, |stream| stream.stands_in);
        if session.streams.is_empty() {
            open.remove(key);
        }
    }

    /// The stream of the session that takes what belongs to no call: its own, else one that resumed a call.
    pub(super) fn of(&self, key: &SessionKey) -> Option<Arc<Stream>> {
        let open = lock(&self.open);
        let streams = &open.get(key)?.streams;
        streams.iter().find(|stream| stream.kind == Kind::Own).or_else(|| streams.last()).cloned()
    }

    /// Waits while the stream of the session is on its way to the upstream. A client opens it and calls at the same moment;
    /// a server that gets the call first has no stream to ask on, and its question is lost.
    pub(super) async fn opened(&self, key: &SessionKey) {
        if let Some(stream) = self.of(key) {
            stream.opened.cancelled().await;
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

impl Stream {
    /// Puts a message into the stream's queue if there is room. False where there is none, or the stream is over.
    pub(super) fn try_send(&self, bytes: Bytes) -> bool {
        !self.over.is_cancelled() && self.sender.try_send(bytes).is_ok()
    }

    /// A place in the queue; `None` where the stream is over. A reader that takes nothing for [`SLOW_READER`] has lost it.
    pub(super) async fn reserve(&self) -> Option<mpsc::Permit<'_, Bytes>> {
        tokio::select! {
            () = self.over.cancelled() => None,
            permit = tokio::time::timeout(SLOW_READER, self.sender.reserve()) => permit.unwrap_or_else(|_| {
                self.over.cancel();
                Err(mpsc::error::SendError(()))
            }).ok(),
        }
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
        // Whoever delivers at the moment lets go of the queue, so that its reader sees the end.
        self.stream.over.cancel();
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
    use elicit::SystemRandom;
    use futures_util::FutureExt as _;
    use usher_store::SessionId;

    use super::*;

    fn open(streams: &Streams, key: &SessionKey, kind: Kind) -> (Place, mpsc::Receiver<Bytes>) {
        let (sender, receiver) = mpsc::channel(1);
        (streams.take(key, kind, false, sender), receiver)
    }

    fn is_over(place: &Place) -> bool {
        place.over().now_or_never().is_some()
    }

    #[test]
    fn the_newest_own_stream_has_the_place_and_the_older_one_ends() {
        let streams = Streams::default();
        let key = SessionId::new(&SystemRandom).key();
        let (old, _old) = open(&streams, &key, Kind::Own);
        let (new, _new) = open(&streams, &key, Kind::Own);
        assert!(is_over(&old) && !is_over(&new));
        drop(old);
        assert!(streams.of(&key).is_some());
        drop(new);
        assert!(streams.of(&key).is_none() && lock(&streams.open).is_empty());
    }

    /// Transports 2025-11-25, "Multiple Connections": what resumes a call stands beside the session's own stream.
    #[test]
    fn resumed_streams_stand_beside_the_own_one() {
        let streams = Streams::default();
        let key = SessionId::new(&SystemRandom).key();
        let (own, mut receiver) = open(&streams, &key, Kind::Own);
        let (first, _first) = open(&streams, &key, Kind::Resumed);
        let (second, _second) = open(&streams, &key, Kind::Resumed);
        assert!(![&own, &first, &second].into_iter().any(is_over));
        assert!(streams.of(&key).unwrap().try_send(Bytes::from_static(b"x")));
        assert!(receiver.try_recv().is_ok());
        drop(own);
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
        let (place, _receiver) = open(&streams, &key, Kind::Own);
        let mut waits = std::pin::pin!(streams.opened(&key));
        assert!(waits.as_mut().now_or_never().is_none());
        place.opened();
        assert!(waits.now_or_never().is_some() && streams.opened(&key).now_or_never().is_some());
        let (given_up, _receiver) = open(&streams, &key, Kind::Own);
        let mut waits = std::pin::pin!(streams.opened(&key));
        assert!(waits.as_mut().now_or_never().is_none());
        drop(given_up);
        assert!(waits.now_or_never().is_some());
    }

    #[test]
    fn what_stood_in_for_an_upstream_ends_with_the_news() {
        let streams = Streams::default();
        let key = SessionId::new(&SystemRandom).key();
        let (sender, mut receiver) = mpsc::channel(1);
        let before = streams.take(&key, Kind::Own, true, sender);
        let (beside, _beside) = open(&streams, &key, Kind::Resumed);
        streams.upstream_began(&key, &Bytes::from_static(b"news"));
        assert!(is_over(&before) && !is_over(&beside));
        assert_eq!(receiver.try_recv().unwrap(), "news");
        assert!(!before.stream.try_send(Bytes::from_static(b"late")));
    }

    /// R-SEC-04: nobody waits for a reader that takes nothing, nor for one whose stream was taken over.
    #[tokio::test(start_paused = true)]
    async fn a_reader_that_takes_nothing_holds_nobody_up() {
        let streams = Streams::default();
        let key = SessionId::new(&SystemRandom).key();
        let (place, _receiver) = open(&streams, &key, Kind::Own);
        let stream = streams.of(&key).unwrap();
        assert!(stream.try_send(Bytes::from_static(b"full")));
        let mut waits = std::pin::pin!(stream.reserve());
        assert!(waits.as_mut().now_or_never().is_none());
        let (_new, _reader) = open(&streams, &key, Kind::Own);
        assert!(waits.await.is_none(), "taken over");
        drop(place);
        let (place, _receiver) = open(&streams, &key, Kind::Own);
        let stream = streams.of(&key).unwrap();
        assert!(stream.try_send(Bytes::from_static(b"full")));
        assert!(stream.reserve().await.is_none(), "its time is up");
        assert!(is_over(&place));
    }
}
