//! What this library writes and reads, beside the official texts and schemas of each revision.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, unreachable_pub, reason = "tests")]

mod cases;
mod examples;
mod no_io;
mod official;
mod round_trip;
mod written;
