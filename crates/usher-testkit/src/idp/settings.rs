use serde_json::{Map, Value};

use super::{Algorithm, Signature};

/// Who is signed in at the issuer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Who {
    /// Whoever the person says in a form; remembered by a cookie, and asked again for `prompt=login` and
    /// `prompt=select_account`.
    Asked,
    /// Always this user, without a page.
    Always(String),
}

/// What `iss` says in a reply to the redirect URI (RFC 9207).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplyIssuer {
    /// The issuer.
    Right,
    /// Nothing.
    Missing,
    /// Somebody else.
    Other(String),
}

/// What the issuer does, and what it does wrong. Objects are put over what it would say; null takes a member out.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Its name, and what its endpoints begin with.
    pub issuer: String,
    /// Who is signed in.
    pub who: Who,
    /// Over the discovery document.
    pub metadata: Value,
    /// In place of the published keys.
    pub jwks: Option<Value>,
    /// `iss` in replies.
    pub reply_issuer: ReplyIssuer,
    /// The authorization endpoint answers every request with this error.
    pub authorization_error: Option<String>,
    /// Over the claims of each ID token.
    pub id_claims: Value,
    /// Over the header of each ID token.
    pub id_header: Value,
    /// How ID tokens are signed.
    pub id_signature: Signature,
    /// Over each answer of the token endpoint.
    pub tokens: Value,
    /// Over each answer of introspection.
    pub introspection: Value,
    /// How clients may prove who they are: `client_secret_basic`, `client_secret_post`, `none`.
    pub auth_methods: Vec<&'static str>,
    /// A code is taken more than once.
    pub codes_again: bool,
    /// How far its clock is ahead, in seconds.
    pub ahead: i64,
}

impl Settings {
    pub(super) fn new(issuer: String) -> Self {
        let nothing = || Value::Object(Map::new());
        Self {
            issuer,
            who: Who::Asked,
            metadata: nothing(),
            jwks: None,
            reply_issuer: ReplyIssuer::Right,
            authorization_error: None,
            id_claims: nothing(),
            id_header: nothing(),
            id_signature: Signature::By(Algorithm::Es256),
            tokens: nothing(),
            introspection: nothing(),
            auth_methods: vec!["client_secret_basic", "client_secret_post", "none"],
            codes_again: false,
            ahead: 0,
        }
    }
}
