//! MCP at the level of bytes and frames: the JSON-RPC envelope, server-sent events, mirrored headers. No decisions.

pub mod alike;
pub mod envelope;
pub mod headers;
pub mod lines;
pub mod params;
pub mod sse;
