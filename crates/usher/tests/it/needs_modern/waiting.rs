//! The retry waits for the person, but not for ever; and wakes at once.

use std::time::Duration;

use usher_testkit::{
    client::Reply,
    upstream::{Gate, Script, Upstream},
};

use crate::{
    harness::{ACCEPT, CALLS, KEY, Setup, Stage, answered},
    needs_modern::{ask, retry, retrying},
};

async fn holding(hold: &str) -> Stage {
    let setup = Setup { upstream: format!("hold = \"{hold}\""), ..Setup::default() };
    Stage::with(setup, Upstream::start().await).await
}

/// A round that carries state and no question.
fn is_quiet(reply: &Reply) -> bool {
    reply.is_input_required() && reply.input_requests().is_empty() && reply.request_state().is_some()
}

/// R-GW-03: the page is done while the retry waits: it goes on at once, not when its time is over.
#[tokio::test]
async fn completion_wakes_the_waiting_retry() {
    for (method, params) in CALLS {
        let stage = holding("10m").await;
        let client = stage.modern();
        let asked = ask(&client, (method, params)).await;
        let stream = retrying(&client, (method, params), &asked, ACCEPT).stream().await;
        assert_eq!(stream.status, 200);
        assert!(stream.is_sse(), "a call that is held is a stream that can be kept alive");
        stage.person().await.connect(&asked.url(), &[("api_key", KEY)]).await;
        let reply = stream.reply().await;
        assert!(answered(&reply), "{}", reply.text());
        assert_eq!(reply.messages.len(), 1, "nothing but the answer: {}", reply.text());
        stage.upstream.assert_clean();
    }
}

/// R-SEC-04, R-URL-11: nobody is at the page: after `hold` the same link comes again.
#[tokio::test]
async fn without_a_visitor_the_same_link_comes_again_after_the_hold() {
    for call in CALLS {
        let stage = holding("1s").await;
        let client = stage.modern();
        let asked = ask(&client, call).await;
        let before = tokio::time::Instant::now();
        let again = retry(&client, call, &asked, ACCEPT).await;
        assert!(before.elapsed() >= Duration::from_millis(900), "it waits for the person");
        assert_eq!(again.url(), asked.url(), "{}", again.text());
        assert_eq!(stage.waiting().await.len(), 1);
        stage.person().await.connect(&again.url(), &[("api_key", KEY)]).await;
        assert!(answered(&retry(&client, call, &again, ACCEPT).await));
    }
}

/// R-SEC-04, R-MRTR-05: while a person is at the page, at most two rounds carry nothing but state; then the link again.
#[tokio::test]
async fn while_the_page_is_open_two_rounds_carry_nothing_but_state() {
    let stage = holding("1s").await;
    let client = stage.modern();
    let call = CALLS[0];
    let asked = ask(&client, call).await;
    let person = stage.person().await;
    let page = person.get(&asked.url()).await;
    let mut round = retry(&client, call, &asked, ACCEPT).await;
    for count in 1..=2 {
        assert!(is_quiet(&round), "round {count}: {}", round.text());
        round = client.retry(call.0, call.1, None, round.request_state().as_deref()).await;
    }
    assert!(round.is_input_required() && !round.input_requests().is_empty(), "{}", round.text());
    assert_eq!(round.url(), asked.url());
    person.agree(&page, &[("api_key", KEY)]).await;
    assert!(answered(&retry(&client, call, &round, ACCEPT).await));
    stage.upstream.assert_clean();
}

/// R-GW-03: the person finishes during a quiet round, and that retry brings the result.
#[tokio::test]
async fn a_quiet_round_brings_the_result_when_the_person_is_done() {
    let stage = holding("1s").await;
    let client = stage.modern();
    let call = CALLS[2];
    let asked = ask(&client, call).await;
    let person = stage.person().await;
    let page = person.get(&asked.url()).await;
    let quiet = retry(&client, call, &asked, ACCEPT).await;
    assert!(is_quiet(&quiet), "{}", quiet.text());
    person.agree(&page, &[("api_key", KEY)]).await;
    let reply = client.retry(call.0, call.1, None, quiet.request_state().as_deref()).await;
    assert!(answered(&reply), "{}", reply.text());
}

/// R-SEC-04: a question that expired while the client was away is asked anew, with a new link.
#[tokio::test]
async fn an_expired_question_is_asked_anew() {
    let stage = holding("5m").await;
    let client = stage.modern();
    let call = CALLS[0];
    let asked = ask(&client, call).await;
    stage.clock.forward(15 * 60 + 1);
    let again = retry(&client, call, &asked, ACCEPT).await;
    assert!(again.is_input_required(), "{}", again.text());
    assert_ne!(again.url(), asked.url());
}

/// R-GW-03: a client that takes no streams waits just as well.
#[tokio::test]
async fn a_client_without_streams_waits_for_a_plain_answer() {
    let stage = holding("10m").await;
    let client = stage.modern();
    let (method, params) = CALLS[0];
    let asked = ask(&client, (method, params)).await;
    let person = stage.person().await;
    let page = person.get(&asked.url()).await;
    let retried = retrying(&client, (method, params), &asked, ACCEPT);
    let waits = retried.header("accept", "application/json").send();
    let (reply, _) = tokio::join!(waits, person.agree(&page, &[("api_key", KEY)]));
    assert!(!reply.sse);
    assert!(answered(&reply), "{}", reply.text());
}

/// Whoever has left gets no answer, and nothing goes upstream for them.
#[tokio::test]
async fn a_retry_whose_client_has_left_is_not_sent_upstream() {
    let stage = holding("10m").await;
    let client = stage.modern();
    let (method, params) = CALLS[0];
    let asked = ask(&client, (method, params)).await;
    let retried = retrying(&client, (method, params), &asked, ACCEPT);
    drop(retried.stream().await);
    stage.person().await.connect(&asked.url(), &[("api_key", KEY)]).await;
    assert!(answered(&client.call(method, params).await));
    assert_eq!(stage.upstream.requests_of(method).len(), 1);
}

/// Streamable HTTP 2026-07-28, "Cancellation": a client that leaves its retry while the server works on it has cancelled it.
#[tokio::test]
async fn a_retry_whose_client_leaves_while_the_server_works_is_cancelled_there() {
    let stage = holding("10m").await;
    let gate = Gate::new();
    stage.upstream.tool("get_forecast", Script::new().require("x-api-key", KEY).wait(&gate).text("sunny"));
    let client = stage.modern();
    let (method, params) = CALLS[0];
    let asked = ask(&client, (method, params)).await;
    let retried = retrying(&client, (method, params), &asked, ACCEPT);
    let stream = retried.stream().await;
    stage.person().await.connect(&asked.url(), &[("api_key", KEY)]).await;
    gate.reached(1).await;
    drop(stream);
    stage.upstream.wait_left("tools/call").await;
}
