//! A stream of events on its way to a client: between whoever writes it and the response that carries it. What lies in it
//! is bounded in bytes, and one reader has it at a time. A stream that can be resumed keeps its events for a reader that
//! comes back.

use std::{
    collections::VecDeque,
    convert::Infallible,
    ops::Deref,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Poll,
    time::Duration,
};

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use tokio::{sync::Notify, time::Instant};
use usher_store::InteractionId;

use super::{Pace, resume::Keeping};

/// Bytes on their way to a reader before the writer waits. One event may go beyond it, whatever its length.
pub(super) const AHEAD: usize = 64 * 1024;

/// The client has left, or does not read.
#[derive(Debug)]
pub(super) struct Gone;

/// A stream, for whoever writes to it. Cheap to clone.
#[derive(Clone)]
pub(super) struct Pipe(Arc<Shared>);

/// The one who ends a stream: by being dropped.
pub(super) struct Writer(Pipe);

struct Shared {
    state: Mutex<State>,
    /// There is something for the reader.
    readable: Notify,
    /// The reader took something, came or went.
    moved: Notify,
    slow_reader: Duration,
    /// How long nobody may read before the client has left.
    away: Duration,
}

#[derive(Default)]
struct State {
    /// The oldest first. Those before `next` were read, and are kept for whoever comes back.
    items: VecDeque<Item>,
    next: usize,
    /// Bytes from `next` on.
    unread: usize,
    /// A sign of life, for a reader that has nothing else to read.
    sign: Option<Bytes>,
    /// How many readers there have been; the last one has the stream.
    readers: u64,
    /// Since when nobody reads.
    left: Option<Instant>,
    /// Nothing more comes.
    ended: bool,
    /// It is over, whatever still lies in it.
    over: bool,
    keeping: Option<Keeping>,
}

/// An event in the stream.
struct Item {
    bytes: Bytes,
    /// Its number, where it is kept after it was read.
    number: Option<u32>,
    /// The interaction whose completion it tells.
    notice: Option<InteractionId>,
}

/// What is left of a stream, for the one that takes over from it.
#[derive(Default)]
pub(super) struct Rest(Vec<Item>);

/// What a reader gets that comes back.
pub(super) enum Resumed {
    /// The events from there on.
    Rest(Body),
    /// Nothing follows.
    Nothing,
    /// What follows is not here: it was too much to keep.
    Lost,
}

/// The reading side; the client has left when it is dropped.
struct Reader {
    pipe: Pipe,
    number: u64,
}

/// A stream that ends when its reader leaves, and the body that reads it.
pub(super) fn open(pace: &Pace) -> (Writer, Body) {
    start(pace.slow_reader, Duration::ZERO, None)
}

/// A stream that can be resumed: it outlives its reader for a while.
pub(super) fn open_kept(pace: &Pace, keeping: Keeping) -> (Writer, Body) {
    start(pace.slow_reader, pace.away, Some(keeping))
}

fn start(slow_reader: Duration, away: Duration, keeping: Option<Keeping>) -> (Writer, Body) {
    let state = State { keeping, readers: 1, ..State::default() };
    let shared = Shared { state: Mutex::new(state), readable: Notify::new(), moved: Notify::new(), slow_reader, away };
    let pipe = Pipe(Arc::new(shared));
    (Writer(pipe.clone()), Reader { pipe, number: 1 }.body())
}

impl Pipe {
    /// Waits until there is room for one more event. A reader that takes nothing for the time of a slow reader is as good as
    /// gone. Where nobody reads a stream that can be resumed, there is room: what is kept has its own bounds.
    pub(super) async fn room(&self) -> Result<(), Gone> {
        if let Ok(room) = tokio::time::timeout(self.0.slow_reader, self.until(State::room)).await {
            return room;
        }
        let mut state = self.lock();
        if state.left.is_none() {
            tracing::info!("a stream's reader took nothing for too long");
            state.readers += 1;
            state.leave();
        }
        let kept = state.is_whole();
        drop(state);
        self.wake();
        if kept { Ok(()) } else { Err(Gone) }
    }

    /// Puts an event into the stream, which is not kept. False where nobody will read it.
    pub(super) fn push(&self, bytes: Bytes) -> bool {
        self.put(Item { bytes, number: None, notice: None })
    }

    /// The same with a completion notice.
    pub(super) fn push_notice(&self, bytes: Bytes, interaction: &InteractionId) -> bool {
        self.put(Item { bytes, number: None, notice: Some(interaction.clone()) })
    }

    /// Puts an event into the stream if a reader waits for it.
    pub(super) fn try_push(&self, bytes: Bytes) -> bool {
        let room = matches!(self.lock().room(), Some(Ok(())));
        room && self.push(bytes)
    }

    /// Waits for room, and puts an event into the stream, which is not kept.
    pub(super) async fn send(&self, bytes: Bytes) -> Result<(), Gone> {
        self.room().await?;
        if self.push(bytes) { Ok(()) } else { Err(Gone) }
    }

    /// Puts an event into the stream and keeps it, with an id of its own, where the stream can be resumed. False where it
    /// would be lost: it is too much to keep, and nobody reads.
    pub(super) fn keep(&self, event: &Bytes, notice: Option<&InteractionId>) -> bool {
        let mut state = self.lock();
        let numbered = state.keeping.as_mut().map(|keeping| keeping.number(event));
        let item = match numbered {
            Some(Some((number, bytes))) => Item { bytes, number: Some(number), notice: notice.cloned() },
            None | Some(None) => Item { bytes: event.clone(), number: None, notice: notice.cloned() },
        };
        drop(state);
        self.put(item)
    }

    /// Puts an event with an id of the upstream into the stream: from there on the client resumes at the upstream. It is
    /// kept for a client that has not read it. False as above.
    pub(super) fn hand_over(&self, event: Bytes) -> bool {
        let number = self.lock().keeping.as_mut().and_then(|keeping| keeping.hand_over(&event));
        self.put(Item { bytes: event, number, notice: None })
    }

    fn put(&self, item: Item) -> bool {
        let mut state = self.lock();
        let lost = state.ended || state.over || state.left.is_some() && item.number.is_none();
        if !lost {
            state.unread += item.bytes.len();
            state.items.push_back(item);
            state.sign = None;
        }
        drop(state);
        self.0.readable.notify_waiters();
        !lost
    }

    /// Shows a reader that has read everything that the stream lives.
    pub(super) fn sign_of_life(&self, bytes: Bytes) {
        let mut state = self.lock();
        if state.left.is_none() && state.unread == 0 {
            state.sign = Some(bytes);
        }
        drop(state);
        self.0.readable.notify_waiters();
    }

    /// Whether everything is kept, so that a reader can come back.
    pub(super) fn is_whole(&self) -> bool {
        self.lock().is_whole()
    }

    /// Whether somebody reads.
    pub(super) fn is_read(&self) -> bool {
        let state = self.lock();
        state.left.is_none() && !state.over
    }

    /// Resolves when nobody reads.
    pub(super) async fn left(&self) {
        self.until(|state| (state.left.is_some() || state.over).then_some(())).await;
    }

    /// Resolves when somebody reads; or when the client has left.
    pub(super) async fn read(&self) -> Result<(), Gone> {
        tokio::select! {
            biased;
            () = self.gone() => Err(Gone),
            () = self.until(|state| state.left.is_none().then_some(())) => Ok(()),
        }
    }

    /// Resolves when the client has left: nobody has read for as long as the stream waits, or it is over.
    pub(super) async fn gone(&self) {
        loop {
            let moved = self.0.moved.notified();
            let until = {
                let state = self.lock();
                // To a stream with a gap nobody can come back.
                if state.over || state.left.is_some() && !state.is_whole() {
                    return;
                }
                state.left.map(|left| left + self.0.away)
            };
            match until {
                Some(until) if until <= Instant::now() => return,
                Some(until) => {
                    let _ = tokio::time::timeout_at(until, moved).await;
                }
                None => moved.await,
            }
        }
    }

    /// The rest for a reader that has read up to the event of this number. Whoever read before ends.
    pub(super) fn resume(&self, after: u32) -> Resumed {
        let mut state = self.lock();
        if state.over || !state.is_whole() {
            return Resumed::Lost;
        }
        let follows = |item: &Item| item.number.is_some_and(|number| number > after);
        // Without what the upstream has: the client gets that there.
        if state.keeping.as_ref().is_some_and(Keeping::is_handed_over) {
            state.ended = true;
        }
        if state.ended && !state.items.iter().any(follows) {
            return Resumed::Nothing;
        }
        state.items.retain(|item| item.number.is_some());
        state.next = state.items.iter().position(follows).unwrap_or(state.items.len());
        state.count();
        state.readers += 1;
        state.left = None;
        let number = state.readers;
        drop(state);
        self.wake();
        Resumed::Rest(Reader { pipe: self.clone(), number }.body())
    }

    /// Nothing more comes; a reader gets what is there.
    pub(super) fn finish(&self) {
        self.lock().ended = true;
        self.wake();
    }

    /// Ends the stream at once, and returns what nobody has read.
    pub(super) fn end(&self) -> Rest {
        let mut state = self.lock();
        state.over = true;
        let next = state.next;
        let rest = state.items.split_off(next);
        state.items.clear();
        state.next = 0;
        state.count();
        drop(state);
        self.wake();
        Rest(rest.into())
    }

    /// Begins with what another stream left.
    pub(super) fn begin_with(&self, rest: Rest) {
        for item in rest.0 {
            self.put(item);
        }
    }

    async fn until<T>(&self, look: impl Fn(&State) -> Option<T>) -> T {
        loop {
            let moved = self.0.moved.notified();
            if let Some(found) = look(&self.lock()) {
                return found;
            }
            moved.await;
        }
    }

    fn wake(&self) {
        self.0.readable.notify_waiters();
        self.0.moved.notify_waiters();
    }

    /// A panic while the lock is held leaves a state that is still whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_whole(&self) -> bool {
        self.keeping.as_ref().is_some_and(Keeping::is_whole)
    }

    fn room(&self) -> Option<Result<(), Gone>> {
        if self.over || self.ended || self.left.is_some() && !self.is_whole() {
            return Some(Err(Gone));
        }
        (self.left.is_some() || self.unread < AHEAD).then_some(Ok(()))
    }

    /// The reader is gone. What is kept stays, and the notices, which may go on another stream.
    fn leave(&mut self) {
        self.left = Some(Instant::now());
        self.sign = None;
        let next = self.next;
        let mut place = 0;
        self.items.retain(|item| {
            place += 1;
            place <= next || item.number.is_some() || item.notice.is_some()
        });
        self.count();
    }

    fn count(&mut self) {
        self.unread = self.items.iter().skip(self.next).map(|item| item.bytes.len()).sum();
    }

    /// What the reader of this number gets next.
    fn take(&mut self, number: u64) -> Poll<Option<Bytes>> {
        if self.over || self.readers != number {
            return Poll::Ready(None);
        }
        if let Some(item) = self.items.get(self.next) {
            let bytes = item.bytes.clone();
            self.unread -= bytes.len();
            if item.number.is_some() {
                self.next += 1;
            } else {
                self.items.remove(self.next);
            }
            return Poll::Ready(Some(bytes));
        }
        match self.sign.take() {
            None if self.ended => Poll::Ready(None),
            None => Poll::Pending,
            sign => Poll::Ready(sign),
        }
    }
}

impl Rest {
    /// The notices in it.
    pub(super) fn notices(self) -> impl Iterator<Item = InteractionId> {
        self.0.into_iter().filter_map(|item| item.notice)
    }

    /// The same with what another stream left.
    pub(super) fn and(mut self, more: Self) -> Self {
        self.0.extend(more.0);
        self
    }
}

impl Reader {
    fn body(self) -> Body {
        Body::from_stream(stream::unfold(self, |reader| async {
            let bytes = reader.next().await?;
            Some((Ok::<_, Infallible>(bytes), reader))
        }))
    }

    async fn next(&self) -> Option<Bytes> {
        loop {
            let readable = self.pipe.0.readable.notified();
            let taken = self.pipe.lock().take(self.number);
            if let Poll::Ready(taken) = taken {
                self.pipe.0.moved.notify_waiters();
                return taken;
            }
            readable.await;
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.pipe.lock();
        if state.readers == self.number && state.left.is_none() {
            state.leave();
            drop(state);
            self.pipe.0.moved.notify_waiters();
        }
    }
}

impl Deref for Writer {
    type Target = Pipe;

    fn deref(&self) -> &Pipe {
        &self.0
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.0.finish();
    }
}

#[cfg(test)]
mod tests;
