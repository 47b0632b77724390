//! The fuzz targets of the service's parsers on stable Rust: see `fuzz/src/stable.rs`.

#![allow(
    clippy::expect_used,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_used,
    missing_docs,
    unreachable_pub,
    reason = "tests, which tell what they ran"
)]

#[path = "../../../fuzz/src/mutator.rs"]
mod mutator;
#[path = "../../../fuzz/src/stable.rs"]
mod stable;
#[path = "../../../fuzz/src/service.rs"]
mod targets;
#[path = "../../../fuzz/src/service_tokens.rs"]
mod tokens;

use stable::{Target, fuzz};
use usher::mcp;

const TARGETS: &[Target] = &[
    Target { name: "envelope", run: targets::envelope, tokens: tokens::ENVELOPE, cases: 40_000 },
    Target { name: "headers", run: targets::headers, tokens: tokens::HEADERS, cases: 20_000 },
    Target { name: "sse", run: targets::sse, tokens: tokens::SSE, cases: 6_000 },
];

/// R-GW-02, R-SEC-04
#[test]
fn envelope_keeps_its_promises() {
    fuzz(TARGETS, "envelope");
}

/// R-ID-04
#[test]
fn headers_keeps_its_promises() {
    fuzz(TARGETS, "headers");
}

/// R-GW-02
#[test]
fn sse_keeps_its_promises() {
    fuzz(TARGETS, "sse");
}

#[test]
fn each_target_has_a_binary_and_seeds() {
    stable::assert_complete(TARGETS);
}
