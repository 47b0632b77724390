//! Connections: accepted, each with a deadline for its request heads and for what its peer has to read, and all ended when
//! the service stops.

mod impatient;

use std::{future::Future, sync::Arc, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use impatient::Impatient;

/// How long a client may take to send the head of a request; a kept connection may be idle as long (R-SEC-04).
const HEAD_DEADLINE: Duration = Duration::from_secs(30);

/// How long to wait after an accept failed, for example because too many files are open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// What bounds the connections.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// How long calls may take to finish after the service was asked to stop.
    pub(crate) drain: Duration,
    /// How long a peer may take nothing of what it is sent.
    pub(crate) slow_reader: Duration,
    /// The most that are open at a time.
    pub(crate) at_most: u32,
}

/// What a connection gets beyond the limit.
const TOO_MANY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-type: text/plain\r\n\
    content-length: 58\r\nconnection: close\r\n\r\ntoo many connections are open: try again in a few seconds\n";

/// How long a refused connection has to read that. Closed at once, it could lose it: a peer that still sends hears a reset.
const REFUSAL: Duration = Duration::from_secs(1);

/// The most connections that are being refused at a time; more are closed at once.
const REFUSED_AT_ONCE: usize = 64;

/// How often the log says that connections are refused.
const REFUSALS_LOGGED: Duration = Duration::from_mins(1);

/// Serves `router` on `listener` until `stopping`. Then no connection is accepted, idle ones are closed, and calls under way
/// get some time to finish before their connections are cut. Beyond the limit a connection gets 503 and is closed (R-SEC-01).
pub(crate) async fn serve(listener: TcpListener, router: Router, stopping: CancellationToken, bounds: Bounds) {
    let mut connections = JoinSet::new();
    let places =
        Arc::new(Semaphore::new(usize::try_from(bounds.at_most).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS)));
    let mut refusals = Refusals::new();
    let graceful = GracefulShutdown::new();
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_DEADLINE);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stopping.cancelled() => break,
            Some(_) = connections.join_next() => continue,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection was not accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            refusals.refuse(stream, bounds.at_most);
            continue;
        };
        // Without it small answers wait for the peer's acknowledgement; a socket that refuses works all the same.
        let _ = stream.set_nodelay(true);
        let stream = Impatient::new(stream, bounds.slow_reader);
        let service = TowerToHyperService::new(router.clone());
        let connection = graceful.watch(builder.serve_connection(TokioIo::new(stream), service));
        connections.spawn(async move {
            quietly(connection).await;
            drop(place);
        });
    }
    drop(listener);
    if tokio::time::timeout(bounds.drain, graceful.shutdown()).await.is_err() {
        tracing::warn!(seconds = bounds.drain.as_secs(), "calls that were still under way are cut");
    }
    connections.shutdown().await;
}

/// The connections that are being refused.
struct Refusals {
    places: Arc<Semaphore>,
    logged: Option<Instant>,
}

impl Refusals {
    fn new() -> Self {
        Self { places: Arc::new(Semaphore::new(REFUSED_AT_ONCE)), logged: None }
    }

    /// In the background, and not at all where too many are.
    fn refuse(&mut self, mut stream: TcpStream, at_most: u32) {
        if self.logged.is_none_or(|logged| logged.elapsed() >= REFUSALS_LOGGED) {
            self.logged = Some(Instant::now());
            tracing::warn!(limits.connections = at_most, "too many connections are open; more are refused");
        }
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else { return };
        tokio::spawn(async move {
            let _place = place;
            let refusal = async {
                stream.write_all(TOO_MANY).await?;
                stream.shutdown().await?;
                let mut sink = [0; 1024];
                while stream.read(&mut sink).await? > 0 {}
                Ok::<_, std::io::Error>(())
            };
            // A peer that does not wait for it has gone.
            let _ = tokio::time::timeout(REFUSAL, refusal).await;
        });
    }
}

/// A connection that breaks is the peer's affair.
async fn quietly<E: std::fmt::Display>(connection: impl Future<Output = Result<(), E>>) {
    if let Err(error) = connection.await {
        tracing::debug!(%error, "a connection ended early");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;

    async fn started(
        router: Router,
        drain: Duration,
    ) -> (std::net::SocketAddr, CancellationToken, tokio::task::JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stopping = CancellationToken::new();
        let bounds = Bounds { drain, slow_reader: HEAD_DEADLINE, at_most: 2 };
        let task = tokio::spawn(serve(listener, router, stopping.clone(), bounds));
        (address, stopping, task)
    }

    /// R-SEC-04: a head that never ends does not hold the service back when it stops.
    #[tokio::test]
    async fn a_connection_without_a_request_ends_with_the_service() {
        let (address, stopping, task) = started(Router::new(), Duration::from_millis(200)).await;
        let mut half = TcpStream::connect(address).await.unwrap();
        half.write_all(b"GET / HTTP/1.1\r\nHost: x").await.unwrap();
        stopping.cancel();
        tokio::time::timeout(Duration::from_secs(5), task).await.unwrap().unwrap();
        let mut rest = Vec::new();
        let _ = tokio::time::timeout(Duration::from_secs(5), half.read_to_end(&mut rest)).await.unwrap();
        assert!(rest.is_empty());
    }

    /// R-SEC-04: the head of a request has a deadline.
    #[tokio::test(start_paused = true)]
    async fn a_head_that_does_not_come_in_time_is_given_up() {
        let (address, _stopping, _task) = started(Router::new(), Duration::ZERO).await;
        let mut half = TcpStream::connect(address).await.unwrap();
        half.write_all(b"GET / HTTP/1.1\r\nHost: x").await.unwrap();
        let mut rest = Vec::new();
        tokio::time::timeout(HEAD_DEADLINE * 3, half.read_to_end(&mut rest)).await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn a_call_that_never_ends_is_cut_after_the_time_to_drain() {
        let router = Router::new().route("/", get(std::future::pending::<()>));
        let (address, stopping, task) = started(router, Duration::from_millis(100)).await;
        let mut caller = TcpStream::connect(address).await.unwrap();
        caller.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        stopping.cancel();
        tokio::time::timeout(Duration::from_secs(5), task).await.unwrap().unwrap();
        let mut rest = Vec::new();
        let _ = tokio::time::timeout(Duration::from_secs(5), caller.read_to_end(&mut rest)).await.unwrap();
        assert!(rest.is_empty());
    }

    async fn told(stream: &mut TcpStream) -> String {
        // It may be refused before it is read.
        let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await;
        let mut text = Vec::new();
        let mut piece = [0; 1024];
        while !String::from_utf8_lossy(&text).contains("\r\n\r\n") {
            let length = stream.read(&mut piece).await.unwrap();
            assert!(length > 0, "closed");
            text.extend_from_slice(&piece[..length]);
        }
        String::from_utf8(text).unwrap()
    }

    /// R-SEC-01: beyond the limit a connection is told when to come back; one that ends makes room.
    #[tokio::test]
    async fn a_connection_beyond_the_limit_is_told_when_to_come_back() {
        let router = Router::new().route("/", get(|| async { "fine" }));
        let (address, _stopping, _task) = started(router, Duration::ZERO).await;
        let mut open = [TcpStream::connect(address).await.unwrap(), TcpStream::connect(address).await.unwrap()];
        for stream in &mut open {
            assert!(told(stream).await.starts_with("HTTP/1.1 200 "));
        }
        let mut refused = TcpStream::connect(address).await.unwrap();
        let text = told(&mut refused).await;
        assert!(text.starts_with("HTTP/1.1 503 ") && text.contains("\r\nretry-after: 1\r\n"), "{text}");
        let length = text.split("content-length: ").nth(1).unwrap().split('\r').next().unwrap();
        let body = String::from_utf8_lossy(TOO_MANY).split("\r\n\r\n").nth(1).unwrap().len();
        assert_eq!(length, body.to_string());
        assert!(told(&mut open[0]).await.starts_with("HTTP/1.1 200 "), "the others go on");
        drop(open);
        let served = async {
            loop {
                let mut stream = TcpStream::connect(address).await.unwrap();
                if told(&mut stream).await.starts_with("HTTP/1.1 200 ") {
                    return;
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(5), served).await.unwrap();
    }
}
