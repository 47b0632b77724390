use aws_lc_rs::encoding::AsDer as _;
use aws_lc_rs::rand::{SecureRandom as _, SystemRandom};
use aws_lc_rs::rsa::KeySize;
use aws_lc_rs::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _,
    RsaKeyPair,
};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{EncodingKey, crypto};
use serde_json::{Value, json};

/// What a key signs with (RFC 7518, section 3.1; RFC 8037).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// ECDSA on P-256.
    Es256,
    /// ECDSA on P-384.
    Es384,
    /// RSA, PKCS #1 v1.5.
    Rs256,
    /// RSA, PSS.
    Ps256,
    /// Ed25519.
    EdDsa,
}

impl Algorithm {
    /// Its name in a header.
    pub fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::Es384 => "ES384",
            Self::Rs256 => "RS256",
            Self::Ps256 => "PS256",
            Self::EdDsa => "EdDSA",
        }
    }

    fn known(self) -> jsonwebtoken::Algorithm {
        self.name().parse().expect("an algorithm of the library")
    }
}

/// A key of an issuer. Clones are the same key.
#[derive(Clone, Debug)]
pub struct Key {
    /// Its id.
    pub kid: String,
    /// What it signs with.
    pub algorithm: Algorithm,
    private: EncodingKey,
    public: Vec<u8>,
    jwk: Value,
}

impl Key {
    /// Makes a key. One for RSA takes a tenth of a second.
    pub fn new(algorithm: Algorithm, kid: &str) -> Self {
        let (private, public, members) = match algorithm {
            Algorithm::Es256 => curve(&ECDSA_P256_SHA256_FIXED_SIGNING, "P-256"),
            Algorithm::Es384 => curve(&ECDSA_P384_SHA384_FIXED_SIGNING, "P-384"),
            Algorithm::Rs256 | Algorithm::Ps256 => rsa(),
            Algorithm::EdDsa => edwards(),
        };
        let mut jwk = json!({ "kid": kid, "use": "sig", "alg": algorithm.name() });
        merge(&mut jwk, &members);
        Self { kid: kid.to_owned(), algorithm, private, public, jwk }
    }

    /// Its public half (RFC 7517).
    pub fn jwk(&self) -> Value {
        self.jwk.clone()
    }

    pub(super) fn sign(&self, message: &str) -> String {
        crypto::sign(message.as_bytes(), &self.private, self.algorithm.known()).expect("a key for its algorithm")
    }

    /// HS256 with the public half as the secret.
    pub(super) fn hmac(&self, message: &str) -> String {
        let secret = EncodingKey::from_secret(&self.public).expect("a secret that is not empty");
        crypto::sign(message.as_bytes(), &secret, jsonwebtoken::Algorithm::HS256).expect("any secret will do")
    }
}

/// Puts members into an object; null takes one out.
pub(crate) fn merge(into: &mut Value, members: &Value) {
    let (Some(into), Some(members)) = (into.as_object_mut(), members.as_object()) else { panic!("two objects") };
    for (name, value) in members {
        if value.is_null() {
            into.remove(name);
        } else {
            into.insert(name.clone(), value.clone());
        }
    }
}

pub(crate) fn encoded(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A text that nobody guesses.
pub(crate) fn random() -> String {
    let mut bytes = [0; 24];
    SystemRandom::new().fill(&mut bytes).expect("random bytes");
    encoded(&bytes)
}

type Parts = (EncodingKey, Vec<u8>, Value);

fn curve(algorithm: &'static aws_lc_rs::signature::EcdsaSigningAlgorithm, name: &str) -> Parts {
    let document = EcdsaKeyPair::generate_pkcs8(algorithm, &SystemRandom::new()).expect("a new key");
    let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref()).expect("a key that was just made");
    // An uncompressed point: 4, x, y.
    let point = pair.public_key().as_ref()[1..].to_vec();
    let (x, y) = point.split_at(point.len() / 2);
    let members = json!({ "kty": "EC", "crv": name, "x": encoded(x), "y": encoded(y) });
    (EncodingKey::from_ec_der(document.as_ref()), pair.public_key().as_ref().to_vec(), members)
}

fn edwards() -> Parts {
    let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).expect("a new key");
    let pair = Ed25519KeyPair::from_pkcs8(document.as_ref()).expect("a key that was just made");
    let public = pair.public_key().as_ref().to_vec();
    let members = json!({ "kty": "OKP", "crv": "Ed25519", "x": encoded(&public) });
    (EncodingKey::from_ed_der(document.as_ref()), public, members)
}

fn rsa() -> Parts {
    /// What stands in PKCS #8 before the PKCS #1 key that the signing library wants: the same for every key of this size.
    const PREFIX: usize = 26;
    let pair = RsaKeyPair::generate(KeySize::Rsa2048).expect("a new key");
    let document = pair.as_der().expect("a key as PKCS #8");
    let public = pair.public_key();
    let (n, e) = (public.modulus(), public.exponent());
    let members = json!({
        "kty": "RSA",
        "n": encoded(n.big_endian_without_leading_zero()),
        "e": encoded(e.big_endian_without_leading_zero()),
    });
    (EncodingKey::from_rsa_der(&document.as_ref()[PREFIX..]), public.as_ref().to_vec(), members)
}
