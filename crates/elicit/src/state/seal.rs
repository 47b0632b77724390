use aws_lc_rs::aead::Aad;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use zeroize::Zeroize;

use super::binding::Parts;
use super::{Binding, HEADER, MAX_SEALED_BYTES, NONCE, OVERHEAD, StateKeys, VERSION};
use crate::Random;

/// Why a state was not sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// The sealed text would pass 64 KiB: carry less, or keep it in a store.
    #[error("the state would be longer than {MAX_SEALED_BYTES} bytes")]
    TooLarge,
    /// The value has no JSON: a map whose keys are no texts, or a `Serialize` of one's own that fails.
    #[error("the payload cannot be written as JSON")]
    Payload,
    /// The cipher failed, which it does not do for any input of this size.
    #[error("the cipher failed")]
    Cipher,
}

impl StateKeys {
    /// Seals `payload`, of at most [`MAX_PAYLOAD_BYTES`](Self::MAX_PAYLOAD_BYTES), for the one request that `binding` names,
    /// until `expires_at` (seconds since 1970; from that second on it is rejected).
    ///
    /// A question gets as long as its answer may take: fifteen minutes are usual, and more than
    /// [`MAX_LIFETIME_SECONDS`](Self::MAX_LIFETIME_SECONDS) will not open. A client may bring a state back as often as it likes
    /// until then (R-MRTR-03).
    pub fn seal(
        &self,
        binding: &Binding,
        payload: &[u8],
        expires_at: u64,
        random: &dyn Random,
    ) -> Result<String, SealError> {
        if payload.len() > Self::MAX_PAYLOAD_BYTES {
            return Err(SealError::TooLarge);
        }
        let mut nonce = [0; NONCE];
        random.fill(&mut nonce);
        let (key, rest) = self.active().message(&nonce).map_err(|_| SealError::Cipher)?;

        // The capacity is exact: growing would leave a copy of the payload behind.
        let mut bytes = Vec::with_capacity(OVERHEAD + payload.len());
        bytes.push(VERSION);
        bytes.extend_from_slice(&self.active().mark());
        bytes.extend_from_slice(&nonce);
        bytes.extend_from_slice(&expires_at.to_be_bytes());
        Parts::of(binding).write(&mut bytes);
        bytes.extend_from_slice(payload);

        let (associated, plain) = bytes.split_at_mut(HEADER);
        let Ok(tag) = key.seal_in_place_separate_tag(rest, Aad::from(associated), plain) else {
            bytes.zeroize();
            return Err(SealError::Cipher);
        };
        bytes.extend_from_slice(tag.as_ref());
        Ok(URL_SAFE_NO_PAD.encode(&bytes))
    }
}
