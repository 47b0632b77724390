//! Load, and what a service under load is held against: the same work written by hand with the same crates.
//!
//! Everything is bounded in count and time, and stays on loopback. Whoever measures runs the measured program on one core
//! ([`Program`]) and everything else on another.

#![allow(clippy::disallowed_methods, reason = "it measures time, and waits for programs")]

mod drive;
mod hold;
mod line;
mod message;
mod program;
mod proxy;
mod round;
mod sample;
mod upstream;
mod usher;

pub use drive::{Run, drive};
pub use hold::hold;
pub use line::{Answer, Line};
pub use message::{Message, Speech};
pub use program::Program;
pub use proxy::proxy;
pub use round::round;
pub use sample::{Sample, median};
pub use upstream::{KEY, echo};
pub use usher::{Setup, Usher};
