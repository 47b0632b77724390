//! Many GET streams of one session at once: one has the place in the end, and no notice is lost or comes twice.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use usher_testkit::{
    client::{Legacy, Stream},
    upstream::Upstream,
};

use crate::harness::{KEY, Setup, Stage};

const COMPLETE: &str = "notifications/elicitation/complete";
const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
const AT_ONCE: usize = 12;

/// A session that is asked by errors, so that every notice comes on its GET stream.
async fn asked_by_errors() -> (Stage, Legacy) {
    let setup = Setup { upstream: "hold = \"0s\"".to_owned(), ..Setup::default() };
    let stage = Stage::with(setup, Upstream::start().await).await;
    let client = stage.ready().await;
    (stage, client)
}

/// What the streams of one session said to their end, and the ids that were noticed with how often they were.
fn noticed(told: &mut BTreeMap<String, usize>, messages: &[usher_testkit::Message]) {
    for message in messages.iter().filter(|message| message.method().as_deref() == Some(COMPLETE)) {
        *told.entry(message.string(&["params", "elicitationId"]).unwrap()).or_default() += 1;
    }
}

/// R-DONE-01: while streams take over from one another questions complete: each is told of once.
#[tokio::test]
async fn many_streams_at_once_lose_no_notice_and_double_none() {
    let (stage, client) = asked_by_errors().await;
    let person = stage.person().await;
    let (mut told, mut ids) = (BTreeMap::new(), Vec::new());
    let mut last: Option<Stream> = None;
    for _ in 0..4 {
        let asked = client.call("prompts/get", r#"{"name":"plan"}"#).await;
        ids.push(asked.error()["data"]["elicitations"][0]["elicitationId"].as_str().unwrap().to_owned());
        let url = asked.url();
        let connects = async {
            person.connect(&url, &[("api_key", KEY)]).await;
            let question = person.get("/connections/weather/disconnect").await;
            person.agree(&question, &[]).await;
        };
        let opens = join_all((0..AT_ONCE).map(|_| client.open_get(None)));
        let ((), opened) = tokio::join!(connects, opens);
        let mut streams: Vec<Stream> = last.take().into_iter().chain(opened).collect();
        // Which of them came last is for the service to say: all others end.
        let mut ended = 0;
        while streams.len() > 1 {
            let reads = streams.into_iter().map(|stream| Box::pin(read_or_stay(stream)));
            let mut stay = Vec::new();
            for (stream, over, messages) in join_all(reads).await {
                noticed(&mut told, &messages);
                if over { ended += 1 } else { stay.push(stream) }
            }
            streams = stay;
        }
        assert!(ended >= AT_ONCE - 1);
        last = streams.pop();
    }
    let mut last = last.unwrap();
    stage.upstream.wait_until("one stream is left", |upstream| upstream.get_streams() == 1).await;
    while told.len() < ids.len() {
        let notice = last.expect(COMPLETE).await;
        noticed(&mut told, &[notice]);
    }
    stage.upstream.push_message(CHANGED).await;
    let next = last.next_message().await.unwrap();
    assert_eq!(next.text, CHANGED, "nothing comes twice");
    assert!(ids.iter().all(|id| told.get(id) == Some(&1)), "{told:?}");
    stage.upstream.assert_clean();
}

/// Reads what is there; whether the stream is over.
async fn read_or_stay(mut stream: Stream) -> (Stream, bool, Vec<usher_testkit::Message>) {
    let mut messages = Vec::new();
    loop {
        let next = tokio::time::timeout(std::time::Duration::from_millis(50), stream.next_message()).await;
        match next {
            Ok(Some(message)) => messages.push(message),
            Ok(None) => return (stream, true, messages),
            Err(_) => return (stream, false, messages),
        }
    }
}

/// R-DONE-01: a client that opens a stream and leaves it, again and again, finds each notice on one that it reads.
#[tokio::test]
async fn a_stream_that_was_left_leaves_its_notices() {
    let (stage, client) = asked_by_errors().await;
    let person = stage.person().await;
    for _ in 0..4 {
        let asked = client.call("prompts/get", r#"{"name":"plan"}"#).await;
        let id = asked.error()["data"]["elicitations"][0]["elicitationId"].as_str().unwrap().to_owned();
        let first = client.open_get(None).await;
        drop(first);
        person.connect(&asked.url(), &[("api_key", KEY)]).await;
        let mut stream = client.open_get(None).await;
        let notice = stream.expect(COMPLETE).await;
        assert_eq!(notice.string(&["params", "elicitationId"]).unwrap(), id);
        let question = person.get("/connections/weather/disconnect").await;
        person.agree(&question, &[]).await;
    }
}
