//! The public keys of the issuer (RFC 7517), each with what it may be used for.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use jsonwebtoken::{DecodingKey, crypto};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::algorithm::Algorithm;

/// The most bytes of a key set that are read.
pub(super) const LIMIT: usize = 256 * 1024;

/// The most keys of a set that are looked at.
const MOST: usize = 100;

/// The shortest RSA modulus, in bytes (RFC 7518, section 3.3).
const RSA_BYTES: usize = 256;

/// Keys that a signature can be checked with; what is none of them is left out.
#[derive(Debug, Clone, Default)]
pub struct KeySet {
    keys: Vec<Key>,
}

#[derive(Debug, Clone)]
struct Key {
    kid: Option<String>,
    kind: Kind,
    /// The one algorithm that the issuer keeps it for, where it says so.
    only: Option<Algorithm>,
    public: DecodingKey,
}

/// What a key is, by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Rsa,
    P256,
    P384,
    Ed25519,
}

/// The text is no key set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it is no key set: {0}")]
pub struct KeysError(String);

/// How a check of a signature ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Checked {
    Right,
    Wrong,
    /// No key of this id is for this algorithm.
    NoKey,
}

#[derive(Deserialize)]
struct Document<'d> {
    #[serde(borrow)]
    keys: Vec<&'d RawValue>,
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    crv: Option<String>,
    kid: Option<String>,
    r#use: Option<String>,
    key_ops: Option<Vec<String>>,
    alg: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl KeySet {
    /// Reads a key set. A key that is not understood is left out, as section 5 says; so is a secret one.
    pub fn parse(text: &[u8]) -> Result<Self, KeysError> {
        let document: Document<'_> = serde_json::from_slice(text).map_err(|error| KeysError(error.to_string()))?;
        let keys = document.keys.iter().take(MOST);
        Ok(Self { keys: keys.filter_map(|jwk| key(serde_json::from_str(jwk.get()).ok()?)).collect() })
    }

    /// How many keys there are to check with.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Whether a key is for this algorithm.
    pub fn fits(&self, algorithm: Algorithm) -> bool {
        self.keys.iter().any(|key| key.fits(algorithm))
    }

    /// Checks the signature by the keys with this id, and those that have none; or, where the token names none, by all. Only by
    /// keys that are for its algorithm.
    pub(super) fn check(&self, message: &[u8], signature: &str, algorithm: Algorithm, kid: Option<&str>) -> Checked {
        let named = |key: &&Key| kid.is_none() || key.kid.is_none() || key.kid.as_deref() == kid;
        let mut checked = Checked::NoKey;
        for key in self.keys.iter().filter(named).filter(|key| key.fits(algorithm)) {
            if crypto::verify(signature, message, &key.public, algorithm.library()).unwrap_or(false) {
                return Checked::Right;
            }
            checked = Checked::Wrong;
        }
        checked
    }
}

impl Key {
    fn fits(&self, algorithm: Algorithm) -> bool {
        self.kind == algorithm.kind() && self.only.is_none_or(|only| only == algorithm)
    }
}

/// A key of a kind that is known, made for signatures.
fn key(jwk: Jwk) -> Option<Key> {
    let for_signatures = jwk.r#use.as_deref().is_none_or(|used| used == "sig")
        && jwk.key_ops.as_ref().is_none_or(|ops| ops.iter().any(|op| op == "verify"));
    if !for_signatures {
        return None;
    }
    let only = match jwk.alg.as_deref() {
        Some(name) => Some(Algorithm::parse(name)?),
        None => None,
    };
    let (kind, public) = match (jwk.kty.as_str(), jwk.crv.as_deref()) {
        ("RSA", _) => (Kind::Rsa, rsa(&jwk.n?, &jwk.e?)?),
        ("EC", Some("P-256")) => (Kind::P256, curve(&jwk.x?, &jwk.y?, 32)?),
        ("EC", Some("P-384")) => (Kind::P384, curve(&jwk.x?, &jwk.y?, 48)?),
        ("OKP", Some("Ed25519")) => {
            let x = bytes(&jwk.x?)?;
            (Kind::Ed25519, (x.len() == 32).then(|| DecodingKey::from_ed_der(&x))?)
        }
        _ => return None,
    };
    let key = Key { kid: jwk.kid, kind, only, public };
    // A key that says it is for an algorithm of another kind is for none.
    key.only.is_none_or(|only| only.kind() == kind).then_some(key)
}

fn rsa(n: &str, e: &str) -> Option<DecodingKey> {
    let (n, e) = (bytes(n)?, bytes(e)?);
    let long = n.iter().skip_while(|byte| **byte == 0).count() >= RSA_BYTES;
    long.then(|| DecodingKey::from_rsa_raw_components(&n, &e))
}

/// A point, as its two coordinates.
fn curve(x: &str, y: &str, size: usize) -> Option<DecodingKey> {
    let (x, y) = (bytes(x)?, bytes(y)?);
    if x.len() != size || y.len() != size {
        return None;
    }
    // Uncompressed (SEC 1, section 2.3.3), which is what the library takes.
    Some(DecodingKey::from_ec_der(&[&[4][..], &x, &y].concat()))
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}
