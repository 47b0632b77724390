use std::collections::VecDeque;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode};

use super::Reply;
use crate::sse::{Item, Parser};
use crate::{DEADLINE, Message, within};

/// An answer that is read bit by bit, whether it is a stream of events or one JSON body. Dropping it closes
/// the connection, which is how a client leaves.
#[derive(Debug)]
pub struct Stream {
    /// The HTTP status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    response: reqwest::Response,
    parser: Parser,
    items: VecDeque<Item>,
    body: BytesMut,
    ended: bool,
}

impl Stream {
    pub(crate) async fn open(what: &str, request: reqwest::RequestBuilder) -> Self {
        let sent = within(DEADLINE, &format!("no answer to {what}"), request.send()).await;
        let response = sent.unwrap_or_else(|fault| panic!("{what}: {fault:?}"));
        Self::of(response)
    }

    pub(crate) async fn try_open(what: &str, request: reqwest::RequestBuilder) -> Result<Self, reqwest::Error> {
        within(DEADLINE, &format!("no answer to {what}"), request.send()).await.map(Self::of)
    }

    pub(super) fn of(response: reqwest::Response) -> Self {
        Self {
            status: response.status(),
            headers: response.headers().clone(),
            response,
            parser: Parser::new(),
            items: VecDeque::new(),
            body: BytesMut::new(),
            ended: false,
        }
    }

    /// Whether the answer is `text/event-stream`.
    pub fn is_sse(&self) -> bool {
        let kind = self.headers.get(http::header::CONTENT_TYPE);
        kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
    }

    /// All bytes that came so far.
    pub fn bytes(&self) -> &[u8] {
        &self.body
    }

    /// The last event id so far.
    pub fn last_event_id(&self) -> &str {
        self.parser.last_event_id()
    }

    /// The next item of the stream (events, comments, retries), or `None` at its end. Panics after `limit`.
    pub async fn next_item_within(&mut self, limit: Duration) -> Option<Item> {
        let what = format!("no further event, after {:?}", String::from_utf8_lossy(&self.body));
        within(limit, &what, async {
            loop {
                if let Some(item) = self.items.pop_front() {
                    return Some(item);
                }
                if !self.read().await {
                    return None;
                }
            }
        })
        .await
    }

    /// [`next_item_within`](Self::next_item_within) the usual deadline.
    pub async fn next_item(&mut self) -> Option<Item> {
        self.next_item_within(DEADLINE).await
    }

    /// The next JSON-RPC message, or `None` at the end; a JSON body counts as one message. Panics after `limit`.
    pub async fn next_message_within(&mut self, limit: Duration) -> Option<Message> {
        if !self.is_sse() {
            let before = self.ended;
            within(limit, "the answer did not end", self.read_all()).await;
            let text = String::from_utf8_lossy(&self.body).into_owned();
            return (!before && !text.is_empty()).then(|| Message::new(text));
        }
        loop {
            match self.next_item_within(limit).await? {
                Item::Event(event) if !event.data.is_empty() => {
                    return Some(Message::new(event.data));
                }
                _ => {}
            }
        }
    }

    /// [`next_message_within`](Self::next_message_within) the usual deadline.
    pub async fn next_message(&mut self) -> Option<Message> {
        self.next_message_within(DEADLINE).await
    }

    /// The next message, which must be a request or notification of this method; messages of other methods are
    /// skipped, but the end of the stream or a response panics.
    pub async fn expect(&mut self, method: &str) -> Message {
        loop {
            let Some(message) = self.next_message().await else {
                panic!("the stream ended without {method}: {:?}", String::from_utf8_lossy(&self.body));
            };
            assert!(!message.is_response(), "expected {method}, got the response {}", message.text);
            if message.method().as_deref() == Some(method) {
                return message;
            }
        }
    }

    /// Reads to the end. Panics when that takes longer than the deadline.
    pub async fn reply(self) -> Reply {
        self.reply_within(DEADLINE).await
    }

    /// Reads to the end. Panics after `limit`.
    pub async fn reply_within(mut self, limit: Duration) -> Reply {
        let what = format!("the answer ({}) did not end", self.status);
        within(limit, &what, self.read_all()).await;
        Reply::new(self.status, self.headers.clone(), self.body.split().freeze(), self.is_sse())
    }

    async fn read_all(&mut self) {
        while self.read().await {}
    }

    /// Whether there was another piece. A cut connection counts as the end: tests look at what came.
    async fn read(&mut self) -> bool {
        let piece: Option<Bytes> = if self.ended { None } else { self.response.chunk().await.unwrap_or(None) };
        self.ended = piece.is_none();
        let Some(piece) = piece else { return false };
        self.body.extend_from_slice(&piece);
        if self.is_sse() {
            self.items.extend(self.parser.push(&piece));
        }
        true
    }
}
