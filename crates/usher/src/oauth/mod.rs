//! The OAuth protocol towards third parties.

pub mod challenge;
pub mod client_metadata;
pub mod discovery;
pub mod registration;
mod scope;
#[cfg(test)]
pub(crate) mod site;
