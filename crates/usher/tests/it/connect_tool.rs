//! An upstream that refuses even to list its tools: ours stands in for it (R-GW-06).

use serde_json::{Value, json};
use usher_testkit::upstream::{Refusal, Script, Upstream};

use crate::harness::{KEY, Setup, Stage};

async fn closed_stage() -> Stage {
    let upstream = Upstream::builder().require("x-api-key", KEY, Refusal::unauthorized()).start().await;
    Stage::with(Setup::default(), upstream).await
}

fn names(listed: &Value) -> Vec<&str> {
    listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// R-GW-06: handshake and listings are answered in place of the upstream, and `connect` asks; then the real tools are listed.
#[tokio::test]
async fn a_modern_client_finds_one_tool_that_connects() {
    let stage = closed_stage().await;
    let client = stage.modern();
    let discovered = client.call("server/discover", "{}").await.result();
    assert_eq!(discovered["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(discovered["resultType"], "complete");
    let listed = client.call("tools/list", "{}").await.result();
    assert_eq!(names(&listed), ["connect"]);
    assert_eq!(listed["ttlMs"], 0);
    assert_eq!(client.call("prompts/list", "{}").await.result()["prompts"], json!([]));

    let asked = client.tool("connect", "{}").await;
    let person = stage.person().await;
    person.connect(&asked.url(), &[("api_key", KEY)]).await;
    let params = r#"{"name":"connect","arguments":{}}"#;
    let accept = asked.answer_all(r#"{"action":"accept"}"#);
    let reply = client.retry("tools/call", params, Some(&accept), asked.request_state().as_deref()).await;
    assert!(reply.content_text().contains("Weather is connected"), "{}", reply.text());
    assert!(!reply.is_tool_error());

    let listed = client.call("tools/list", "{}").await.result();
    assert_eq!(names(&listed), ["get_forecast"]);
}

/// What is asked for call by call connects nothing: the tool does not speak of it.
#[tokio::test]
async fn the_tool_names_only_what_it_connects() {
    let upstream = Upstream::builder().require("x-api-key", KEY, Refusal::unauthorized()).start().await;
    let setup = Setup {
        needs: "\n[[upstream.needs]]\nprovider = \"confirm\"\n".to_owned(),
        more: "[[provider]]\nname = \"confirm\"\ntitle = \"Approval\"\nkind = \"approval\"\nabout = \"Your word.\"\n"
            .to_owned(),
        ..Setup::default()
    };
    let stage = Stage::with(setup, upstream).await;
    let listed = stage.modern().call("tools/list", "{}").await.result();
    let description = listed["tools"][0]["description"].as_str().unwrap();
    assert!(description.contains("your Weather account") && !description.contains("Approval"), "{description}");
}

/// R-GW-06: the change is announced on the stream that the client listens to, which then ends in order.
#[tokio::test]
async fn a_modern_listener_hears_that_the_tools_changed() {
    let stage = closed_stage().await;
    let client = stage.modern();
    let mut stream = client.stream("subscriptions/listen", r#"{"notifications":{"toolsListChanged":true}}"#).await;
    let acknowledged = stream.expect("notifications/subscriptions/acknowledged").await;
    assert_eq!(acknowledged.at(&["params", "notifications", "toolsListChanged"]), Some("true"));
    let asked = client.tool("get_forecast", "{}").await;
    stage.person().await.connect(&asked.url(), &[("api_key", KEY)]).await;
    stream.expect("notifications/tools/list_changed").await;
    assert_eq!(stream.reply().await.result()["resultType"], "complete");
}

/// An upstream that lists its tools to anybody keeps a `connect` of its own.
#[tokio::test]
async fn a_tool_of_the_upstream_with_that_name_stays_its_own() {
    let stage = Stage::new().await;
    stage.upstream.tool("connect", Script::new().require("x-api-key", KEY).text("theirs"));
    let client = stage.modern();
    let asked = client.tool("connect", "{}").await;
    stage.person().await.connect(&asked.url(), &[("api_key", KEY)]).await;
    let params = r#"{"name":"connect","arguments":{}}"#;
    let accept = asked.answer_all(r#"{"action":"accept"}"#);
    let reply = client.retry("tools/call", params, Some(&accept), asked.request_state().as_deref()).await;
    assert_eq!(reply.content_text(), "theirs");
}

/// R-GW-06: the same in the legacy era, where the handshake is answered in place of the upstream and made up for later.
#[tokio::test]
async fn a_legacy_client_finds_one_tool_that_connects() {
    let stage = closed_stage().await;
    let client = stage.legacy();
    let started = client.initialize().await.result();
    assert_eq!(started["protocolVersion"], "2025-11-25");
    assert_eq!(started["capabilities"], json!({ "tools": { "listChanged": true } }));
    assert_eq!(names(&client.call("tools/list", "{}").await.result()), ["connect"]);
    let mut get = client.open_get(None).await;

    let mut stream = client.open_tool("connect", "{}").await;
    let question = stream.expect("elicitation/create").await;
    client.respond(question.id().unwrap(), r#"{"action":"accept"}"#).await;
    stage.person().await.connect(&question.string(&["params", "url"]).unwrap(), &[("api_key", KEY)]).await;
    stream.expect("notifications/tools/list_changed").await;
    assert!(stream.reply().await.content_text().contains("Weather is connected"));

    assert_eq!(names(&client.call("tools/list", "{}").await.result()), ["get_forecast"]);
    get.expect("notifications/tools/list_changed").await;
    assert_eq!(client.tool("get_forecast", "{}").await.content_text(), "sunny");
    assert_eq!(stage.upstream.sessions().len(), 1);
    stage.upstream.assert_clean();
}

/// R-GW-06, R-GW-03: a call of a real tool asks as well, and goes on upstream once its side has begun.
#[tokio::test]
async fn a_legacy_call_begins_the_upstream_session_when_it_goes_on() {
    let stage = closed_stage().await;
    let client = stage.legacy();
    client.initialize().await;
    let mut stream = client.open_tool("get_forecast", "{}").await;
    let question = stream.expect("elicitation/create").await;
    client.respond(question.id().unwrap(), r#"{"action":"accept"}"#).await;
    stage.person().await.connect(&question.string(&["params", "url"]).unwrap(), &[("api_key", KEY)]).await;
    assert_eq!(stream.reply().await.content_text(), "sunny");
}

/// R-GW-03, R-GW-06: a key that the upstream refuses for everything is marked at the handshake, and asked for anew.
#[tokio::test]
async fn a_refused_key_leads_back_to_the_tool_that_connects() {
    let stage = closed_stage().await;
    let person = stage.connected_with("a-key-that-was-revoked").await;
    let client = stage.legacy();
    client.initialize().await;
    assert_eq!(names(&client.call("tools/list", "{}").await.result()), ["connect"]);
    let mut stream = client.open_tool("connect", "{}").await;
    let question = stream.expect("elicitation/create").await;
    client.respond(question.id().unwrap(), r#"{"action":"accept"}"#).await;
    let url = question.string(&["params", "url"]).unwrap();
    person.connect(&url, &[("api_key", KEY)]).await;
    assert!(stream.reply().await.content_text().contains("Weather is connected"));
    assert_eq!(client.tool("get_forecast", "{}").await.content_text(), "sunny");
}

/// R-GW-03: in a session that began without its upstream, a wrong key is refused at the late handshake and asked for again.
#[tokio::test]
async fn a_wrong_key_at_the_late_handshake_is_asked_for_again() {
    let stage = closed_stage().await;
    let client = stage.legacy();
    client.initialize().await;
    let mut stream = client.open_tool("get_forecast", "{}").await;
    let person = stage.person().await;
    for key in ["not-the-key", KEY] {
        let question = stream.expect("elicitation/create").await;
        client.respond(question.id().unwrap(), r#"{"action":"accept"}"#).await;
        person.connect(&question.string(&["params", "url"]).unwrap(), &[("api_key", key)]).await;
    }
    assert_eq!(stream.reply().await.content_text(), "sunny");
}

/// The client was promised a revision that the upstream does not speak: its session ends, and the next one reaches the
/// upstream itself.
#[tokio::test]
async fn an_upstream_that_chooses_another_revision_ends_the_session() {
    let upstream = Upstream::builder()
        .require("x-api-key", KEY, Refusal::unauthorized())
        .legacy_versions(&["2025-06-18"])
        .start()
        .await;
    let stage = Stage::with(Setup::default(), upstream).await;
    let client = stage.legacy();
    assert_eq!(client.initialize().await.result()["protocolVersion"], "2025-11-25");
    stage.connected().await;
    assert_eq!(client.call("tools/list", "{}").await.error_code(), -32603);
    assert_eq!(client.call("tools/list", "{}").await.status, 404);
    let again = stage.legacy();
    assert_eq!(again.initialize().await.result()["protocolVersion"], "2025-06-18");
    assert_eq!(names(&again.call("tools/list", "{}").await.result()), ["get_forecast"]);
}
