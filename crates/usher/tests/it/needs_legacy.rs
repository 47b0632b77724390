//! A call that lacks a credential, in the legacy era.

use usher_testkit::client::Legacy;

use crate::harness::{KEY, Stage};

async fn ready(stage: &Stage) -> Legacy {
    let client = stage.legacy();
    let reply = client.initialize().await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    client
}

/// R-GW-03, R-DONE-01: asked on the call's own stream, held, connected, noticed, answered: all in one call.
#[tokio::test]
async fn a_call_without_a_credential_asks_on_its_stream_and_goes_on() {
    let stage = Stage::new().await;
    let client = ready(&stage).await;
    let mut stream = client.open_tool("get_forecast", r#"{"city":"Berlin"}"#).await;
    let question = stream.expect("elicitation/create").await;
    let url = question.string(&["params", "url"]).unwrap();
    let id = question.string(&["params", "elicitationId"]).unwrap();
    assert!(url.ends_with(&id));
    client.respond(question.id().unwrap(), r#"{"action":"accept"}"#).await;
    let person = stage.person().await;
    person.connect(&url, &[("api_key", KEY)]).await;
    let notice = stream.expect("notifications/elicitation/complete").await;
    assert_eq!(notice.string(&["params", "elicitationId"]).unwrap(), id);
    let reply = stream.reply().await;
    assert_eq!(reply.content_text(), "sunny");
    stage.upstream.assert_clean();
}
