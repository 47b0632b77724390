//! What is kept of a way to a provider, for the way back.

use std::collections::{BTreeMap, BTreeSet};

use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use super::{Visit, authorize::Place};
use crate::{
    config::{ClientAuthentication, Provider, ProviderKind},
    oauth::{Client, Server},
};

/// A way out: which server the browser was sent to, as whose client, and what was asked for.
pub(super) struct Kept {
    /// What the code is exchanged with (RFC 7636).
    pub(super) verifier: SecretString,
    /// What was asked for.
    pub(super) scopes: BTreeSet<String>,
    /// What the person chose of the server's address.
    values: BTreeMap<String, String>,
    issuer: String,
    token_endpoint: String,
    /// Our client there.
    pub(super) client: Client,
}

#[derive(Serialize)]
struct Written<'a> {
    verifier: &'a str,
    scopes: &'a BTreeSet<String>,
    values: &'a BTreeMap<String, String>,
    issuer: &'a str,
    token_endpoint: &'a str,
    client_id: &'a str,
    client_secret: Option<&'a str>,
    client_method: &'a str,
    redirect_uri: &'a str,
}

#[derive(Deserialize)]
struct Read {
    verifier: String,
    scopes: BTreeSet<String>,
    values: BTreeMap<String, String>,
    issuer: String,
    token_endpoint: String,
    client_id: String,
    client_secret: Option<String>,
    client_method: String,
    redirect_uri: String,
}

impl Kept {
    pub(super) fn new(visit: &Visit, place: &Place, verifier: SecretString) -> Self {
        let Place { server, client } = place;
        Self {
            verifier,
            scopes: visit.scopes.asked.clone(),
            values: server.values().clone(),
            issuer: server.issuer(),
            token_endpoint: server.token_endpoint().to_string(),
            client: client.clone(),
        }
    }

    /// As text, for the store to seal.
    pub(super) fn seal(&self) -> SecretString {
        let Self { verifier, scopes, values, issuer, token_endpoint, client } = self;
        let written = Written {
            verifier: verifier.expose_secret(),
            scopes,
            values,
            issuer,
            token_endpoint,
            client_id: &client.id,
            client_secret: client.secret.as_ref().map(|secret| secret.expose_secret()),
            client_method: client.method.as_str(),
            redirect_uri: &client.redirect_uri,
        };
        // Texts, and maps and sets of texts, are always JSON.
        SecretString::from(serde_json::to_string(&written).unwrap_or_default())
    }

    /// The same back. `None` where another version wrote it.
    pub(super) fn open(kept: &SecretString) -> Option<Self> {
        let read: Read = serde_json::from_str(kept.expose_secret()).ok()?;
        Some(Self {
            verifier: SecretString::from(read.verifier),
            scopes: read.scopes,
            values: read.values,
            issuer: read.issuer,
            token_endpoint: read.token_endpoint,
            client: Client {
                id: read.client_id,
                secret: read.client_secret.map(SecretString::from),
                method: ClientAuthentication::parse(&read.client_method)?,
                redirect_uri: read.redirect_uri,
            },
        })
    }

    /// The server that the browser was sent to. `None` where the configuration names another one by now, or another client:
    /// a code goes to nobody but who gave it.
    pub(super) fn server(&self, provider: &Provider) -> Option<Server> {
        let server = match &provider.kind {
            ProviderKind::OAuth(oauth) => {
                let chosen = oauth.inputs().filter_map(|input| {
                    let value = self.values.get(&input.name)?;
                    (input.default.as_ref() != Some(value)).then(|| (input.name.clone(), value.clone()))
                });
                let server = Server::of(oauth, &chosen.collect()).ok()?;
                let client = oauth.client_id.as_ref().is_none_or(|id| *id == self.client.id);
                client.then_some(server)?
            }
            ProviderKind::Mcp(_) | ProviderKind::Secret { .. } | ProviderKind::External(_) | ProviderKind::Approval => {
                return None;
            }
        };
        (server.issuer() == self.issuer && server.token_endpoint().as_str() == self.token_endpoint).then_some(server)
    }
}
