//! Master keys: what wraps the keys that seal the records.

mod file;
mod wrap;

pub use self::file::{KeyFile, KeyFileError};
pub use self::wrap::{KeyError, KeyWrap, WrappedKey};
