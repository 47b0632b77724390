//! Who makes the tokens that a server at a URL demands, and how (MCP 2026-07-28, Authorization): from the server's challenge to
//! its metadata as a protected resource, and from there to those of its authorization server.
//!
//! Everything is read anew each time; what is kept, and for how long, is the caller's. Each request has ten seconds, and all of
//! them together [`DISCOVERY_DEADLINE`].

pub mod known;
mod reach;
pub mod resource;
pub mod server;

use std::{collections::BTreeSet, time::Duration};

use bytes::Bytes;
use http::{StatusCode, header};
use url::Url;

pub use self::reach::{FetchError, Reach};
use self::{
    resource::{Resource, ResourceError},
    server::{ServerError, ServerMetadata},
};
use super::challenge::Challenge;
use crate::{claim, config::Issuer};

/// How long all of a discovery may take (R-SEC-04).
pub const DISCOVERY_DEADLINE: Duration = Duration::from_secs(30);

/// How long the server has to turn away a request without credentials.
const PROBE_DEADLINE: Duration = Duration::from_secs(10);

/// What a discovery found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discovered {
    /// What the server is called in requests for its tokens (RFC 8707).
    pub resource: String,
    /// Its authorization server.
    pub server: ServerMetadata,
    /// The scopes that its challenge names; none where it names none.
    pub challenged: BTreeSet<String>,
    /// The scopes that its metadata name; none where they name none.
    pub supported: BTreeSet<String>,
}

/// Why there is no way to a token. The text is for operators: it says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiscoveryError {
    /// The server says nowhere who makes its tokens.
    #[error(
        "the server says nowhere who makes its tokens: neither in WWW-Authenticate nor at {place}; it may not demand MCP \
         authorization at all, or issuer and client_id have to be configured"
    )]
    NoResource {
        /// The last place that was looked at.
        place: String,
    },
    /// What the server says of itself cannot be had.
    #[error("the server's metadata at {place}: {fault}")]
    Resource {
        /// Where they should be.
        place: String,
        /// What is wrong.
        fault: DocumentError<ResourceError>,
    },
    /// What the authorization server says of itself cannot be had.
    #[error("the metadata of its authorization server at {place}: {fault}")]
    Server {
        /// Where they should be.
        place: String,
        /// What is wrong.
        fault: DocumentError<ServerError>,
    },
    /// It all took longer than [`DISCOVERY_DEADLINE`].
    #[error("no end within {} s", DISCOVERY_DEADLINE.as_secs())]
    Slow,
}

/// What is wrong with a document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError<E: std::error::Error + 'static> {
    /// There is none.
    #[error("{0}")]
    Fetch(FetchError),
    /// It is not used.
    #[error("{0}")]
    Content(E),
}

impl<E: std::error::Error> DocumentError<E> {
    fn is_transient(&self) -> bool {
        matches!(self, Self::Fetch(error) if error.is_transient())
    }
}

impl DiscoveryError {
    /// Whether it may go better later, without anybody's doing.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Slow => true,
            Self::NoResource { .. } => false,
            Self::Resource { fault, .. } => fault.is_transient(),
            Self::Server { fault, .. } => fault.is_transient(),
        }
    }
}

/// Finds out who makes the tokens for the server at `upstream`. `pinned` is the issuer of the configuration, which must be the
/// one that the server names; where the server names none at all, it is that one. `noted` is where a challenge to a call has
/// pointed, if the server turns nobody away who calls nothing: somebody's call, which is to take nothing from all others. Where
/// that leads nowhere it is emptied, and the server is looked for as without it.
pub async fn discover(
    reach: &Reach<'_>,
    upstream: &Url,
    pinned: Option<&Issuer>,
    noted: &mut Option<String>,
) -> Result<Discovered, DiscoveryError> {
    let whole = async {
        let Challenge { resource_metadata: own, scopes: challenged, .. } = probe(reach, upstream).await;
        let (resource, server) = match (own, noted.clone()) {
            (None, Some(place)) => match half(follow(reach, upstream, pinned, Some(&place))).await {
                Ok(found) => found,
                Err(lost) => {
                    *noted = None;
                    match follow(reach, upstream, pinned, None).await {
                        // The other one says more.
                        Err(DiscoveryError::NoResource { .. }) => return Err(lost),
                        found => found?,
                    }
                }
            },
            (own, _) => follow(reach, upstream, pinned, own.as_deref()).await?,
        };
        let Resource { identifier, scopes, .. } = resource;
        Ok(Discovered { resource: identifier, server, challenged, supported: scopes })
    };
    tokio::time::timeout(DISCOVERY_DEADLINE, whole).await.unwrap_or(Err(DiscoveryError::Slow))
}

/// As much of the time as leaves some for another way.
async fn half<T>(way: impl Future<Output = Result<T, DiscoveryError>>) -> Result<T, DiscoveryError> {
    tokio::time::timeout(DISCOVERY_DEADLINE / 2, way).await.unwrap_or(Err(DiscoveryError::Slow))
}

/// From what the server says of itself to what its authorization server does.
async fn follow(
    reach: &Reach<'_>,
    upstream: &Url,
    pinned: Option<&Issuer>,
    pointed: Option<&str>,
) -> Result<(Resource, ServerMetadata), DiscoveryError> {
    let (resource, issuer) = match find_resource(reach, upstream, pointed).await {
        Ok((place, resource)) => {
            let chosen = resource.choose(pinned, reach);
            let fault = |fault| DiscoveryError::Resource { place, fault: DocumentError::Content(fault) };
            let issuer = chosen.map_err(fault)?;
            (resource, issuer)
        }
        Err(DiscoveryError::NoResource { place }) => match pinned {
            Some(pinned) => (unsaid(upstream), pinned.clone()),
            None => return Err(DiscoveryError::NoResource { place }),
        },
        Err(error) => return Err(error),
    };
    let server = find_server(reach, &issuer).await?;
    Ok((resource, server))
}

/// A server that says nothing of itself.
fn unsaid(upstream: &Url) -> Resource {
    let identifier = resource::canonical(upstream);
    Resource { identifier, authorization_servers: Vec::new(), scopes: BTreeSet::new() }
}

/// Sends a request of the modern era without credentials: it begins no session, and does nothing. A server that demands
/// authorization turns it away and says what for; one that does not answer says nothing.
async fn probe(reach: &Reach<'_>, upstream: &Url) -> Challenge {
    const BODY: &str = r#"{"jsonrpc":"2.0","id":"usher-probe","method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"usher","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let Ok(client) = reach.client(upstream) else { return Challenge::default() };
    let request = client
        .post(upstream.clone())
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/list")
        .body(BODY);
    let Ok(Ok(answer)) = tokio::time::timeout(PROBE_DEADLINE, request.send()).await else {
        return Challenge::default();
    };
    if !matches!(answer.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Challenge::default();
    }
    Challenge::of(answer.headers()).unwrap_or_default()
}

/// What the server says of itself, and where: where its challenge points if it points anywhere, else at the well-known places.
async fn find_resource(
    reach: &Reach<'_>,
    upstream: &Url,
    pointed: Option<&str>,
) -> Result<(String, Resource), DiscoveryError> {
    if let Some(pointed) = pointed {
        let place = short(pointed);
        let fault = |fault| DiscoveryError::Resource { place: place.clone(), fault };
        let blocked = || fault(DocumentError::Fetch(FetchError::Blocked(crate::egress::Blocked::Scheme)));
        let at = reach.endpoint(pointed).ok_or_else(blocked)?;
        let document = reach.document(&at).await.map_err(|error| fault(DocumentError::Fetch(error)))?;
        let resource = Resource::parse(&document, &at, upstream);
        return Ok((place.clone(), resource.map_err(|error| fault(DocumentError::Content(error)))?));
    }
    let mut worst = None;
    let locations = resource::locations(upstream);
    for at in &locations {
        let place = at.to_string();
        let fault = match reach.document(at).await {
            Ok(document) => match Resource::parse(&document, at, upstream) {
                Ok(resource) => return Ok((place, resource)),
                Err(error) => DocumentError::Content(error),
            },
            // Whoever has it nowhere says so everywhere.
            Err(FetchError::Absent(_)) => continue,
            Err(error) => DocumentError::Fetch(error),
        };
        worst.get_or_insert(DiscoveryError::Resource { place, fault });
    }
    let place = locations.last().map(Url::to_string).unwrap_or_default();
    Err(worst.unwrap_or(DiscoveryError::NoResource { place }))
}

/// What an authorization server says of itself: the first document that is its own.
async fn find_server(reach: &Reach<'_>, issuer: &Issuer) -> Result<ServerMetadata, DiscoveryError> {
    let mut worst: Option<DiscoveryError> = None;
    for at in server::locations(issuer) {
        let place = at.to_string();
        let read = |document: Bytes| ServerMetadata::parse(&document, issuer, reach);
        let fault = match reach.document(&at).await.map(read) {
            Ok(Ok(metadata)) => return Ok(metadata),
            Ok(Err(error)) => DocumentError::Content(error),
            Err(error) => DocumentError::Fetch(error),
        };
        let is_final = matches!(&fault, DocumentError::Content(error) if error.is_final());
        let tells_more = !matches!(fault, DocumentError::Fetch(FetchError::Absent(_)));
        let fault = DiscoveryError::Server { place, fault };
        if is_final {
            return Err(fault);
        }
        if tells_more || worst.is_none() {
            worst = Some(fault);
        }
    }
    // There is at least one place.
    Err(worst.unwrap_or(DiscoveryError::Slow))
}

/// What somebody else wrote, for a log.
fn short(text: &str) -> String {
    claim::clean(text).unwrap_or_default()
}

#[cfg(test)]
mod tests;
