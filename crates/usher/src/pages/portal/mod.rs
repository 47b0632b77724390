//! A person's own pages.

pub(super) mod activity;
pub(super) mod clients;
pub(super) mod connections;
pub(super) mod decline_all;
pub(super) mod disconnect;
mod family;
mod grant;
mod let_go;
pub(super) mod reconnect;
pub(super) mod release;
pub(super) mod revoke;
mod said;
pub(super) mod sessions;
