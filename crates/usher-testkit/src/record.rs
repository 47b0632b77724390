use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::{HeaderMap, Method};
use serde_json::Value;
use tokio::sync::watch;

use crate::{DEADLINE, Era, json, within};

/// A lock that a failed test elsewhere does not poison.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Still being answered, or its stream is open.
    Pending,
    /// The whole answer was handed over.
    Answered,
    /// The peer closed the connection or dropped the stream before the answer was complete.
    Left,
    /// The fake itself cut the connection, as its script said.
    Dropped,
    /// `notifications/cancelled` named it (legacy).
    Cancelled,
}

/// One HTTP request as it came.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// Its place among all requests, from 0.
    pub index: usize,
    /// The HTTP method.
    pub http_method: Method,
    /// Path and query.
    pub path: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, byte for byte.
    pub body: Bytes,
    /// The era that the request belongs to; legacy for GET and DELETE.
    pub era: Era,
    /// `method` of the JSON-RPC message, `response` for a response, else the empty string.
    pub method: String,
    pub(crate) outcome: Arc<Mutex<Outcome>>,
}

impl Recorded {
    /// A request that nobody has answered yet; its place is known when it is added to a log.
    pub(crate) fn new(head: http::request::Parts, body: Bytes, era: Era, method: String) -> Self {
        Self {
            index: 0,
            http_method: head.method,
            path: head.uri.to_string(),
            headers: head.headers,
            body,
            era,
            method,
            outcome: Arc::new(Mutex::new(Outcome::Pending)),
        }
    }

    /// The first value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The body as text.
    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("a body in UTF-8")
    }

    /// The body as a value. Panics when it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|fault| panic!("{fault}: {}", self.text()))
    }

    /// The JSON text of the member at `path`, as it stands: `raw(&["params", "arguments"])`.
    pub fn raw(&self, path: &[&str]) -> Option<&str> {
        json::at(self.text(), path)
    }

    /// The string at `path`.
    pub fn string(&self, path: &[&str]) -> Option<String> {
        json::string_at(self.text(), path)
    }

    /// `params.name`, or `params.uri`.
    pub fn target(&self) -> Option<String> {
        self.string(&["params", "name"]).or_else(|| self.string(&["params", "uri"]))
    }

    /// The capabilities that this very request declares, as JSON text: of a modern request, or of `initialize`.
    pub fn capabilities(&self) -> Option<&str> {
        match self.era {
            Era::Modern => self.raw(&["params", "_meta", "io.modelcontextprotocol/clientCapabilities"]),
            Era::Legacy => self.raw(&["params", "capabilities"]),
        }
    }

    /// What became of it so far.
    pub fn outcome(&self) -> Outcome {
        *lock(&self.outcome)
    }
}

/// All requests, with a way to wait for the next.
#[derive(Debug)]
pub(crate) struct Log {
    entries: Mutex<Vec<Recorded>>,
    changed: watch::Sender<u64>,
}

impl Log {
    pub(crate) fn new() -> Self {
        Self { entries: Mutex::default(), changed: watch::Sender::new(0) }
    }

    pub(crate) fn add(&self, mut entry: Recorded) -> Recorded {
        let mut entries = lock(&self.entries);
        entry.index = entries.len();
        entries.push(entry.clone());
        drop(entries);
        self.touch();
        entry
    }

    pub(crate) fn all(&self) -> Vec<Recorded> {
        lock(&self.entries).clone()
    }

    pub(crate) fn last(&self) -> Option<Recorded> {
        lock(&self.entries).last().cloned()
    }

    /// Says that something waiters look at has changed.
    pub(crate) fn touch(&self) {
        self.changed.send_modify(|count| *count += 1);
    }

    /// Settles an outcome; the first one counts.
    pub(crate) fn settle(&self, entry: &Recorded, outcome: Outcome) {
        let mut current = lock(&entry.outcome);
        if *current == Outcome::Pending {
            *current = outcome;
        }
        drop(current);
        self.touch();
    }

    /// Waits until `look` finds something.
    pub(crate) async fn until<T>(&self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        let mut changes = self.changed.subscribe();
        within(DEADLINE, what, async {
            loop {
                changes.borrow_and_update();
                if let Some(found) = look() {
                    return found;
                }
                changes.changed().await.expect("the log outlives its waiters");
            }
        })
        .await
    }
}
