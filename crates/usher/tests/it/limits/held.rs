//! Calls that wait for a person.

use usher_testkit::client::{Legacy, Stream};

use super::{retry_after, second, stage, until_served};
use crate::{
    harness::{ACCEPT, CALLS, SECOND, Stage, told},
    needs_modern::{ask, retry},
};

async fn begun(client: Legacy) -> Legacy {
    assert_eq!(client.initialize().await.status, 200);
    client
}

/// Opens a call, which is held.
async fn held(client: &Legacy) -> Stream {
    let mut stream = client.open(CALLS[0].0, CALLS[0].1).await;
    stream.expect("elicitation/create").await;
    stream
}

/// Whether a call is held by now.
async fn is_held(client: &Legacy) -> bool {
    let mut stream = client.open(CALLS[0].0, CALLS[0].1).await;
    stream.next_message().await.unwrap().is_request()
}

/// That calls of this client are refused, and how.
async fn is_refused(stage: &Stage, client: &Legacy) {
    for (method, params) in CALLS {
        let reply = client.call(method, params).await;
        let text = told(method, &reply);
        assert!(text.contains("Too many calls wait") && text.contains(&stage.portal()), "{text}");
        if method != "tools/call" {
            assert_eq!(retry_after(&reply), 10);
        }
    }
}

/// R-SEC-01: so many calls of one client wait. A client that leaves makes room.
#[tokio::test]
async fn held_calls_of_a_client_are_limited() {
    let stage = stage("client_held_calls = 1").await;
    let client = begun(stage.legacy()).await;
    let first = held(&client).await;
    is_refused(&stage, &client).await;
    let other = begun(stage.legacy().token(SECOND)).await;
    let _theirs = held(&other).await;
    assert_eq!(stage.waiting().await.len(), 2, "what was refused left no question");
    drop(first);
    until_served(async || is_held(&client).await).await;
}

/// R-SEC-01: the same over all clients of a user, in both eras.
#[tokio::test]
async fn held_calls_of_a_user_are_limited() {
    let stage = stage("user_held_calls = 1").await;
    let client = begun(stage.legacy()).await;
    let first = held(&client).await;
    is_refused(&stage, &begun(stage.legacy().token(SECOND)).await).await;
    let modern = second(&stage, "weather");
    let asked = ask(&modern, CALLS[1]).await;
    let refused = retry(&modern, CALLS[1], &asked, ACCEPT).await;
    assert_eq!(retry_after(&refused), 10);
    drop(first);
    let other = begun(stage.legacy().token(SECOND)).await;
    until_served(async || is_held(&other).await).await;
}
