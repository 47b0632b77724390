//! A person's own pages.

pub(super) mod connections;
pub(super) mod disconnect;
pub(super) mod reconnect;
