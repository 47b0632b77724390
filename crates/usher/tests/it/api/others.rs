//! What a server must not learn: of questions of others, of ids that there are not.

use http::Method;
use usher_store::{ApiScope, AuditAction};

use super::{INTERACTIONS, Server, audited, send, stage};

/// R-ID-01: another server's question is like one that there is not, in every part of the answer, and cannot be touched.
#[tokio::test]
async fn another_servers_question_is_like_none() {
    let stage = stage("").await;
    let weather = Server::weather(&stage).await;
    let other = Server::named(&stage, "other", &ApiScope::ALL).await;
    let asked = weather.asked("claude").await;
    let foreign = asked.member("id");

    let mut shapes = Vec::new();
    for id in [foreign.as_str(), &"A".repeat(43), "short", "%ff", "..%2f..", &"A".repeat(5000)] {
        for (method, path) in [
            (Method::GET, format!("{INTERACTIONS}/{id}")),
            (Method::GET, format!("{INTERACTIONS}/{id}?wait=30")),
            (Method::POST, format!("{INTERACTIONS}/{id}/cancel")),
        ] {
            let answer = send(other.request(method.clone(), &path)).await;
            answer.problem(404, "not-found");
            let mut headers: Vec<_> = answer.headers.iter().map(|(name, value)| format!("{name}: {value:?}")).collect();
            headers.retain(|header| !header.starts_with("date"));
            headers.sort();
            shapes.push((headers, answer.text));
        }
    }

    shapes.dedup();
    assert_eq!(shapes.len(), 1, "all look the same: {shapes:?}");
    assert!(!shapes[0].1.contains(&foreign));
    assert_eq!(weather.get(&asked.path()).await.member("state"), "created", "it is as it was");
    assert_eq!(audited(&stage, &other.key, AuditAction::ApiKeyRefused).await, 1);
}

/// A server sees what is asked for it behind the gateway as well, since it is its own.
#[tokio::test]
async fn a_server_sees_what_is_asked_for_it_behind_the_gateway() {
    let stage = stage("").await;
    let server = Server::weather(&stage).await;
    let asked = stage.modern().call("tools/call", r#"{"name":"get_forecast"}"#).await;
    let id = asked.url().rsplit('/').next().unwrap().to_owned();
    assert_eq!(server.get(&format!("{INTERACTIONS}/{id}")).await.member("state"), "created");
}

#[tokio::test]
async fn what_is_not_there_says_so() {
    let stage = stage("").await;
    let server = Server::weather(&stage).await;
    for path in ["/api", "/api/", "/api/v1", "/api/v2/interactions", "/api/v1/interactions/", "/api/v1/keys"] {
        server.get(path).await.problem(404, "not-found");
    }
    for (method, path, allow) in [
        (Method::GET, INTERACTIONS.to_owned(), "POST"),
        (Method::DELETE, format!("{INTERACTIONS}/{}", "A".repeat(43)), "GET,HEAD"),
        (Method::PUT, format!("{INTERACTIONS}/{}/cancel", "A".repeat(43)), "POST"),
        (Method::POST, "/api/openapi.json".to_owned(), "GET,HEAD"),
    ] {
        let answer = send(server.request(method, &path)).await;
        answer.problem(405, "method-not-allowed");
        assert_eq!(answer.header("allow"), allow, "{path}");
    }
}
