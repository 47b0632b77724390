//! Legacy sessions: whose they are, how long they live, and what outlives what (R-ID-01, R-GW-08).

use http::Method;
use usher_testkit::{
    agent,
    client::{Legacy, Reply},
    upstream::{Question, Script, Upstream},
};

use crate::harness::{SECOND, Setup, Stage};

const SCHEMA: &str = r#"{"type":"object","properties":{}}"#;

/// Everything that a session can be used for.
async fn uses(client: &Legacy) -> Vec<Reply> {
    vec![
        client.call("tools/list", "{}").await,
        client.notify("notifications/roots/list_changed", "{}").await,
        client.respond("0", r#"{"action":"accept"}"#).await,
        client.open_get(None).await.reply().await,
        client.delete().await,
    ]
}

fn requests(stage: &Stage) -> usize {
    stage.upstream.requests().len()
}

/// R-ID-01, and the design, section 12: another principal's session looks exactly like one that does not exist.
#[tokio::test]
async fn a_session_of_another_principal_is_unknown() {
    let setup = Setup { free: true, second: true, ..Setup::default() };
    let stage = Stage::with(setup, Upstream::start().await).await;
    let owner = stage.ready().await;
    let session = owner.session().unwrap();
    let before = requests(&stage);
    let thief = stage.legacy().token(SECOND).with_session(&session);
    let nobody = stage.legacy().token(SECOND).with_session("A".repeat(43));
    for (theirs, unknown) in uses(&thief).await.into_iter().zip(uses(&nobody).await) {
        assert_eq!(theirs.status, 404, "{}", theirs.text());
        assert_eq!(
            (theirs.status, theirs.text(), theirs.headers.len()),
            (unknown.status, unknown.text(), unknown.headers.len())
        );
    }
    assert_eq!(requests(&stage), before, "nothing reached the upstream");
    assert_eq!(owner.call("tools/list", "{}").await.status, 200, "the session is as it was");
}

/// R-ID-01: a session belongs to its upstream.
#[tokio::test]
async fn a_session_of_another_upstream_is_unknown() {
    let (upstream, other) = (Upstream::start().await, Upstream::start().await);
    let more = format!("[[upstream]]\nname = \"other\"\nurl = \"{}\"\n", other.url());
    let stage = Stage::with(Setup { free: true, more, ..Setup::default() }, upstream).await;
    let session = stage.ready().await.session().unwrap();
    let elsewhere = Legacy::new(format!("{}/mcp/other", stage.origin)).token(&stage.token).with_session(&session);
    for reply in uses(&elsewhere).await {
        assert_eq!(reply.status, 404, "{}", reply.text());
    }
    assert!(other.requests().is_empty());
    assert!(!stage.upstream.sessions()[0].deleted);
}

/// Transports 2025-11-25, "Session Management": 404 for what is not known, 400 where nothing is named.
#[tokio::test]
async fn an_unknown_session_is_not_found_and_a_missing_one_is_a_bad_request() {
    let stage = Stage::free(Upstream::start().await).await;
    let long = "A".repeat(10_000);
    for id in ["unknown", "", "upstream-session-0001", "../../etc/passwd", "' OR 1=1 --", &long] {
        for reply in uses(&stage.legacy().with_session(id)).await {
            assert_eq!(reply.status, 404, "{id:?}: {}", reply.text());
        }
    }
    for reply in uses(&stage.legacy()).await {
        assert_eq!(reply.status, 400, "{}", reply.text());
    }
    assert!(stage.upstream.requests().is_empty());
}

/// R-ID-01: with two session ids nobody can tell which one counts.
#[tokio::test]
async fn of_two_session_ids_none_reaches_the_upstream() {
    let stage = Stage::free(Upstream::start().await).await;
    let session = stage.ready().await.session().unwrap();
    let request = |ids: [&str; 2]| {
        let request = agent().request(Method::POST, stage.endpoint()).bearer_auth(&stage.token);
        request
            .header("content-type", "application/json")
            .header("accept", "*/*")
            .header("mcp-session-id", ids[0])
            .header("mcp-session-id", ids[1])
    };
    let other = "A".repeat(43);
    for ids in [[session.as_str(), &other], [&other, session.as_str()]] {
        let sent = request(ids).body(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).send().await.unwrap();
        if sent.status().is_success() {
            let seen = stage.upstream.requests_of("tools/list").pop().unwrap();
            assert_eq!(seen.headers.get_all("mcp-session-id").iter().count(), 1);
            assert_eq!(seen.header("mcp-session-id"), Some(stage.upstream.sessions()[0].id.as_str()));
        }
    }
}

/// Transports 2025-11-25: 404 tells the client to start anew; ours does not outlive the upstream's.
#[tokio::test]
async fn a_session_that_the_upstream_forgot_is_over() {
    for place in 0..4 {
        let stage = Stage::free(Upstream::start().await).await;
        let client = stage.ready().await;
        stage.upstream.forget_sessions();
        let reply = uses_one(&client, place).await;
        assert_eq!(reply.status, 404, "{place}: {}", reply.text());
        assert_eq!(reply.header("mcp-session-id"), None);
        let before = requests(&stage);
        for reply in uses(&client).await {
            assert_eq!(reply.status, 404, "{}", reply.text());
        }
        assert_eq!(requests(&stage), before, "ours is gone, so nothing goes upstream");
        let again = stage.ready().await;
        assert_eq!(again.call("tools/list", "{}").await.status, 200);
    }
}

async fn uses_one(client: &Legacy, place: usize) -> Reply {
    match place {
        0 => client.call("tools/list", "{}").await,
        1 => client.notify("notifications/roots/list_changed", "{}").await,
        2 => client.respond("0", "{}").await,
        _ => client.open_get(None).await.reply().await,
    }
}

/// Transports 2025-11-25: DELETE ends the session here and at the upstream, and its GET stream with it.
#[tokio::test]
async fn a_client_ends_its_session() {
    let stage = Stage::free(Upstream::start().await).await;
    let client = stage.ready().await;
    let stream = client.open_get(None).await;
    let reply = client.delete().await;
    assert_eq!((reply.status.as_u16(), reply.text().as_str()), (200, ""));
    let theirs = stage.upstream.sessions()[0].id.clone();
    stage.upstream.wait_deleted(&theirs).await;
    stream.reply().await;
    let before = requests(&stage);
    for reply in uses(&client).await {
        assert_eq!(reply.status, 404, "{}", reply.text());
    }
    assert_eq!(requests(&stage), before);
    stage.upstream.assert_clean();
}

/// R-SEC-04: a session ends even where the upstream cannot be told.
#[tokio::test]
async fn a_session_ends_though_the_upstream_is_down() {
    let stage = Stage::free(Upstream::start().await).await;
    let client = stage.ready().await;
    stage.upstream.stop();
    assert_eq!(client.delete().await.status, 200);
    assert_eq!(client.call("tools/list", "{}").await.status, 404);
}

/// R-GW-08: a session is a row, not a place: it goes on after a restart, and so does an answer on its way.
#[tokio::test]
async fn sessions_outlive_a_restart() {
    let mut stage = Stage::free(Upstream::start().await).await;
    stage.upstream.tool("plain", Script::new().text("fine"));
    stage.upstream.tool("ask", Script::new().ask(Question::form("q", "m", SCHEMA)).text("asked"));
    let client = stage.ready().await;
    stage.restart().await;
    assert_eq!(client.tool("plain", "{}").await.content_text(), "fine");
    let answered =
        client.call_answering("tools/call", r#"{"name":"ask"}"#, |_| Some(r#"{"action":"cancel"}"#.into())).await;
    assert!(answered.text.contains("asked"), "{}", answered.text);
    let mut stream = client.open_get(None).await;
    stage.upstream.push_message(r#"{"jsonrpc":"2.0","method":"notifications/x"}"#).await;
    stream.expect("notifications/x").await;
    assert_eq!(stage.upstream.sessions().len(), 1);
    assert_eq!(client.delete().await.status, 200);
    stage.upstream.assert_clean();
}

/// R-GW-09: a session is kept while it is used, and ends a day after the last message.
#[tokio::test]
async fn a_session_that_is_not_used_for_a_day_is_over() {
    const HOUR: i64 = 3600;
    let mut stage = Stage::free(Upstream::start().await).await;
    let client = stage.ready().await;
    for _ in 0..3 {
        stage.clock.forward(20 * HOUR);
        // What is kept in memory for a minute is gone with the process.
        stage.restart().await;
        assert_eq!(client.call("tools/list", "{}").await.status, 200);
    }
    stage.clock.forward(25 * HOUR);
    stage.restart().await;
    assert_eq!(client.call("tools/list", "{}").await.status, 404);
}

/// The design, section 4: an upstream without sessions still gets a session from us, bound like any other.
#[tokio::test]
async fn an_upstream_without_sessions_works_in_a_session_of_ours() {
    let setup = Setup { free: true, second: true, ..Setup::default() };
    let stage = Stage::with(setup, Upstream::builder().without_sessions().start().await).await;
    stage.upstream.tool("ask", Script::new().ask(Question::form("q", "m", SCHEMA)).text("asked"));
    let client = stage.ready().await;
    let session = client.session().unwrap();
    let answered =
        client.call_answering("tools/call", r#"{"name":"ask"}"#, |_| Some(r#"{"action":"cancel"}"#.into())).await;
    assert!(answered.text.contains("asked"), "{}", answered.text);
    assert_eq!(stage.legacy().token(SECOND).with_session(session).call("tools/list", "{}").await.status, 404);
    assert_eq!(client.delete().await.status, 200);
    assert!(stage.upstream.http_requests(&Method::DELETE).is_empty());
    assert_eq!(client.call("tools/list", "{}").await.status, 404);
    stage.upstream.assert_clean();
}
