//! A call that lacks a credential, in the modern era.

use crate::harness::{KEY, Stage};

/// R-GW-03, R-MRTR-01, R-OAUTH-01: the main job: asked, connected on the page, and the retry brings the result.
#[tokio::test]
async fn a_call_without_a_credential_asks_and_goes_on() {
    let stage = Stage::new().await;
    let client = stage.modern();
    let asked = client.tool("get_forecast", r#"{"city":"Berlin"}"#).await;
    assert!(asked.is_input_required(), "{}", asked.text());
    let url = asked.url();
    let state = asked.request_state().unwrap();
    let person = stage.person().await;
    let done = person.connect(&url, &[("api_key", KEY)]).await;
    assert_eq!(done.heading().as_deref(), Some("Connected"), "{}", done.describe());
    let reply = client
        .retry("tools/call", r#"{"name":"get_forecast","arguments":{"city":"Berlin"}}"#, Some(&asked.answer_all(r#"{"action":"accept"}"#)), Some(&state))
        .await;
    assert_eq!(reply.content_text(), "sunny", "{}", reply.text());
    assert_eq!(stage.upstream.requests_of("tools/call").len(), 1);
    stage.upstream.assert_clean();
}
