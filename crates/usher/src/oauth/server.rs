//! One authorization server as it is used now.

use std::collections::BTreeMap;
use std::sync::Arc;

use url::{Origin, Url};

use super::AuthorizeError;
use crate::config::definition::{Address, Iss, Revocation};
use crate::config::{ClientAuthentication, Definition, OAuth, is_loopback};
use crate::egress::{Blocked, Egress};

/// An authorization server: its definition with everything filled in.
#[derive(Clone, Debug)]
pub struct Server {
    pub(super) definition: Arc<Definition>,
    pub(super) issuer: Option<String>,
    pub(super) authorization_endpoint: Option<Url>,
    pub(super) token_endpoint: Url,
    pub(super) refresh_endpoint: Url,
    pub(super) introspection_endpoint: Option<Url>,
    pub(super) resource: Option<String>,
    pub(super) values: BTreeMap<String, String>,
    chosen_by: ChosenBy,
    /// The origins that the operator chose all the same.
    chosen: Vec<Origin>,
    /// Whether the operator allowed that browsers are sent to its authorization endpoint over http.
    plain: bool,
}

/// Who chose its URLs, and so by which client they are requested (R-SEC-05).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChosenBy {
    /// The operator, or we ourselves.
    Operator,
    /// A user, or a document of somebody else's.
    Others,
}

/// Why there is no server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ServerError {
    /// The user has to say something first: the input of this name (kind 15).
    #[error("there is no value for {0}")]
    Missing(String),
    /// What they said is not of the right form.
    #[error("the value for {0} is not of the right form")]
    Wrong(String),
    /// A URL does not come out right.
    #[error("its {0} is no usable URL")]
    Endpoint(&'static str),
}

/// What is known of a server that was discovered (RFC 8414), or that a grant was made by. Its URLs are somebody else's.
#[derive(Clone, Debug)]
pub struct Discovered {
    /// Its issuer identifier, identical to the one that was asked for.
    pub issuer: String,
    /// Where the browser goes. `None` for one that only refreshes and revokes.
    pub authorization_endpoint: Option<Url>,
    /// Where codes and refresh tokens are exchanged.
    pub token_endpoint: Url,
    /// Where tokens are revoked (RFC 7009), if it can be done.
    pub revocation_endpoint: Option<Url>,
    /// Whether it promises `iss` in each reply (`authorization_response_iss_parameter_supported`, RFC 9207).
    pub promises_iss: bool,
    /// The resource that tokens are for (RFC 8707); `None` where it must not be sent.
    pub resource: Option<String>,
}

impl Server {
    /// The server of a provider of the configuration. `chosen` are the values that its user chose (kind 15).
    pub fn of(oauth: &OAuth, chosen: &BTreeMap<String, String>) -> Result<Self, ServerError> {
        let definition = &oauth.definition;
        // Those of the operator are all there: the configuration sees to it.
        let mut values = oauth.values.clone();
        let mut chosen_by = ChosenBy::Operator;
        for input in oauth.inputs() {
            let given = chosen.get(&input.name);
            let value = match input.accept(given.map_or("", String::as_str)) {
                Ok(value) => value,
                Err(_) if given.is_none() => return Err(ServerError::Missing(input.name.clone())),
                Err(_) => return Err(ServerError::Wrong(input.name.clone())),
            };
            if given.is_some() {
                chosen_by = ChosenBy::Others;
            }
            values.insert(input.name.clone(), value);
        }
        let filled = |name, address: &Address| address.fill(&values).ok_or(ServerError::Endpoint(name));
        let optional =
            |name, address: &Option<Address>| address.as_ref().map(|address| filled(name, address)).transpose();
        let token_endpoint = filled("token_endpoint", &definition.token_endpoint)?;
        let issuer = definition.issuer.as_ref();
        let issuer = issuer.map(|issuer| issuer.text(&values).ok_or(ServerError::Endpoint("issuer"))).transpose()?;
        Ok(Self {
            issuer,
            authorization_endpoint: Some(filled("authorization_endpoint", &definition.authorization_endpoint)?),
            refresh_endpoint: optional("refresh.endpoint", &definition.refresh.endpoint)?
                .unwrap_or_else(|| token_endpoint.clone()),
            token_endpoint,
            introspection_endpoint: optional("introspection_endpoint", &definition.introspection_endpoint)?,
            resource: definition.resource.clone(),
            definition: Arc::clone(definition),
            values,
            plain: chosen_by == ChosenBy::Operator,
            chosen_by,
            chosen: Vec::new(),
        })
    }

    /// The server of a document, or of a grant. Each of its URLs is looked at before it is requested.
    pub fn discovered(found: Discovered) -> Self {
        let Discovered { issuer, authorization_endpoint, token_endpoint, revocation_endpoint, promises_iss, resource } =
            found;
        let authorization = authorization_endpoint.clone().unwrap_or_else(|| token_endpoint.clone());
        let mut definition = Definition::standard(authorization, token_endpoint.clone());
        definition.iss = if promises_iss { Iss::Required } else { Iss::Optional };
        definition.revocation = revocation_endpoint.map(|url| Revocation::standard(Address::of(url)));
        Self {
            definition: Arc::new(definition),
            issuer: Some(issuer),
            authorization_endpoint,
            refresh_endpoint: token_endpoint.clone(),
            token_endpoint,
            introspection_endpoint: None,
            resource,
            values: BTreeMap::new(),
            chosen_by: ChosenBy::Others,
            chosen: Vec::new(),
            plain: false,
        }
    }

    /// The same where the operator allowed to request its authorization endpoint, be it over http (R-SEC-05).
    #[must_use]
    pub fn with_plain_way(mut self, allowed: bool) -> Self {
        self.plain = allowed;
        self
    }

    /// The same where the operator wrote down these origins, which may then be private (R-SEC-05).
    #[must_use]
    pub fn with_chosen_origins(mut self, origins: Vec<Origin>) -> Self {
        self.chosen = origins;
        self
    }

    /// The same where a refresh token has to be asked for: by the scope `offline_access`, and by asking the person
    /// (OpenID Connect Core, section 11).
    #[must_use]
    pub fn with_offline_access(mut self) -> Self {
        let authorize = &mut Arc::make_mut(&mut self.definition).authorize;
        authorize.offline = vec![("prompt".to_owned(), "consent".to_owned())];
        authorize.offline_scopes = vec!["offline_access".to_owned()];
        self
    }

    /// How it works.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// What it is kept as with a grant: its issuer identifier, or the origin of its token endpoint where it has none.
    pub fn issuer(&self) -> String {
        self.issuer.clone().unwrap_or_else(|| self.token_endpoint.origin().ascii_serialization())
    }

    /// What our registration there is kept under, if it registers clients: its issuer, with where the registration is made and where
    /// its secret goes. What a user wrote into either of these is nobody else's (R-OAUTH-05, kind 15).
    pub fn registered_at(&self) -> String {
        let issuer = self.issuer();
        match self.registration_endpoint() {
            Some(endpoint) => format!("{issuer} {endpoint} {}", self.token_endpoint),
            None => issuer,
        }
    }

    /// Where clients register themselves, if the definition says so (kind 19).
    pub fn registration_endpoint(&self) -> Option<Url> {
        self.definition.registration_endpoint.as_ref()?.fill(&self.values)
    }

    /// Where codes are exchanged.
    pub fn token_endpoint(&self) -> &Url {
        &self.token_endpoint
    }

    /// Where tokens are revoked, if it can be done, with the client in place.
    pub fn revocation_endpoint(&self, client_id: &str) -> Option<Url> {
        let mut values = self.values.clone();
        values.insert("client_id".to_owned(), client_id.to_owned());
        self.definition.revocation.as_ref()?.endpoint.fill(&values)
    }

    /// Where the browser is sent, if anybody may be sent there: to a web page over https, or over http where the operator wrote it
    /// down or allowed it, as for every other of its endpoints (R-SEC-05).
    pub fn way_in(&self) -> Result<&Url, AuthorizeError> {
        let url = self.authorization_endpoint.as_ref().ok_or(AuthorizeError::NoEndpoint)?;
        let plain = || self.plain || is_loopback(url) || self.chosen.contains(&url.origin());
        let web = url.scheme() == "https" || (url.scheme() == "http" && plain());
        if web && url.username().is_empty() && url.password().is_none() { Ok(url) } else { Err(AuthorizeError::Scheme) }
    }

    /// Where the browser is sent: what the person sees in its address line.
    pub fn authorization_origin(&self) -> Option<String> {
        Some(self.authorization_endpoint.as_ref()?.origin().ascii_serialization())
    }

    /// The resource that tokens are for, where that is said (RFC 8707).
    pub fn resource(&self) -> Option<&str> {
        self.resource.as_deref()
    }

    /// The values in its URLs.
    pub fn values(&self) -> &BTreeMap<String, String> {
        &self.values
    }

    /// The method of our client there, of those that its metadata name (RFC 8414: `client_secret_basic` where it names none).
    pub fn method_among(supported: &[String], has_secret: bool) -> Option<ClientAuthentication> {
        let takes = |name: &str| supported.iter().any(|method| method == name);
        match has_secret {
            // Without a secret the id goes into the body anyway (RFC 6749, section 2.3.1).
            false => Some(ClientAuthentication::None),
            true if supported.is_empty() || takes("client_secret_basic") => Some(ClientAuthentication::Basic),
            true if takes("client_secret_post") => Some(ClientAuthentication::Post),
            true => None,
        }
    }

    /// The client that requests a URL of this server's.
    pub(crate) fn http<'e>(&self, egress: &'e Egress, url: &Url) -> Result<&'e reqwest::Client, Blocked> {
        match self.chosen_by {
            ChosenBy::Operator => Ok(egress.operator()),
            ChosenBy::Others if self.chosen.contains(&url.origin()) => Ok(egress.operator()),
            ChosenBy::Others => egress.guarded(url),
        }
    }

    /// The client that requests a URL in which something of a reply may stand.
    pub(super) fn http_filled<'e>(
        &self,
        egress: &'e Egress,
        address: &Address,
        url: &Url,
    ) -> Result<&'e reqwest::Client, Blocked> {
        if address.placeholders().all(|name| self.values.contains_key(name)) {
            return self.http(egress, url);
        }
        egress.guarded(url)
    }
}
