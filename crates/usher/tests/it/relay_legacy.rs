//! The legacy eras through the gateway to a server that needs nothing: what passes, and what is stopped on the way.

mod handshake;
mod messages;
mod questions;
mod resumed;
mod stream;
mod takeover;
mod undeclared;
