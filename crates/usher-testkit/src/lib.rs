#![doc = include_str!("../README.md")]
#![allow(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "test support: a panic with a clear text is how a test fails"
)]

mod agent;
mod base64;
pub mod chaos;
pub mod checkout;
pub mod client;
mod deadline;
mod door;
mod fields;
pub mod idp;
mod json;
pub mod load;
mod message;
pub mod oauth;
pub mod person;
mod port;
pub mod provider;
mod record;
pub mod sse;
pub mod tls;
pub mod upstream;

pub use agent::agent;
pub use deadline::{DEADLINE, within};
pub use door::refused_origin;
pub use json::quote;
pub use message::Message;
pub use port::free_port;
pub use record::{Outcome, Recorded};

/// The two ways of speaking MCP over HTTP: with sessions, or with metadata in each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// 2025-06-18 and 2025-11-25: `initialize`, session ids, requests of the server on streams.
    Legacy,
    /// 2026-07-28: each request stands alone, questions are `input_required` results.
    Modern,
}

/// The modern revision that the fakes speak.
pub const MODERN: &str = "2026-07-28";
/// The newest legacy revision that the fakes speak.
pub const LEGACY: &str = "2025-11-25";
