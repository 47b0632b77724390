//! Upstreams: how a message gets to them and back.

pub(super) mod http;
