use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use reqwest::Method;

use super::modern::tool_params;
use super::{Headers, Reply, Stream};
use crate::record::lock;
use crate::{LEGACY, Message, quote};

/// A client of the legacy era. `initialize` it before anything else (or do not, to see what happens).
#[derive(Debug)]
pub struct Legacy {
    agent: reqwest::Client,
    url: String,
    token: Option<String>,
    revision: String,
    capabilities: String,
    client_info: String,
    changes: Vec<(String, Option<String>)>,
    session: Mutex<Option<String>>,
    negotiated: Mutex<Option<String>>,
    ids: AtomicU64,
}

impl Legacy {
    /// A client of this endpoint, without token and with the capabilities `{}`.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            agent: crate::agent(),
            url: url.into(),
            token: None,
            revision: LEGACY.to_owned(),
            capabilities: "{}".to_owned(),
            client_info: r#"{"name":"testkit","version":"1"}"#.to_owned(),
            changes: Vec::new(),
            session: Mutex::default(),
            negotiated: Mutex::default(),
            ids: AtomicU64::new(0),
        }
    }

    /// Sends this bearer token.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Asks for this revision.
    pub fn revision(mut self, revision: impl Into<String>) -> Self {
        self.revision = revision.into();
        self
    }

    /// Declares these capabilities (JSON text).
    pub fn capabilities(mut self, raw: impl Into<String>) -> Self {
        self.capabilities = raw.into();
        self
    }

    /// Declares the modes form and url, as named.
    pub fn elicitation(self, modes: &[&str]) -> Self {
        let modes: Vec<String> = modes.iter().map(|mode| format!("{}:{{}}", quote(mode))).collect();
        self.capabilities(format!(r#"{{"elicitation":{{{}}}}}"#, modes.join(",")))
    }

    /// Sends this `clientInfo` (JSON text).
    pub fn client_info(mut self, raw: impl Into<String>) -> Self {
        self.client_info = raw.into();
        self
    }

    /// From now on sends this header on every request, or leaves it out.
    pub fn header(mut self, name: &str, value: Option<&str>) -> Self {
        self.changes.push((name.to_owned(), value.map(str::to_owned)));
        self
    }

    /// Goes on with this session id, as somebody might who read it elsewhere.
    pub fn with_session(self, id: impl Into<String>) -> Self {
        *lock(&self.session) = Some(id.into());
        *lock(&self.negotiated) = Some(self.revision.clone());
        self
    }

    /// The session id, once there is one.
    pub fn session(&self) -> Option<String> {
        lock(&self.session).clone()
    }

    /// Sends `initialize` and, when that went well, `notifications/initialized`. The answer is that to `initialize`.
    pub async fn initialize(&self) -> Reply {
        let reply = self.call("initialize", &self.initialize_params()).await;
        if reply.status.is_success() && reply.response().result().is_some() {
            *lock(&self.session) = reply.header("mcp-session-id").map(str::to_owned);
            *lock(&self.negotiated) = reply.response().string(&["result", "protocolVersion"]);
            let accepted = self.notify("notifications/initialized", "{}").await;
            assert_eq!(accepted.status, 202, "notifications/initialized: {}", accepted.text());
        }
        reply
    }

    /// `params` of `initialize`.
    pub fn initialize_params(&self) -> String {
        format!(
            r#"{{"protocolVersion":{},"capabilities":{},"clientInfo":{}}}"#,
            quote(&self.revision),
            self.capabilities,
            self.client_info
        )
    }

    /// Sends a request and reads the whole answer.
    pub async fn call(&self, method: &str, params: &str) -> Reply {
        self.open(method, params).await.reply().await
    }

    /// Sends `tools/call` with these arguments (JSON text).
    pub async fn tool(&self, name: &str, arguments: &str) -> Reply {
        self.call("tools/call", &tool_params(name, arguments)).await
    }

    /// Sends a request whose answer is read bit by bit.
    pub async fn open(&self, method: &str, params: &str) -> Stream {
        self.open_as(&self.next_id(), method, params).await
    }

    /// Opens `tools/call` with these arguments (JSON text).
    pub async fn open_tool(&self, name: &str, arguments: &str) -> Stream {
        self.open("tools/call", &tool_params(name, arguments)).await
    }

    /// [`open`](Self::open) under this id (JSON text).
    pub async fn open_as(&self, id: &str, method: &str, params: &str) -> Stream {
        self.post(request_text(id, method, params)).await
    }

    /// An id that was not used yet.
    pub fn next_id(&self) -> String {
        (self.ids.fetch_add(1, Ordering::Relaxed) + 1).to_string()
    }

    /// Calls, and answers each request of the server on the stream with what `answer` makes of it (a `result` as
    /// JSON text; `None` leaves it unanswered).
    pub async fn call_answering(
        &self,
        method: &str,
        params: &str,
        mut answer: impl FnMut(&Message) -> Option<String>,
    ) -> Message {
        let mut stream = self.open(method, params).await;
        loop {
            let Some(message) = stream.next_message().await else {
                panic!("no response to {method}: {:?}", String::from_utf8_lossy(stream.bytes()));
            };
            if message.is_response() {
                return message;
            }
            if let (Some(id), true) = (message.id(), message.is_request())
                && let Some(result) = answer(&message)
            {
                let reply = self.respond(id, &result).await;
                assert_eq!(reply.status, 202, "the answer was refused: {}", reply.text());
            }
        }
    }

    /// Sends a request where the connection may be refused or cut before an answer.
    pub async fn try_open(&self, method: &str, params: &str) -> Result<Stream, reqwest::Error> {
        let request = self.request(Method::POST, "application/json, text/event-stream");
        Stream::try_open(method, request.body(request_text(&self.next_id(), method, params))).await
    }

    /// Posts this body as it is.
    pub async fn post(&self, body: impl Into<Vec<u8>>) -> Stream {
        let request = self.request(Method::POST, "application/json, text/event-stream");
        Stream::open("a POST", request.body(body.into())).await
    }

    /// Answers a request of the server: `id` and `result` are JSON text.
    pub async fn respond(&self, id: &str, result: &str) -> Reply {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
        self.post(body).await.reply().await
    }

    /// Answers a request of the server by an error: `id` and `error` are JSON text.
    pub async fn respond_error(&self, id: &str, error: &str) -> Reply {
        let body = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#);
        self.post(body).await.reply().await
    }

    /// Sends a notification.
    pub async fn notify(&self, method: &str, params: &str) -> Reply {
        let method = quote(method);
        let body = format!(r#"{{"jsonrpc":"2.0","method":{method},"params":{params}}}"#);
        self.post(body).await.reply().await
    }

    /// Opens the GET stream, resuming after `last_event_id` where one is given.
    pub async fn open_get(&self, last_event_id: Option<&str>) -> Stream {
        let mut request = self.request(Method::GET, "text/event-stream");
        if let Some(id) = last_event_id {
            request = request.header("last-event-id", id);
        }
        Stream::open("a GET", request).await
    }

    /// Ends the session.
    pub async fn delete(&self) -> Reply {
        Stream::open("a DELETE", self.request(Method::DELETE, "*/*")).await.reply().await
    }

    /// The same where the connection may be cut before an answer.
    pub async fn try_delete(&self) -> Result<Stream, reqwest::Error> {
        Stream::try_open("a DELETE", self.request(Method::DELETE, "*/*")).await
    }

    fn request(&self, method: Method, accept: &str) -> reqwest::RequestBuilder {
        let mut headers = Headers::default();
        headers.set("accept", accept);
        if method == Method::POST {
            headers.set("content-type", "application/json");
        }
        if let Some(token) = &self.token {
            headers.set("authorization", &format!("Bearer {token}"));
        }
        if let Some(session) = &*lock(&self.session) {
            headers.set("mcp-session-id", session);
        }
        if let Some(version) = &*lock(&self.negotiated) {
            headers.set("mcp-protocol-version", version);
        }
        for (name, value) in &self.changes {
            match value {
                Some(value) => headers.set(name, value),
                None => headers.omit(name),
            }
        }
        self.agent.request(method, &self.url).headers(headers.into_map())
    }
}

fn request_text(id: &str, method: &str, params: &str) -> String {
    let method = quote(method);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#)
}
