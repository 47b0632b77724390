//! A server takes its question back.

use usher_store::AuditAction;

use super::{Server, audited, stage};
use crate::harness::KEY;

#[tokio::test]
async fn a_question_is_taken_back_once_and_rests_not() {
    let stage = stage("").await;
    let server = Server::weather(&stage).await;
    let asked = server.asked("claude").await;
    let path = format!("{}/cancel", asked.path());

    let cancelled = server.post(&path, "").await;
    let again = server.post(&path, "{}").await;

    for answer in [&cancelled, &again] {
        assert_eq!((answer.status.as_u16(), answer.member("state").as_str()), (200, "expired"), "{answer:?}");
    }
    assert_eq!(audited(&stage, &server.key, AuditAction::ApiInteractionCancelled).await, 1);
    let page = stage.person().await.get(&asked.member("url")).await;
    assert!(!page.describe().contains("API key"), "nothing can be typed: {}", page.describe());
    assert_ne!(server.asked("claude").await.member("id"), asked.member("id"), "and it may be asked anew");
}

/// Whoever was faster has the last word.
#[tokio::test]
async fn what_was_answered_is_not_taken_back() {
    let stage = stage("").await;
    let server = Server::weather(&stage).await;
    let person = stage.person().await;
    let (first, second) = (server.asked("first").await, server.asked("second").await);
    person.connect(&first.member("url"), &[("api_key", KEY)]).await;
    person.decline(&second.member("url")).await;
    for (asked, state) in [(first, "completed"), (second, "declined")] {
        server.post(&format!("{}/cancel", asked.path()), "{}").await.problem(409, "answered");
        assert_eq!(server.get(&asked.path()).await.member("state"), state);
    }
}

#[tokio::test]
async fn a_cancellation_says_nothing_else() {
    let stage = stage("").await;
    let server = Server::weather(&stage).await;
    let asked = server.asked("claude").await;
    let path = format!("{}/cancel", asked.path());
    assert_eq!(server.post(&path, r#"{"reason":"x"}"#).await.faults(), ["/reason"]);
    assert_eq!(server.post(&path, "[]").await.faults(), [""]);
    server.post(&path, "{").await.problem(400, "malformed");
    let plain = server.request(http::Method::POST, &path).body("{}");
    super::send(plain).await.problem(415, "media-type");
    assert_eq!(server.get(&asked.path()).await.member("state"), "created");
    let bare = server.request(http::Method::POST, &path);
    assert_eq!(super::send(bare).await.member("state"), "expired");
}
