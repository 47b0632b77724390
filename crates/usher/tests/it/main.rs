//! The whole service over real HTTP, against wire-level fakes of everything around it.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests fail by panicking")]
#![allow(clippy::similar_names, reason = "a stage and a state are told apart well enough")]
#![allow(unreachable_pub, missing_docs, reason = "a test binary exports nothing")]

mod api;
mod approvals;
mod attacks;
mod connect_tool;
#[cfg(feature = "fail-points")]
mod crashes;
mod database;
mod demo;
mod doctor;
mod door;
mod endings;
mod external;
mod harness;
mod keep_alive;
mod keys_command;
mod letting_go;
mod limits;
mod lossless;
mod mcp_authorization;
mod needs_legacy;
mod needs_modern;
mod oauth_flow;
mod oidc;
mod oidc_browser;
mod outages;
mod pages;
mod people_commands;
mod processes;
mod raw;
mod refresh;
mod relay_legacy;
mod relay_modern;
mod secrecy;
mod serve_command;
mod sessions;
mod slow_readers;
mod stopping;
mod store_trouble;
mod threat_model;
