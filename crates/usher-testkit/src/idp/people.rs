use serde_json::{Value, json};

/// A user of the issuer.
#[derive(Clone, Debug)]
pub struct User {
    pub(super) claims: Value,
}

impl User {
    /// A user with this `sub`.
    pub fn new(subject: &str) -> Self {
        Self { claims: json!({ "sub": subject }) }
    }

    /// With a claim that goes into ID tokens and to the userinfo endpoint.
    pub fn claim(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.claims[name] = value.into();
        self
    }

    pub(super) fn subject(&self) -> &str {
        self.claims["sub"].as_str().unwrap_or_default()
    }
}

/// A client that the issuer knows.
#[derive(Clone, Debug)]
pub struct Client {
    pub(super) id: String,
    pub(super) secret: Option<String>,
    pub(super) redirect_uris: Vec<String>,
}

impl Client {
    /// A client with a secret.
    pub fn new(id: &str, secret: &str) -> Self {
        Self { id: id.to_owned(), secret: Some(secret.to_owned()), redirect_uris: Vec::new() }
    }

    /// A client without one.
    pub fn public(id: &str) -> Self {
        Self { id: id.to_owned(), secret: None, redirect_uris: Vec::new() }
    }

    /// Only to this address, and others that are named, is it answered. Without any, to every address.
    pub fn redirect_uri(mut self, uri: &str) -> Self {
        self.redirect_uris.push(uri.to_owned());
        self
    }
}

/// What a code stands for.
#[derive(Clone, Debug)]
pub(super) struct Grant {
    pub(super) client: String,
    pub(super) redirect_uri: String,
    pub(super) user: User,
    pub(super) nonce: Option<String>,
    pub(super) challenge: Option<String>,
    pub(super) scope: Option<String>,
    pub(super) resource: Option<String>,
    pub(super) signed_in_at: i64,
    pub(super) used: bool,
}
