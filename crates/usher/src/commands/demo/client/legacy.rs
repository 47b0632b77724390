//! A client of the legacy era: a session, and questions as requests of the server on the stream of the call.

use elicit::codes;
use http::{HeaderMap, HeaderValue, Method};
use serde_json::{Value, json};

use super::{Action, Heard, Question, Reply, Wire, arguments, capabilities, info, question};
use crate::{commands::demo::trouble::Trouble, mcp::headers};

/// The revision that it speaks.
pub(in crate::commands::demo) const REVISION: &str = "2025-11-25";

/// One call, in a session of its own.
pub(in crate::commands::demo) struct Call<'w> {
    wire: &'w Wire,
    headers: HeaderMap,
    request: Value,
    reply: Reply,
    /// The id of the question that is open.
    asked: Option<Value>,
    id: u64,
}

impl<'w> Call<'w> {
    /// Starts a session and calls the tool.
    pub(in crate::commands::demo) async fn begin(wire: &'w Wire, city: &str) -> Result<Self, Trouble> {
        let headers = initialize(wire).await?;
        let request = request(2, "tools/call", &arguments(city));
        let reply = wire.post(headers.clone(), &request).await?;
        Ok(Self { wire, headers, request, reply, asked: None, id: 2 })
    }

    /// Sends a message that wants no answer.
    async fn tell(&self, message: &Value) -> Result<(), Trouble> {
        tell(self.wire, self.headers.clone(), message).await
    }
}

impl super::Call for Call<'_> {
    fn request(&self) -> &Value {
        &self.request
    }

    async fn next(&mut self) -> Result<Heard, Trouble> {
        loop {
            let message = self.reply.next().await?;
            if let Some(error) = message.get("error") {
                if error["code"] != codes::URL_ELICITATION_REQUIRED {
                    return Ok(Heard::Error(error.clone()));
                }
                // The person took longer than the call could be held: it is sent again, and joins the same question.
                self.id += 1;
                self.request["id"] = json!(self.id);
                self.reply = self.wire.post(self.headers.clone(), &self.request).await?;
                continue;
            }
            if let Some(result) = message.get("result") {
                return Ok(Heard::Result(result.clone()));
            }
            match message["method"].as_str() {
                Some("elicitation/create") => {
                    self.asked = Some(message["id"].clone());
                    return Ok(Heard::Question(question(&message, &message["params"])?));
                }
                Some("notifications/elicitation/complete") => {
                    let id = message["params"]["elicitationId"].as_str().unwrap_or_default();
                    return Ok(Heard::Done { elicitation_id: id.to_owned() });
                }
                // Progress, or the cancellation of a question that is answered by now.
                _ => {}
            }
        }
    }

    async fn answer(&mut self, question: &Question, action: Action) -> Result<(), Trouble> {
        let Some(id) = self.asked.take() else {
            return Err(Trouble::unexpected("an open question", &question.url));
        };
        self.tell(&json!({ "jsonrpc": "2.0", "id": id, "result": action.answer() })).await
    }

    async fn end(self) -> Result<(), Trouble> {
        let reply = self.wire.send(Method::DELETE, self.headers, String::new()).await?;
        if reply.status().is_success() {
            return Ok(());
        }
        Err(Trouble::unexpected("the end of the session", &reply.status()))
    }
}

async fn tell(wire: &Wire, headers: HeaderMap, message: &Value) -> Result<(), Trouble> {
    let reply = wire.post(headers, message).await?;
    if reply.status() == http::StatusCode::ACCEPTED {
        return Ok(());
    }
    Err(Trouble::unexpected("an accepted message", &reply.status()))
}

/// Starts a session: the headers that name it.
async fn initialize(wire: &Wire) -> Result<HeaderMap, Trouble> {
    let params = json!({ "protocolVersion": REVISION, "capabilities": capabilities(), "clientInfo": info() });
    let mut reply = wire.post(HeaderMap::new(), &request(1, "initialize", &params)).await?;
    let answer = reply.next().await?;
    let session = reply.header(&headers::SESSION_ID).and_then(|id| HeaderValue::from_str(id).ok());
    let (Some(session), Some(REVISION)) = (session, answer["result"]["protocolVersion"].as_str()) else {
        return Err(Trouble::unexpected("a session", &answer));
    };
    let mut headers = HeaderMap::new();
    headers.insert(headers::SESSION_ID, session);
    headers.insert(headers::PROTOCOL_VERSION, HeaderValue::from_static(REVISION));
    tell(wire, headers.clone(), &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await?;
    Ok(headers)
}

fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}
