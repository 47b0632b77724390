use aws_lc_rs::aead::{AES_256_GCM, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::cipher::{AES_256, EncryptingKey, UnboundCipherKey};
use aws_lc_rs::error::Unspecified;
use zeroize::Zeroizing;

use super::NONCE;

/// Bytes of a block of AES.
const BLOCK: usize = 16;
/// How much of the nonce goes into the key of the message. The rest is the nonce of AES-256-GCM.
const SALT: usize = 12;

/// XAES-256-GCM (<https://c2sp.org/XAES-256-GCM>): AES-256-GCM with a key for each message, which AES-CMAC makes of one
/// half of the nonce (NIST SP 800-108r1). What does not depend on the message is made once.
///
/// aws-lc wipes the keys when they are dropped.
pub(super) struct Cipher {
    /// Encrypts single blocks, never a text, so nothing shows that the mode leaves open.
    key: EncryptingKey,
    /// The first subkey of AES-CMAC.
    subkey: Zeroizing<u128>,
}

impl Cipher {
    pub(super) fn new(secret: &[u8; 32]) -> Result<Self, Unspecified> {
        let key = EncryptingKey::ecb(UnboundCipherKey::new(&AES_256, secret)?)?;
        let mut block = Zeroizing::new([0; BLOCK]);
        key.encrypt(&mut *block)?;
        // The encrypted zero twice, in the field of 2¹²⁸ elements: without a branch, since it is secret.
        let zero = Zeroizing::new(u128::from_be_bytes(*block));
        let subkey = Zeroizing::new((*zero << 1) ^ ((*zero >> 127) * 0x87));
        Ok(Self { key, subkey })
    }

    /// The key of the one message with this nonce, and the nonce to use with it.
    pub(super) fn message(&self, nonce: &[u8; NONCE]) -> Result<(LessSafeKey, Nonce), Unspecified> {
        let (salt, nonce) = nonce.split_at(SALT);
        let mut key = Zeroizing::new([0; 2 * BLOCK]);
        for (counter, block) in (1..).zip(key.as_chunks_mut::<BLOCK>().0) {
            // The counter in 16 bits, the label, and a zero.
            block[..4].copy_from_slice(&[0, counter, b'X', 0]);
            block[4..].copy_from_slice(salt);
            *block = (u128::from_be_bytes(*block) ^ *self.subkey).to_be_bytes();
        }
        self.key.encrypt(&mut *key)?;
        let key = UnboundKey::new(&AES_256_GCM, &*key).map(LessSafeKey::new)?;
        Ok((key, Nonce::try_assume_unique_for_key(nonce)?))
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use aws_lc_rs::aead::Aad;

    use super::*;

    /// The vectors of the specification: one for either first bit of the encrypted zero.
    #[test]
    fn messages_are_sealed_as_the_specification_says() {
        let table = [
            (1, "", "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"),
            (3, "c2sp.org/XAES-256-GCM", "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d"),
        ];
        for (byte, associated, expected) in table {
            let cipher = Cipher::new(&[byte; 32]).unwrap();
            let (key, nonce) = cipher.message(b"ABCDEFGHIJKLMNOPQRSTUVWX").unwrap();
            let mut text = b"XAES-256-GCM".to_vec();
            key.seal_in_place_append_tag(nonce, Aad::from(associated), &mut text).unwrap();
            let mut hex = String::new();
            for byte in text {
                write!(hex, "{byte:02x}").unwrap();
            }
            assert_eq!(hex, expected);
        }
    }
}
