//! A person's way to a provider and back: the page, the consent there, the callback, and the call that goes on by itself.

mod clients;
mod databases;
mod ends;
mod eras;
mod inputs;
mod more;
pub mod scene;
mod secrecy;
mod troubles;
