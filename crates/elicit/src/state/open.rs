use aws_lc_rs::aead::{Aad, Nonce};
use aws_lc_rs::constant_time::verify_slices_are_equal;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use zeroize::Zeroizing;

use super::binding::{BINDING, Parts};
use super::{Binding, EXPIRY, MAX_SEALED_BYTES, NONCE, SALT, StateKeys, TAG, VERSION};

/// The one text that a peer is told of any rejected state, with
/// [`INVALID_PARAMS`](crate::INVALID_PARAMS). Which of the causes it was goes to the log only: a
/// forger learns nothing from it (R-MRTR-02).
pub const STATE_REJECTED: &str =
    "This request can no longer be continued. Call again without requestState and inputResponses.";

/// Why a state was rejected: for the log, never for the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Rejected {
    /// Longer than 64 KiB.
    #[error("request state is too large")]
    TooLarge,
    /// Not base64url of our layout and version.
    #[error("request state is malformed")]
    Malformed,
    /// Sealed by a key that is not in the ring: retired, or another deployment's.
    #[error("request state was sealed by an unknown key")]
    UnknownKey,
    /// Changed, or never sealed by us.
    #[error("request state was tampered with")]
    Tampered,
    /// Older than it may be.
    #[error("request state is expired")]
    Expired,
    /// Another user's, or another client's.
    #[error("request state belongs to another principal")]
    Principal,
    /// Made for another upstream.
    #[error("request state belongs to another upstream")]
    Upstream,
    /// Made for another method.
    #[error("request state belongs to another method")]
    Method,
    /// Made for another name, other arguments, or another URI.
    #[error("request state belongs to other parameters")]
    Digest,
}

impl StateKeys {
    /// The payload of a state that was sealed by this ring for this very binding and has not
    /// expired at `now` (seconds since 1970).
    pub fn open(&self, sealed: &str, binding: &Binding, now: u64) -> Result<Zeroizing<Vec<u8>>, Rejected> {
        if sealed.len() > MAX_SEALED_BYTES {
            return Err(Rejected::TooLarge);
        }
        let mut bytes = URL_SAFE_NO_PAD.decode(sealed).map(Zeroizing::new).map_err(|_| Rejected::Malformed)?;
        let header = Header::read(&bytes).ok_or(Rejected::Malformed)?;
        let key = self.named(header.key_id).ok_or(Rejected::UnknownKey)?;
        let key = key.message_key(&header.salt).map_err(|_| Rejected::Tampered)?;
        let (nonce, length) = (header.nonce, header.length);

        let (associated, ciphertext) = bytes.split_at_mut(length);
        let plain = key
            .open_in_place(Nonce::assume_unique_for_key(nonce), Aad::from(associated), ciphertext)
            .map_err(|_| Rejected::Tampered)?;
        let (expiry, rest) = plain.split_first_chunk().ok_or(Rejected::Malformed)?;
        let (parts, payload) = rest.split_first_chunk().ok_or(Rejected::Malformed)?;
        check(u64::from_be_bytes(*expiry), parts, binding, now)?;

        // The payload moves to the front of the buffer that is wiped at the end anyway.
        let start = length + EXPIRY + BINDING;
        let end = start + payload.len();
        bytes.copy_within(start..end, 0);
        bytes.truncate(end - start);
        Ok(bytes)
    }
}

/// What stands before the ciphertext.
struct Header<'a> {
    key_id: &'a [u8],
    salt: [u8; SALT],
    nonce: [u8; NONCE],
    /// Bytes of the whole header.
    length: usize,
}

impl<'a> Header<'a> {
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let ([version, id_length], rest) = bytes.split_first_chunk()?;
        if *version != VERSION {
            return None;
        }
        let (key_id, rest) = rest.split_at_checked(usize::from(*id_length))?;
        let (salt, rest) = rest.split_first_chunk()?;
        let (nonce, rest) = rest.split_first_chunk()?;
        (rest.len() >= EXPIRY + BINDING + TAG).then(|| Self {
            key_id,
            salt: *salt,
            nonce: *nonce,
            length: bytes.len() - rest.len(),
        })
    }
}

fn check(expires_at: u64, sealed: &[u8; BINDING], binding: &Binding, now: u64) -> Result<(), Rejected> {
    let sealed = Parts::read(sealed);
    let actual = Parts::of(binding);
    if now >= expires_at {
        return Err(Rejected::Expired);
    }
    let same = |left, right, rejected| verify_slices_are_equal(left, right).map_err(|_| rejected);
    same(&sealed.principal, &actual.principal, Rejected::Principal)?;
    same(&sealed.upstream, &actual.upstream, Rejected::Upstream)?;
    same(&sealed.method, &actual.method, Rejected::Method)?;
    same(&sealed.digest, &actual.digest, Rejected::Digest)
}
