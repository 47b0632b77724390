use aws_lc_rs::aead::Aad;
use aws_lc_rs::constant_time::verify_slices_are_equal;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use zeroize::Zeroizing;

use super::binding::{BINDING, Parts};
use super::{Binding, EXPIRY, HEADER, KEY, MAX_SEALED_BYTES, NONCE, OVERHEAD, StateKeys, VERSION};

/// The one text that a peer is told of any rejected state, with
/// [`INVALID_PARAMS`](crate::INVALID_PARAMS). Which of the causes it was goes to the log only: a
/// forger learns nothing from it (R-MRTR-02).
pub const STATE_REJECTED: &str =
    "This request can no longer be continued. Call again without requestState and inputResponses.";

/// Why a state was rejected: for the log, never for the peer, who gets [`STATE_REJECTED`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
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
    /// Older than it may be.
    #[error("request state is expired")]
    Expired,
    /// Made to live longer than a state may: a clock was or is wrong, or the expiry was no number of seconds.
    #[error("request state expires too far ahead")]
    TooFarAhead,
    /// Not the JSON that was expected: sealed by another build, or for another purpose.
    #[error("request state holds another payload")]
    Payload,
}

impl StateKeys {
    /// The payload of a state that was sealed by this ring for this very binding, has not expired at `now` (seconds since
    /// 1970), and does not expire more than [`MAX_LIFETIME_SECONDS`](Self::MAX_LIFETIME_SECONDS) after it.
    ///
    /// Where clocks differ or go back, states live shorter or longer by the difference. What is checked first counts:
    /// size, layout, key, tag, principal, upstream, method, digest, expiry. So a state that was stolen shows as that in the
    /// log, however old it is.
    pub fn open(&self, sealed: &str, binding: &Binding, now: u64) -> Result<Zeroizing<Vec<u8>>, Rejected> {
        if sealed.len() > MAX_SEALED_BYTES {
            return Err(Rejected::TooLarge);
        }
        let mut bytes = URL_SAFE_NO_PAD.decode(sealed).map(Zeroizing::new).map_err(|_| Rejected::Malformed)?;
        let header = Header::read(&bytes).ok_or(Rejected::Malformed)?;
        let key = self.marked(header.key).ok_or(Rejected::UnknownKey)?;
        let (key, nonce) = key.message(&header.nonce).map_err(|_| Rejected::Tampered)?;

        let (associated, ciphertext) = bytes.split_at_mut(HEADER);
        let plain = key.open_in_place(nonce, Aad::from(associated), ciphertext).map_err(|_| Rejected::Tampered)?;
        let (expiry, rest) = plain.split_first_chunk().ok_or(Rejected::Malformed)?;
        let (parts, payload) = rest.split_first_chunk().ok_or(Rejected::Malformed)?;
        check_binding(parts, binding)?;
        check_expiry(u64::from_be_bytes(*expiry), now)?;

        // The payload moves to the front of the buffer that is wiped at the end anyway.
        let start = HEADER + EXPIRY + BINDING;
        let end = start + payload.len();
        bytes.copy_within(start..end, 0);
        bytes.truncate(end - start);
        Ok(bytes)
    }
}

/// What stands before the ciphertext.
struct Header {
    key: [u8; KEY],
    nonce: [u8; NONCE],
}

impl Header {
    fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.len() < OVERHEAD {
            return None;
        }
        let (version, rest) = bytes.split_first()?;
        let (key, rest) = rest.split_first_chunk()?;
        let (nonce, _) = rest.split_first_chunk()?;
        (*version == VERSION).then_some(Self { key: *key, nonce: *nonce })
    }
}

/// Each part takes one time, whatever it says.
fn check_binding(sealed: &[u8; BINDING], binding: &Binding) -> Result<(), Rejected> {
    let sealed = Parts::read(sealed);
    let actual = Parts::of(binding);
    let same = |left, right, rejected| verify_slices_are_equal(left, right).map_err(|_| rejected);
    same(&sealed.principal, &actual.principal, Rejected::Principal)?;
    same(&sealed.upstream, &actual.upstream, Rejected::Upstream)?;
    same(&sealed.method, &actual.method, Rejected::Method)?;
    same(&sealed.digest, &actual.digest, Rejected::Digest)
}

fn check_expiry(expires_at: u64, now: u64) -> Result<(), Rejected> {
    match expires_at.saturating_sub(now) {
        0 => Err(Rejected::Expired),
        1..=StateKeys::MAX_LIFETIME_SECONDS => Ok(()),
        _ => Err(Rejected::TooFarAhead),
    }
}
