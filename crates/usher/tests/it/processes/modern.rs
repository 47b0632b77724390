//! Modern clients: one process for a client and what it can do.

use serde_json::json;
use usher_testkit::client::Modern;

use super::{said, stage};
use crate::harness::SECOND;

/// One process for each client and set of capabilities, shared by its calls, whose ids may be the same.
#[tokio::test]
async fn a_client_shares_a_process_among_calls_of_the_same_capabilities() {
    let stage = stage("", false).await;
    let who = async |client: Modern| said(&client.tool("whoami", "{}").await)["pid"].clone();
    let first = who(stage.local_modern()).await;
    assert_eq!(who(stage.local_modern()).await, first);
    assert_ne!(who(stage.local_modern().elicitation(&["form"])).await, first, "other capabilities");
    assert_ne!(
        who(Modern::new(stage.local()).token(SECOND).elicitation(&["form", "url"])).await,
        first,
        "another client"
    );
    let calls = (0..20).map(|_| async {
        let client = stage.local_modern();
        let reply =
            client.request("tools/call", r#"{"name":"sleep","arguments":{"ms":20}}"#).id(Some("1")).send().await;
        assert_eq!((reply.response().id(), said(&reply)), (Some("1"), json!("slept")));
    });
    futures_util::future::join_all(calls).await;
}

/// R-CAP-05: what a modern server refuses has the status that goes with it over HTTP.
#[tokio::test]
async fn a_modern_servers_refusals_have_their_status() {
    let stage = stage("", false).await;
    let client = stage.local_modern();
    let reply = client.call("no/such", "{}").await;
    assert_eq!((reply.status.as_u16(), reply.error_code()), (404, -32601));
    assert_eq!(client.call("server/discover", "{}").await.result()["serverInfo"]["name"], "stdio");
}

/// The end of the client's stream is the cancellation.
#[tokio::test]
async fn a_client_that_leaves_cancels_its_call() {
    let stage = stage("", false).await;
    let client = stage.local_modern();
    let hanging = client.stream("tools/call", r#"{"name":"hang"}"#);
    assert!(tokio::time::timeout(std::time::Duration::from_millis(300), hanging).await.is_err());
    assert_eq!(said(&client.tool("cancelled", "{}").await), json!(1));
}

#[tokio::test]
async fn a_subscription_brings_what_belongs_to_it() {
    let stage = stage("", false).await;
    let client = stage.local_modern();
    let mut one = client.request("subscriptions/listen", "{}").id(Some("\"one\"")).stream().await;
    let mut two = client.request("subscriptions/listen", "{}").id(Some("\"two\"")).stream().await;
    for (stream, id) in [(&mut one, "one"), (&mut two, "two")] {
        for method in ["notifications/subscriptions/acknowledged", "notifications/tools/list_changed"] {
            let message = stream.expect(method).await;
            assert_eq!(message.json()["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
        }
    }
    drop((one, two));
    assert!(said(&client.tool("cancelled", "{}").await).as_u64().unwrap() >= 1, "who leaves has no subscription");
}
