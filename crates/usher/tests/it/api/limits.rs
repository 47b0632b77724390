//! Limits: at the limit one is served, beyond it is told when to come back, and others are not concerned (R-SEC-01).

use usher_store::{ApiScope, AuditAction};
use usher_testkit::{DEADLINE, within};

use super::{Answer, Server, audited, stage};
use crate::harness::Stage;

#[tokio::test]
async fn a_key_is_used_so_often_a_minute() {
    let stage = stage("api_requests_per_minute = 3").await;
    let server = Server::weather(&stage).await;
    let asked = server.asked("claude").await;
    for _ in 0..2 {
        assert_eq!(server.get(&asked.path()).await.status, 200);
    }
    let refused = server.get(&asked.path()).await;
    refused.problem(429, "too-many-requests");
    assert!((1..=60).contains(&refused.retry_after()), "{refused:?}");
    assert_eq!(audited(&stage, &server.key, AuditAction::ApiLimited).await, 1);
    // Another key of the same server is another caller.
    let second = Server::weather(&stage).await;
    assert_eq!(second.get(&asked.path()).await.status, 200);
    stage.clock.forward(i64::try_from(refused.retry_after()).unwrap());
    assert_eq!(server.get(&asked.path()).await.status, 200);
}

/// Asks four questions, where three may be asked: what the fourth is told.
async fn fourth(stage: &Stage) -> (Server, Answer) {
    let server = Server::weather(stage).await;
    for client in ["one", "two", "three"] {
        server.asked(client).await;
    }
    let refused = server.ask("four").await;
    refused.problem(429, "too-many-questions");
    (server, refused)
}

#[tokio::test]
async fn questions_count_whoever_asks_them() {
    let stage = stage("user_questions_per_minute = 3").await;
    let (server, refused) = fourth(&stage).await;
    assert_eq!(server.ask("two").await.status, 200, "to join is to ask nothing new");
    assert_eq!(stage.audited(AuditAction::InteractionLimited).await, 1);
    stage.clock.forward(i64::try_from(refused.retry_after()).unwrap());
    server.asked("four").await;
}

#[tokio::test]
async fn a_person_has_so_many_open_questions() {
    let stage = stage("user_open_questions = 3").await;
    let (server, refused) = fourth(&stage).await;
    assert!(refused.retry_after() <= 900, "{refused:?}");
    assert_eq!(server.ask("two").await.status, 200, "what is open may be joined");
}

#[tokio::test]
async fn so_many_wait_at_a_time() {
    let stage = stage("api_waits = 1\napi_waits_total = 2").await;
    let server = Server::weather(&stage).await;
    let other = Server::named(&stage, "other", &ApiScope::ALL).await;
    let third = Server::weather(&stage).await;
    let path = server.asked("claude").await.path();
    let path_of_other = other.asked("claude").await.path();
    let waiting = |server: &Server, path: &str| {
        let (server, path) = (server.clone(), path.to_owned());
        tokio::spawn(async move { server.wait(&path).await })
    };
    let first = waiting(&server, &path);
    let full = async |server: &Server, path: &str| {
        let refused = async {
            loop {
                let answer = server.get(&format!("{path}?wait=1")).await;
                if answer.status == 429 {
                    return answer;
                }
            }
        };
        let answer = within(DEADLINE, "there is always room", refused).await;
        answer.problem(429, "too-many-requests");
        assert!(answer.retry_after() >= 1);
    };
    full(&server, &path).await;
    assert_eq!(server.get(&path).await.status, 200, "looking needs no place");
    let second = waiting(&other, &path_of_other);
    full(&other, &path_of_other).await;
    full(&third, &path).await;
    // Whoever leaves makes room.
    first.abort();
    let served = async { while third.get(&format!("{path}?wait=1")).await.status != 200 {} };
    within(DEADLINE, "a place is not given up", served).await;
    second.abort();
}
