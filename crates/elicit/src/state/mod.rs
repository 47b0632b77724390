//! State that travels through a client we do not trust (R-MRTR-02): sealed with AES-256-GCM and
//! bound to the request that it continues.
//!
//! ```text
//! base64url( version | key id length | key id | salt 16 | nonce 12 | ciphertext | tag 16 )
//! ```
//!
//! The message key is HMAC-SHA256(secret, label | salt), so that no key seals enough messages for
//! nonces to meet. Everything before the ciphertext is associated data. Inside stand the expiry,
//! the digests of the binding's four parts, and the payload. It holds no round trip to a store:
//! what may count only once has to be enforced there (R-MRTR-03).

mod binding;
mod keys;
mod open;
mod seal;

pub use binding::Binding;
pub use keys::{StateKey, StateKeys};
pub use open::{Rejected, STATE_REJECTED};
pub use seal::SealError;

/// The longest sealed state that is made or read, in bytes of its text: 64 KiB.
pub const MAX_SEALED_BYTES: usize = 64 * 1024;

const VERSION: u8 = 1;
const SALT: usize = 16;
const NONCE: usize = 12;
const TAG: usize = 16;
/// The expiry, in seconds since 1970, big-endian.
const EXPIRY: usize = 8;

#[cfg(test)]
mod tests;
