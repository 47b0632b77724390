//! A call that lacks a credential, in the modern era.

mod answers;
mod asking;
mod modes;
mod rejected;
mod state;
mod upstream_rounds;
mod waiting;

use usher_testkit::client::{Modern, Reply, Request};

use crate::harness::{ACCEPT, KEY, Stage, answered};

/// The retry of `call` after the round `asked`, with the same answer to every question.
pub(crate) async fn retry(client: &Modern, call: (&str, &str), asked: &Reply, answer: &str) -> Reply {
    retrying(client, call, asked, answer).send().await
}

/// The same before it is sent.
pub(crate) fn retrying(client: &Modern, call: (&str, &str), asked: &Reply, answer: &str) -> Request {
    let state = asked.request_state();
    client.retrying(call.0, call.1, Some(&asked.answer_all(answer)), state.as_deref())
}

/// Asks for what `call` lacks.
pub(crate) async fn ask(client: &Modern, call: (&str, &str)) -> Reply {
    let asked = client.call(call.0, call.1).await;
    assert!(asked.is_input_required(), "{}: {}", call.0, asked.text());
    assert_eq!(asked.status, 200);
    asked
}

/// R-GW-03, R-MRTR-01, R-OAUTH-01: the main job: asked, connected on the page, and the retry brings the result.
#[tokio::test]
async fn a_call_without_a_credential_asks_and_goes_on() {
    for call in crate::harness::CALLS {
        let stage = Stage::new().await;
        let client = stage.modern();
        let asked = ask(&client, call).await;
        assert!(stage.upstream.requests_of(call.0).is_empty(), "nothing goes upstream before the person is done");
        let person = stage.person().await;
        let done = person.connect(&asked.url(), &[("api_key", KEY)]).await;
        assert_eq!(done.heading().as_deref(), Some("Connected"), "{}", done.describe());
        let reply = retry(&client, call, &asked, ACCEPT).await;
        assert!(answered(&reply), "{}", reply.text());
        let again = client.call(call.0, call.1).await;
        assert!(answered(&again), "connected once is enough: {}", again.text());
        assert_eq!(stage.upstream.requests_of(call.0).len(), 2);
        stage.upstream.assert_clean();
    }
}
