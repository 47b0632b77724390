//! What a third party granted (OAuth), and how it lies in the sealed part of a credential.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use super::CredentialStatus;
use super::content::ReadSecret;
use crate::time::{micros, whole_micros};

/// What a third party granted. The access token is among the credential's secrets, since templates use it; what is in
/// here is for keeping it alive and for showing what it is.
///
/// Sealed with the secrets, so that nobody who writes to the database has a refresh token sent elsewhere.
#[derive(Debug, Clone)]
pub struct Grant {
    /// What gets a new access token, where there is one.
    pub refresh_token: Option<SecretString>,
    /// When the access token expires; `None` where no expiry is known.
    pub expires_at: Option<Timestamp>,
    /// When it is to be refreshed ahead of its use, or tried again after an attempt that failed; `None` where it is
    /// refreshed on use alone. Lies in a column, for [`Store::due_refreshes`](crate::Store::due_refreshes).
    pub refresh_at: Option<Timestamp>,
    /// What was granted.
    pub scopes: BTreeSet<String>,
    /// What it was asked for. Some provider grants less, or calls it otherwise: that is asked for again only if a server says so.
    pub asked: BTreeSet<String>,
    /// What a server said is lacking.
    pub demanded: BTreeSet<String>,
    /// Whose account it is, as it is shown. Cleaned text.
    pub account: Option<String>,
    /// What templates and later requests use and is no secret: a host that the user chose, parameters of the callback.
    pub values: BTreeMap<String, String>,
    /// Which authorization server it belongs to (R-OAUTH-05).
    pub server: GrantServer,
}

/// The authorization server of a grant, as it was when it granted: nothing of it is ever sent to another one.
#[derive(Debug, Clone)]
pub struct GrantServer {
    /// Its issuer, or what stands for one.
    pub issuer: String,
    /// Where it is refreshed, if that is not by the configuration.
    pub token_endpoint: Option<String>,
    /// Where it is revoked, if that is not by the configuration.
    pub revocation_endpoint: Option<String>,
    /// The `resource` that it was asked for (RFC 8707).
    pub resource: Option<String>,
    /// Our registration there.
    pub client: GrantClient,
}

/// The registration that a grant was made to. A grant is refreshed by no other.
#[derive(Debug, Clone)]
pub struct GrantClient {
    /// The `client_id`.
    pub id: String,
    /// The `client_secret`, where it is not the configuration's.
    pub secret: Option<SecretString>,
    /// How it authenticates at the token endpoint.
    pub method: String,
    /// The redirect URI that the code came to.
    pub redirect_uri: String,
}

impl Grant {
    /// Whether it is exchanged for another one when its access token ends: by a refresh token, or because whoever stored it said
    /// when.
    pub fn is_renewed(&self) -> bool {
        self.refresh_token.is_some() || self.refresh_at.is_some()
    }

    /// What a credential with this grant is: a server may have demanded more.
    pub(super) fn status(&self) -> CredentialStatus {
        if self.demanded.is_empty() { CredentialStatus::Working } else { CredentialStatus::Narrow }
    }

    /// The same with times as they come back from the store.
    pub(super) fn stored(mut self) -> Self {
        self.expires_at = self.expires_at.map(whole_micros);
        self.refresh_at = self.refresh_at.map(whole_micros);
        self
    }

    /// No more bytes than these as JSON.
    pub(super) fn most_bytes(&self) -> usize {
        let Self { refresh_token, scopes, asked, demanded, account, values, server, .. } = self;
        let GrantServer { issuer, token_endpoint, revocation_endpoint, resource, client } = server;
        let optional = [account, token_endpoint, revocation_endpoint, resource].map(|text| text.as_deref());
        let secret = [refresh_token, &client.secret].map(|secret| secret.as_ref().map(ExposeSecret::expose_secret));
        let fixed = [issuer, &client.id, &client.method, &client.redirect_uri];
        let texts = fixed.into_iter().map(String::as_str);
        let texts = texts.chain(optional.into_iter().chain(secret).flatten());
        let texts = texts.chain(scopes.iter().chain(asked).chain(demanded).map(String::as_str));
        let texts = texts.chain(values.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]));
        // A byte becomes at most six; the names of the fields take less than 512.
        512 + texts.map(|text| 6 * text.len() + 8).sum::<usize>()
    }
}

#[derive(Serialize)]
pub(super) struct WrittenGrant<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh_token: Option<&'a str>,
    /// In microseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<i64>,
    scopes: &'a BTreeSet<String>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    asked: &'a BTreeSet<String>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    demanded: &'a BTreeSet<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    account: Option<&'a str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    values: &'a BTreeMap<String, String>,
    issuer: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_endpoint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revocation_endpoint: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource: Option<&'a str>,
    client_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<&'a str>,
    client_method: &'a str,
    redirect_uri: &'a str,
}

impl<'a> From<&'a Grant> for WrittenGrant<'a> {
    fn from(grant: &'a Grant) -> Self {
        let Grant { refresh_token, expires_at, refresh_at: _, scopes, asked, demanded, account, values, server } =
            grant;
        let GrantServer { issuer, token_endpoint, revocation_endpoint, resource, client } = server;
        Self {
            refresh_token: refresh_token.as_ref().map(ExposeSecret::expose_secret),
            expires_at: expires_at.map(micros),
            scopes,
            asked,
            demanded,
            account: account.as_deref(),
            values,
            issuer,
            token_endpoint: token_endpoint.as_deref(),
            revocation_endpoint: revocation_endpoint.as_deref(),
            resource: resource.as_deref(),
            client_id: &client.id,
            client_secret: client.secret.as_ref().map(ExposeSecret::expose_secret),
            client_method: &client.method,
            redirect_uri: &client.redirect_uri,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadGrant {
    #[serde(default)]
    refresh_token: Option<ReadSecret>,
    #[serde(default)]
    expires_at: Option<i64>,
    scopes: BTreeSet<String>,
    #[serde(default)]
    asked: BTreeSet<String>,
    #[serde(default)]
    demanded: BTreeSet<String>,
    #[serde(default)]
    account: Option<String>,
    #[serde(default)]
    values: BTreeMap<String, String>,
    issuer: String,
    #[serde(default)]
    token_endpoint: Option<String>,
    #[serde(default)]
    revocation_endpoint: Option<String>,
    #[serde(default)]
    resource: Option<String>,
    client_id: String,
    #[serde(default)]
    client_secret: Option<ReadSecret>,
    client_method: String,
    redirect_uri: String,
}

impl From<ReadGrant> for Grant {
    fn from(read: ReadGrant) -> Self {
        Self {
            refresh_token: read.refresh_token.map(|ReadSecret(token)| token),
            expires_at: read.expires_at.and_then(|micros| Timestamp::from_microsecond(micros).ok()),
            // The column says.
            refresh_at: None,
            scopes: read.scopes,
            asked: read.asked,
            demanded: read.demanded,
            account: read.account,
            values: read.values,
            server: GrantServer {
                issuer: read.issuer,
                token_endpoint: read.token_endpoint,
                revocation_endpoint: read.revocation_endpoint,
                resource: read.resource,
                client: GrantClient {
                    id: read.client_id,
                    secret: read.client_secret.map(|ReadSecret(secret)| secret),
                    method: read.client_method,
                    redirect_uri: read.redirect_uri,
                },
            },
        }
    }
}
