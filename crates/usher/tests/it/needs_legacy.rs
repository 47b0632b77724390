//! A call that lacks a credential, in the legacy era.

mod answers;
mod asking;
mod cancelled;
mod deadlines;
mod modes;
mod notices;
mod rejected;
mod resumed;
mod resumed_upstream;
mod sessions;

use usher::relay::Pace;
use usher_testkit::{
    Message,
    client::{Legacy, Stream},
    person::Person,
    upstream::Upstream,
};

use crate::harness::{ACCEPT, CALLS, KEY, Setup, Stage, answered};

async fn ready(stage: &Stage) -> Legacy {
    begun(stage.legacy()).await
}

/// Initialises a client.
async fn begun(client: Legacy) -> Legacy {
    let reply = client.initialize().await;
    assert_eq!(reply.status, 200, "{}", reply.text());
    client
}

async fn holding(hold: &str) -> Stage {
    let setup = Setup { upstream: format!("hold = \"{hold}\""), ..Setup::default() };
    Stage::with(setup, Upstream::start().await).await
}

/// With streams that wait for so long.
async fn paced(pace: Pace) -> Stage {
    Stage::with(Setup { upstream: "hold = \"10m\"".to_owned(), pace, ..Setup::default() }, Upstream::start().await)
        .await
}

/// Opens a call that lacks a credential, and reads its question.
async fn asked(client: &Legacy, call: (&str, &str)) -> (Stream, Message) {
    let mut stream = client.open(call.0, call.1).await;
    let question = stream.expect("elicitation/create").await;
    (stream, question)
}

fn url(question: &Message) -> String {
    question.string(&["params", "url"]).unwrap()
}

fn elicitation_id(message: &Message) -> String {
    message.string(&["params", "elicitationId"]).unwrap()
}

/// The client says that the person agreed to open the page.
async fn accept(client: &Legacy, question: &Message) {
    let reply = client.respond(question.id().unwrap(), ACCEPT).await;
    assert_eq!(reply.status, 202, "{}", reply.text());
}

async fn connect(person: &Person, question: &Message, key: &str) {
    let done = person.connect(&url(question), &[("api_key", key)]).await;
    assert_eq!(done.heading().as_deref(), Some("Connected"), "{}", done.describe());
}

/// R-GW-03, R-DONE-01, R-URL-01: asked on the call's own stream, held, connected, noticed, answered: all in one call.
#[tokio::test]
async fn a_call_without_a_credential_asks_on_its_stream_and_goes_on() {
    for call in CALLS {
        let stage = Stage::new().await;
        let client = ready(&stage).await;
        let (mut stream, question) = asked(&client, call).await;
        assert_eq!(url(&question), format!("{}/connect/{}", stage.origin, elicitation_id(&question)));
        assert!(stage.upstream.requests_of(call.0).is_empty(), "nothing goes upstream before the person is done");
        accept(&client, &question).await;
        connect(&stage.person().await, &question, KEY).await;
        let notice = stream.expect("notifications/elicitation/complete").await;
        assert_eq!(elicitation_id(&notice), elicitation_id(&question));
        let reply = stream.reply().await;
        assert!(answered(&reply), "{}", reply.text());
        assert!(answered(&client.call(call.0, call.1).await), "connected once is enough");
        assert_eq!(stage.upstream.requests_of(call.0).len(), 2);
        stage.upstream.assert_clean();
    }
}
