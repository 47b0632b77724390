//! A server that demands its own sign-in (MCP authorization): discovered, registered at, connected, and asked for more.

mod attacks;
mod clients;
mod connect_tool;
mod discovery;
mod eras;
mod issuer;
mod listings;
mod scene;
mod step_up;
