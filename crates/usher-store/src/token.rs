//! Random text and its hash: what links, cookies and session ids are made of.

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use elicit::Random;
use zeroize::Zeroizing;

/// 256 random bits as base64url: 43 characters.
pub(crate) fn random_text(random: &dyn Random) -> String {
    let mut bytes = Zeroizing::new([0_u8; 32]);
    random.fill(bytes.as_mut());
    URL_SAFE_NO_PAD.encode(*bytes)
}

/// Whether the text is what [`random_text`] makes, to the last bit.
pub(crate) fn is_random_text(text: &str) -> bool {
    // The decoder refuses padding and stray bits at the end, so that one value has one text.
    text.len() == 43
        && URL_SAFE_NO_PAD.decode(text).is_ok_and(|bytes| {
            let bytes = Zeroizing::new(bytes);
            bytes.len() == 32
        })
}

/// The hash under which a random token is stored. The tokens carry 256 bits, so
/// a plain SHA-256 is enough: there is nothing to guess.
pub(crate) fn token_hash(token: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, token.as_bytes()))
}
