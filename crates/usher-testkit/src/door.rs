//! A listener whose connections can be cut at any moment, from within or without.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;

/// `http://127.0.0.1:port` of a port where nobody listens.
pub async fn refused_origin() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("the address of a listener");
    format!("http://{address}")
}

/// Cuts one connection.
#[derive(Clone, Debug)]
pub(crate) struct Switch(Arc<Mutex<Option<oneshot::Sender<()>>>>);

impl Switch {
    pub(crate) fn cut(&self) {
        drop(self.0.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

/// A server that ends, with all its connections, when it is closed or dropped.
#[derive(Debug)]
pub(crate) struct Door {
    pub(crate) address: SocketAddr,
    connections: Arc<Mutex<Vec<Switch>>>,
    accepting: AbortHandle,
}

impl Door {
    pub(crate) async fn open(address: &str, router: axum::Router) -> Self {
        let listener =
            TcpListener::bind(address).await.unwrap_or_else(|fault| panic!("cannot listen at {address}: {fault}"));
        let address = listener.local_addr().expect("the address of a listener");
        let connections = Arc::new(Mutex::new(Vec::new()));
        let porter = Porter { listener, connections: Arc::clone(&connections) };
        let service = router.into_make_service_with_connect_info::<Switch>();
        let task = tokio::spawn(async move { axum::serve(porter, service).await });
        Self { address, connections, accepting: task.abort_handle() }
    }

    pub(crate) fn cut_all(&self) {
        for switch in self.connections.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            switch.cut();
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.accepting.abort();
        self.cut_all();
    }
}

struct Porter {
    listener: TcpListener,
    connections: Arc<Mutex<Vec<Switch>>>,
}

impl Listener for Porter {
    type Io = Line;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Line, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.listener).await;
        // Small events must leave at once.
        let _ = stream.set_nodelay(true);
        let (sender, cut) = oneshot::channel();
        let switch = Switch(Arc::new(Mutex::new(Some(sender))));
        self.connections.lock().unwrap_or_else(PoisonError::into_inner).push(switch.clone());
        (Line { stream, switch, cut, dead: false }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

impl Connected<IncomingStream<'_, Porter>> for Switch {
    fn connect_info(stream: IncomingStream<'_, Porter>) -> Self {
        stream.io().switch.clone()
    }
}

struct Line {
    stream: TcpStream,
    switch: Switch,
    cut: oneshot::Receiver<()>,
    dead: bool,
}

impl Line {
    fn check(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        // A receiver must not be polled after it was ready.
        self.dead = self.dead || Pin::new(&mut self.cut).poll(context).is_ready();
        if self.dead { Err(io::ErrorKind::ConnectionReset.into()) } else { Ok(()) }
    }
}

impl AsyncRead for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(context)?;
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Line {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.check(context)?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check(context)?;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
