//! Handshakes and listings wait for no token (R-GW-06): they go with what is good, or with nothing.

use usher_testkit::{
    client::Reply,
    oauth::{Endpoint, Provider, Trouble},
    upstream::{Gate, Script, Upstream},
};

use super::scene::{HOUR, Scene};
use crate::harness::{Setup, answered};

/// A scene whose token has expired and whose provider keeps whoever asks waiting.
async fn waiting() -> (Scene, Gate) {
    let scene = Scene::expired().await;
    let gate = Gate::new();
    scene.hub.trouble(Endpoint::Refresh, Trouble::ReplyHeld(gate.clone()));
    (scene, gate)
}

fn tools(reply: &Reply) -> Vec<String> {
    let listed = reply.result();
    listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// R-GW-06: while the provider is silent, everything is listed as before; the token that has expired is not sent, and another one
/// is got meanwhile, by one request.
#[tokio::test]
async fn with_an_expired_token_everything_stays_listed_and_nothing_waits() {
    let (scene, gate) = waiting().await;
    let began = tokio::time::Instant::now();
    let (modern, legacy) = (scene.stage.modern(), scene.stage.ready().await);
    assert_eq!(tools(&modern.call("tools/list", "{}").await), ["get_forecast"]);
    assert_eq!(tools(&legacy.call("tools/list", "{}").await), ["get_forecast"]);
    for (method, member) in [("prompts/list", "prompts"), ("resources/list", "resources")] {
        for reply in [modern.call(method, "{}").await, legacy.call(method, "{}").await] {
            assert_eq!(reply.result()[member].as_array().map(Vec::len), Some(1), "{method}: {}", reply.text());
        }
    }
    assert_eq!(modern.call("server/discover", "{}").await.status, 200);
    assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
    for request in scene.stage.upstream.requests() {
        assert_eq!(request.header("authorization"), None, "{}", request.method);
    }
    assert_eq!(scene.hub.wait_for(Endpoint::Refresh, 1).await.len(), 1);
    gate.open();
    scene.goes_through().await;
    assert_eq!(scene.hub.counts().refreshes, 1);
    scene.assert_clean();
}

/// A token that is good goes with listings, so that servers list what its owner may use.
#[tokio::test]
async fn a_good_token_goes_with_listings() {
    let scene = Scene::connected().await;
    scene.stage.upstream.method("tools/list", requiring(&scene.hub));
    assert_eq!(tools(&scene.stage.modern().call("tools/list", "{}").await), ["get_forecast"]);
}

fn requiring(hub: &Provider) -> Script {
    let tools = r#"{"tools":[{"name":"get_forecast","inputSchema":{"type":"object"}}],"resultType":"complete"}"#;
    Script::new().require_token(&hub.token_book()).result(tools)
}

/// R-GW-06: a server that lists nothing without a token: the listing does not wait either. What stands in for it says so, and the
/// client hears of it once the new token is there; the tool that connects waits, and asks nothing.
#[tokio::test]
async fn where_a_server_lists_nothing_without_a_token_the_list_changes_when_it_is_there() {
    let (scene, gate) = waiting().await;
    scene.stage.upstream.method("tools/list", requiring(&scene.hub));
    scene.stage.upstream.method("subscriptions/listen", Script::new().require_token(&scene.hub.token_book()));
    let client = scene.stage.modern();
    assert_eq!(tools(&client.call("tools/list", "{}").await), ["connect"]);
    let mut listening = client.stream("subscriptions/listen", r#"{"notifications":{"toolsListChanged":true}}"#).await;
    listening.expect("notifications/subscriptions/acknowledged").await;
    let listed = scene.stage.upstream.requests_of("tools/list").len();
    let connecting = client.call("tools/call", r#"{"name":"connect","arguments":{}}"#);
    let opens = async {
        // That the tool is ours is found out by asking the server.
        scene.stage.upstream.wait_for("tools/list", listed + 1).await;
        scene.hub.wait_for(Endpoint::Refresh, 1).await;
        gate.open();
    };
    let (connected, ()) = tokio::join!(connecting, opens);
    assert!(connected.content_text().contains("is connected"), "{}", connected.text());
    listening.expect("notifications/tools/list_changed").await;
    assert_eq!(tools(&client.call("tools/list", "{}").await), ["get_forecast"]);
    assert_eq!(scene.hub.counts().refreshes, 1);
}

/// R-GW-06: the same in the legacy era, on the stream of the session.
#[tokio::test]
async fn a_legacy_session_hears_that_the_list_changes_when_the_token_is_there() {
    let scene = Scene::connected().await;
    let client = scene.stage.ready().await;
    client.notify("notifications/initialized", "{}").await;
    let mut stream = client.open_get(None).await;
    scene.stage.upstream.method("tools/list", requiring(&scene.hub));
    assert_eq!(tools(&client.call("tools/list", "{}").await), ["get_forecast"]);
    let gate = Gate::new();
    scene.hub.trouble(Endpoint::Refresh, Trouble::ReplyHeld(gate.clone()));
    scene.stage.clock.forward(HOUR);
    assert_eq!(tools(&client.call("tools/list", "{}").await), ["connect"]);
    gate.open();
    stream.expect("notifications/tools/list_changed").await;
    assert_eq!(tools(&client.call("tools/list", "{}").await), ["get_forecast"]);
    assert_eq!(scene.hub.counts().refreshes, 1);
}

/// R-GW-06: a listing whose token is refused goes on without it, waits for nothing, and costs one renewal; a server that refuses
/// that one too costs no more.
#[tokio::test]
async fn a_listing_whose_token_is_refused_goes_on_without() {
    let scene = Scene::connected().await;
    scene.hub.end_access_tokens_of("user-1");
    scene.stage.upstream.method("tools/list", requiring(&scene.hub));
    let client = scene.stage.modern();
    assert_eq!(tools(&client.call("tools/list", "{}").await), ["connect"]);
    super::until("the new token", || async { scene.hub.counts().refreshes == 1 }).await;
    scene.goes_through().await;
    assert_eq!(tools(&client.call("tools/list", "{}").await), ["get_forecast"]);
    scene.stage.upstream.method("tools/list", Script::new().require("x-never", "sent"));
    for _ in 0..20 {
        assert_eq!(client.call("tools/list", "{}").await.status, 200);
        tokio::task::yield_now().await;
    }
    assert!(scene.hub.counts().refreshes <= 2, "{:?}", scene.hub.counts());
}

/// R-GW-06: the handshake of a server that refuses everybody without a token does not wait: it is answered in its place, and made
/// up for with the first call, which does.
#[tokio::test]
async fn a_handshake_waits_for_no_token() {
    let scene = Scene::connected().await;
    scene.stage.upstream.method("initialize", {
        let result =
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"w","version":"1"}}"#;
        Script::new().require_token(&scene.hub.token_book()).result(result)
    });
    let gate = Gate::new();
    scene.hub.trouble(Endpoint::Refresh, Trouble::ReplyHeld(gate.clone()));
    scene.stage.clock.forward(HOUR);
    let began = tokio::time::Instant::now();
    let client = scene.stage.legacy();
    assert_eq!(client.initialize().await.status, 200);
    assert_eq!(tools(&client.call("tools/list", "{}").await), ["connect"]);
    assert!(began.elapsed().as_secs() < 5);
    gate.open();
    let reply = client.tool("get_forecast", "{}").await;
    assert!(answered(&reply), "{}", reply.text());
    assert_eq!(scene.hub.counts().refreshes, 1);
}

/// A call that needs no credential waits for none.
#[tokio::test]
async fn a_call_that_needs_no_token_waits_for_none() {
    let setup = Setup { needs: "on = [\"tools/get_*\"]".to_owned(), ..Setup::default() };
    let scene = Scene::with(setup, Upstream::start().await).await;
    scene.connect().await;
    scene.stage.upstream.tool("hello", Script::new().text("sunny"));
    scene.stage.clock.forward(HOUR);
    let gate = Gate::new();
    scene.hub.trouble(Endpoint::Refresh, Trouble::ReplyHeld(gate.clone()));
    let reply = scene.stage.modern().call("tools/call", r#"{"name":"hello","arguments":{}}"#).await;
    assert!(answered(&reply), "{}", reply.text());
    gate.open();
}
