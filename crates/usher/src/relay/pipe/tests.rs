//! What a stream does with its writer, its reader, and one that comes back.

use elicit::SystemRandom;
use futures_util::FutureExt as _;
use http_body_util::BodyExt as _;
use serde_json::value::RawValue;
use usher_store::SessionId;

use super::*;
use crate::relay::resume::{Listed, Resumes, SESSION_AT_MOST};

fn pace() -> Pace {
    Pace::default()
}

fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

fn full() -> Bytes {
    Bytes::from(vec![b'x'; AHEAD])
}

fn kept() -> (Writer, Body, Listed) {
    let id = RawValue::from_string("7".to_owned()).unwrap();
    let session = SessionId::new(&SystemRandom).key();
    let (writer, body, listed) = Resumes::new("a1b2c3d4").open(&session, &id, &pace(), &SystemRandom);
    (writer, body, listed.unwrap())
}

/// Stands for the end of a stream.
const END: &str = "the end";

/// What is there now.
fn read(body: &mut Body) -> Vec<String> {
    let mut all = Vec::new();
    while let Some(next) = body.frame().now_or_never() {
        let Some(Ok(frame)) = next else {
            all.push(END.to_owned());
            break;
        };
        all.push(String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap());
    }
    all
}

/// The data lines of that.
fn data(body: &mut Body) -> Vec<String> {
    let events = read(body);
    let lines = events.iter().flat_map(|event| event.lines()).filter_map(|line| line.strip_prefix("data: "));
    lines.map(ToOwned::to_owned).collect()
}

fn is_over(body: &mut Body) -> bool {
    matches!(body.frame().now_or_never(), Some(None))
}

fn event(text: &str) -> Bytes {
    bytes(&format!("data: {text}\n\n"))
}

fn resumed(writer: &Writer, after: u32) -> Body {
    match writer.resume(after) {
        Resumed::Rest(body) => body,
        Resumed::Nothing => panic!("nothing"),
        Resumed::Lost => panic!("lost"),
    }
}

/// R-SEC-04: a writer waits for a reader, in bytes and not in events, so that long ones cannot fill the memory.
#[tokio::test(start_paused = true)]
async fn a_writer_waits_for_its_reader_but_not_for_ever() {
    let (writer, mut body) = open(&pace());
    assert!(writer.send(full()).await.is_ok());
    assert!(writer.room().now_or_never().is_none());
    assert_eq!(read(&mut body).len(), 1);
    assert!(writer.send(full()).await.is_ok());
    let before = Instant::now();
    assert!(writer.send(bytes("more")).await.is_err());
    assert_eq!(before.elapsed(), pace().slow_reader);
    assert!(is_over(&mut body) && writer.gone().now_or_never().is_some());
}

#[tokio::test]
async fn a_reader_gets_everything_and_then_the_end() {
    let (writer, mut body) = open(&pace());
    for text in ["one", "two"] {
        assert!(writer.push(bytes(text)));
    }
    drop(writer);
    assert_eq!(read(&mut body), ["one", "two", END]);
}

/// R-SEC-04: a reader that leaves is noticed at once.
#[tokio::test]
async fn a_reader_that_leaves_a_stream_that_is_not_kept_has_left() {
    let (writer, body) = open(&pace());
    assert!(writer.gone().now_or_never().is_none() && writer.is_read());
    drop(body);
    assert!(writer.gone().now_or_never().is_some() && writer.left().now_or_never().is_some());
    assert!(!writer.push(bytes("x")) && writer.send(bytes("x")).await.is_err());
    assert!(matches!(writer.resume(0), Resumed::Lost));
}

#[tokio::test]
async fn a_sign_of_life_is_for_who_has_nothing_to_read() {
    let (writer, mut body) = open(&pace());
    writer.sign_of_life(bytes("1"));
    writer.sign_of_life(bytes("2"));
    assert_eq!(read(&mut body), ["2"]);
    writer.push(bytes("event"));
    writer.sign_of_life(bytes("3"));
    assert_eq!(read(&mut body), ["event"]);
}

/// Streamable HTTP 2025-11-25, "Resumability and Redelivery".
#[tokio::test]
async fn a_reader_that_comes_back_gets_what_it_has_not_read() {
    let (writer, mut body, _listed) = kept();
    for text in ["one", "two"] {
        assert!(writer.keep(&event(text), None));
    }
    assert_eq!(data(&mut body), ["one", "two"]);
    let mut again = resumed(&writer, 1);
    assert!(is_over(&mut body), "one reader at a time");
    assert_eq!(data(&mut again), ["two"]);
    drop(again);
    assert!(!writer.is_read() && writer.keep(&event("three"), None), "kept while nobody reads");
    assert!(!writer.push(bytes(": comment\n\n")), "which a comment is not");
    let mut again = resumed(&writer, 2);
    assert!(writer.keep(&event("four"), None));
    assert_eq!(data(&mut again), ["three", "four"]);
    writer.finish();
    assert!(is_over(&mut again));
    assert!(matches!(writer.resume(4), Resumed::Nothing));
    assert_eq!(data(&mut resumed(&writer, 0)), ["one", "two", "three", "four"]);
}

/// R-SEC-04: who is away too long has left; who comes back in time has not.
#[tokio::test(start_paused = true)]
async fn a_kept_stream_waits_so_long_for_its_client() {
    let (writer, body, _listed) = kept();
    drop(body);
    assert!(writer.left().now_or_never().is_some() && writer.gone().now_or_never().is_none());
    tokio::time::advance(pace().away / 2).await;
    let body = resumed(&writer, 0);
    assert!(writer.read().await.is_ok());
    tokio::time::advance(pace().away * 2).await;
    assert!(writer.gone().now_or_never().is_none());
    drop(body);
    let before = Instant::now();
    assert!(writer.read().await.is_err());
    assert_eq!(before.elapsed(), pace().away);
}

/// A reader that takes nothing loses its place in a kept stream as well, and can come back.
#[tokio::test(start_paused = true)]
async fn a_slow_reader_of_a_kept_stream_is_away() {
    let (writer, mut body, _listed) = kept();
    assert!(writer.keep(&full(), None));
    assert!(writer.room().await.is_ok() && !writer.is_read());
    assert!(is_over(&mut body));
    assert_eq!(read(&mut resumed(&writer, 0)).len(), 1);
}

/// What is too much to keep passes to a reader, and is lost without one: then nobody can come back, rather than to a
/// stream with a gap.
#[tokio::test]
async fn what_is_too_much_is_not_kept() {
    let long = Bytes::from(vec![b'x'; SESSION_AT_MOST]);
    let (writer, mut body, _listed) = kept();
    assert!(writer.keep(&event("one"), None) && writer.keep(&long, None));
    assert_eq!(read(&mut body).last().map(String::len), Some(long.len()));
    assert!(matches!(writer.resume(1), Resumed::Lost) && writer.gone().now_or_never().is_none());
    drop(body);
    assert!(writer.gone().now_or_never().is_some() && writer.room().await.is_err());
    let (writer, body, _listed) = kept();
    drop(body);
    assert!(!writer.keep(&long, None));
    assert!(matches!(writer.resume(0), Resumed::Lost));
}

/// From the first id of the upstream's on, a client resumes there: it gets that one from us, and no later event.
#[tokio::test]
async fn a_stream_that_was_handed_over_ends_at_the_upstreams_first_id() {
    let (writer, mut body, _listed) = kept();
    assert!(writer.keep(&event("ours"), None));
    assert!(writer.hand_over(bytes("id: u-1\ndata: theirs\n\n")) && writer.push(event("later")));
    assert_eq!(data(&mut body), ["ours", "theirs", "later"]);
    let mut again = resumed(&writer, 1);
    assert_eq!(read(&mut again), ["id: u-1\ndata: theirs\n\n", END]);
    assert!(!writer.push(event("later")) && writer.room().await.is_err());
    assert!(matches!(writer.resume(2), Resumed::Nothing));
}

#[tokio::test]
async fn what_nobody_has_read_can_go_on_another_stream() {
    let (one, mut body) = open(&pace());
    let interaction = InteractionId::new(&SystemRandom);
    for text in ["read", "unread"] {
        assert!(one.push_notice(bytes(text), &interaction));
    }
    assert!(matches!(body.frame().now_or_never(), Some(Some(Ok(_)))));
    drop(body);
    let (other, mut body) = open(&pace());
    other.begin_with(one.end());
    assert!(!one.push(bytes("late")));
    assert_eq!(read(&mut body), ["unread"]);
    assert_eq!(other.end().notices().count(), 0);
}
