//! One byte string for each JSON value, whatever its white space, key order and escapes.
//!
//! ```text
//! number, true, false, null   its exact text, then ","
//! string                      '"', its length in 8 bytes, its content in UTF-8
//! array                       "[", its items, "]"
//! object                      "{", key and value of each member in the order of keys, "}"
//! ```
//!
//! Each part shows where it ends, so no two values have the same bytes, also one after the other.
//!
//! There are two ways to them: a [small] text has them written into memory in one go, and whatever is long, deep or wrong
//! goes into the hash [piece by piece](super::large).

use super::DigestError;
use super::large::Large;
use super::small::{self, Small};
use super::stream::Stream;

/// A value in a text that was found valid before.
pub(super) enum Value<'a> {
    Small(Small),
    Large(Large<'a>),
}

impl<'a> Value<'a> {
    /// The value that begins at `start`, after white space.
    pub(super) fn at(text: &'a str, start: usize) -> Result<Self, DigestError> {
        match small::write(text, start) {
            Some(small) => Ok(Self::Small(small)),
            None => Large::at(text, start).map(Self::Large),
        }
    }

    /// The place after it.
    pub(super) fn end(&self) -> usize {
        match self {
            Self::Small(small) => small.end,
            Self::Large(large) => large.end(),
        }
    }

    /// Writes its canonical bytes.
    pub(super) fn write(self, stream: &mut Stream) -> Result<(), DigestError> {
        match self {
            Self::Small(small) => {
                stream.write(&small.bytes);
                Ok(())
            }
            Self::Large(large) => large.write(stream),
        }
    }
}
