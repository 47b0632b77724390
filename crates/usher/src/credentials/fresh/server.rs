//! Which authorization server a grant is refreshed at, and as which client: those that it was granted by, and no others.

use std::collections::BTreeMap;

use usher_store::{Credential, Grant};

use super::{super::servers::Named, Parts};
use crate::{
    config::{ClientAuthentication, McpAuthorization, OAuth, Provider, ProviderKind, definition::RefreshBy},
    oauth::{Client, Discovered, Server},
};

/// Where a grant is refreshed, and as whom.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) server: Server,
    pub(super) client: Client,
    /// What rests together when it fails: all of a provider, or all of one host of it where users choose their own.
    pub(super) pace: String,
    /// Whether the client came to be known there by registering itself.
    pub(super) registered: bool,
    /// Whether the client is kept with the grant, and is not the operator's own.
    pub(super) of_grant: bool,
}

/// Why a grant is refreshed no more. Its access token is used to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Final {
    #[error("it is no grant")]
    NoGrant,
    #[error("its provider gave nothing to refresh it with")]
    NoRefreshToken,
    #[error("its provider is not configured any more, or as another kind")]
    NotConfigured,
    /// R-OAUTH-05: a refresh token never goes to another server than its own.
    #[error("its provider is another server by now")]
    AnotherServer,
    /// A grant belongs to the client that it was given to (RFC 6749, section 6).
    #[error("the configuration names another client by now")]
    AnotherClient,
}

/// Whether what a provider gives can have an end and be renewed.
pub(super) fn is_renewable(provider: &Provider) -> bool {
    provider.is_account()
}

impl Parts {
    /// Where and as whom a credential is renewed.
    pub(super) fn plan(&self, credential: &Credential) -> Result<Plan, Final> {
        let grant = credential.grant.as_ref().ok_or(Final::NoGrant)?;
        let provider = self.config.provider(&credential.provider).ok_or(Final::NotConfigured)?;
        match &provider.kind {
            ProviderKind::OAuth(oauth) => of_oauth(provider, oauth, grant),
            ProviderKind::Mcp(mcp) => {
                let mut plan = of_mcp(provider, mcp, grant)?;
                plan.server = plan.server.with_chosen_origins(self.config.chosen_origins(provider));
                Ok(plan)
            }
            ProviderKind::Secret { .. } | ProviderKind::External(_) | ProviderKind::Approval => {
                Err(Final::NotConfigured)
            }
        }
    }

    /// Whether the MCP server still names the authorization server of a grant (R-OAUTH-05). One that it names no longer gets
    /// nothing; where nobody knows, it is the one of the grant.
    pub(super) async fn is_of_its_server(&self, credential: &Credential) -> bool {
        let Some(grant) = &credential.grant else { return true };
        let Some(provider) = self.config.provider(&credential.provider) else { return false };
        !matches!(self.servers.still_names(provider, &grant.server.issuer).await, Named::Other(_))
    }

    /// What rests together with a credential.
    pub(super) fn pace(&self, credential: &Credential) -> String {
        self.plan(credential).map_or_else(|_| credential.provider.clone(), |plan| plan.pace)
    }
}

fn of_oauth(provider: &Provider, oauth: &OAuth, grant: &Grant) -> Result<Plan, Final> {
    if grant.refresh_token.is_none() && oauth.definition.refresh.by == RefreshBy::RefreshToken {
        return Err(Final::NoRefreshToken);
    }
    let chosen: BTreeMap<String, String> =
        oauth.inputs().filter_map(|input| Some((input.name.clone(), grant.values.get(&input.name)?.clone()))).collect();
    let server = Server::of(oauth, &chosen).map_err(|_| Final::AnotherServer)?;
    if server.issuer() != grant.server.issuer {
        return Err(Final::AnotherServer);
    }
    let client = match &oauth.client_id {
        // The operator may have another secret by now, for the same client.
        Some(id) if *id == grant.server.client.id => {
            Client::of(oauth, grant.server.client.redirect_uri.clone()).ok_or(Final::AnotherClient)?
        }
        Some(_) => return Err(Final::AnotherClient),
        None => kept(grant)?,
    };
    let host = server.token_endpoint().host_str().unwrap_or_default();
    let pace = if chosen.is_empty() { provider.name.clone() } else { format!("{} {host}", provider.name) };
    let of_grant = oauth.client_id.is_none();
    let registered = of_grant && !client.id.starts_with("https://");
    Ok(Plan { server, pace: paced(pace, &client, of_grant), client, registered, of_grant })
}

fn of_mcp(provider: &Provider, mcp: &McpAuthorization, grant: &Grant) -> Result<Plan, Final> {
    if grant.refresh_token.is_none() {
        return Err(Final::NoRefreshToken);
    }
    let of = &grant.server;
    if mcp.issuer.as_ref().is_some_and(|issuer| issuer.as_str() != of.issuer) {
        return Err(Final::AnotherServer);
    }
    let token_endpoint = of.token_endpoint.as_deref().and_then(|url| url.parse().ok()).ok_or(Final::AnotherServer)?;
    let server = Server::discovered(Discovered {
        issuer: of.issuer.clone(),
        authorization_endpoint: None,
        token_endpoint,
        revocation_endpoint: None,
        promises_iss: false,
        resource: of.resource.clone(),
    });
    let mut client = kept(grant)?;
    match &mcp.client_id {
        Some(id) if *id == client.id => client.secret.clone_from(&mcp.client_secret),
        Some(_) => return Err(Final::AnotherClient),
        None => {}
    }
    // A client that is its own document (CIMD) was not registered.
    let of_grant = mcp.client_id.is_none();
    let registered = of_grant && !client.id.starts_with("https://");
    Ok(Plan { server, pace: paced(provider.name.clone(), &client, of_grant), client, registered, of_grant })
}

/// A client of its own that is refused holds up none but its own grants.
fn paced(pace: String, client: &Client, of_grant: bool) -> String {
    if of_grant { format!("{pace} {}", client.id) } else { pace }
}

/// The client that is kept with a grant.
fn kept(grant: &Grant) -> Result<Client, Final> {
    let of = &grant.server.client;
    Ok(Client {
        id: of.id.clone(),
        secret: of.secret.clone(),
        method: ClientAuthentication::parse(&of.method).ok_or(Final::AnotherClient)?,
        redirect_uri: of.redirect_uri.clone(),
    })
}
