//! `subscriptions/listen`: the long stream of the modern era.

use usher_testkit::upstream::Upstream;

use crate::harness::Stage;

const FILTER: &str = r#"{"notifications":{"toolsListChanged":true,"x":1e999}}"#;

/// R-GW-02: acknowledged first, then what the server publishes, with its subscription id.
#[tokio::test]
async fn a_subscription_is_acknowledged_and_then_carries_what_is_published() {
    let stage = Stage::free(Upstream::start().await).await;
    let request = stage.modern().request("subscriptions/listen", FILTER).id(Some("\"l1\""));
    let body = request.to_body();
    let mut stream = request.stream().await;
    let first = stream.next_message().await.unwrap();
    assert_eq!(first.method().as_deref(), Some("notifications/subscriptions/acknowledged"));
    assert_eq!(first.at(&["params", "notifications"]), Some(r#"{"toolsListChanged":true,"x":1e999}"#));
    for number in ["1e999", "9007199254740993"] {
        stage.upstream.publish("notifications/tools/list_changed", &format!(r#"{{"n":{number}}}"#)).await;
        let changed = stream.expect("notifications/tools/list_changed").await;
        assert_eq!(changed.at(&["params", "n"]), Some(number));
        assert_eq!(
            changed.string(&["params", "_meta", "io.modelcontextprotocol/subscriptionId"]).as_deref(),
            Some("l1")
        );
    }
    assert_eq!(stage.upstream.requests_of("subscriptions/listen")[0].body, body);
    stage.upstream.assert_clean();
}

/// Streamable HTTP 2026-07-28, "Cancellation": leaving the stream ends the subscription at the upstream.
#[tokio::test]
async fn a_client_that_leaves_ends_its_subscription() {
    let stage = Stage::free(Upstream::start().await).await;
    let mut stream = stage.modern().stream("subscriptions/listen", FILTER).await;
    stream.expect("notifications/subscriptions/acknowledged").await;
    assert_eq!(stage.upstream.listeners(), 1);
    drop(stream);
    stage.upstream.wait_until("nobody listens", |upstream| upstream.listeners() == 0).await;
}

/// R-GW-02: an upstream that ends the subscription says so itself.
#[tokio::test]
async fn an_upstream_may_end_the_subscription() {
    let stage = Stage::free(Upstream::start().await).await;
    let mut stream = stage.modern().stream("subscriptions/listen", FILTER).await;
    stream.expect("notifications/subscriptions/acknowledged").await;
    stage.upstream.end_streams();
    let reply = stream.reply().await;
    assert_eq!(reply.response().string(&["result", "resultType"]).as_deref(), Some("complete"));
    assert_eq!(reply.messages.iter().filter(|message| message.is_response()).count(), 1);
}

/// R-SEC-04: a subscription whose upstream is gone ends, so that the client can subscribe anew.
#[tokio::test]
async fn a_subscription_whose_upstream_is_gone_ends_in_an_error() {
    let stage = Stage::free(Upstream::start().await).await;
    let mut stream = stage.modern().stream("subscriptions/listen", FILTER).await;
    stream.expect("notifications/subscriptions/acknowledged").await;
    stage.upstream.cut_connections();
    assert_eq!(stream.reply().await.error_code(), -32603);
}

/// A subscription whose filter we do not know is the upstream's to judge.
#[tokio::test]
async fn two_subscriptions_of_one_client_are_two_streams() {
    let stage = Stage::free(Upstream::start().await).await;
    let client = stage.modern();
    let mut first = client.request("subscriptions/listen", FILTER).id(Some("1")).stream().await;
    let mut second = client.request("subscriptions/listen", "{}").id(Some("2")).stream().await;
    for stream in [&mut first, &mut second] {
        stream.expect("notifications/subscriptions/acknowledged").await;
    }
    stage.upstream.publish("notifications/resources/updated", r#"{"uri":"a:b"}"#).await;
    for (stream, id) in [(&mut first, "1"), (&mut second, "2")] {
        let updated = stream.expect("notifications/resources/updated").await;
        assert_eq!(updated.at(&["params", "_meta", "io.modelcontextprotocol/subscriptionId"]), Some(id));
    }
}
