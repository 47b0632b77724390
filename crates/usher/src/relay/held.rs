//! The stream of a call that waits for a person: kept alive, with progress for callers that asked for it, and closed early
//! by a client that leaves.

use std::{convert::Infallible, time::Duration};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::header;
use http_body_util::BodyExt;
use serde_json::value::RawValue;
use tokio::{sync::mpsc, time::MissedTickBehavior};

use super::reply;
use crate::mcp::{
    headers::is_type,
    sse::{KEEP_ALIVE, message_event},
};

/// The client has closed the stream.
#[derive(Debug)]
pub(super) struct Gone;

/// The writing side of a held call's stream.
pub(super) struct Held {
    sender: mpsc::Sender<Bytes>,
    every: Duration,
    progress_token: Option<Box<RawValue>>,
    progress: u32,
}

/// Events on their way to a slow reader before the writer waits.
const QUEUE: usize = 8;

/// Opens a stream: the writing side, and the response that carries it.
pub(super) fn open(every: Duration, progress_token: Option<Box<RawValue>>) -> (Held, Response) {
    let (sender, receiver) = mpsc::channel(QUEUE);
    (Held { sender, every, progress_token, progress: 0 }, reply::events(receiver_body(receiver)))
}

/// A response body that ends when all senders are gone.
pub(super) fn receiver_body(receiver: mpsc::Receiver<Bytes>) -> Body {
    Body::from_stream(stream::unfold(receiver, |mut receiver| async {
        let bytes = receiver.recv().await?;
        Some((Ok::<_, Infallible>(bytes), receiver))
    }))
}

impl Held {
    /// Sends one JSON-RPC message.
    pub(super) async fn message(&self, message: &str) -> Result<(), Gone> {
        self.sender.send(message_event(message)).await.map_err(|_| Gone)
    }

    /// Runs `waiting` to its end while the stream is kept alive; `what` is said in progress notifications.
    pub(super) async fn during<T>(&mut self, what: &str, waiting: impl Future<Output = T>) -> Result<T, Gone> {
        let mut ticks = tokio::time::interval(self.every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ticks.tick().await;
        let mut waiting = std::pin::pin!(waiting);
        loop {
            tokio::select! {
                done = &mut waiting => return Ok(done),
                () = self.sender.closed() => return Err(Gone),
                _ = ticks.tick() => {
                    let event = self.sign_of_life(what);
                    self.sender.send(event).await.map_err(|_| Gone)?;
                }
            }
        }
    }

    /// Progress goes only to a caller that gave a token; anybody else gets a comment.
    fn sign_of_life(&mut self, what: &str) -> Bytes {
        let Some(token) = &self.progress_token else { return KEEP_ALIVE };
        self.progress += 1;
        let message = serde_json::Value::from(what);
        message_event(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{},"progress":{},"message":{message}}}}}"#,
            token.get(),
            self.progress,
        ))
    }

    /// Ends the stream with `response`: its events as they are, or its JSON as one event.
    pub(super) async fn finish(self, response: Response) {
        let is_stream = is_type(response.headers().get(header::CONTENT_TYPE), "text/event-stream");
        let mut body = response.into_body();
        if is_stream {
            let mut chunks = body.into_data_stream();
            loop {
                let chunk = tokio::select! {
                    chunk = chunks.next() => chunk,
                    () = self.sender.closed() => return,
                };
                let Some(Ok(chunk)) = chunk else { return };
                if self.sender.send(chunk).await.is_err() {
                    return;
                }
            }
        }
        let mut json = Vec::new();
        while let Some(Ok(frame)) = body.frame().await {
            if let Ok(data) = frame.into_data() {
                json.extend_from_slice(&data);
            }
        }
        // What we and the upstreams send as JSON was read as UTF-8 before; a body cut short has nothing to say.
        if let Ok(text) = std::str::from_utf8(&json) {
            let _ = self.message(text).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a caller with this progress token reads while a call is held a moment, up to the `count`th event.
    async fn read(token: Option<&str>, count: usize) -> String {
        let token = token.map(|token| RawValue::from_string(token.to_owned()).unwrap());
        let (mut held, response) = open(Duration::from_millis(1), token);
        tokio::spawn(async move { held.during("Waiting for you", std::future::pending::<()>()).await.map_err(|_| ()) });
        let mut chunks = response.into_body().into_data_stream();
        let mut text = String::new();
        for _ in 0..count {
            text.push_str(std::str::from_utf8(&chunks.next().await.unwrap().unwrap()).unwrap());
        }
        text
    }

    /// Progress goes only to a caller that gave a token, with that very token, and grows.
    #[tokio::test]
    async fn a_caller_with_a_token_gets_progress() {
        let text = read(Some("9007199254740993"), 2).await;
        for part in
            ["notifications/progress", "\"progressToken\":9007199254740993", "\"progress\":1,", "\"progress\":2,"]
        {
            assert!(text.contains(part), "{text}");
        }
        assert!(text.contains("Waiting for you"));
    }

    #[tokio::test]
    async fn a_caller_without_a_token_gets_nothing_but_comments() {
        let text = read(None, 3).await;
        assert!(!text.is_empty() && text.lines().all(|line| line.is_empty() || line.starts_with(':')), "{text}");
    }

    /// R-SEC-04: a reader that leaves ends the wait.
    #[tokio::test]
    async fn a_reader_that_leaves_ends_the_wait() {
        let (mut held, response) = open(Duration::from_mins(1), None);
        drop(response);
        assert!(held.during("x", std::future::pending::<()>()).await.is_err());
        assert!(held.message("{}").await.is_err());
    }
}
