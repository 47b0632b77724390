//! A person's way to a provider and back: the page, the consent there, the callback, and the call that goes on by itself.

mod eras;
pub mod scene;
