//! Every stream on which nothing happens is kept alive, so that nothing in between closes it as idle.

use std::time::Duration;

use usher::relay::Pace;
use usher_testkit::{
    client::Stream,
    sse::Item,
    upstream::{Gate, Script, Upstream},
};

use crate::harness::{ACCEPT, CALLS, Setup, Stage};

const HURRIED: Duration = Duration::from_millis(20);

async fn stage(free: bool, silent: Duration) -> Stage {
    let pace = Pace { keep_alive: HURRIED, silent, ..Pace::default() };
    Stage::with(Setup { free, pace, ..Setup::default() }, Upstream::start().await).await
}

/// The stream says that it lives, again and again.
async fn assert_lives(what: &str, stream: &mut Stream) {
    let mut comments = 0;
    while comments < 3 {
        match stream.next_item().await {
            Some(Item::Comment(text)) if text == "waiting" => comments += 1,
            Some(_) => {}
            None => panic!("{what} ended: {}", String::from_utf8_lossy(stream.bytes())),
        }
    }
}

#[tokio::test]
async fn streams_of_a_silent_server_are_kept_alive_in_both_eras() {
    let stage = stage(true, Duration::from_mins(10)).await;
    let gate = Gate::new();
    stage.upstream.tool("silent", Script::new().event("event: mess").wait(&gate).event("age\n").text("done"));
    let (legacy, modern) = (stage.ready().await, stage.modern());
    let call = r#"{"name":"silent"}"#;
    let mut streams = [legacy.open("tools/call", call).await, modern.stream("tools/call", call).await];
    for stream in &mut streams {
        assert_lives("a call's stream", stream).await;
    }
    assert_lives("a GET stream", &mut legacy.open_get(None).await).await;
    assert_lives("a resumed stream", &mut legacy.open_get(Some("e-1")).await).await;
    assert_lives("a subscription", &mut modern.stream("subscriptions/listen", "{}").await).await;
    gate.open();
    for stream in streams {
        let reply = stream.reply().await;
        assert_eq!(reply.content_text(), "done", "no comment lies within an event: {}", reply.text());
    }
}

#[tokio::test]
async fn streams_that_wait_for_a_person_are_kept_alive_in_both_eras() {
    let stage = stage(false, Duration::from_mins(10)).await;
    let (legacy, modern) = (stage.ready().await, stage.modern());
    let (method, params) = CALLS[0];
    let mut held = legacy.open(method, params).await;
    assert_lives("a held call", &mut held).await;
    let id = held.last_event_id().to_owned();
    assert_lives("a held call that was resumed", &mut legacy.open_get(Some(&id)).await).await;
    let asked = modern.call(method, params).await;
    let state = usher_testkit::quote(&asked.request_state().unwrap());
    let answers = asked.answer_all(ACCEPT);
    let retried = params.replacen('{', &format!("{{\"inputResponses\":{answers},\"requestState\":{state},"), 1);
    assert_lives("a held retry", &mut modern.stream(method, &retried).await).await;
}

/// R-SEC-04: signs of life of ours are none of the server's: a call whose server says nothing more ends, in time.
#[tokio::test]
async fn a_server_that_says_nothing_more_ends_the_call() {
    let stage = stage(true, HURRIED * 3).await;
    stage.upstream.tool("silent", Script::new().event(": hello\n\n").silence());
    for reply in [stage.ready().await.tool("silent", "{}").await, stage.modern().tool("silent", "{}").await] {
        assert_eq!(reply.error_code(), -32603, "{}", reply.text());
        assert!(reply.error_message().contains("the server weather was silent"), "{}", reply.text());
    }
}
