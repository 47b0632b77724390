//! AES-256-GCM with a random nonce in front: nonce (12 bytes), ciphertext, tag (16 bytes).

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use elicit::Random;
use zeroize::Zeroizing;

use crate::keys::KeyError;

const TAG_LEN: usize = 16;

/// Seals under a key. A master key may do this 2^32 times before random nonces
/// come near each other; a data key does it once.
pub(crate) fn seal(key: &[u8; 32], context: &[u8], value: &[u8], random: &dyn Random) -> Result<Vec<u8>, KeyError> {
    let mut nonce = [0_u8; NONCE_LEN];
    random.fill(&mut nonce);
    // Room for all of it at once: growing would leave the plain value behind.
    let mut bytes = Vec::with_capacity(NONCE_LEN + value.len() + TAG_LEN);
    bytes.extend_from_slice(&nonce);
    bytes.extend_from_slice(value);
    let tag = cipher(key)?
        .seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), Aad::from(context), &mut bytes[NONCE_LEN..])
        .map_err(|_| failed())?;
    bytes.extend_from_slice(tag.as_ref());
    Ok(bytes)
}

/// Opens what [`seal`] made, given the same context.
pub(crate) fn open(key: &[u8; 32], context: &[u8], bytes: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    let (nonce, sealed) = bytes.split_first_chunk::<NONCE_LEN>().ok_or(KeyError::Malformed)?;
    let mut value = Zeroizing::new(sealed.to_vec());
    let length = cipher(key)?
        .open_in_place(Nonce::assume_unique_for_key(*nonce), Aad::from(context), &mut value)
        .map_err(|_| KeyError::Tampered)?
        .len();
    value.truncate(length);
    Ok(value)
}

fn cipher(key: &[u8; 32]) -> Result<LessSafeKey, KeyError> {
    UnboundKey::new(&AES_256_GCM, key).map(LessSafeKey::new).map_err(|_| failed())
}

fn failed() -> KeyError {
    KeyError::Holder("the cipher failed".to_owned())
}
