//! Master keys: what wraps the keys that seal the records.

mod edit;
mod file;
mod line;
mod ring;
mod wrap;

pub use self::edit::KeyFileEdit;
pub use self::file::{KeyEntry, KeyFile, KeyFileError};
pub use self::line::KeyRole;
pub use self::ring::KeyRing;
pub use self::wrap::{KeyError, KeyWrap, WrappedKey};
