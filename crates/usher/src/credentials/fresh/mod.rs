//! Keeps what was granted alive: an access token is exchanged for a new one before or after it expires.

mod ahead;

pub use self::ahead::refresh_at;
