//! The chaos proxy does what it says.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::io::ErrorKind;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, timeout};
use usher_testkit::chaos::{Chaos, Mode};
use usher_testkit::{DEADLINE, within};

/// Time in which nothing comes.
const SILENCE: Duration = Duration::from_millis(100);

/// A proxy before a server that sends back what it gets.
async fn echo() -> Chaos {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let (mut from, mut to) = stream.split();
                let _ = tokio::io::copy(&mut from, &mut to).await;
            });
        }
    });
    Chaos::start(address.to_string()).await
}

async fn open(chaos: &Chaos) -> TcpStream {
    TcpStream::connect(chaos.address()).await.unwrap()
}

async fn echoed(stream: &mut TcpStream, text: &str) -> String {
    stream.write_all(text.as_bytes()).await.unwrap();
    read(stream, text.len()).await
}

async fn read(stream: &mut TcpStream, length: usize) -> String {
    let mut answer = vec![0; length];
    within(DEADLINE, "no echo", stream.read_exact(&mut answer)).await.unwrap();
    String::from_utf8(answer).unwrap()
}

async fn is_reset(stream: &mut TcpStream) -> bool {
    let read = within(DEADLINE, "not closed", stream.read(&mut [0; 16])).await;
    matches!(read, Err(error) if error.kind() == ErrorKind::ConnectionReset)
}

async fn is_silent(stream: &mut TcpStream) -> bool {
    timeout(SILENCE, stream.read(&mut [0; 16])).await.is_err()
}

#[tokio::test]
async fn what_is_sent_passes_both_ways_and_so_does_its_end() {
    let chaos = echo().await;
    let mut stream = open(&chaos).await;
    assert_eq!(echoed(&mut stream, "there and back").await, "there and back");
    assert_eq!(chaos.connections(), 1);
    stream.shutdown().await.unwrap();
    assert_eq!(within(DEADLINE, "not closed", stream.read(&mut [0; 16])).await.unwrap(), 0);
    let gone = async {
        while chaos.connections() > 0 {
            tokio::task::yield_now().await;
        }
    };
    within(DEADLINE, "the connection is still open", gone).await;
}

#[tokio::test]
async fn what_is_cut_is_reset_and_so_is_whoever_comes() {
    let chaos = echo().await;
    let mut stream = open(&chaos).await;
    assert_eq!(echoed(&mut stream, "x").await, "x");
    chaos.set(Mode::Cut).await;
    assert!(is_reset(&mut stream).await);
    assert!(is_reset(&mut open(&chaos).await).await);
    chaos.set(Mode::Pass).await;
    assert_eq!(echoed(&mut open(&chaos).await, "back").await, "back");
}

#[tokio::test]
async fn nobody_is_let_in_while_it_refuses() {
    let chaos = echo().await;
    let mut stream = open(&chaos).await;
    assert_eq!(echoed(&mut stream, "x").await, "x");
    chaos.set(Mode::Refuse).await;
    assert!(is_reset(&mut stream).await);
    let refused = TcpStream::connect(chaos.address()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    chaos.set(Mode::Pass).await;
    assert_eq!(echoed(&mut open(&chaos).await, "back").await, "back");
}

#[tokio::test]
async fn what_stalls_takes_bytes_and_passes_them_on_later() {
    let chaos = echo().await;
    let mut stream = open(&chaos).await;
    chaos.set(Mode::Stall).await;
    stream.write_all(b"late").await.unwrap();
    let mut another = open(&chaos).await;
    assert!(is_silent(&mut stream).await && is_silent(&mut another).await);
    chaos.set(Mode::Pass).await;
    assert_eq!(read(&mut stream, 4).await, "late");
    assert_eq!(echoed(&mut another, "x").await, "x");
}

#[tokio::test]
async fn what_is_slow_takes_its_time_for_each_piece() {
    let chaos = echo().await;
    let mut stream = open(&chaos).await;
    chaos.set(Mode::Slow(SILENCE)).await;
    let began = Instant::now();
    assert_eq!(echoed(&mut stream, "there and back").await, "there and back");
    assert!(began.elapsed() >= 2 * SILENCE, "{:?}", began.elapsed());
}

#[tokio::test]
async fn what_is_stranded_stays_silent_while_others_come_and_go() {
    let chaos = echo().await;
    let mut stream = open(&chaos).await;
    assert_eq!(echoed(&mut stream, "x").await, "x");
    chaos.strand();
    stream.write_all(b"into the void").await.unwrap();
    assert_eq!(echoed(&mut open(&chaos).await, "new").await, "new");
    assert!(is_silent(&mut stream).await);
    chaos.set(Mode::Cut).await;
    assert!(is_reset(&mut stream).await, "an end it still sees");
}

#[tokio::test]
async fn a_target_that_is_not_there_resets() {
    let chaos = Chaos::start("127.0.0.1:9").await;
    assert!(is_reset(&mut open(&chaos).await).await);
}
