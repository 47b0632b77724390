//! The authorization servers that accounts are connected at, with our client there: those of the configuration (kind `oauth`),
//! and those that MCP servers name (kind `mcp`), which are discovered.

mod client;
mod turns;

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

use http::HeaderMap;
use usher_store::{GrantClient, GrantServer, Store, StoreError};

use crate::{
    clock::Clock,
    config::{ClientAuthentication, Config, McpAuthorization, Need, OAuth, Provider, ProviderKind},
    egress::{Blocked, Egress},
    oauth::{
        Client, Discovered, Server, ServerError,
        challenge::Challenge,
        discovery::{
            self, DiscoveryError,
            known::{Asked, Discoveries},
        },
        redirect_uri,
        registration::RegistrationError,
    },
};

use self::turns::Turns;
pub use crate::oauth::discovery::known::Named;

/// How much of what was told is remembered.
const TOLD_AT_MOST: usize = 1000;

/// Finds authorization servers and our clients there. One per service; cheap to clone.
#[derive(Clone)]
pub struct AuthorizationServers {
    parts: Arc<Parts>,
}

struct Parts {
    config: Arc<Config>,
    store: Store,
    clock: Arc<dyn Clock>,
    egress: Egress,
    discoveries: Discoveries,
    /// What the log says already of grants that are not used.
    told: Mutex<HashSet<(String, String)>>,
    turns: Turns,
}

/// Where an account is connected, and as whom.
#[derive(Debug, Clone)]
pub struct Account {
    /// The authorization server.
    pub server: Server,
    /// Our client there.
    pub client: Client,
    /// The scopes that the server wants by its own word, where the operator says nothing: those of its challenge, or those that
    /// it knows. They come on top of the operator's and those of a need.
    pub scopes: BTreeSet<String>,
    /// Where the client comes from.
    pub origin: ClientOrigin,
}

/// Where our client comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientOrigin {
    /// The operator wrote it into the configuration, with its secret.
    Configured,
    /// It is the document that we serve.
    Document,
    /// It registered itself, and can be registered anew.
    Registered,
}

/// Why there is no way to an account. The text is for operators: it says what to do.
#[derive(Debug, thiserror::Error)]
pub enum AccountError {
    /// Nobody knows who makes the tokens.
    #[error("{0}")]
    Discovery(#[from] DiscoveryError),
    /// There is no client.
    #[error("{0}")]
    Registration(#[from] RegistrationError),
    /// The endpoints of the configuration do not come out right, or the person has to choose something first.
    #[error("{0}")]
    Server(#[from] ServerError),
    /// No document about us can be read by others.
    #[error("the client ID metadata document needs a public_url over https; choose another registration")]
    NoDocument,
    /// It is no account, or no server needs it.
    #[error("the provider is of no kind that is connected at an authorization server, or no server at a URL needs it")]
    NoAccount,
    /// The store could not be asked.
    #[error("{0}")]
    Store(#[from] StoreError),
}

impl AccountError {
    /// Whether it may go better later, without anybody's doing.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Discovery(error) => error.is_transient(),
            Self::Registration(error) => error.is_transient(),
            Self::Store(_) => true,
            Self::Server(_) | Self::NoDocument | Self::NoAccount => false,
        }
    }
}

impl From<Blocked> for AccountError {
    fn from(error: Blocked) -> Self {
        Self::Registration(error.into())
    }
}

impl Account {
    /// What is kept with a grant: a secret of the configuration is not, so that the operator can change it.
    pub fn grant_server(&self) -> GrantServer {
        let Client { id, secret, method, redirect_uri } = &self.client;
        let secret = secret.clone().filter(|_| self.origin != ClientOrigin::Configured);
        GrantServer {
            issuer: self.server.issuer(),
            token_endpoint: Some(self.server.token_endpoint().to_string()),
            revocation_endpoint: self.server.revocation_endpoint(id).map(|url| url.to_string()),
            resource: self.server.resource().map(str::to_owned),
            client: GrantClient {
                id: id.clone(),
                secret,
                method: method.as_str().to_owned(),
                redirect_uri: redirect_uri.clone(),
            },
        }
    }
}

impl AuthorizationServers {
    /// Nothing is discovered yet.
    pub fn new(config: Arc<Config>, store: Store, clock: Arc<dyn Clock>, egress: Egress) -> Self {
        let discoveries = Discoveries::new(egress.clone(), Arc::clone(&clock));
        let (told, turns) = (Mutex::default(), Turns::default());
        let parts = Parts { config, store, clock, egress, discoveries, told, turns };
        Self { parts: Arc::new(parts) }
    }

    /// Where an account of this provider is connected now, and as whom. `chosen` are the values that its user chose, which only
    /// kind `oauth` has. May ask the server, its authorization server and its registration; nobody's credential is sent.
    pub async fn account(
        &self,
        provider: &Provider,
        chosen: &BTreeMap<String, String>,
    ) -> Result<Account, AccountError> {
        match &provider.kind {
            ProviderKind::OAuth(oauth) => self.configured(provider, oauth, chosen).await,
            ProviderKind::Mcp(mcp) => self.discovered(provider, mcp).await,
            ProviderKind::Secret { .. } | ProviderKind::External(_) | ProviderKind::Approval => {
                Err(AccountError::NoAccount)
            }
        }
    }

    async fn configured(
        &self,
        provider: &Provider,
        oauth: &OAuth,
        chosen: &BTreeMap<String, String>,
    ) -> Result<Account, AccountError> {
        let server = Server::of(oauth, chosen)?;
        let redirect_uri = redirect_uri(&self.parts.config.public_url, &provider.name, None);
        let (client, origin) = match Client::of(oauth, redirect_uri.clone()) {
            Some(client) => (client, ClientOrigin::Configured),
            None => self.parts.client_of_definition(provider, oauth, &server, redirect_uri).await?,
        };
        Ok(Account { server, client, scopes: BTreeSet::new(), origin })
    }

    async fn discovered(&self, provider: &Provider, mcp: &McpAuthorization) -> Result<Account, AccountError> {
        let asked = self.parts.asked(provider, mcp)?;
        let found = self.parts.discoveries.of(asked).await?;
        let metadata = &found.server;
        let server = Server::discovered(Discovered {
            issuer: metadata.issuer.as_str().to_owned(),
            authorization_endpoint: Some(metadata.authorization_endpoint.clone()),
            token_endpoint: metadata.token_endpoint.clone(),
            revocation_endpoint: metadata.revocation_endpoint.clone(),
            promises_iss: metadata.reply_has_issuer,
            resource: Some(found.resource.clone()),
        });
        let allowed = self.parts.egress.guarded(&metadata.authorization_endpoint).is_ok();
        let server = server.with_plain_way(allowed);
        let mut server = server.with_chosen_origins(self.parts.config.chosen_origins(provider));
        if metadata.scopes.contains("offline_access") && metadata.refreshes() {
            server = server.with_offline_access();
        }
        let (client, origin) = self.parts.client_of_metadata(provider, mcp, metadata, asked).await?;
        let scopes = scopes(self.parts.names_scopes(provider, mcp), &found);
        Ok(Account { server, client, scopes, origin })
    }

    /// Whether a grant of this issuer is one of those that the provider's server takes now (R-OAUTH-05). Of kind `oauth` the
    /// configuration says so itself. Costs nothing while it is known, which is for minutes; nobody waits long.
    pub async fn still_names(&self, provider: &Provider, issuer: &str) -> Named {
        let ProviderKind::Mcp(mcp) = &provider.kind else { return Named::Same };
        match self.parts.asked(provider, mcp) {
            Ok(asked) => self.parts.discoveries.still_names(asked, issuer).await,
            Err(_) => Named::Unknown,
        }
    }

    /// The same without waiting: by what is known, which is read anew meanwhile if it is not fresh (R-GW-06).
    pub fn named(&self, provider: &Provider, issuer: &str) -> Named {
        let ProviderKind::Mcp(mcp) = &provider.kind else { return Named::Same };
        let asked = self.parts.asked(provider, mcp);
        asked.map_or(Named::Unknown, |asked| self.parts.discoveries.named(asked, issuer))
    }

    /// Whether nobody was told yet that grants of this issuer, or for this resource, are not used for a provider: it is so with
    /// each call, and told once.
    pub fn is_news(&self, provider: &str, of: &str) -> bool {
        let mut told = self.parts.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.len() >= TOLD_AT_MOST {
            told.clear();
        }
        told.insert((provider.to_owned(), of.to_owned()))
    }

    /// The provider's server turned a token away, or a call without one: it is asked anew who makes its tokens, if that was not
    /// just done. Waits for nothing.
    pub fn turned_away(&self, provider: &Provider, headers: &HeaderMap) {
        let ProviderKind::Mcp(mcp) = &provider.kind else { return };
        let Ok(asked) = self.parts.asked(provider, mcp) else { return };
        if let Some(place) = Challenge::of(headers).and_then(|challenge| challenge.resource_metadata) {
            self.parts.discoveries.note(asked.name, &place);
        }
        self.parts.discoveries.doubt(asked);
    }

    /// The authorization server does not know our client any more: where it had registered itself, that is forgotten, and the
    /// next account has a new one made. Whether there will be one.
    pub async fn client_refused(&self, account: &Account) -> Result<bool, StoreError> {
        if account.origin != ClientOrigin::Registered {
            return Ok(false);
        }
        let (at, Client { id, redirect_uri, .. }) = (account.server.registered_at(), &account.client);
        tracing::warn!(
            at,
            "the authorization server does not know our client any more; another one will be registered"
        );
        self.parts.store.forget_oauth_client(&at, redirect_uri, id).await?;
        Ok(true)
    }
}

impl Parts {
    /// A provider's server as it is asked.
    fn asked<'p>(&'p self, provider: &'p Provider, mcp: &'p McpAuthorization) -> Result<Asked<'p>, AccountError> {
        let (_, url) = self.config.protected(provider).ok_or(AccountError::NoAccount)?;
        Ok(Asked { name: &provider.name, url, pinned: mcp.issuer.as_ref() })
    }

    /// Whether the operator says which scopes are asked for: for all that the provider is needed for, or for its server.
    fn names_scopes(&self, provider: &Provider, mcp: &McpAuthorization) -> bool {
        let of_need = |need: &Need| need.provider == provider.name && !need.scopes.is_empty();
        let upstream = self.config.protected(provider).map(|(upstream, _)| upstream);
        !mcp.scopes.is_empty() || upstream.is_some_and(|upstream| upstream.needs.iter().any(of_need))
    }
}

/// What is asked for where no scopes were granted or demanded yet: what the challenge names, else what the operator says, which is
/// the caller's, else all that the server knows (MCP 2026-07-28, Scope Selection Strategy).
fn scopes(operator_names_some: bool, found: &discovery::Discovered) -> BTreeSet<String> {
    if found.challenged.is_empty() && !operator_names_some { found.supported.clone() } else { found.challenged.clone() }
}

/// How a client proves itself, by its name at registration.
fn method(name: &str) -> ClientAuthentication {
    // Every name that is kept is one of ours.
    ClientAuthentication::parse(name).unwrap_or(ClientAuthentication::None)
}

#[cfg(test)]
mod tests;
