//! The sample upstream: an MCP server of both eras with one tool, and its provider's endpoint that says whether a key is good.
//!
//! The smallest thing that speaks streamable HTTP: stateless, no session, one JSON answer a request.

use std::{io, net::SocketAddr, sync::Arc};

use axum::{
    Router,
    extract::State,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use bytes::Bytes;
use elicit::{Revision, codes};
use http::{HeaderMap, StatusCode, header};
use serde_json::{Value, json};
use tokio::{net::TcpListener, task::JoinHandle};

use super::journal::{Journal, Moment};

/// The tool.
pub(super) const TOOL: &str = "get_forecast";

/// The running sample server. Ends when dropped.
pub(super) struct Weather {
    /// Where it listens.
    pub(super) address: SocketAddr,
    server: JoinHandle<()>,
}

struct Shared {
    keys: Vec<String>,
    journal: Arc<Journal>,
}

impl Weather {
    /// Starts it on a free port of this machine. It knows these keys, and notes in the journal what reaches it.
    pub(super) async fn start(keys: Vec<String>, journal: Arc<Journal>) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared { keys, journal });
        let router = Router::new().route("/mcp", post(mcp)).route("/me", get(check)).with_state(shared);
        let server = tokio::spawn(async move {
            // It ends with the demo; that a listener fails before shows as a call that fails.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { address, server })
    }
}

impl Drop for Weather {
    fn drop(&mut self) {
        self.server.abort();
    }
}

fn key_in(headers: &HeaderMap) -> Option<&str> {
    headers.get("x-api-key")?.to_str().ok()
}

/// `GET /me`: whether the provider knows the key.
async fn check(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> StatusCode {
    let known = key_in(&headers).is_some_and(|key| shared.keys.iter().any(|known| known == key));
    shared.journal.note(if known { Moment::KeyChecked } else { Moment::WrongKeyChecked });
    if known { StatusCode::OK } else { StatusCode::UNAUTHORIZED }
}

/// `POST /mcp`: one message. Only the tool needs a key; a wrong one is refused wherever it stands.
async fn mcp(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> Response {
    let key = key_in(&headers);
    if let Some(key) = key {
        shared.journal.note_key(key);
    }
    let Ok(message) = serde_json::from_slice::<Value>(&body) else { return StatusCode::BAD_REQUEST.into_response() };
    let Some(id) = message.get("id") else { return StatusCode::ACCEPTED.into_response() };
    let method = message["method"].as_str().unwrap_or_default();
    let known = key.is_some_and(|key| shared.keys.iter().any(|known| known == key));
    if !known && (key.is_some() || method == "tools/call") {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let params = &message["params"];
    let answer = match result(method, params) {
        Ok(mut result) => {
            if method == "tools/call" {
                shared.journal.note(Moment::ToolRan);
            }
            if is_modern(params) {
                result["resultType"] = json!("complete");
            }
            json!({ "jsonrpc": "2.0", "id": id, "result": result })
        }
        Err((code, text)) => json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": text } }),
    };
    ([(header::CONTENT_TYPE, "application/json")], answer.to_string()).into_response()
}

fn is_modern(params: &Value) -> bool {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"].is_string()
}

fn result(method: &str, params: &Value) -> Result<Value, (i64, &'static str)> {
    let server = json!({ "name": "weather", "title": "Sample weather", "version": env!("CARGO_PKG_VERSION") });
    match method {
        "initialize" => {
            let legacy = [Revision::V2025_11_25, Revision::V2025_06_18].map(Revision::as_str);
            let asked = params["protocolVersion"].as_str().filter(|asked| legacy.contains(asked));
            let version = asked.unwrap_or(legacy[0]);
            Ok(json!({ "protocolVersion": version, "capabilities": { "tools": {} }, "serverInfo": server }))
        }
        "server/discover" => Ok(json!({
            "supportedVersions": Revision::SUPPORTED.iter().map(|revision| revision.as_str()).collect::<Vec<_>>(),
            "capabilities": { "tools": {} },
            "_meta": { "io.modelcontextprotocol/serverInfo": server },
            "ttlMs": 3_600_000, "cacheScope": "public",
        })),
        "ping" => Ok(json!({})),
        "tools/list" => Ok(json!({ "tools": [tool()], "ttlMs": 3_600_000, "cacheScope": "public" })),
        "tools/call" => {
            let city = params["arguments"]["city"].as_str();
            match (params["name"].as_str(), city) {
                (Some(TOOL), Some(city)) => Ok(json!({ "content": [{ "type": "text", "text": forecast(city) }] })),
                (Some(TOOL), None) => Err((codes::INVALID_PARAMS, "`city` must be a string")),
                _ => Err((codes::INVALID_PARAMS, "there is no such tool")),
            }
        }
        _ => Err((codes::METHOD_NOT_FOUND, "unknown method")),
    }
}

fn tool() -> Value {
    json!({
        "name": TOOL,
        "description": "The weather of tomorrow in a city (sample data).",
        "inputSchema": {
            "type": "object",
            "properties": { "city": { "type": "string", "description": "The city's name" } },
            "required": ["city"],
        },
    })
}

/// A forecast that depends on the city's name alone.
pub(super) fn forecast(city: &str) -> String {
    let sum: usize = city.bytes().map(usize::from).sum();
    let sky = ["sunny", "cloudy", "light rain", "windy"][sum % 4];
    format!("Tomorrow in {city}: {sky}, {} °C.", 8 + sum % 20)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn shared() -> State<Arc<Shared>> {
        State(Arc::new(Shared { keys: vec!["good".to_owned()], journal: Arc::default() }))
    }

    fn with_key(key: Option<&'static str>) -> HeaderMap {
        key.map(|key| ("x-api-key".parse().unwrap(), HeaderValue::from_static(key))).into_iter().collect()
    }

    fn call() -> Bytes {
        let params = json!({ "name": TOOL, "arguments": { "city": "Oslo" } });
        Bytes::from(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string())
    }

    #[tokio::test]
    async fn the_tool_runs_for_a_good_key_alone_and_each_key_is_noted() {
        let shared = shared();
        for (key, status) in [(None, 401), (Some("bad"), 401), (Some("good"), 200)] {
            assert_eq!(mcp(shared.clone(), with_key(key), call()).await.status(), status, "{key:?}");
        }
        let (moments, keys) = shared.journal.take();
        assert_eq!(moments, [Moment::ToolRan]);
        assert_eq!(keys, ["bad", "good"]);
    }

    #[tokio::test]
    async fn the_provider_tells_a_good_key_from_a_bad_one() {
        let shared = shared();
        for (key, status) in [(None, 401), (Some("bad"), 401), (Some("good"), 200)] {
            assert_eq!(check(shared.clone(), with_key(key)).await, status, "{key:?}");
        }
    }

    /// R-GW-06: the handshake and the list of tools need no key.
    #[tokio::test]
    async fn a_server_can_be_looked_at_without_a_key() {
        for method in ["initialize", "server/discover", "tools/list", "ping"] {
            let body = Bytes::from(json!({ "jsonrpc": "2.0", "id": 1, "method": method }).to_string());
            assert_eq!(mcp(shared(), with_key(None), body).await.status(), 200, "{method}");
        }
    }

    #[test]
    fn an_unknown_tool_or_method_is_an_error() {
        assert_eq!(result("tools/call", &json!({ "name": "other" })).unwrap_err().0, codes::INVALID_PARAMS);
        assert_eq!(result("tools/call", &json!({ "name": TOOL })).unwrap_err().0, codes::INVALID_PARAMS);
        assert_eq!(result("other", &Value::Null).unwrap_err().0, codes::METHOD_NOT_FOUND);
    }
}
