//! A held call whose stream breaks off while the person is at the page: the client comes back and gets the rest.

use std::time::Duration;

use usher::relay::Pace;
use usher_testkit::{
    client::{Legacy, Stream},
    sse::Item,
};

use super::{accept, asked, begun, connect, elicitation_id, paced, ready, url};
use crate::harness::{CALLS, CANCEL, KEY, SECOND, Setup, Stage, answered};

const COMPLETE: &str = "notifications/elicitation/complete";

/// Leaves a stream, and returns the id of its last event.
fn leave(stream: Stream) -> String {
    let id = stream.last_event_id().to_owned();
    assert!(id.starts_with("usher-"), "{id:?}");
    drop(stream);
    id
}

/// Comes back to a stream.
async fn back(client: &Legacy, id: &str) -> Stream {
    let stream = client.open_get(Some(id)).await;
    assert_eq!(stream.status, 200);
    assert!(stream.is_sse());
    stream
}

/// Nothing follows an event.
async fn assert_nothing_follows(client: &Legacy, id: &str) {
    assert_eq!(client.open_get(Some(id)).await.status, 405, "{id}");
}

/// The rest of the call is not there any more: the call ends in an error that says so, once.
async fn assert_lost(client: &Legacy, id: &str, call: &str) {
    let stream = back(client, id).await;
    let reply = stream.reply().await;
    assert_eq!(reply.error_code(), -32603, "{}", reply.text());
    assert_eq!(reply.response().id(), Some(call));
    assert!(reply.error_message().contains("not here any more"), "{}", reply.text());
    let last = reply.text().lines().find_map(|line| line.strip_prefix("id: ")).unwrap().to_owned();
    assert_nothing_follows(client, &last).await;
}

/// Transports 2025-11-25, "Sending Messages to the Server": an id before anything else, with nothing to read.
#[tokio::test]
async fn the_first_event_gives_an_id_and_nothing_else() {
    let stage = Stage::new().await;
    let client = ready(&stage).await;
    let mut stream = client.open(CALLS[0].0, CALLS[0].1).await;
    assert!(matches!(stream.next_item().await, Some(Item::Retry(1000))));
    let Some(Item::Event(event)) = stream.next_item().await else { panic!("an event") };
    assert!(event.data.is_empty() && event.id.starts_with("usher-"), "{event:?}");
    let id = leave(stream);
    let mut stream = back(&client, &id).await;
    let question = stream.expect("elicitation/create").await;
    connect(&stage.person().await, &question, KEY).await;
    assert!(answered(&stream.reply().await), "a client that missed the question is asked all the same");
}

/// R-GW-03: the answer is not lost with the stream. While nobody reads nothing goes upstream.
#[tokio::test]
async fn a_client_that_comes_back_gets_its_answer() {
    for call in CALLS {
        let stage = Stage::new().await;
        let client = ready(&stage).await;
        let (stream, question) = asked(&client, call).await;
        let id = leave(stream);
        accept(&client, &question).await;
        connect(&stage.person().await, &question, KEY).await;
        assert!(stage.upstream.requests_of(call.0).is_empty(), "nothing goes upstream for a client that may have left");
        let mut stream = back(&client, &id).await;
        assert_eq!(elicitation_id(&stream.expect(COMPLETE).await), elicitation_id(&question));
        let reply = stream.reply().await;
        assert!(answered(&reply), "{}", reply.text());
        assert_eq!(stage.upstream.requests_of(call.0).len(), 1);
        assert!(
            stage.upstream.http_requests(&http::Method::GET).is_empty(),
            "an id of ours is no business of the server"
        );
        stage.upstream.assert_clean();
    }
}

/// A second drop, and a third: each time the client gets what it has not read, and no more.
#[tokio::test]
async fn each_drop_is_taken_up_where_the_client_was() {
    let stage = Stage::new().await;
    let client = ready(&stage).await;
    let (stream, question) = asked(&client, CALLS[0]).await;
    let id = leave(stream);
    let mut again = back(&client, &id).await;
    assert!(again.next_item().await.is_some());
    assert_eq!(leave(again), id, "each stream says at once where it is");
    connect(&stage.person().await, &question, KEY).await;
    let mut stream = back(&client, &id).await;
    stream.expect(COMPLETE).await;
    let id = leave(stream);
    let mut stream = back(&client, &id).await;
    let answer = stream.next_message().await.unwrap();
    assert!(answer.is_response(), "the notice was read: {}", answer.text);
    let last = stream.last_event_id().to_owned();
    assert_eq!(stream.next_message().await, None);
    assert_nothing_follows(&client, &last).await;
    let reply = back(&client, &id).await.reply().await;
    assert!(answered(&reply), "an answer that did not arrive is sent again");
    assert_eq!(stage.upstream.requests_of(CALLS[0].0).len(), 1, "the server is asked once");
}

/// One reader at a time: a client that comes back has lost the stream before.
#[tokio::test]
async fn who_comes_back_takes_over() {
    let stage = Stage::new().await;
    let client = ready(&stage).await;
    let (first, question) = asked(&client, CALLS[1]).await;
    let id = first.last_event_id().to_owned();
    let second = back(&client, &id).await;
    assert_eq!(first.reply().await.messages.len(), 1, "the question alone");
    let third = back(&client, &id).await;
    assert!(second.reply().await.messages.is_empty());
    connect(&stage.person().await, &question, KEY).await;
    assert!(answered(&third.reply().await));
    assert_eq!(stage.upstream.requests_of(CALLS[1].0).len(), 1);
}

/// R-ID-01: an id of another session, of another client, or one that was made up gets nothing, and goes nowhere.
#[tokio::test]
async fn an_id_is_good_for_its_own_session_alone() {
    let stage =
        Stage::with(Setup { second: true, ..Setup::default() }, usher_testkit::upstream::Upstream::start().await);
    let stage = stage.await;
    let client = ready(&stage).await;
    let other = ready(&stage).await;
    let stranger = begun(stage.legacy().token(SECOND)).await;
    let (mut stream, question) = asked(&client, CALLS[0]).await;
    let id = stream.last_event_id().to_owned();
    for client in [&other, &stranger] {
        assert_nothing_follows(client, &id).await;
    }
    let (stem, _) = id.rsplit_once('.').unwrap();
    let digit = if stem.ends_with('A') { "B" } else { "A" };
    for invented in [format!("{}{digit}.0", &stem[..stem.len() - 1]), stem.to_owned(), format!("{stem}.-1")] {
        assert_nothing_follows(&client, &invented).await;
    }
    assert!(stage.upstream.http_requests(&http::Method::GET).is_empty());
    connect(&stage.person().await, &question, KEY).await;
    stream.expect(COMPLETE).await;
    assert!(answered(&stream.reply().await), "nothing was taken from its own client");
}

/// R-SEC-04: a client that stays away has left. Nothing goes upstream for it, then or later; the credential is kept, and the
/// notice waits for the session's next stream.
#[tokio::test]
async fn a_client_that_stays_away_has_left() {
    let pace = Pace { away: Duration::from_millis(300), ..Pace::default() };
    for call in CALLS {
        let stage = paced(pace).await;
        let client = ready(&stage).await;
        let mut stream = client.open_as("\"call-1\"", call.0, call.1).await;
        let question = stream.expect("elicitation/create").await;
        let id = leave(stream);
        accept(&client, &question).await;
        connect(&stage.person().await, &question, KEY).await;
        tokio::time::sleep(pace.away * 2).await;
        assert_lost(&client, &id, "\"call-1\"").await;
        assert!(stage.upstream.requests_of(call.0).is_empty());
        assert!(stage.credential().await.is_some());
        let mut own = client.open_get(None).await;
        assert_eq!(elicitation_id(&own.expect(COMPLETE).await), elicitation_id(&question));
        assert!(answered(&client.call(call.0, call.1).await));
        assert_eq!(stage.upstream.requests_of(call.0).len(), 1);
    }
}

/// R-DONE-01: a notice goes where the client reads: on the session's own stream while the call's is broken off, and once.
#[tokio::test]
async fn the_notice_of_a_call_that_is_away_comes_on_the_sessions_own_stream() {
    let stage = Stage::new().await;
    let client = ready(&stage).await;
    let mut own = client.open_get(None).await;
    let (stream, question) = asked(&client, CALLS[0]).await;
    let id = leave(stream);
    connect(&stage.person().await, &question, KEY).await;
    assert_eq!(elicitation_id(&own.expect(COMPLETE).await), elicitation_id(&question));
    let reply = back(&client, &id).await.reply().await;
    assert!(answered(&reply) && !reply.text().contains(COMPLETE), "{}", reply.text());
}

/// Whatever ends a call while its client is away is there when it comes back.
#[tokio::test]
async fn the_end_of_a_call_waits_for_its_client() {
    let stage = super::holding("1s").await;
    let client = ready(&stage).await;
    let (stream, question) = asked(&client, CALLS[0]).await;
    let id = leave(stream);
    let reply = back(&client, &id).await.reply().await;
    assert_eq!(reply.error_code(), -32042, "the hold is over: {}", reply.text());
    let (stream, again) = asked(&client, CALLS[0]).await;
    assert_eq!(url(&again), url(&question));
    let id = leave(stream);
    assert_eq!(client.respond(again.id().unwrap(), CANCEL).await.status, 202);
    let reply = back(&client, &id).await.reply().await;
    assert!(crate::harness::told("tools/call", &reply).contains("Weather"), "{}", reply.text());
    assert!(stage.upstream.requests_of("tools/call").is_empty());
}

/// A cancellation counts while the client is away: the question is taken back, and there is no answer to wait for.
#[tokio::test]
async fn a_call_that_is_cancelled_while_its_client_is_away_is_over() {
    let stage = Stage::new().await;
    let client = ready(&stage).await;
    let mut stream = client.open_as("\"call-1\"", CALLS[0].0, CALLS[0].1).await;
    let question = stream.expect("elicitation/create").await;
    let id = leave(stream);
    assert_eq!(client.notify("notifications/cancelled", r#"{"requestId":"call-1"}"#).await.status, 202);
    let mut stream = back(&client, &id).await;
    assert_eq!(stream.expect("notifications/cancelled").await.at(&["params", "requestId"]), question.id());
    let last = stream.last_event_id().to_owned();
    assert_eq!(stream.next_message().await, None);
    assert_nothing_follows(&client, &last).await;
    connect(&stage.person().await, &question, KEY).await;
    assert!(stage.upstream.requests_of("tools/call").is_empty());
}

/// A call that is away asks for itself alone: another call of the session asks anew, at once. Both go on.
#[tokio::test]
async fn another_call_does_not_wait_for_one_that_is_away() {
    let stage = Stage::new().await;
    let client = ready(&stage).await;
    let (first, question) = asked(&client, CALLS[0]).await;
    let mut second = client.open(CALLS[1].0, CALLS[1].1).await;
    assert!(matches!(second.next_item().await, Some(Item::Retry(_))));
    let id = leave(first);
    let again = second.expect("elicitation/create").await;
    assert_eq!(url(&again), url(&question));
    assert_ne!(again.id(), question.id());
    accept(&client, &question).await;
    accept(&client, &again).await;
    connect(&stage.person().await, &again, KEY).await;
    assert!(answered(&second.reply().await));
    assert!(answered(&back(&client, &id).await.reply().await));
    assert_eq!(stage.upstream.requests_of("tools/call").len(), 1);
    stage.upstream.assert_clean();
}

/// R-GW-08: where the stream is not, after a restart as at another replica, the client learns that its call is lost.
#[tokio::test]
async fn a_call_that_is_not_here_ends_in_an_error() {
    let mut stage = Stage::new().await;
    let client = ready(&stage).await;
    let mut stream = client.open_as("17", CALLS[0].0, CALLS[0].1).await;
    let question = stream.expect("elicitation/create").await;
    let id = leave(stream);
    stage.restart().await;
    assert_lost(&client, &id, "17").await;
    connect(&stage.person().await, &question, KEY).await;
    assert!(stage.upstream.requests_of("tools/call").is_empty());
    assert!(answered(&client.call(CALLS[0].0, CALLS[0].1).await));
}

/// R-ID-01: a session that its client ends takes its held calls with it.
#[tokio::test]
async fn a_session_that_ends_ends_its_held_calls() {
    let stage = Stage::new().await;
    let client = ready(&stage).await;
    let (stream, question) = asked(&client, CALLS[0]).await;
    assert_eq!(client.delete().await.status, 200);
    assert_eq!(stream.reply().await.messages.len(), 1, "the question alone");
    connect(&stage.person().await, &question, KEY).await;
    assert!(stage.upstream.requests_of("tools/call").is_empty());
}

/// The modern era has no such ids (2026-07-28, "Message Flow": streams are not resumable).
#[tokio::test]
async fn a_modern_stream_has_no_ids() {
    let stage = Stage::new().await;
    let client = stage.modern();
    let (method, params) = CALLS[0];
    let asked = client.call(method, params).await;
    let state = usher_testkit::quote(&asked.request_state().unwrap());
    let answers = asked.answer_all(crate::harness::ACCEPT);
    let retried = params.replacen('{', &format!("{{\"inputResponses\":{answers},\"requestState\":{state},"), 1);
    let stream = client.stream(method, &retried).await;
    stage.person().await.connect(&asked.url(), &[("api_key", KEY)]).await;
    let reply = stream.reply().await;
    assert!(answered(&reply) && !reply.text().contains("id: "), "{}", reply.text());
}
