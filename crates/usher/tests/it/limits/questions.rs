//! How often people are asked, and how many questions are open.

use usher_store::AuditAction;
use usher_testkit::client::Legacy;

use super::{other, retry_after, second, stage};
use crate::{
    harness::{CALLS, CANCEL, told},
    needs_modern::{ask, retry},
};

/// R-SEC-01: questions of one client are limited. What is refused is no question in any shape, and says when to come back.
#[tokio::test]
async fn a_client_is_limited_by_itself() {
    let stage = stage("client_questions_per_minute = 1").await;
    ask(&stage.modern(), CALLS[0]).await;
    ask(&stage.modern(), CALLS[1]).await;
    let legacy = Legacy::new(format!("{}/mcp/other", stage.origin)).token(&stage.token).elicitation(&["url"]);
    legacy.initialize().await;
    for (method, params) in CALLS {
        for reply in [other(&stage).call(method, params).await, legacy.call(method, params).await] {
            assert_eq!(reply.status, 200, "{}", reply.text());
            assert!(told(method, &reply).contains("Try again in"), "{}", reply.text());
            if method != "tools/call" {
                assert_eq!(reply.error_code(), -31002);
                assert!((1..=60).contains(&retry_after(&reply)), "{}", reply.text());
            }
        }
    }
    ask(&second(&stage, "other"), CALLS[0]).await;
    let seconds = retry_after(&other(&stage).call(CALLS[1].0, CALLS[1].1).await);
    assert_eq!(stage.audited(AuditAction::InteractionLimited).await, 1);
    stage.clock.forward(seconds);
    ask(&other(&stage), CALLS[0]).await;
}

/// R-SEC-01: a user is asked so often, by all clients together.
#[tokio::test]
async fn a_user_is_limited_over_all_clients() {
    let stage = stage("user_questions_per_minute = 1").await;
    ask(&stage.modern(), CALLS[0]).await;
    let refused = second(&stage, "weather").call(CALLS[1].0, CALLS[1].1).await;
    let seconds = retry_after(&refused);
    ask(&stage.modern(), CALLS[0]).await;
    stage.clock.forward(seconds);
    ask(&second(&stage, "weather"), CALLS[1]).await;
}

/// R-SEC-01: one server causes so many questions, and others are not concerned.
#[tokio::test]
async fn a_server_is_limited_over_all_users() {
    let stage = stage("upstream_questions_per_minute = 1").await;
    ask(&stage.modern(), CALLS[0]).await;
    let seconds = retry_after(&second(&stage, "weather").call(CALLS[1].0, CALLS[1].1).await);
    ask(&second(&stage, "other"), CALLS[1]).await;
    stage.clock.forward(seconds);
    ask(&second(&stage, "weather"), CALLS[1]).await;
}

/// R-SEC-01: so many questions of a user are open. What is open is joined; an answer makes room.
#[tokio::test]
async fn open_questions_are_limited() {
    let stage = stage("user_open_questions = 1").await;
    let asked = ask(&stage.modern(), CALLS[0]).await;
    for client in [other(&stage), second(&stage, "weather")] {
        let refused = client.call(CALLS[1].0, CALLS[1].1).await;
        assert!((890..=900).contains(&retry_after(&refused)), "{}", refused.text());
        assert!(refused.error_message().contains(&stage.portal()), "{}", refused.text());
        let text = told(CALLS[0].0, &client.call(CALLS[0].0, CALLS[0].1).await);
        assert!(text.contains("15 minutes") && text.contains(&stage.portal()), "{text}");
    }
    assert_eq!(stage.waiting().await.len(), 1);
    assert_eq!(ask(&stage.modern(), CALLS[0]).await.url(), asked.url(), "what is open is joined");
    let person = stage.person().await;
    let page = person.get(&asked.url()).await;
    assert_eq!(person.refuse(&page).await.heading().as_deref(), Some("Declined"));
    ask(&other(&stage), CALLS[1]).await;
}

/// R-SEC-01: what one client has open leaves room for the others.
#[tokio::test]
async fn open_questions_of_one_client_are_limited() {
    let stage = stage("client_open_questions = 1").await;
    let asked = ask(&stage.modern(), CALLS[0]).await;
    let refused = other(&stage).call(CALLS[1].0, CALLS[1].1).await;
    assert!((890..=900).contains(&retry_after(&refused)), "{}", refused.text());
    ask(&second(&stage, "other"), CALLS[1]).await;
    assert_eq!(stage.waiting().await.len(), 2);
    assert_eq!(ask(&stage.modern(), CALLS[0]).await.url(), asked.url(), "what is open is joined");
}

/// R-SEC-01: a client that dismisses by itself, over and over, asks no more often than one with new questions.
#[tokio::test]
async fn a_client_that_dismisses_on_and_on_is_limited() {
    let stage = stage("client_questions_per_minute = 3").await;
    let client = stage.modern();
    for _ in 0..3 {
        let asked = ask(&client, CALLS[1]).await;
        assert!(!told(CALLS[1].0, &retry(&client, CALLS[1], &asked, CANCEL).await).contains("declined"));
    }
    let seconds = retry_after(&client.call(CALLS[1].0, CALLS[1].1).await);
    ask(&second(&stage, "weather"), CALLS[1]).await;
    stage.clock.forward(seconds);
    ask(&client, CALLS[1]).await;
}
