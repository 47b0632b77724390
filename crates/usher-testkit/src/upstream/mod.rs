//! A fake MCP server over streamable HTTP that records what it gets and objects to what it should not get.

mod builder;
mod conformance;
mod gate;
mod guard;
mod legacy;
mod modern;
mod output;
mod protect;
mod question;
mod rounds;
mod run;
mod script;
mod serve;
mod sessions;
mod shelf;
mod streams;

pub use builder::{Builder, Eras};
pub use gate::Gate;
pub use guard::{ChallengeMetadata, Guard, Guarded, ResourceMetadata, ResourcePlace};
pub use question::Question;
pub use script::{Answered, Call, Refusal, Script};
pub use sessions::SessionInfo;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};
use tokio::task::AbortHandle;

use crate::door::Door;
use crate::record::{Log, lock};
use crate::{Outcome, Recorded};
use shelf::{Kind, Shelf};

/// A session and a JSON-RPC id, as text: what names a request or a question of the legacy era.
type Exchange = (String, String);

/// The fake server. Dropping it closes every connection.
#[derive(Debug)]
pub struct Upstream {
    inner: Arc<Inner>,
    door: Mutex<Option<Door>>,
    origin: String,
}

#[derive(Debug)]
struct Inner {
    config: Builder,
    log: Log,
    violations: Mutex<Vec<String>>,
    forbidden: Mutex<Vec<String>>,
    shelf: Mutex<Shelf>,
    guard: Mutex<Option<Guard>>,
    sessions: Mutex<BTreeMap<String, sessions::Session>>,
    streams: Mutex<Vec<streams::Open>>,
    questions: Mutex<HashMap<Exchange, oneshot::Sender<Answered>>>,
    rounds: Mutex<HashMap<String, rounds::Round>>,
    running: Mutex<HashMap<Exchange, (Recorded, AbortHandle)>>,
    resumable: Mutex<HashMap<String, mpsc::UnboundedReceiver<Bytes>>>,
    tasks: Mutex<Vec<AbortHandle>>,
    counter: AtomicU64,
}

impl Inner {
    fn next(&self) -> u64 {
        self.counter.fetch_add(1, Ordering::Relaxed)
    }

    fn violation(&self, text: impl Into<String>) {
        lock(&self.violations).push(text.into());
        self.log.touch();
    }
}

impl Upstream {
    /// A server of both eras with sessions, at a free port.
    pub async fn start() -> Self {
        Builder::default().start().await
    }

    /// The settings of a server, to be changed and started.
    pub fn builder() -> Builder {
        Builder::default()
    }

    async fn open(config: Builder) -> Self {
        let inner = Arc::new(Inner {
            config,
            log: Log::new(),
            violations: Mutex::default(),
            forbidden: Mutex::default(),
            shelf: Mutex::default(),
            guard: Mutex::default(),
            sessions: Mutex::default(),
            streams: Mutex::default(),
            questions: Mutex::default(),
            rounds: Mutex::default(),
            running: Mutex::default(),
            resumable: Mutex::default(),
            tasks: Mutex::default(),
            counter: AtomicU64::new(1),
        });
        let door = Door::open("127.0.0.1:0", serve::router(Arc::clone(&inner))).await;
        let origin = format!("http://{}", door.address);
        Self { inner, door: Mutex::new(Some(door)), origin }
    }

    /// The MCP endpoint.
    pub fn url(&self) -> String {
        format!("{}/mcp", self.origin)
    }

    /// The origin of the endpoint.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// Offers a tool, or replaces it.
    pub fn tool(&self, name: &str, script: Script) -> &Self {
        self.tool_with_schema(name, r#"{"type":"object"}"#, script)
    }

    /// Offers a tool with this `inputSchema` (JSON text). `x-mcp-header` in it is checked.
    pub fn tool_with_schema(&self, name: &str, schema: &str, script: Script) -> &Self {
        lock(&self.inner.shelf).put(Kind::Tool, name, schema, script);
        self
    }

    /// Offers a prompt, or replaces it.
    pub fn prompt(&self, name: &str, script: Script) -> &Self {
        lock(&self.inner.shelf).put(Kind::Prompt, name, "", script);
        self
    }

    /// Offers a resource, or replaces it.
    pub fn resource(&self, uri: &str, script: Script) -> &Self {
        lock(&self.inner.shelf).put(Kind::Resource, uri, "", script);
        self
    }

    /// Answers every request of this method so, whatever it names; comes before tools, prompts and resources.
    pub fn method(&self, method: &str, script: Script) -> &Self {
        lock(&self.inner.shelf).put(Kind::Method, method, "", script);
        self
    }

    /// From now on a request that holds this text anywhere (head or body) is a violation.
    pub fn forbid(&self, text: &str) -> &Self {
        lock(&self.inner.forbidden).push(text.to_owned());
        self
    }

    /// All HTTP requests so far.
    pub fn requests(&self) -> Vec<Recorded> {
        self.inner.log.all()
    }

    /// The last HTTP request so far.
    pub fn last(&self) -> Option<Recorded> {
        self.inner.log.last()
    }

    /// The POSTs with this JSON-RPC method; `response` for responses.
    pub fn requests_of(&self, method: &str) -> Vec<Recorded> {
        self.requests().into_iter().filter(|request| request.method == method).collect()
    }

    /// The requests with this HTTP method.
    pub fn http_requests(&self, method: &http::Method) -> Vec<Recorded> {
        self.requests().into_iter().filter(|request| request.http_method == *method).collect()
    }

    /// Waits until `count` requests of this JSON-RPC method have come; returns them.
    pub async fn wait_for(&self, method: &str, count: usize) -> Vec<Recorded> {
        let what = format!("{count} requests of {method} at the upstream");
        let look = || {
            let found = self.requests_of(method);
            (found.len() >= count).then_some(found)
        };
        self.inner.log.until(&what, look).await
    }

    /// Waits until a request of this method has this outcome; returns the first one.
    pub async fn wait_outcome(&self, method: &str, outcome: Outcome) -> Recorded {
        let what = format!("a request of {method} with the outcome {outcome:?}");
        let look = || self.requests_of(method).into_iter().find(|one| one.outcome() == outcome);
        self.inner.log.until(&what, look).await
    }

    /// Waits until the peer left a request of this method (dropped its stream or connection).
    pub async fn wait_left(&self, method: &str) -> Recorded {
        self.wait_outcome(method, Outcome::Left).await
    }

    /// Waits until `condition` holds; it is looked at after each change.
    pub async fn wait_until(&self, what: &str, mut condition: impl FnMut(&Self) -> bool) {
        self.inner.log.until(what, || condition(self).then_some(())).await;
    }

    /// What the peer did wrong so far.
    pub fn violations(&self) -> Vec<String> {
        lock(&self.inner.violations).clone()
    }

    /// Forgets the violations, and returns them.
    pub fn take_violations(&self) -> Vec<String> {
        std::mem::take(&mut *lock(&self.inner.violations))
    }

    /// Panics when the peer did anything wrong.
    pub fn assert_clean(&self) {
        let violations = self.violations();
        assert!(violations.is_empty(), "the upstream objects:\n- {}", violations.join("\n- "));
    }

    /// Cuts every open connection; new ones are welcome.
    pub fn cut_connections(&self) {
        if let Some(door) = &*lock(&self.door) {
            door.cut_all();
        }
    }

    /// Stops listening and cuts every connection. Sessions stay.
    pub fn stop(&self) {
        drop(lock(&self.door).take());
    }

    /// Listens again at the same port.
    pub async fn restart(&self) {
        self.stop();
        let address = self.origin.trim_start_matches("http://");
        let door = Door::open(address, serve::router(Arc::clone(&self.inner))).await;
        *lock(&self.door) = Some(door);
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        for task in lock(&self.inner.tasks).drain(..) {
            task.abort();
        }
    }
}
