//! State that travels through a client we do not trust (R-MRTR-02): sealed with XAES-256-GCM and bound to the request
//! that it continues.
//!
//! ```text
//! base64url( version 1 | key 8 | nonce 24 | ciphertext | tag 16 )
//! ```
//!
//! Everything before the ciphertext is associated data. `key` tells which key of the ring sealed; it is made of the
//! secret, so that no two secrets can go by one name. [XAES-256-GCM](cipher::Cipher) is AES-256-GCM under a key that it
//! makes for each message: so many may have random nonces that they never meet. Its own key, and `key`, are
//! HKDF-Expand(secret, label) (RFC 5869). Inside stand the expiry, the digests of the binding's four parts, and the
//! payload. It holds no round trip to a store, and any replica with the ring opens it (R-MRTR-06): what may count only
//! once has to be enforced by a store (R-MRTR-03).

mod binding;
mod cipher;
mod keys;
mod open;
mod parse;
mod payload;
mod seal;

pub use binding::Binding;
pub use keys::{StateKey, StateKeys};
pub use open::{Rejected, STATE_REJECTED};
pub use parse::StateKeysError;
pub use seal::SealError;

/// The longest sealed state that is made or read, in bytes of its text: 64 KiB.
pub const MAX_SEALED_BYTES: usize = 64 * 1024;

const VERSION: u8 = 3;
const KEY: usize = 8;
const NONCE: usize = 24;
const TAG: usize = 16;
/// What stands before the ciphertext.
const HEADER: usize = 1 + KEY + NONCE;
/// The expiry, in seconds since 1970, big-endian.
const EXPIRY: usize = 8;
/// What a state has beside its payload.
const OVERHEAD: usize = HEADER + EXPIRY + binding::BINDING + TAG;

#[cfg(test)]
mod tests;
