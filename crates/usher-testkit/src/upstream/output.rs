use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::{future, stream};
use http::{StatusCode, header};
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use super::{Exchange, Inner};
use crate::door::Switch;
use crate::record::lock;
use crate::{Outcome, Recorded};

/// What a script hands to the HTTP side.
pub(super) enum Head {
    Whole(Response),
    Stream(mpsc::UnboundedReceiver<Bytes>),
}

/// Where a script writes: one body, or a stream once it needs one.
pub(super) struct Output {
    head: Option<oneshot::Sender<Head>>,
    stream: Option<mpsc::UnboundedSender<Bytes>>,
    piece: usize,
}

impl Output {
    pub(super) fn new(piece: Option<usize>) -> (Self, oneshot::Receiver<Head>) {
        let (sender, receiver) = oneshot::channel();
        (Self { head: Some(sender), stream: None, piece: piece.unwrap_or(usize::MAX) }, receiver)
    }

    pub(super) fn is_stream(&self) -> bool {
        self.stream.is_some()
    }

    pub(super) fn open_stream(&mut self) {
        if let Some(head) = self.head.take() {
            let (sender, receiver) = mpsc::unbounded_channel();
            self.stream = Some(sender);
            // The client may have left; then this task is about to be aborted.
            let _ = head.send(Head::Stream(receiver));
        }
    }

    pub(super) fn send(&mut self, text: impl Into<Bytes>) {
        self.open_stream();
        if let Some(stream) = &self.stream {
            for piece in pieces(text.into(), self.piece) {
                let _ = stream.send(piece);
            }
        }
    }

    /// Cuts the connection, after what was sent.
    pub(super) fn cut(&mut self, switch: &Switch) {
        match &self.stream {
            Some(stream) => drop(stream.send(Bytes::new())),
            None => switch.cut(),
        }
    }

    /// From now on writes to another stream; the old one ends.
    pub(super) fn move_to(&mut self, sender: mpsc::UnboundedSender<Bytes>) {
        self.open_stream();
        self.stream = Some(sender);
    }

    pub(super) fn whole(&mut self, status: StatusCode, kind: &str, bytes: Bytes) {
        if let Some(head) = self.head.take() {
            let body = if bytes.len() > self.piece {
                let pieces: Vec<_> = pieces(bytes, self.piece).map(Ok::<_, Infallible>).collect();
                Body::from_stream(stream::iter(pieces))
            } else {
                Body::from(bytes)
            };
            let response = Response::builder().status(status).header(header::CONTENT_TYPE, kind);
            let _ = head.send(Head::Whole(response.body(body).expect("a valid content type")));
        }
    }

    pub(super) fn response(&mut self, response: Response) {
        if let Some(head) = self.head.take() {
            let _ = head.send(Head::Whole(response));
        }
    }
}

fn pieces(mut bytes: Bytes, size: usize) -> impl Iterator<Item = Bytes> {
    std::iter::from_fn(move || {
        let piece = bytes.split_to(bytes.len().min(size));
        (!piece.is_empty()).then_some(piece)
    })
}

/// A response with a stream of events, which is watched as long as anybody reads it.
pub(super) fn event_stream(receiver: mpsc::UnboundedReceiver<Bytes>, watch: Watch) -> Response {
    let body = stream::unfold((receiver, watch), |(mut receiver, watch)| async {
        let Some(piece) = receiver.recv().await else {
            watch.finished();
            return None;
        };
        if let (true, Some(switch)) = (piece.is_empty(), &watch.switch) {
            // While this yields, the HTTP side puts on the wire what came before.
            tokio::task::yield_now().await;
            switch.cut();
            return future::pending().await;
        }
        Some((Ok::<_, Infallible>(piece), (receiver, watch)))
    });
    Response::builder()
        .header(header::CONTENT_TYPE, "text/event-stream")
        .header(header::CACHE_CONTROL, "no-cache, no-transform")
        .header("x-accel-buffering", "no")
        .body(Body::from_stream(body))
        .expect("fixed headers")
}

/// Notices that the client left: it is dropped with the handler or with the body of the response.
pub(super) struct Watch {
    pub(super) inner: Arc<Inner>,
    pub(super) entry: Recorded,
    pub(super) task: Option<AbortHandle>,
    pub(super) running: Option<Exchange>,
    /// Cuts the connection when an empty piece comes.
    pub(super) switch: Option<Switch>,
    /// The script goes on without this connection.
    pub(super) detached: Arc<AtomicBool>,
}

impl Watch {
    /// The stream ended by our own will.
    fn finished(&self) {
        if !self.detached.load(Ordering::SeqCst) {
            self.inner.log.settle(&self.entry, Outcome::Answered);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if self.detached.load(Ordering::SeqCst) {
            return;
        }
        if let Some(task) = &self.task {
            task.abort();
        }
        if let Some(key) = &self.running {
            lock(&self.inner.running).remove(key);
        }
        self.inner.log.settle(&self.entry, Outcome::Left);
    }
}
