use serde_json::{Value, json};

use super::key::{Algorithm, Key, encoded, merge, random};
use super::{CLIENT, Inner};
use crate::record::lock;

/// How a token is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signature {
    /// By the newest key of this algorithm, which is made and published if there is none.
    By(Algorithm),
    /// Not at all: `alg` is `none`.
    None,
    /// By HMAC, with the public key of this algorithm as the secret: deceives whoever lets the header choose.
    PublicKeyAsSecret(Algorithm),
    /// By a key that nobody published, under the id of the one that is.
    Stranger(Algorithm),
    /// Like `By`, with one bit of it wrong.
    Broken(Algorithm),
}

/// A token that is being made. Everything in it can be changed.
#[derive(Clone, Debug)]
pub struct Token<'i> {
    issuer: &'i Inner,
    header: Value,
    claims: Value,
    signature: Signature,
}

impl<'i> Token<'i> {
    /// An access token (RFC 9068) of the client `editor`, good for five minutes, for nobody.
    pub(super) fn access(issuer: &'i Inner, subject: &str) -> Self {
        Self::new(issuer, "at+jwt", subject).client("editor").claim("jti", random())
    }

    /// An ID token for [`CLIENT`].
    pub(super) fn id(issuer: &'i Inner, subject: &str) -> Self {
        Self::new(issuer, "JWT", subject).audience(CLIENT).at("auth_time", 0)
    }

    fn new(issuer: &'i Inner, typ: &str, subject: &str) -> Self {
        let name = lock(&issuer.settings).issuer.clone();
        let header = json!({ "typ": typ });
        let claims = json!({ "iss": name, "sub": subject });
        Self { issuer, header, claims, signature: Signature::By(Algorithm::Es256) }.at("iat", 0).at("exp", 300)
    }

    /// Whom it is for: a string or an array.
    pub fn audience(self, audience: impl Into<Value>) -> Self {
        self.claim("aud", audience)
    }

    /// Which client it was issued to.
    pub fn client(self, id: &str) -> Self {
        self.claim("client_id", id)
    }

    /// What it allows, with spaces between.
    pub fn scope(self, scope: &str) -> Self {
        self.claim("scope", scope)
    }

    /// Sets a claim; null takes it out.
    pub fn claim(mut self, name: &str, value: impl Into<Value>) -> Self {
        merge(&mut self.claims, &json!({ name: value.into() }));
        self
    }

    /// Sets several.
    pub fn claims(mut self, claims: &Value) -> Self {
        merge(&mut self.claims, claims);
        self
    }

    /// Leaves a claim out.
    pub fn without(self, name: &str) -> Self {
        self.claim(name, Value::Null)
    }

    /// Sets a time claim, in seconds from now.
    pub fn at(self, name: &str, seconds: i64) -> Self {
        let time = self.issuer.now() + seconds;
        self.claim(name, time)
    }

    /// Sets a member of the header, in place of its own; null takes it out.
    pub fn header(mut self, name: &str, value: impl Into<Value>) -> Self {
        // Null stays until the header is made, so that it takes out what is set there.
        self.header[name] = value.into();
        self
    }

    /// Sets several.
    pub fn headers(self, headers: &Value) -> Self {
        let members = headers.as_object().expect("an object").clone();
        members.into_iter().fold(self, |token, (name, value)| token.header(&name, value))
    }

    /// Signs it so.
    pub fn signed(mut self, signature: Signature) -> Self {
        self.signature = signature;
        self
    }

    /// The compact form (RFC 7515, section 7.1). Introspection knows it.
    pub fn mint(self) -> String {
        let text = self.text();
        self.issuer.remember(&text, self.claims);
        text
    }

    /// A random text that only introspection can read.
    pub fn opaque(self) -> String {
        let text = random();
        self.issuer.remember(&text, self.claims);
        text
    }

    fn text(&self) -> String {
        let (Signature::By(algorithm)
        | Signature::Stranger(algorithm)
        | Signature::Broken(algorithm)
        | Signature::PublicKeyAsSecret(algorithm)) = self.signature
        else {
            return format!("{}.", self.message(&json!({ "alg": "none" })));
        };
        let key = self.issuer.key(algorithm);
        let name = if matches!(self.signature, Signature::PublicKeyAsSecret(_)) { "HS256" } else { algorithm.name() };
        let message = self.message(&json!({ "alg": name, "kid": key.kid }));
        let signature = match self.signature {
            Signature::PublicKeyAsSecret(_) => key.hmac(&message),
            Signature::Stranger(_) => Key::new(algorithm, &key.kid).sign(&message),
            Signature::Broken(_) => broken(&key.sign(&message)),
            Signature::By(_) | Signature::None => key.sign(&message),
        };
        format!("{message}.{signature}")
    }

    fn message(&self, own: &Value) -> String {
        let mut header = own.clone();
        merge(&mut header, &self.header);
        format!("{}.{}", encoded(header.to_string().as_bytes()), encoded(self.claims.to_string().as_bytes()))
    }
}

/// The same with its first letter changed.
fn broken(signature: &str) -> String {
    let first = if signature.starts_with('A') { 'B' } else { 'A' };
    format!("{first}{}", &signature[1..])
}
