use std::hash::{BuildHasher as _, RandomState};
use std::net::TcpListener;

/// Below what systems give to outgoing connections, so that nobody takes the port while its owner is away.
const FIRST: u16 = 20_000;
const COUNT: u16 = 12_000;

/// A port of 127.0.0.1 at which nobody listens, and that can be listened at again later.
pub fn free_port() -> u16 {
    let random = RandomState::new();
    let ports = (0..100_u8).map(|count| FIRST + u16::try_from(random.hash_one(count) % u64::from(COUNT)).unwrap_or(0));
    let free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    ports.into_iter().find(free).expect("a free port")
}
