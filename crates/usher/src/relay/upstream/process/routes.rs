//! Where the messages of one owner's processes go: each to the request that it belongs to, else to the client's own stream,
//! else to a request that is under way. Never to another owner.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use serde_json::value::RawValue;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::{
    names::{self, Kind, Names},
    program::UNREAD,
};
use crate::{mcp::envelope::Message, relay::listen::subscription_end};

/// Requests that may be under way for one owner.
pub(super) const AT_ONCE: usize = 256;

/// Messages and bytes on their way to one reader before its process waits for it. A longer message passes alone.
const QUEUE: usize = 32;
const QUEUE_BYTES: u32 = 4 * 1024 * 1024;

/// Messages and bytes that wait for a stream to be opened.
const WAITING: usize = 64;
const WAITING_BYTES: usize = 1024 * 1024;

/// A message on its way, and its place among the bytes that may be.
pub(super) struct Frame {
    pub(super) text: String,
    _place: Option<OwnedSemaphorePermit>,
}

/// The writing side of one reader.
#[derive(Clone)]
struct Reader {
    sender: mpsc::Sender<Frame>,
    bytes: Arc<Semaphore>,
}

/// Requests under way, and streams.
pub(super) struct Routes {
    /// Whether the owner is a modern client: it has no stream of its own, and is asked nothing.
    is_modern: bool,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    last: u64,
    calls: BTreeMap<u64, Pending>,
    own: Option<Reader>,
    waiting: VecDeque<String>,
    waiting_bytes: usize,
}

struct Pending {
    names: Names,
    reader: Reader,
    /// A subscription lasts as long as its client likes: it holds up nothing.
    is_subscription: bool,
}

/// Where one message goes.
pub(super) struct Route {
    reader: Reader,
    text: String,
}

/// Nobody is there to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NobodyReads;

impl Reader {
    fn open() -> (Self, mpsc::Receiver<Frame>) {
        let (sender, receiver) = mpsc::channel(QUEUE);
        (Self { sender, bytes: Arc::new(Semaphore::new(QUEUE_BYTES as usize)) }, receiver)
    }

    /// Waits for a place; a reader that takes nothing for [`UNREAD`] has left.
    async fn send(&self, text: String) -> bool {
        let size = u32::try_from(text.len()).unwrap_or(QUEUE_BYTES).min(QUEUE_BYTES);
        let placed = async {
            let place = Arc::clone(&self.bytes).acquire_many_owned(size).await.ok();
            self.sender.send(Frame { text, _place: place }).await.is_ok()
        };
        tokio::select! {
            sent = tokio::time::timeout(UNREAD, placed) => sent.unwrap_or(false),
            () = self.sender.closed() => false,
        }
    }
}

impl Routes {
    pub(super) fn new(is_modern: bool) -> Self {
        Self { is_modern, inner: Mutex::default() }
    }

    /// Begins a request: our name for it, and where its messages come out. `None` where too many are under way.
    pub(super) fn begin(&self, names: Names, is_subscription: bool) -> Option<(u64, mpsc::Receiver<Frame>)> {
        let mut inner = self.lock();
        if inner.calls.len() >= AT_ONCE {
            // What nobody waits for any more makes room.
            inner.calls.retain(|_, call| !call.reader.sender.is_closed());
        }
        if inner.calls.len() >= AT_ONCE {
            return None;
        }
        inner.last += 1;
        let ours = inner.last;
        let (reader, receiver) = Reader::open();
        inner.calls.insert(ours, Pending { names, reader, is_subscription });
        Some((ours, receiver))
    }

    /// Ends a request; whether it was under way.
    pub(super) fn end(&self, ours: u64) -> bool {
        self.lock().calls.remove(&ours).is_some()
    }

    /// Our name for the request that the client calls `id`: the last of them, where several have it.
    pub(super) fn named(&self, id: &RawValue) -> Option<u64> {
        let inner = self.lock();
        inner.calls.iter().rev().find(|(_, call)| call.names.id.get() == id.get()).map(|(ours, _)| *ours)
    }

    /// Opens the client's own stream in place of an earlier one, with what waited for it.
    pub(super) fn open(&self) -> (mpsc::Receiver<Frame>, Vec<String>) {
        let (reader, receiver) = Reader::open();
        let mut inner = self.lock();
        inner.own = Some(reader);
        inner.waiting_bytes = 0;
        (receiver, std::mem::take(&mut inner.waiting).into())
    }

    /// Whether nothing is under way whose reader is still there, subscriptions aside.
    pub(super) fn is_idle(&self) -> bool {
        self.lock().calls.values().all(|call| call.is_subscription || call.reader.sender.is_closed())
    }

    /// Whether nobody reads anything.
    pub(super) fn is_unused(&self) -> bool {
        self.lock().calls.values().all(|call| call.reader.sender.is_closed())
    }

    /// Where a message of the process in its `run` goes. A question that nobody can be asked is an error, for the process
    /// to be told; other messages wait for a stream, or are dropped where too many do.
    pub(super) fn route(&self, run: u64, text: &str, message: &Message<'_>) -> Result<Option<Route>, NobodyReads> {
        let mut inner = self.lock();
        if let Some((ours, kind)) = names::belongs(message, self.is_modern) {
            let Some(call) = inner.calls.get(&ours) else { return Ok(None) };
            let text = names::incoming(text, &call.names, kind);
            let reader = call.reader.clone();
            if kind == Kind::Response {
                // From here on nothing of it is under way; its reader ends once the last message is out.
                inner.calls.remove(&ours);
            }
            return Ok(Some(Route { reader, text }));
        }
        let (text, is_question) = match message {
            Message::Request { id, .. } => (names::with_id(text, &names::asked(run, id)), true),
            Message::Notification { method, params } if method == "notifications/cancelled" => {
                let Some(id) = names::cancelled(*params) else { return Ok(None) };
                (names::renamed(text, &names::asked(run, id)), false)
            }
            Message::Notification { .. } => (text.to_owned(), false),
            Message::Response { .. } => return Ok(None),
        };
        if let Some(reader) = inner.anyone() {
            return Ok(Some(Route { reader, text }));
        }
        if is_question {
            return Err(NobodyReads);
        }
        if !self.is_modern {
            inner.wait(text);
        }
        Ok(None)
    }

    /// Ends all that is under way: each request with the error that `text` makes of its id, and each subscription in good order,
    /// so that its client makes another (2026-07-28, "Subscriptions").
    pub(super) fn break_off(&self, text: impl Fn(&RawValue) -> String) {
        let calls = std::mem::take(&mut self.lock().calls);
        for Pending { names, reader, is_subscription } in calls.into_values() {
            let last = if is_subscription { subscription_end(&names.id).into() } else { vec![text(&names.id)] };
            for text in last {
                // A reader with a full queue sees the end of its stream, which says the same.
                let _ = reader.sender.try_send(Frame { text, _place: None });
            }
        }
    }

    /// A panic while the lock is held leaves a map that is still whole.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Who gets what belongs to no request: the only request under way, else the client's own stream, else the request that
    /// began last.
    fn anyone(&self) -> Option<Reader> {
        let open = || self.calls.values().map(|call| &call.reader).filter(|reader| !reader.sender.is_closed());
        let own = self.own.as_ref().filter(|reader| !reader.sender.is_closed());
        let mut calls = open();
        match (calls.next(), calls.next()) {
            (Some(only), None) => Some(only.clone()),
            _ => own.cloned().or_else(|| open().next_back().cloned()),
        }
    }

    fn wait(&mut self, text: String) {
        if self.waiting.len() < WAITING && self.waiting_bytes + text.len() <= WAITING_BYTES {
            self.waiting_bytes += text.len();
            self.waiting.push_back(text);
        }
    }
}

impl Route {
    /// Brings the message to its reader. One that has left misses it.
    pub(super) async fn deliver(self) {
        self.reader.send(self.text).await;
    }
}

/// A deadline for the head of an answer.
pub(super) async fn first(
    receiver: &mut mpsc::Receiver<Frame>,
    within: Duration,
) -> Result<Option<Frame>, tokio::time::error::Elapsed> {
    tokio::time::timeout(within, receiver.recv()).await
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn names(id: &str) -> Names {
        Names { id: RawValue::from_string(id.to_owned()).unwrap(), token: None }
    }

    fn route(routes: &Routes, text: &str) -> Result<Option<Route>, NobodyReads> {
        routes.route(1, text, &Message::parse(text.as_bytes()).unwrap())
    }

    async fn deliver(routes: &Routes, text: &str) {
        route(routes, text).unwrap().unwrap().deliver().await;
    }

    fn next(receiver: &mut mpsc::Receiver<Frame>) -> Option<String> {
        receiver.recv().now_or_never().flatten().map(|frame| frame.text)
    }

    const LOG: &str = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#;
    const QUESTION: &str = r#"{"jsonrpc":"2.0","id":0,"method":"elicitation/create","params":{}}"#;

    #[tokio::test]
    async fn each_answer_reaches_the_request_that_it_belongs_to() {
        let routes = Routes::new(false);
        let (one, mut first) = routes.begin(names("1"), false).unwrap();
        let (two, mut second) = routes.begin(names("1"), false).unwrap();
        deliver(&routes, &format!(r#"{{"jsonrpc":"2.0","id":{two},"result":{{"of":2}}}}"#)).await;
        deliver(&routes, &format!(r#"{{"jsonrpc":"2.0","id":{one},"result":{{"of":1}}}}"#)).await;
        assert_eq!(next(&mut first).unwrap(), r#"{"jsonrpc":"2.0","id":1,"result":{"of":1}}"#);
        assert_eq!(next(&mut second).unwrap(), r#"{"jsonrpc":"2.0","id":1,"result":{"of":2}}"#);
        assert!(first.recv().await.is_none(), "the answer ends it");
        assert!(routes.is_idle());
    }

    /// A question that cannot be tied to a call goes to the only one under way, else to the client's own stream.
    #[tokio::test]
    async fn a_question_goes_to_the_only_call_or_to_the_clients_own_stream() {
        let routes = Routes::new(false);
        assert_eq!(route(&routes, QUESTION).err(), Some(NobodyReads));
        let (mut own, _) = routes.open();
        let (_, mut only) = routes.begin(names("1"), false).unwrap();
        deliver(&routes, QUESTION).await;
        assert!(next(&mut only).unwrap().contains("run-1:0"));
        let (_, mut other) = routes.begin(names("2"), false).unwrap();
        deliver(&routes, QUESTION).await;
        assert!(next(&mut own).is_some() && next(&mut only).is_none() && next(&mut other).is_none());
        drop(own);
        deliver(&routes, QUESTION).await;
        assert!(next(&mut other).is_some(), "the one that began last");
    }

    #[tokio::test]
    async fn what_nobody_reads_yet_waits_for_the_stream() {
        let routes = Routes::new(false);
        for _ in 0..WAITING + 5 {
            assert!(route(&routes, LOG).unwrap().is_none());
        }
        let (_own, waited) = routes.open();
        assert_eq!(waited.len(), WAITING, "and no more than that");
        let (_own, waited) = routes.open();
        assert!(waited.is_empty());
    }

    /// R-SEC-04: a reader that takes nothing holds nobody up for ever, and what waits for it is bounded.
    #[tokio::test(start_paused = true)]
    async fn a_reader_that_takes_nothing_is_given_up() {
        let routes = Routes::new(false);
        let (_, receiver) = routes.begin(names("1"), false).unwrap();
        let long = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/message","params":{{"data":"{}"}}}}"#,
            "a".repeat(1024 * 1024)
        );
        let before = tokio::time::Instant::now();
        for _ in 0..4 {
            deliver(&routes, &long).await;
        }
        assert_eq!(before.elapsed(), UNREAD, "the fourth found no place");
        assert_eq!(receiver.len(), 3);
    }

    #[tokio::test]
    async fn what_is_under_way_is_bounded_and_breaks_off_with_an_error() {
        let routes = Routes::new(false);
        let mut open: Vec<_> = (0..AT_ONCE).map(|_| routes.begin(names("5"), false).unwrap().1).collect();
        assert!(routes.begin(names("6"), false).is_none());
        routes.break_off(|id| format!("error of {}", id.get()));
        assert_eq!(next(&mut open[0]).as_deref(), Some("error of 5"));
        assert!(routes.is_idle() && routes.begin(names("6"), false).is_some());
    }

    /// A subscription holds up no replacement, and ends in good order with its process.
    #[tokio::test]
    async fn a_subscription_holds_up_nothing_and_ends_in_good_order() {
        let routes = Routes::new(true);
        let (_, mut subscription) = routes.begin(names("\"s\""), true).unwrap();
        assert!(routes.is_idle() && !routes.is_unused());
        routes.break_off(|_| panic!("no call is under way"));
        assert!(next(&mut subscription).unwrap().contains("notifications/cancelled"));
        assert!(next(&mut subscription).unwrap().contains("\"resultType\":\"complete\""));
        assert!(routes.is_unused());
    }

    /// What a server of the legacy era cancels is a question of its own.
    #[tokio::test]
    async fn a_server_takes_its_own_question_back() {
        let routes = Routes::new(false);
        let (ours, mut call) = routes.begin(names("5"), false).unwrap();
        let text = format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{ours}}}}}"#);
        deliver(&routes, &text).await;
        let said = next(&mut call).unwrap();
        assert!(said.contains(&format!("run-1:{ours}")), "{said}");
        assert!(!routes.is_idle(), "the call goes on");
    }

    #[test]
    fn a_call_whose_reader_left_is_not_waited_for() {
        let routes = Routes::new(false);
        let (ours, receiver) = routes.begin(names("1"), false).unwrap();
        assert!(!routes.is_idle());
        assert_eq!(routes.named(&names("1").id), Some(ours));
        drop(receiver);
        assert!(routes.is_idle() && routes.end(ours) && !routes.end(ours));
    }
}
