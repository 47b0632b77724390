//! What a person does for one call alone: approvals, and visits to somebody else's page that the server confirms.

use serde_json::{Value, json};
use usher_store::{ApiScope, AuditAction};
use usher_testkit::person::Person;

use super::{Answer, INTERACTIONS, Server, audited, stage, waiting};
use crate::harness::Stage;

async fn ask(server: &Server, provider: &str, operation: &Value) -> Answer {
    let body = json!({ "provider": provider, "client": "claude", "operation": operation });
    server.post(INTERACTIONS, body.to_string()).await
}

fn delete(path: &str) -> Value {
    json!({ "method": "tools/call", "name": "delete_file", "arguments": { "path": path } })
}

/// R-MRTR-03: what the person approved is good for this call alone, and once.
#[tokio::test]
async fn an_approval_is_used_once_and_for_its_call_alone() {
    let stage = stage("").await;
    let server = Server::weather(&stage).await;
    let asked = ask(&server, "confirm", &delete("/a")).await;
    assert_eq!(asked.status, 201, "{asked:?}");
    let page = stage.person().await.get(&asked.member("url")).await;
    assert!(page.text().contains("delete_file") && page.text().contains("/a"), "{}", page.text());
    assert_eq!(ask(&server, "confirm", &delete("/a")).await.member("id"), asked.member("id"), "joined");
    let other = ask(&server, "confirm", &delete("/b")).await;
    assert_ne!(other.member("id"), asked.member("id"), "another call is another question");

    let done = stage.person().await.connect(&asked.member("url"), &[]).await;
    assert_eq!(done.heading().as_deref(), Some("Allowed once"), "{}", done.describe());
    assert_eq!(server.get(&asked.path()).await.member("state"), "completed");
    assert_eq!(ask(&server, "confirm", &delete("/b")).await.member("id"), other.member("id"));
    let used = ask(&server, "confirm", &delete("/a")).await;
    assert_eq!((used.status.as_u16(), used.json()), (200, json!({ "state": "completed", "provider": "confirm" })));
    let again = ask(&server, "confirm", &delete("/a")).await;
    assert_eq!(again.status, 201, "it is used up: {again:?}");
}

#[tokio::test]
async fn a_call_is_needed_where_it_is_what_is_approved() {
    let stage = stage("").await;
    let server = Server::weather(&stage).await;
    let bare = json!({ "provider": "confirm", "client": "claude" });
    assert_eq!(server.post(INTERACTIONS, bare.to_string()).await.faults(), ["/operation"]);
    for (operation, expected) in [
        (json!("delete_file"), &["/operation"][..]),
        (json!({}), &["/operation/method", "/operation/name"]),
        (json!({ "method": "tools/list", "name": "a" }), &["/operation"]),
        (json!({ "method": "tools/call", "name": "a", "arguments": [] }), &["/operation/arguments"]),
        (json!({ "method": "resources/read", "name": "vault:a", "arguments": {} }), &["/operation/arguments"]),
        (json!({ "method": "tools/call", "name": "a", "cost": 1 }), &["/operation/cost"]),
    ] {
        assert_eq!(ask(&server, "confirm", &operation).await.faults(), expected, "{operation}");
    }
    let twice = r#"{"provider":"confirm","client":"a","operation":{"method":"tools/call","name":"a","arguments":{"x":1,"x":2}}}"#;
    assert_eq!(server.post(INTERACTIONS, twice).await.faults(), ["/operation"]);
    assert!(waiting(&stage).await.is_empty());
    let resource = json!({ "method": "resources/read", "name": "vault:keys" });
    assert_eq!(ask(&server, "confirm", &resource).await.status, 201);
    // Elsewhere it may be told, and changes nothing.
    assert_eq!(ask(&server, "weather", &delete("/a")).await.status, 201);
}

/// The person leaves for the other side's page.
async fn leave(stage: &Stage, url: &str) -> Person {
    let person = stage.person().await;
    let page = person.get(url).await;
    let left = person.agreement(&page, &[]).send().await;
    assert_eq!(left.status, 200, "{}", left.describe());
    person
}

/// A server says that a visit is done: once it may be, once it counts, and saying it again is no fault.
#[tokio::test]
async fn an_external_visit_is_completed_by_its_server() {
    let stage = stage("").await;
    let server = Server::weather(&stage).await;
    let buy =
        json!({ "method": "tools/call", "name": "buy_report", "arguments": { "number": 9_007_199_254_740_993_i64 } });
    let asked = ask(&server, "pay", &buy).await;
    let complete = format!("{}/complete", asked.path());
    // Not before its person went there, and not by anybody else.
    server.post(&complete, "").await.problem(409, "not-completable");
    leave(&stage, &asked.member("url")).await;
    let other = Server::named(&stage, "other", &ApiScope::ALL).await;
    other.post(&complete, "").await.problem(404, "not-found");
    let reads = Server::named(&stage, "weather", &[ApiScope::InteractionsRead]).await;
    reads.post(&complete, "").await.problem(403, "insufficient-scope");
    assert_eq!(server.get(&asked.path()).await.member("state"), "consented");

    for _ in 0..2 {
        let done = server.post(&complete, "").await;
        assert_eq!((done.status.as_u16(), done.member("state").as_str()), (200, "completed"), "{done:?}");
    }

    assert_eq!(audited(&stage, &server.key, AuditAction::ApiInteractionCompleted).await, 1);
    assert_eq!(ask(&server, "pay", &buy).await.status, 200);
    assert_eq!(ask(&server, "pay", &buy).await.status, 201, "it was paid for one call");
}

/// Nothing in the API stands in for the person: what is not external is theirs alone to complete.
#[tokio::test]
async fn only_external_visits_are_completed_by_a_server() {
    let stage = stage("").await;
    let server = Server::weather(&stage).await;
    let approval = ask(&server, "confirm", &delete("/a")).await;
    let secret = server.asked("claude").await;
    for asked in [&approval, &secret] {
        stage.person().await.get(&asked.member("url")).await;
        server.post(&format!("{}/complete", asked.path()), "{}").await.problem(409, "not-completable");
        assert_eq!(server.get(&asked.path()).await.member("state"), "opened");
    }
    for id in ["A".repeat(43), "short".to_owned()] {
        server.post(&format!("{INTERACTIONS}/{id}/complete"), "").await.problem(404, "not-found");
    }
}
