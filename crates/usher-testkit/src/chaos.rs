//! A TCP proxy that does what networks and failing servers do: cut, refuse, stall, be slow. Of the protocol in it, it knows
//! nothing.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::AbortHandle;

use crate::{DEADLINE, free_port, within};

/// What the proxy does with connections, those that are open and those that come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Passes everything on.
    Pass,
    /// Resets every connection (TCP RST).
    Cut,
    /// Resets those that are open, and listens no more: whoever comes is refused.
    Refuse,
    /// Takes connections and bytes, and passes nothing on. What it took, it passes on when it passes again.
    Stall,
    /// Passes each piece of at most 16 KiB on after this time.
    Slow(Duration),
}

/// Connections at a time; whoever comes beyond them waits.
const CONNECTIONS: usize = 512;
/// Bytes that are taken at a time.
const PIECE: usize = 16 * 1024;

/// The proxy. Dropping it cuts every connection.
#[derive(Debug)]
pub struct Chaos {
    address: SocketAddr,
    mode: watch::Sender<Order>,
    listening: watch::Receiver<bool>,
    counts: Arc<Counts>,
    task: AbortHandle,
}

/// What there is and was.
#[derive(Debug, Default)]
struct Counts {
    open: AtomicUsize,
    /// Bytes, both ways.
    passed: AtomicU64,
}

/// What connections obey.
#[derive(Clone, Copy, Debug)]
struct Order {
    mode: Mode,
    /// Grows when all connections that are open then are to stand still for good.
    stranded: u32,
}

impl Chaos {
    /// A proxy to `target`, such as `127.0.0.1:5432`, at a port of its own. Passes everything on at first.
    pub async fn start(target: impl Into<String>) -> Self {
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()));
        let (mode, orders) = watch::channel(Order { mode: Mode::Pass, stranded: 0 });
        let (listens, listening) = watch::channel(false);
        let counts = Arc::new(Counts::default());
        let proxy = Proxy { address, target: target.into(), orders, counts: Arc::clone(&counts) };
        let task = tokio::spawn(proxy.run(listens)).abort_handle();
        let chaos = Self { address, mode, listening, counts, task };
        chaos.until_listening(true).await;
        chaos
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// From now on does this. Returns once whoever comes meets it.
    pub async fn set(&self, mode: Mode) {
        self.mode.send_modify(|order| order.mode = mode);
        self.until_listening(mode != Mode::Refuse).await;
    }

    /// All connections that are open now stand still for good, like those to a machine that is gone. New ones are not concerned.
    pub fn strand(&self) {
        self.mode.send_modify(|order| order.stranded += 1);
    }

    /// How many connections are open.
    pub fn connections(&self) -> usize {
        self.counts.open.load(Ordering::SeqCst)
    }

    /// Waits until so many bytes more have passed, both ways together.
    pub async fn until_passed(&self, bytes: u64) {
        let passed = || self.counts.passed.load(Ordering::SeqCst);
        let enough = passed() + bytes;
        let wait = async {
            while passed() < enough {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        within(DEADLINE, &format!("fewer than {bytes} bytes have passed"), wait).await;
    }

    /// Waits until nothing passes for so long: what its ends had to say to each other is said.
    pub async fn until_quiet(&self, silence: Duration) {
        let passed = || self.counts.passed.load(Ordering::SeqCst);
        let wait = async {
            let mut before = None;
            while before != Some(passed()) {
                before = Some(passed());
                tokio::time::sleep(silence).await;
            }
        };
        within(DEADLINE, "the proxy is never quiet", wait).await;
    }

    async fn until_listening(&self, wanted: bool) {
        let mut listening = self.listening.clone();
        let wait = listening.wait_for(|listens| *listens == wanted);
        drop(within(DEADLINE, "the proxy does not change", wait).await);
    }
}

impl Drop for Chaos {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Proxy {
    address: SocketAddr,
    target: String,
    orders: watch::Receiver<Order>,
    counts: Arc<Counts>,
}

impl Proxy {
    async fn run(mut self, listens: watch::Sender<bool>) {
        // They end with this future: `JoinSet` aborts what is left when it is dropped.
        let mut connections = tokio::task::JoinSet::new();
        let places = Arc::new(Semaphore::new(CONNECTIONS));
        loop {
            let refuses = |order: &Order| order.mode == Mode::Refuse;
            if self.orders.wait_for(|order| !refuses(order)).await.is_err() {
                return;
            }
            let listener = self.listen().await;
            listens.send_replace(true);
            let mut orders = self.orders.clone();
            let over = orders.wait_for(refuses);
            tokio::pin!(over);
            loop {
                let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
                let client = tokio::select! {
                    accepted = listener.accept() => match accepted {
                        Ok((client, _)) => client,
                        Err(_) => continue,
                    },
                    _ = &mut over => break,
                };
                let line = Line::new(client, self.orders.clone(), Arc::clone(&self.counts));
                let target = self.target.clone();
                connections.spawn(async move {
                    line.run(&target).await;
                    drop(place);
                });
                while connections.try_join_next().is_some() {}
            }
            drop(listener);
            listens.send_replace(false);
        }
    }

    /// The port is ours, but its last owner may still be on its way out.
    async fn listen(&self) -> TcpListener {
        let listening = async {
            loop {
                match TcpListener::bind(self.address).await {
                    Ok(listener) => return listener,
                    Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
                }
            }
        };
        within(DEADLINE, "the proxy cannot listen", listening).await
    }
}

/// One connection.
struct Line {
    client: TcpStream,
    orders: watch::Receiver<Order>,
    /// Stands still once the order says a higher number.
    stranded: u32,
    counts: Arc<Counts>,
}

impl Line {
    fn new(client: TcpStream, orders: watch::Receiver<Order>, counts: Arc<Counts>) -> Self {
        counts.open.fetch_add(1, Ordering::SeqCst);
        let stranded = orders.borrow().stranded;
        Self { client, orders, stranded, counts }
    }

    async fn run(mut self, target: &str) {
        let mut orders = self.orders.clone();
        let cut = orders.wait_for(|order| matches!(order.mode, Mode::Cut | Mode::Refuse));
        let way = Way { orders: self.orders.clone(), stranded: self.stranded, counts: Arc::clone(&self.counts) };
        let mut server = None;
        tokio::select! {
            _ = cut => {}
            () = pass(&mut self.client, target, &mut server, way) => return,
        }
        for stream in [Some(&self.client), server.as_ref()].into_iter().flatten() {
            // Closed by a reset, not in good order.
            let _ = stream.set_zero_linger();
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.counts.open.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Passes both ways until both ends are done, or one breaks.
async fn pass(client: &mut TcpStream, target: &str, server: &mut Option<TcpStream>, way: Way) {
    let Ok(connected) = TcpStream::connect(target).await else {
        let _ = client.set_zero_linger();
        return;
    };
    let server = server.insert(connected);
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (from_client, to_client) = client.split();
    let (from_server, to_server) = server.split();
    tokio::join!(way.clone().pump(from_client, to_server), way.pump(from_server, to_client));
}

/// One way of a connection.
#[derive(Clone)]
struct Way {
    orders: watch::Receiver<Order>,
    stranded: u32,
    counts: Arc<Counts>,
}

impl Way {
    /// Passes what comes, as ordered at that time.
    async fn pump(mut self, mut from: ReadHalf<'_>, mut to: WriteHalf<'_>) {
        let mut piece = vec![0; PIECE];
        loop {
            let read = from.read(&mut piece).await;
            let passes = self.orders.wait_for(|order| order.mode != Mode::Stall).await.map(|order| *order);
            let Ok(order) = passes else { return };
            if order.stranded > self.stranded {
                std::future::pending::<()>().await;
            }
            if let Mode::Slow(delay) = order.mode {
                tokio::time::sleep(delay).await;
            }
            let Ok(length @ 1..) = read else {
                let _ = to.shutdown().await;
                return;
            };
            if to.write_all(piece.get(..length).unwrap_or_default()).await.is_err() {
                return;
            }
            self.counts.passed.fetch_add(length as u64, Ordering::SeqCst);
        }
    }
}
