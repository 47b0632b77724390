#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))]

pub mod api;
pub mod app;
mod body;
pub mod broker;
mod claim;
pub mod clock;
pub mod commands;
pub mod config;
mod connections;
mod control;
pub mod credentials;
pub mod egress;
mod group;
pub mod identity;
pub mod jobs;
mod kept;
pub mod mcp;
pub mod oauth;
pub mod pages;
pub mod relay;
pub mod router;
pub mod serve;
mod slots;
pub mod telemetry;
