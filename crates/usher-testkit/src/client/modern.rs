use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{Headers, Reply, Stream};
use crate::{MODERN, base64, json, quote, within};

/// A client of the modern era.
#[derive(Clone, Debug)]
pub struct Modern {
    agent: reqwest::Client,
    url: String,
    token: Option<String>,
    capabilities: String,
    client_info: Option<String>,
    ids: Arc<AtomicU64>,
}

impl Modern {
    /// A client of this endpoint, without token and with the capabilities `{}`.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            agent: crate::agent(),
            url: url.into(),
            token: None,
            capabilities: "{}".to_owned(),
            client_info: Some(r#"{"name":"testkit","version":"1"}"#.to_owned()),
            ids: Arc::default(),
        }
    }

    /// Sends this bearer token.
    pub fn token(mut self, token: impl Into<String>) -> Self {
        self.token = Some(token.into());
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

    /// Sends this `clientInfo` (JSON text), or none.
    pub fn client_info(mut self, raw: Option<&str>) -> Self {
        self.client_info = raw.map(str::to_owned);
        self
    }

    /// A request with all that the specification requires; `params` is a JSON object as text, into which
    /// `_meta` is put.
    pub fn request(&self, method: &str, params: &str) -> Request {
        let mut headers = Headers::default();
        headers.set("content-type", "application/json");
        headers.set("accept", "application/json, text/event-stream");
        headers.set("mcp-protocol-version", MODERN);
        headers.set("mcp-method", method);
        let name = match method {
            "tools/call" | "prompts/get" => json::string_at(params, &["name"]),
            "resources/read" => json::string_at(params, &["uri"]),
            _ => None,
        };
        if let Some(name) = name {
            headers.set("mcp-name", &base64::header_value(&name));
        }
        if let Some(token) = &self.token {
            headers.set("authorization", &format!("Bearer {token}"));
        }
        Request {
            agent: self.agent.clone(),
            url: self.url.clone(),
            headers,
            id: Some((self.ids.fetch_add(1, Ordering::Relaxed) + 1).to_string()),
            method: method.to_owned(),
            params: params.to_owned(),
            version: Some(MODERN.to_owned()),
            capabilities: Some(self.capabilities.clone()),
            client_info: self.client_info.clone(),
            meta: String::new(),
            body: None,
        }
    }

    /// Sends a request and reads the whole answer.
    pub async fn call(&self, method: &str, params: &str) -> Reply {
        self.request(method, params).send().await
    }

    /// Sends `tools/call` with these arguments (JSON text).
    pub async fn tool(&self, name: &str, arguments: &str) -> Reply {
        self.call("tools/call", &tool_params(name, arguments)).await
    }

    /// Sends a request whose answer is read bit by bit.
    pub async fn stream(&self, method: &str, params: &str) -> Stream {
        self.request(method, params).stream().await
    }

    /// Sends the request again, with `inputResponses` (JSON text) and `requestState` as given.
    pub async fn retry(&self, method: &str, params: &str, responses: Option<&str>, state: Option<&str>) -> Reply {
        self.retrying(method, params, responses, state).send().await
    }

    /// What [`retry`](Self::retry) sends.
    pub fn retrying(&self, method: &str, params: &str, responses: Option<&str>, state: Option<&str>) -> Request {
        self.request(method, &retry_params(params, responses, state))
    }

    /// Calls, and answers every round with what `answer` makes of it (`inputResponses` as JSON text), at most
    /// ten rounds.
    pub async fn call_answering(&self, method: &str, params: &str, mut answer: impl FnMut(&Reply) -> String) -> Reply {
        let mut reply = self.call(method, params).await;
        for _ in 0..10 {
            if !reply.is_input_required() {
                return reply;
            }
            let asked = !reply.input_requests().is_empty();
            let responses = asked.then(|| answer(&reply));
            let state = reply.request_state();
            reply = self.retry(method, params, responses.as_deref(), state.as_deref()).await;
        }
        panic!("still input_required after ten rounds: {}", reply.text());
    }
}

/// `params` of `tools/call`.
pub(crate) fn tool_params(name: &str, arguments: &str) -> String {
    format!(r#"{{"name":{},"arguments":{arguments}}}"#, quote(name))
}

fn retry_params(params: &str, responses: Option<&str>, state: Option<&str>) -> String {
    let mut members = Vec::new();
    members.extend(responses.map(|raw| format!("\"inputResponses\":{raw}")));
    members.extend(state.map(|state| format!("\"requestState\":{}", quote(state))));
    json::prepend(params, &members.join(","))
}

/// One request of the modern era, in which everything can be made wrong.
#[derive(Clone, Debug)]
pub struct Request {
    agent: reqwest::Client,
    url: String,
    headers: Headers,
    id: Option<String>,
    method: String,
    params: String,
    version: Option<String>,
    capabilities: Option<String>,
    client_info: Option<String>,
    meta: String,
    body: Option<Vec<u8>>,
}

impl Request {
    /// Sets a header, in place of the right one.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.set(name, value);
        self
    }

    /// Leaves a header out.
    pub fn omit(mut self, name: &str) -> Self {
        self.headers.omit(name);
        self
    }

    /// The id, as JSON text; `None` makes it a notification.
    pub fn id(mut self, raw: Option<&str>) -> Self {
        self.id = raw.map(str::to_owned);
        self
    }

    /// The protocol version in `_meta`, or none; the header stays.
    pub fn meta_version(mut self, version: Option<&str>) -> Self {
        self.version = version.map(str::to_owned);
        self
    }

    /// The capabilities in `_meta` (JSON text), or none.
    pub fn meta_capabilities(mut self, raw: Option<&str>) -> Self {
        self.capabilities = raw.map(str::to_owned);
        self
    }

    /// A further member of `_meta`: `meta("progressToken", "\"p1\"")`.
    pub fn meta(mut self, key: &str, raw: &str) -> Self {
        let _ = write!(self.meta, ",{}:{raw}", quote(key));
        self
    }

    /// Sends these bytes as the body, whatever else was said; the headers stay.
    pub fn body(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.body = Some(bytes.into());
        self
    }

    /// The body that will be sent.
    pub fn to_body(&self) -> Vec<u8> {
        if let Some(body) = &self.body {
            return body.clone();
        }
        let field = |key: &str, raw: &str| format!(",\"io.modelcontextprotocol/{key}\":{raw}");
        let mut meta = String::new();
        if let Some(version) = &self.version {
            meta.push_str(&field("protocolVersion", &quote(version)));
        }
        if let Some(raw) = &self.client_info {
            meta.push_str(&field("clientInfo", raw));
        }
        if let Some(raw) = &self.capabilities {
            meta.push_str(&field("clientCapabilities", raw));
        }
        meta.push_str(&self.meta);
        let params = json::with_meta(&self.params, meta.strip_prefix(',').unwrap_or_default());
        let id = self.id.as_ref().map(|id| format!("\"id\":{id},")).unwrap_or_default();
        let method = quote(&self.method);
        format!(r#"{{"jsonrpc":"2.0",{id}"method":{method},"params":{params}}}"#).into_bytes()
    }

    /// Sends it and reads the whole answer.
    pub async fn send(self) -> Reply {
        self.stream().await.reply().await
    }

    /// Sends it; the answer is read bit by bit.
    pub async fn stream(self) -> Stream {
        let what = self.method.clone();
        Stream::open(&what, self.build()).await
    }

    /// Sends it where the connection may be refused or cut before an answer.
    pub async fn try_stream(self) -> Result<Stream, reqwest::Error> {
        let what = self.method.clone();
        Stream::try_open(&what, self.build()).await
    }

    /// The whole answer, for which it waits longer than usual. Panics after `limit`.
    pub async fn send_within(self, limit: Duration) -> Reply {
        let what = format!("no answer to {}", self.method);
        let response = within(limit, &what, self.build().send()).await.expect("an answer");
        Stream::of(response).reply_within(limit).await
    }

    fn build(self) -> reqwest::RequestBuilder {
        let body = self.to_body();
        self.agent.post(&self.url).headers(self.headers.into_map()).body(body)
    }
}
