//! What is kept of a way to a provider, for the way back.

use std::collections::{BTreeMap, BTreeSet};

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use usher_store::{GrantClient, GrantServer};

use crate::{
    config::{ClientAuthentication, Config, Provider, ProviderKind, definition::Iss},
    credentials::servers::{Account, ClientOrigin},
    oauth::{Client, Discovered, Server},
};

/// A way out: which server the browser was sent to, as whose client, and what was asked for.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    /// What the code is exchanged with (RFC 7636).
    pub(super) verifier: SecretString,
    /// What was asked for.
    pub(super) scopes: BTreeSet<String>,
    /// The server, and our client there; a secret of the configuration is not among it.
    pub(super) server: GrantServer,
    /// What the person, or the operator, chose of the server's addresses.
    values: BTreeMap<String, String>,
    /// Whether the server names itself in each reply (RFC 9207).
    promises_iss: bool,
    origin: ClientOrigin,
}

#[derive(Serialize, Deserialize)]
struct Text {
    verifier: String,
    scopes: BTreeSet<String>,
    issuer: String,
    token_endpoint: Option<String>,
    revocation_endpoint: Option<String>,
    resource: Option<String>,
    client_id: String,
    client_secret: Option<String>,
    client_method: String,
    redirect_uri: String,
    values: BTreeMap<String, String>,
    promises_iss: bool,
    origin: Origin,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Origin {
    Configured,
    Document,
    Registered,
}

impl Kept {
    pub(super) fn new(account: &Account, scopes: BTreeSet<String>, verifier: SecretString) -> Self {
        Self {
            verifier,
            scopes,
            server: account.grant_server(),
            values: account.server.values().clone(),
            promises_iss: account.server.definition().iss == Iss::Required,
            origin: account.origin,
        }
    }

    /// As text, for the store to seal.
    pub(super) fn text(&self) -> SecretString {
        let Self { verifier, scopes, server, values, promises_iss, origin } = self.clone();
        let GrantServer { issuer, token_endpoint, revocation_endpoint, resource, client } = server;
        let text = Text {
            verifier: verifier.expose_secret().to_owned(),
            scopes,
            issuer,
            token_endpoint,
            revocation_endpoint,
            resource,
            client_id: client.id,
            client_secret: client.secret.map(|secret| secret.expose_secret().to_owned()),
            client_method: client.method,
            redirect_uri: client.redirect_uri,
            values,
            promises_iss,
            origin: match origin {
                ClientOrigin::Configured => Origin::Configured,
                ClientOrigin::Document => Origin::Document,
                ClientOrigin::Registered => Origin::Registered,
            },
        };
        // Texts, and maps and sets of texts, are always JSON.
        SecretString::from(serde_json::to_string(&text).unwrap_or_default())
    }

    /// The same back. `None` where another version wrote it.
    pub(super) fn read(kept: &SecretString) -> Option<Self> {
        let text: Text = serde_json::from_str(kept.expose_secret()).ok()?;
        Some(Self {
            verifier: SecretString::from(text.verifier),
            scopes: text.scopes,
            server: GrantServer {
                issuer: text.issuer,
                token_endpoint: text.token_endpoint,
                revocation_endpoint: text.revocation_endpoint,
                resource: text.resource,
                client: GrantClient {
                    id: text.client_id,
                    secret: text.client_secret.map(SecretString::from),
                    method: text.client_method,
                    redirect_uri: text.redirect_uri,
                },
            },
            values: text.values,
            promises_iss: text.promises_iss,
            origin: match text.origin {
                Origin::Configured => ClientOrigin::Configured,
                Origin::Document => ClientOrigin::Document,
                Origin::Registered => ClientOrigin::Registered,
            },
        })
    }

    /// The server that the browser was sent to, with our client there. `None` where the configuration names another
    /// one by now:
    /// a code goes to nobody but who gave it (R-OAUTH-02, R-OAUTH-05).
    pub(super) fn account(&self, config: &Config, provider: &Provider) -> Option<Account> {
        let of = &self.server;
        let (server, client_id, secret) = match &provider.kind {
            ProviderKind::OAuth(oauth) => {
                let chosen = oauth.inputs().filter_map(|input| {
                    let value = self.values.get(&input.name)?;
                    // What nobody chose is the operator's.
                    (input.default.as_ref() != Some(value)).then(|| (input.name.clone(), value.clone()))
                });
                let server = Server::of(oauth, &chosen.collect()).ok()?;
                let same = server.issuer() == of.issuer
                    && Some(server.token_endpoint().as_str()) == of.token_endpoint.as_deref();
                if !same {
                    return None;
                }
                (server, &oauth.client_id, &oauth.client_secret)
            }
            ProviderKind::Mcp(mcp) => {
                if mcp.issuer.as_ref().is_some_and(|issuer| issuer.as_str() != of.issuer) {
                    return None;
                }
                let server = Server::discovered(Discovered {
                    issuer: of.issuer.clone(),
                    authorization_endpoint: None,
                    token_endpoint: of.token_endpoint.as_ref()?.parse().ok()?,
                    revocation_endpoint: of.revocation_endpoint.as_ref().and_then(|url| url.parse().ok()),
                    promises_iss: self.promises_iss,
                    resource: of.resource.clone(),
                });
                (server.with_chosen_origins(config.chosen_origins(provider)), &mcp.client_id, &mcp.client_secret)
            }
            ProviderKind::Secret { .. } | ProviderKind::External(_) | ProviderKind::Approval => return None,
        };
        let configured = self.origin == ClientOrigin::Configured;
        if client_id.as_ref().map(String::as_str) != Some(of.client.id.as_str()).filter(|_| configured) {
            return None;
        }
        let client = Client {
            id: of.client.id.clone(),
            secret: if configured { secret.clone() } else { of.client.secret.clone() },
            method: ClientAuthentication::parse(&of.client.method)?,
            redirect_uri: of.client.redirect_uri.clone(),
        };
        Some(Account { server, client, scopes: BTreeSet::new(), origin: self.origin })
    }
}
