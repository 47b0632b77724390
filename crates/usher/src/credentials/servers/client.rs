//! Our client at an authorization server: that of the configuration, else our document, else one that registered itself, which is
//! kept for its issuer and redirect URI (R-OAUTH-05).

use std::time::Duration;

use jiff::SignedDuration;
use url::Url;
use usher_store::OAuthClient;

use super::{AccountError, ClientOrigin, Parts, method, turns::Failed};
use crate::{
    config::{ClientAuthentication, McpAuthorization, OAuth, Provider, Registration},
    egress::NoAnswer,
    oauth::{
        Client, Server,
        client_metadata::{self, CLIENT_NAME},
        discovery::{known::Asked, server::ServerMetadata},
        issuer_key, redirect_uri,
        registration::{self, Registered, RegistrationError, Wanted},
    },
};

/// A secret that ends within this is not begun with.
const ALMOST: SignedDuration = SignedDuration::from_mins(1);

/// How long anybody waits for somebody else's registration (R-SEC-04): longer than one takes.
const TURN: Duration = Duration::from_secs(15);

/// Where a client registers itself, and how.
struct Place<'a> {
    http: &'a reqwest::Client,
    endpoint: &'a Url,
    method: &'static str,
    refreshes: bool,
}

impl Parts {
    /// Our client at a server that was discovered.
    pub(super) async fn client_of_metadata(
        &self,
        provider: &Provider,
        mcp: &McpAuthorization,
        metadata: &ServerMetadata,
        asked: Asked<'_>,
    ) -> Result<(Client, ClientOrigin), AccountError> {
        let issuer = metadata.issuer.as_str();
        let redirect_uri = redirect_uri(&self.config.public_url, &provider.name, Some(issuer));
        if let Some(id) = &mcp.client_id {
            // Which the configuration binds to its issuer, and the discovery to that one.
            let supported = metadata.token_endpoint_auth_methods.as_deref().unwrap_or_default();
            let method = Server::method_among(supported, mcp.client_secret.is_some());
            let method = method.ok_or(RegistrationError::NoMethod)?;
            let client = Client { id: id.clone(), secret: mcp.client_secret.clone(), method, redirect_uri };
            return Ok((client, ClientOrigin::Configured));
        }
        let document = |id| (document(id, redirect_uri.clone()), ClientOrigin::Document);
        let url = &self.config.public_url;
        let key = issuer_key(issuer);
        match mcp.registration {
            Registration::MetadataDocument => {
                let id = client_metadata::address(url, &provider.name, Some(&key)).ok_or(AccountError::NoDocument)?;
                return Ok(document(id));
            }
            Registration::Automatic if takes_document(metadata) => {
                if let Some(id) = client_metadata::client_id(url, &provider.name, Some(&key)) {
                    return Ok(document(id));
                }
            }
            Registration::Automatic | Registration::Dynamic | Registration::Static => {}
        }
        let reach = self.discoveries.reach(asked);
        let no_endpoint = || RegistrationError::NoEndpoint { redirect_uri: redirect_uri.clone() };
        let endpoint = metadata.registration_endpoint.as_ref().ok_or_else(no_endpoint)?;
        let place = Place {
            http: reach.client(endpoint)?,
            endpoint,
            method: registration::method_at(metadata)?,
            refreshes: metadata.refreshes(),
        };
        let client = self.registered(&provider.name, issuer, redirect_uri.clone(), &place).await?;
        Ok((client, ClientOrigin::Registered))
    }

    /// The same at a server of the configuration where the operator registered none (kind 19).
    pub(super) async fn client_of_definition(
        &self,
        provider: &Provider,
        oauth: &OAuth,
        server: &Server,
        redirect_uri: String,
    ) -> Result<(Client, ClientOrigin), AccountError> {
        let definition = &oauth.definition;
        if definition.registration == Registration::MetadataDocument {
            let id = client_metadata::address(&self.config.public_url, &provider.name, None);
            return Ok((document(id.ok_or(AccountError::NoDocument)?, redirect_uri), ClientOrigin::Document));
        }
        let no_endpoint = || RegistrationError::NoEndpoint { redirect_uri: redirect_uri.clone() };
        let endpoint = server.registration_endpoint().ok_or_else(no_endpoint)?;
        let place = Place {
            http: server.http(&self.egress, &endpoint)?,
            endpoint: &endpoint,
            method: definition.client_authentication.as_registered(),
            refreshes: true,
        };
        let client = self.registered(&provider.name, &server.registered_at(), redirect_uri, &place).await?;
        Ok((client, ClientOrigin::Registered))
    }

    /// The client that is kept, or a new one. Of several that are registered at once the first one kept is used. `at` is whose it
    /// is: [`Server::registered_at`].
    async fn registered(
        &self,
        provider: &str,
        at: &str,
        redirect_uri: String,
        place: &Place<'_>,
    ) -> Result<Client, AccountError> {
        // Who needs no new one waits for nobody who does.
        if let Some(kept) = self.store.oauth_client(at, &redirect_uri).await?.filter(|kept| self.lasts(kept)) {
            return Ok(of_kept(kept));
        }
        let turn = self.turns.of(at, &redirect_uri);
        let Ok(mut failed) = tokio::time::timeout(TURN, turn.lock()).await else {
            return Err(RegistrationError::NoAnswer(NoAnswer::Slow).into());
        };
        if let Some(error) = failed.as_ref().and_then(|failed| failed.lately(self.clock.now())) {
            return Err(error.into());
        }
        // Somebody may have been faster.
        if let Some(kept) = self.store.oauth_client(at, &redirect_uri).await? {
            if self.lasts(&kept) {
                return Ok(of_kept(kept));
            }
            tracing::info!(provider, at, "the secret of our client ends; another one is registered");
            self.store.forget_oauth_client(at, &redirect_uri, &kept.id).await?;
        }
        let wanted = Wanted {
            redirect_uri: &redirect_uri,
            name: CLIENT_NAME,
            origin: self.config.public_url.origin(),
            method: place.method,
            refreshes: place.refreshes,
        };
        let registered = match registration::register(place.http, place.endpoint, &wanted).await {
            Ok(registered) => registered,
            Err(error) => {
                if error.is_transient() {
                    *failed = Some(Failed::new(error.clone(), self.clock.now()));
                }
                return Err(error.into());
            }
        };
        tracing::info!(provider, at, method = registered.method, "registered a client");
        let kept = self.store.keep_oauth_client(new(registered, at, redirect_uri), self.clock.now()).await?;
        Ok(of_kept(kept))
    }

    /// Whether its secret can be begun with.
    fn lasts(&self, kept: &OAuthClient) -> bool {
        kept.expires_at.is_none_or(|at| at.duration_since(self.clock.now()) > ALMOST)
    }
}

fn document(id: String, redirect_uri: String) -> Client {
    Client { id, secret: None, method: ClientAuthentication::None, redirect_uri }
}

/// Whether our document can be used: it says that we prove ourselves by nothing, which a server that says what it takes, and can
/// register us otherwise, need not take.
fn takes_document(metadata: &ServerMetadata) -> bool {
    let takes_none = metadata.token_endpoint_auth_methods.is_none() || metadata.takes_method("none");
    metadata.client_id_metadata_document && (takes_none || metadata.registration_endpoint.is_none())
}

fn of_kept(kept: OAuthClient) -> Client {
    let OAuthClient { id, secret, method: name, redirect_uri, .. } = kept;
    Client { id, secret, method: method(&name), redirect_uri }
}

fn new(registered: Registered, at: &str, redirect_uri: String) -> OAuthClient {
    let Registered { id, secret, method, expires_at, management } = registered;
    let (registration, token) = management.map(|(url, token)| (url.to_string(), token)).unzip();
    OAuthClient { issuer: at.to_owned(), redirect_uri, id, secret, method, expires_at, registration, token }
}
