//! Completion notices: to the session that was asked, once, on a stream that it reads.

use usher_store::SessionId;
use usher_testkit::{
    DEADLINE, Outcome,
    upstream::{Gate, Upstream},
    within,
};

use super::{accept, asked, connect, elicitation_id, holding, ready};
use crate::harness::{CALLS, KEY, Setup, Stage, answered};

const COMPLETE: &str = "notifications/elicitation/complete";
const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

/// R-DONE-01: the hold is over, the person finishes later: the notice comes on the GET stream of the session that was
/// asked, once, and to nobody else.
#[tokio::test]
async fn a_later_completion_is_noticed_on_the_get_stream_of_the_asked_session_alone() {
    let stage = holding("1s").await;
    let (client, bystander) = (ready(&stage).await, ready(&stage).await);
    let (mut stream, mut other) = (client.open_get(None).await, bystander.open_get(None).await);
    stage.upstream.wait_until("two GET streams", |upstream| upstream.get_streams() == 2).await;
    let (call, question) = asked(&client, CALLS[0]).await;
    accept(&client, &question).await;
    assert_eq!(call.reply().await.error_code(), -32042);
    connect(&stage.person().await, &question, KEY).await;
    let notice = stream.next_message().await.unwrap();
    assert_eq!(notice.method().as_deref(), Some(COMPLETE), "{}", notice.text);
    assert_eq!(elicitation_id(&notice), elicitation_id(&question));
    assert!(answered(&bystander.call(CALLS[0].0, CALLS[0].1).await));
    stage.upstream.push_message(CHANGED).await;
    for stream in [&mut stream, &mut other] {
        let next = stream.next_message().await.unwrap();
        assert_eq!(next.method().as_deref(), Some("notifications/tools/list_changed"), "{}", next.text);
    }
}

/// R-DONE-01: without a GET stream the notice waits for one.
#[tokio::test]
async fn a_notice_waits_for_a_stream() {
    let stage = holding("1s").await;
    let client = ready(&stage).await;
    let (call, question) = asked(&client, CALLS[2]).await;
    accept(&client, &question).await;
    assert_eq!(call.reply().await.error_code(), -32042);
    connect(&stage.person().await, &question, KEY).await;
    assert!(answered(&client.call(CALLS[2].0, CALLS[2].1).await), "the retry does not wait for the notice");
    let mut stream = client.open_get(None).await;
    let notice = stream.expect(COMPLETE).await;
    assert_eq!(elicitation_id(&notice), elicitation_id(&question));
    drop(stream);
    let mut stream = client.open_get(None).await;
    stage.upstream.wait_until("a second GET", |upstream| upstream.http_requests(&http::Method::GET).len() == 2).await;
    stage.upstream.push_message(CHANGED).await;
    let next = stream.next_message().await.unwrap();
    assert_eq!(next.method().as_deref(), Some("notifications/tools/list_changed"), "only once: {}", next.text);
}

/// R-DONE-01: while the call is held the notice comes on its stream, and not on the GET stream as well.
#[tokio::test]
async fn a_held_call_brings_its_own_notice() {
    let stage = holding("40s").await;
    let client = ready(&stage).await;
    let mut get = client.open_get(None).await;
    stage.upstream.wait_until("a GET stream", |upstream| upstream.get_streams() == 1).await;
    let (mut stream, question) = asked(&client, CALLS[0]).await;
    accept(&client, &question).await;
    connect(&stage.person().await, &question, KEY).await;
    stream.expect(COMPLETE).await;
    assert!(answered(&stream.reply().await));
    stage.upstream.push_message(CHANGED).await;
    let next = get.next_message().await.unwrap();
    assert_eq!(next.method().as_deref(), Some("notifications/tools/list_changed"), "{}", next.text);
}

/// R-DONE-01: a session is told of every completion that it missed, however many they are.
#[tokio::test]
async fn many_notices_that_waited_all_come() {
    let stage = holding("0s").await;
    let client = ready(&stage).await;
    let person = stage.person().await;
    let mut ids = Vec::new();
    for _ in 0..20 {
        let reply = client.call(CALLS[1].0, CALLS[1].1).await;
        ids.push(reply.error()["data"]["elicitations"][0]["elicitationId"].as_str().unwrap().to_owned());
        person.connect(&reply.url(), &[("api_key", KEY)]).await;
        let question = person.get("/connections/weather/disconnect").await;
        person.agree(&question, &[]).await;
    }
    let mut stream = client.open_get(None).await;
    let mut told = Vec::new();
    while told.len() < ids.len() {
        told.push(elicitation_id(&stream.expect(COMPLETE).await));
    }
    ids.sort();
    told.sort();
    assert_eq!(told, ids);
}

/// R-DONE-01: the notice of a call whose client has left waits for the session's next stream.
#[tokio::test]
async fn a_client_that_left_its_call_is_told_on_its_next_stream() {
    let stage = holding("40s").await;
    let client = ready(&stage).await;
    let (call, question) = asked(&client, CALLS[0]).await;
    accept(&client, &question).await;
    drop(call);
    connect(&stage.person().await, &question, KEY).await;
    let mut stream = client.open_get(None).await;
    assert_eq!(elicitation_id(&stream.expect(COMPLETE).await), elicitation_id(&question));
}

/// R-DONE-01: a completion whose event was lost is noticed when that is found out; a session that is over has no stream.
#[tokio::test]
async fn what_was_missed_while_events_were_lost_is_made_up_for() {
    let stage = holding("0s").await;
    let (client, over) = (ready(&stage).await, ready(&stage).await);
    let (mut stream, ends) = (client.open_get(None).await, over.open_get(None).await);
    stage.upstream.wait_until("two GET streams", |upstream| upstream.get_streams() == 2).await;
    let asked = client.call(CALLS[0].0, CALLS[0].1).await;
    stage.connect_elsewhere(&asked.url(), KEY).await;
    let session = SessionId::parse(&over.session().unwrap()).unwrap().key();
    let store = stage.elsewhere().await;
    store.delete_session(&session).await.unwrap();
    store.close().await;
    usher::relay::catch_up(&stage.running.as_ref().unwrap().app).await;
    let notice = stream.expect(COMPLETE).await;
    assert!(asked.url().ends_with(&elicitation_id(&notice)));
    assert!(ends.reply().await.messages.is_empty());
}

/// R-DONE-01: a notice that went into a stream whose client gave up before the upstream opened it is due again.
#[tokio::test]
async fn a_stream_that_is_given_up_before_it_opens_leaves_its_notices() {
    let gate = Gate::new();
    let setup = Setup { upstream: "hold = \"0s\"".to_owned(), ..Setup::default() };
    let stage = Stage::with(setup, Upstream::builder().get_waits(&gate).start().await).await;
    let client = ready(&stage).await;
    let asked = client.call(CALLS[0].0, CALLS[0].1).await;
    let session = SessionId::parse(&client.session().unwrap()).unwrap().key();
    let store = stage.elsewhere().await;
    let given_up = async {
        gate.reached(1).await;
        stage.person().await.connect(&asked.url(), &[("api_key", KEY)]).await;
        let claimed = async { while !store.due_notices(&session).await.unwrap().is_empty() {} };
        within(DEADLINE, "the notice is not claimed", claimed).await;
    };
    tokio::select! {
        stream = client.open_get(None) => panic!("open before the upstream is: {}", stream.status),
        () = given_up => {}
    }
    store.close().await;
    let left = |upstream: &Upstream| upstream.http_requests(&http::Method::GET)[0].outcome() == Outcome::Left;
    stage.upstream.wait_until("nobody waits for the first GET", left).await;
    gate.open();
    let mut stream = client.open_get(None).await;
    assert!(asked.url().ends_with(&elicitation_id(&stream.expect(COMPLETE).await)));
}
