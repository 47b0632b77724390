//! The service's parsers, from their sources: the rest of the service would take many minutes to build with the
//! instrumentation in it. They import nothing of it.

#[path = "../../crates/usher/src/mcp/envelope.rs"]
pub mod envelope;
#[path = "../../crates/usher/src/mcp/headers.rs"]
pub mod headers;
#[path = "../../crates/usher/src/mcp/sse.rs"]
pub mod sse;
