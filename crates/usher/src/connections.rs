//! Connections: accepted, each with a deadline for its request heads and for what its peer has to read, and all ended when
//! the service stops.

mod impatient;

use std::{future::Future, time::Duration};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::{net::TcpListener, task::JoinSet};
use tokio_util::sync::CancellationToken;

use impatient::Impatient;

/// How long a client may take to send the head of a request; a kept connection may be idle as long (R-SEC-04).
const HEAD_DEADLINE: Duration = Duration::from_secs(30);

/// How long to wait after an accept failed, for example because too many files are open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How long to wait for peers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// How long calls may take to finish after the service was asked to stop.
    pub(crate) drain: Duration,
    /// How long a peer may take nothing of what it is sent.
    pub(crate) slow_reader: Duration,
}

/// Serves `router` on `listener` until `stopping`. Then no connection is accepted, idle ones are closed, and calls under way
/// get some time to finish before their connections are cut.
pub(crate) async fn serve(listener: TcpListener, router: Router, stopping: CancellationToken, patience: Patience) {
    let mut connections = JoinSet::new();
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
        // Without it small answers wait for the peer's acknowledgement; a socket that refuses works all the same.
        let _ = stream.set_nodelay(true);
        let stream = Impatient::new(stream, patience.slow_reader);
        let service = TowerToHyperService::new(router.clone());
        let connection = graceful.watch(builder.serve_connection(TokioIo::new(stream), service));
        connections.spawn(quietly(connection));
    }
    drop(listener);
    if tokio::time::timeout(patience.drain, graceful.shutdown()).await.is_err() {
        tracing::warn!(seconds = patience.drain.as_secs(), "calls that were still under way are cut");
    }
    connections.shutdown().await;
}

/// A connection that breaks is the peer's affair.
async fn quietly<E: std::fmt::Display>(connection: impl Future<Output = Result<(), E>>) {
    if let Err(error) = connection.await {
        tracing::debug!(%error, "a connection ended early");
    }
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpStream,
    };

    use super::*;

    async fn started(
        router: Router,
        drain: Duration,
    ) -> (std::net::SocketAddr, CancellationToken, tokio::task::JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stopping = CancellationToken::new();
        let patience = Patience { drain, slow_reader: HEAD_DEADLINE };
        let task = tokio::spawn(serve(listener, router, stopping.clone(), patience));
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
}
