use std::sync::Arc;

use super::Inner;
use crate::record::lock;

/// What a resource server learns about an access token that is good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Whose it is.
    pub subject: String,
    /// The client it was issued to.
    pub client: String,
    /// What it allows.
    pub scopes: Vec<String>,
    /// The resource it is for (RFC 8707), where one was named.
    pub resource: Option<String>,
    /// The tenant it belongs to, or the empty text.
    pub tenant: String,
}

/// The access tokens of a provider, for a resource server of it. Clones look at the same tokens.
#[derive(Clone, Debug)]
pub struct TokenBook(pub(super) Arc<Inner>);

impl TokenBook {
    /// What this access token says; `None` where it is not known, has expired, or was revoked.
    pub fn look_up(&self, access_token: &str) -> Option<Token> {
        self.0.token(access_token)
    }

    /// The issuer's name.
    pub fn issuer(&self) -> String {
        lock(&self.0.settings).issuer.clone()
    }
}

impl Inner {
    pub(super) fn token(&self, access_token: &str) -> Option<Token> {
        let now = self.now();
        let vault = lock(&self.vault);
        vault.good_access(access_token, now).map(|(access, grant)| Token {
            subject: grant.subject.clone(),
            client: grant.client.clone(),
            scopes: access.scopes.clone(),
            resource: grant.resource.clone(),
            tenant: grant.tenant.clone(),
        })
    }
}
