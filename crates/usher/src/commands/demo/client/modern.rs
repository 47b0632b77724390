//! A client of the modern era: a question comes as a result, and its answer goes with the same call, sent again.

use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use super::{Action, Heard, Question, Reply, Wire, arguments, capabilities, info, question};
use crate::{
    commands::demo::{trouble::Trouble, weather::TOOL},
    mcp::headers,
};

/// The revision that it speaks.
pub(in crate::commands::demo) const REVISION: &str = "2026-07-28";

/// One call.
pub(in crate::commands::demo) struct Call<'w> {
    wire: &'w Wire,
    city: String,
    request: Value,
    reply: Reply,
    /// Where the answer to the question belongs, and the state that goes with it.
    asked: Option<(String, Value)>,
    id: u64,
}

impl<'w> Call<'w> {
    /// Calls the tool.
    pub(in crate::commands::demo) async fn begin(wire: &'w Wire, city: &str) -> Result<Self, Trouble> {
        let request = request(1, city, None, None);
        let reply = wire.post(headers(), &request).await?;
        Ok(Self { wire, city: city.to_owned(), request, reply, asked: None, id: 1 })
    }

    /// Sends the call again with the state of the last round.
    async fn again(&mut self, state: Value, answers: Option<Value>) -> Result<(), Trouble> {
        self.id += 1;
        let request = request(self.id, &self.city, Some(state), answers);
        self.reply = self.wire.post(headers(), &request).await?;
        Ok(())
    }
}

impl super::Call for Call<'_> {
    fn request(&self) -> &Value {
        &self.request
    }

    async fn next(&mut self) -> Result<Heard, Trouble> {
        loop {
            let message = self.reply.next().await?;
            if message.get("error").is_some() {
                return Ok(Heard::Error(message["error"].clone()));
            }
            // A notification of progress, for example.
            let Some(result) = message.get("result") else { continue };
            if result["resultType"] != "input_required" {
                return Ok(Heard::Result(result.clone()));
            }
            let state = result["requestState"].clone();
            match result["inputRequests"].as_object().and_then(|requests| requests.iter().next()) {
                Some((key, request)) => {
                    self.asked = Some((key.clone(), state));
                    return Ok(Heard::Question(question(result, &request["params"])?));
                }
                // The person is still at the page: the same call again brings the answer, or the next such round.
                None => self.again(state, None).await?,
            }
        }
    }

    async fn answer(&mut self, question: &Question, action: Action) -> Result<(), Trouble> {
        let Some((key, state)) = self.asked.take() else {
            return Err(Trouble::unexpected("an open question", &question.url));
        };
        self.again(state, Some(json!({ key: action.answer() }))).await
    }

    async fn end(self) -> Result<(), Trouble> {
        Ok(())
    }
}

/// The headers that say what the body says.
fn headers() -> HeaderMap {
    [
        (headers::PROTOCOL_VERSION, HeaderValue::from_static(REVISION)),
        (headers::METHOD, HeaderValue::from_static("tools/call")),
        (headers::NAME, HeaderValue::from_static(TOOL)),
    ]
    .into_iter()
    .collect()
}

fn request(id: u64, city: &str, state: Option<Value>, answers: Option<Value>) -> Value {
    let mut params = arguments(city);
    if let Some(answers) = answers {
        params["inputResponses"] = answers;
    }
    // A round without state gets none back.
    if let Some(state) = state.filter(|state| !state.is_null()) {
        params["requestState"] = state;
    }
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientCapabilities": capabilities(),
        "io.modelcontextprotocol/clientInfo": info(),
    });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-CAP-01: every request declares the mode that this client handles, and no other.
    #[test]
    fn each_request_declares_what_the_client_handles() {
        let meta = &request(1, "Lisbon", None, None)["params"]["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"], json!({ "elicitation": { "url": {} } }));
    }

    /// R-MRTR-05: the retry carries the state as it came and a new id; where there is no state, none is invented.
    #[test]
    fn a_retry_has_a_new_id_and_the_state_as_it_came() {
        let answers = json!({ "usher_connect_weather": { "action": "accept" } });
        let retry = request(2, "Lisbon", Some(json!("sealed \u{e9}")), Some(answers.clone()));
        assert_eq!((&retry["id"], &retry["params"]["requestState"]), (&json!(2), &json!("sealed \u{e9}")));
        assert_eq!(retry["params"]["inputResponses"], answers);
        assert!(request(2, "Lisbon", Some(Value::Null), None)["params"].get("requestState").is_none());
    }
}
