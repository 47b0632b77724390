//! Ending what a user granted, at the provider where they granted it: by RFC 7009, or its own way.

use std::{collections::BTreeMap, fmt, time::Duration};

use jiff::{SignedDuration, Timestamp};
use secrecy::SecretString;
use tokio::time::timeout;
use usher_store::{AtProvider, Credential, Grant, Leaving};

use crate::{
    config::{
        ClientAuthentication, Config, McpAuthorization, OAuth, Provider, ProviderKind, definition::Revocation as Ending,
    },
    egress::Egress,
    oauth::{self, Client, Discovered, Held, RevokeError, Server},
};

/// How long a provider may take to end an access (R-SEC-04).
pub const REVOKE_DEADLINE: Duration = Duration::from_secs(10);

/// An access token that expires within this is not relied on.
const SOON: SignedDuration = SignedDuration::from_mins(2);

/// What became of an access at its provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revocation {
    /// Nothing was granted there: the person entered it, or was at a page.
    Nothing,
    /// It has ended there.
    Ended {
        /// The provider's host.
        host: String,
    },
    /// It may still be listed there, and good: its owner has to remove it themselves.
    StillListed {
        /// The provider's host, as far as it is known.
        host: Option<String>,
        /// Why.
        why: StillListed,
    },
}

/// Why an access may still be listed at its provider. Only what it says of itself is shown: no variant carries a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StillListed {
    /// The provider stands no longer in the configuration.
    NotConfigured,
    /// What is stored cannot be read, so nobody knows what to end.
    Unreadable,
    /// The provider has no way to end it but its own pages.
    NoWay,
    /// The provider did not answer, or not in time.
    Unheard,
    /// The provider answered something else than that it has ended.
    Refused,
    /// Nobody was told: the operator wanted it so, or time had run out.
    NotTried,
}

impl Revocation {
    /// What would become of it, if its provider ended what it can. `credential` is `None` where it cannot be read.
    pub fn expected(config: &Config, provider: &str, credential: Option<&Credential>) -> Self {
        match Way::of(config, provider, credential) {
            Way::Nothing => Self::Nothing,
            Way::None { host, why } => Self::StillListed { host, why },
            Way::Server(way) => match way.server.revocation_endpoint(&way.client.id) {
                Some(_) => Self::Ended { host: way.host() },
                None => Self::StillListed { host: Some(way.host()), why: StillListed::NoWay },
            },
        }
    }

    /// What becomes of it where its provider is not told, or has not answered.
    pub fn untold(config: &Config, leaving: &Leaving, why: StillListed) -> Self {
        match Self::expected(config, &leaving.provider, leaving.credential.as_deref()) {
            Self::Ended { host } => Self::StillListed { host: Some(host), why },
            other => other,
        }
    }

    /// The same for the audit log.
    pub fn told(&self) -> AtProvider {
        match self {
            Self::Nothing => AtProvider::Nothing,
            Self::Ended { .. } => AtProvider::Ended,
            Self::StillListed { why, .. } => AtProvider::StillListed(why.as_str()),
        }
    }

    /// Whether the provider did not answer.
    pub fn is_unheard(&self) -> bool {
        matches!(self, Self::StillListed { why: StillListed::Unheard, .. })
    }
}

/// Tells the provider that what a credential holds is used no more, within [`REVOKE_DEADLINE`]. Without a credential nobody
/// knows what.
pub async fn revoke(egress: &Egress, config: &Config, provider: &str, credential: Option<&Credential>) -> Revocation {
    Way::of(config, provider, credential).go(egress, provider).await
}

/// The same of tokens that came and were not stored: nobody else knows them. Where `beside` what is stored of the same user, it is
/// done only by the standard's way, which ends these tokens and nothing else (RFC 7009, section 2.1): some providers' own ways end all
/// that the user ever granted us.
pub async fn revoke_brought(
    egress: &Egress,
    config: &Config,
    provider: &str,
    brought: (&BTreeMap<String, SecretString>, &Grant),
    beside: bool,
) -> Revocation {
    // They came a moment ago, so they are good.
    let way = Way::granted(config, provider, brought, Timestamp::UNIX_EPOCH);
    match way {
        Way::Server(way) if beside && !way.ends_one_alone() => {
            Revocation::StillListed { host: Some(way.host()), why: StillListed::NotTried }
        }
        way => way.go(egress, provider).await,
    }
}

/// How an access is ended.
enum Way<'c> {
    /// There is none.
    Nothing,
    /// Nobody can be told.
    None { host: Option<String>, why: StillListed },
    /// At the server that granted it, by the client that it was granted to, and at no other (R-OAUTH-05).
    Server(Box<AtServer<'c>>),
}

struct AtServer<'c> {
    server: Server,
    client: Client,
    held: Held<'c>,
    /// When the access token expires.
    expires_at: Option<Timestamp>,
    /// At what time that is looked at.
    at: Timestamp,
}

impl<'c> Way<'c> {
    fn of(config: &Config, provider: &str, credential: Option<&'c Credential>) -> Self {
        let configured = config.provider(provider);
        let is_account = configured.is_some_and(Provider::is_account);
        let Some(credential) = credential else {
            return if is_account { Self::None { host: None, why: StillListed::Unreadable } } else { Self::Nothing };
        };
        let Some(grant) = &credential.grant else { return Self::Nothing };
        // What is being let go was last changed when that began. What expires while its turn comes is not good either.
        let at = credential.updated_at.saturating_add(SOON).unwrap_or(credential.updated_at);
        Self::granted(config, provider, (&credential.secrets, grant), at)
    }

    /// The same of these tokens; `at` is by when they must still be good.
    fn granted(
        config: &Config,
        provider: &str,
        (secrets, grant): (&'c BTreeMap<String, SecretString>, &'c Grant),
        at: Timestamp,
    ) -> Self {
        let configured = config.provider(provider);
        let server = match configured.map(|provider| &provider.kind) {
            Some(ProviderKind::OAuth(oauth)) => of_oauth(oauth, grant),
            Some(ProviderKind::Mcp(mcp)) => of_mcp(mcp, grant),
            _ => None,
        };
        let Some(((server, client), provider)) = server.zip(configured) else {
            return Self::None { host: host_of(&grant.server.issuer), why: StillListed::NotConfigured };
        };
        let server = server.with_chosen_origins(config.chosen_origins(provider));
        let held = Held {
            fields: secrets,
            refresh_token: grant.refresh_token.as_ref(),
            scopes: &grant.scopes,
            values: &grant.values,
        };
        Self::Server(Box::new(AtServer { server, client, held, expires_at: grant.expires_at, at }))
    }

    /// Tells the provider, within [`REVOKE_DEADLINE`].
    async fn go(self, egress: &Egress, provider: &str) -> Revocation {
        let way = match self {
            Self::Nothing => return Revocation::Nothing,
            Self::None { host, why } => return Revocation::StillListed { host, why },
            Self::Server(way) => way,
        };
        let host = way.host();
        let request = oauth::revoke(egress, &way.server, &way.client, &way.held, way.expires_at, way.at);
        let error = match timeout(REVOKE_DEADLINE, request).await {
            Ok(Ok(())) => return Revocation::Ended { host },
            Ok(Err(error)) => {
                tracing::info!(provider, %error, "an access was not revoked");
                error
            }
            Err(_) => return Revocation::StillListed { host: Some(host), why: StillListed::Unheard },
        };
        let why = match error {
            RevokeError::Unsupported => StillListed::NoWay,
            RevokeError::Refused(_) | RevokeError::Unknown(_) | RevokeError::Blocked(_) => StillListed::Refused,
            RevokeError::Unavailable(_) | RevokeError::NoAnswer(_) => StillListed::Unheard,
        };
        Revocation::StillListed { host: Some(host), why }
    }
}

impl AtServer<'_> {
    /// Whether revoking one token leaves what else its user granted us as it is: by RFC 7009, where we prove who we are.
    fn ends_one_alone(&self) -> bool {
        self.server.definition().revocation.as_ref().is_some_and(Ending::is_standard)
    }

    /// Where its owner signed in, and finds it listed.
    fn host(&self) -> String {
        let origin = self.server.authorization_origin();
        let host = origin.as_deref().and_then(host_of).or_else(|| host_of(&self.server.issuer()));
        host.unwrap_or_else(|| self.server.token_endpoint().host_str().unwrap_or_default().to_owned())
    }
}

/// The server of a grant by the configuration; `None` where that names another one by now.
fn of_oauth(oauth: &OAuth, grant: &Grant) -> Option<(Server, Client)> {
    let chosen: BTreeMap<String, String> =
        oauth.inputs().filter_map(|input| Some((input.name.clone(), grant.values.get(&input.name)?.clone()))).collect();
    let server = Server::of(oauth, &chosen).ok().filter(|server| server.issuer() == grant.server.issuer)?;
    let client = Client::of(oauth, grant.server.client.redirect_uri.clone());
    let client = client.filter(|client| client.id == grant.server.client.id).or_else(|| kept(grant))?;
    Some((server, client))
}

/// The server that was discovered when it granted.
fn of_mcp(mcp: &McpAuthorization, grant: &Grant) -> Option<(Server, Client)> {
    let of = &grant.server;
    let url = |text: &Option<String>| text.as_deref().and_then(|text| text.parse::<url::Url>().ok());
    let revocation_endpoint = url(&of.revocation_endpoint);
    let server = Server::discovered(Discovered {
        issuer: of.issuer.clone(),
        authorization_endpoint: None,
        token_endpoint: url(&of.token_endpoint).or_else(|| of.issuer.parse().ok())?,
        revocation_endpoint,
        promises_iss: false,
        resource: of.resource.clone(),
    });
    let mut client = kept(grant)?;
    if mcp.client_id.as_ref() == Some(&client.id) {
        client.secret.clone_from(&mcp.client_secret);
    }
    Some((server, client))
}

/// The client that is kept with a grant.
fn kept(grant: &Grant) -> Option<Client> {
    let of = &grant.server.client;
    Some(Client {
        id: of.id.clone(),
        secret: of.secret.clone(),
        method: ClientAuthentication::parse(&of.method)?,
        redirect_uri: of.redirect_uri.clone(),
    })
}

fn host_of(url: &str) -> Option<String> {
    url.parse::<url::Url>().ok()?.host_str().map(str::to_owned)
}

impl StillListed {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::NotConfigured, Self::Unreadable, Self::NoWay, Self::Unheard, Self::Refused, Self::NotTried];

    /// The name in the audit log and in what commands print as JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotConfigured => "provider-not-configured",
            Self::Unreadable => "unreadable",
            Self::NoWay => "no-revocation",
            Self::Unheard => "provider-unreachable",
            Self::Refused => "provider-refused",
            Self::NotTried => "not-tried",
        }
    }
}

impl fmt::Display for StillListed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NotConfigured => "the provider is not in the configuration any more",
            Self::Unreadable => "what is stored cannot be read",
            Self::NoWay => "the provider offers no way to end it",
            Self::Unheard => "the provider could not be reached",
            Self::Refused => "the provider did not end it",
            Self::NotTried => "the provider was not told",
        })
    }
}
