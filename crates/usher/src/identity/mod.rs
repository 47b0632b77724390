//! Who it is: the MCP client by its bearer token, the person in the browser by a session.

pub mod browser;
pub mod control;
pub mod tokens;
