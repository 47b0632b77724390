//! Open connections.

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::{free, until_served};
use crate::raw::{address, exchange, request};

/// Opens a connection and sends a request, after which it stays open; `None` where it was refused.
async fn open(host: &str) -> Option<TcpStream> {
    let mut stream = TcpStream::connect(host).await.unwrap();
    stream.write_all(format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).await.unwrap();
    let mut head = [0; 13];
    stream.read_exact(&mut head).await.ok()?;
    (head == *b"HTTP/1.1 200 ").then_some(stream)
}

/// R-SEC-01: so many connections are open; one more is told when to come back, and one that ends makes room.
#[tokio::test]
async fn open_connections_are_limited() {
    let stage = free("connections = 1").await;
    let host = address(&stage.origin);
    let idle = open(&host).await.unwrap();
    let health = request("GET /healthz", &[("Host", &host)], "");
    for _ in 0..3 {
        let refused = exchange(&stage.origin, health.clone()).await;
        assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")), "{}", refused.text);
    }
    drop(idle);
    until_served(async || exchange(&stage.origin, health.clone()).await.status == 200).await;
}
