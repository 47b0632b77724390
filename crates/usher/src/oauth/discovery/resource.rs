//! What a server says of itself as a protected resource (RFC 9728; MCP 2026-07-28, Protected Resource Metadata Discovery
//! Requirements).

use std::collections::BTreeSet;

use serde::Deserialize;
use url::Url;

use super::{Reach, short};
use crate::{config::Issuer, oauth::scope};

/// The path of the document of a resource that has none itself.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The most authorization servers of a document that are read.
const SERVERS_AT_MOST: usize = 32;

/// What we use of the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resource {
    /// What the resource is called, as the document writes it: the `resource` of every request for a token (RFC 8707).
    pub identifier: String,
    /// The authorization servers, as the document writes them.
    pub authorization_servers: Vec<String>,
    /// The scopes that it knows.
    pub scopes: BTreeSet<String>,
}

/// Why a document is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResourceError {
    /// It is no JSON object with members of the right types.
    #[error("it is no metadata of a protected resource: {0}")]
    NotMetadata(String),
    /// It is of something else than the server that was asked.
    #[error("it is of the resource {found:?}, which is not this server")]
    Resource {
        /// What it is of.
        found: String,
    },
    /// It names no authorization server.
    #[error("it names no authorization server")]
    NoServer,
    /// It names none that can be one.
    #[error("the authorization server {found:?} has no https URL, nor one that an operator allowed")]
    Server {
        /// The first that it names.
        found: String,
    },
    /// It does not name the one that the operator wrote down.
    #[error(
        "it names the authorization server {found:?}, and the configuration {pinned:?}, whose credentials are for that one alone"
    )]
    Pinned {
        /// The first that it names.
        found: String,
        /// The one of the configuration.
        pinned: String,
    },
}

#[derive(Deserialize)]
struct Document {
    resource: Option<String>,
    authorization_servers: Option<Vec<String>>,
    scopes_supported: Option<Vec<String>>,
}

/// Where the document of a server may be, in the order in which it is looked for: with the server's path, then without.
pub fn locations(upstream: &Url) -> Vec<Url> {
    let path = upstream.path();
    let mut found: Vec<Url> = Vec::new();
    for (path, query) in [(path, upstream.query()), (path.trim_end_matches('/'), upstream.query()), ("", None)] {
        let mut url = upstream.clone();
        // A slash after the host alone is no path (RFC 9728, section 3.1).
        url.set_path(&format!("{WELL_KNOWN}{}", if path == "/" { "" } else { path }));
        url.set_query(query);
        if !found.contains(&url) {
            found.push(url);
        }
    }
    found
}

/// What a server is called that does not say it (RFC 8707, section 2): its URL, without a slash where it has no path.
pub fn canonical(upstream: &Url) -> String {
    let text = upstream.as_str();
    if upstream.path() == "/" && upstream.query().is_none() {
        text.trim_end_matches('/').to_owned()
    } else {
        text.to_owned()
    }
}

impl Resource {
    /// Reads a document that was found `at` this URL, about the server at `upstream`.
    pub(super) fn parse(document: &[u8], at: &Url, upstream: &Url) -> Result<Self, ResourceError> {
        let document: Document =
            serde_json::from_slice(document).map_err(|error| ResourceError::NotMetadata(error.to_string()))?;
        let identifier =
            document.resource.ok_or_else(|| ResourceError::NotMetadata("it has no resource".to_owned()))?;
        if !is_of(&identifier, at, upstream) {
            return Err(ResourceError::Resource { found: short(&identifier) });
        }
        let mut authorization_servers = document.authorization_servers.unwrap_or_default();
        authorization_servers.truncate(SERVERS_AT_MOST);
        let scopes = document.scopes_supported.unwrap_or_default();
        Ok(Self { identifier, authorization_servers, scopes: scope::of(scopes.iter().map(String::as_str)) })
    }

    /// The authorization server to use: the one of the configuration, which must be among those that are named, else the
    /// first that can be one. Not another one where that one fails: what a person granted belongs to one of them.
    pub(super) fn choose(&self, pinned: Option<&Issuer>, reach: &Reach<'_>) -> Result<Issuer, ResourceError> {
        let found = || self.authorization_servers.first().map(|first| short(first)).ok_or(ResourceError::NoServer);
        if let Some(pinned) = pinned {
            if self.authorization_servers.iter().any(|named| named == pinned.as_str()) {
                return Ok(pinned.clone());
            }
            return Err(ResourceError::Pinned { found: found()?, pinned: pinned.as_str().to_owned() });
        }
        match self.authorization_servers.iter().find_map(|named| reach.issuer(named)) {
            Some(issuer) => Ok(issuer),
            None => Err(ResourceError::Server { found: found()? }),
        }
    }
}

/// Whether a document found `at` a URL, about `identifier`, is about the server at `upstream`. It must name that very URL
/// (RFC 9728, section 3.3); or, as servers do that keep one document for a whole host, what the URL stands below: then the
/// document must be among the host's well-known ones, which no other server on that host can write.
fn is_of(identifier: &str, at: &Url, upstream: &Url) -> bool {
    let Ok(resource) = Url::parse(identifier) else { return false };
    let bare = resource.username().is_empty() && resource.password().is_none() && resource.fragment().is_none();
    if !bare || identifier.len() > 2048 {
        return false;
    }
    match place(&resource, upstream) {
        Place::Same => true,
        Place::Above => is_well_known(at, upstream),
        Place::Elsewhere => false,
    }
}

/// Whether what was granted for the resource `identifier` can be for the server at `upstream`: it is called so, or stands below
/// what is called so (R-GW-04).
pub fn covers(identifier: &str, upstream: &Url) -> bool {
    // Asked with each call, and mostly the same to the letter.
    identifier == upstream.as_str()
        || Url::parse(identifier).is_ok_and(|resource| place(&resource, upstream) != Place::Elsewhere)
}

/// Where a resource is, seen from a server.
#[derive(PartialEq, Eq)]
enum Place {
    Same,
    Above,
    Elsewhere,
}

fn place(resource: &Url, upstream: &Url) -> Place {
    let [resource_path, path] = [resource, upstream].map(|url| url.path().trim_end_matches('/'));
    let above = path.strip_prefix(resource_path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if resource.origin() != upstream.origin() {
        Place::Elsewhere
    } else if resource_path == path && resource.query() == upstream.query() {
        Place::Same
    } else if above && resource.query().is_none() {
        Place::Above
    } else {
        Place::Elsewhere
    }
}

fn is_well_known(at: &Url, upstream: &Url) -> bool {
    let rest = at.path().strip_prefix(WELL_KNOWN);
    at.origin() == upstream.origin() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::oauth::site;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    /// R-GW-04: another path of the same host is another resource.
    #[test]
    fn what_was_granted_for_one_server_is_not_for_its_neighbour() {
        for (identifier, upstream, covered) in [
            ("https://mcp.example/one/mcp", "https://mcp.example/one/mcp", true),
            ("https://mcp.example/one/mcp/", "https://mcp.example/one/mcp", true),
            ("https://mcp.example", "https://mcp.example/one/mcp", true),
            ("https://mcp.example/one", "https://mcp.example/one/mcp", true),
            ("https://mcp.example/one/mcp", "https://mcp.example/two/mcp", false),
            ("https://mcp.example/one", "https://mcp.example/onetwo", false),
            ("https://mcp.example/one/mcp", "https://mcp.example/one", false),
            ("https://mcp.example/mcp?a=1", "https://mcp.example/mcp?a=2", false),
            ("https://mcp.example", "http://mcp.example/", false),
            ("https://mcp.example", "https://mcp.example:8443/", false),
            ("https://mcp.example", "https://other.example/", false),
            ("no url", "https://mcp.example/", false),
        ] {
            assert_eq!(covers(identifier, &url(upstream)), covered, "{identifier} {upstream}");
        }
    }

    fn document() -> Value {
        json!({
            "resource": "https://mcp.example/one/mcp",
            "authorization_servers": ["https://id.example", "https://other.example"],
            "scopes_supported": ["read", "no scope", "write"],
            "unknown": true,
        })
    }

    fn parse(document: &Value, at: &str, upstream: &str) -> Result<Resource, ResourceError> {
        Resource::parse(document.to_string().as_bytes(), &url(at), &url(upstream))
    }

    const AT: &str = "https://mcp.example/.well-known/oauth-protected-resource/one/mcp";
    const UPSTREAM: &str = "https://mcp.example/one/mcp";

    #[test]
    fn the_document_is_looked_for_with_the_path_and_then_without() {
        let of = |text: &str| locations(&url(text)).iter().map(Url::to_string).collect::<Vec<_>>();
        let root = "https://mcp.example/.well-known/oauth-protected-resource".to_owned();
        assert_eq!(of(UPSTREAM), [AT, &root]);
        assert_eq!(of("https://mcp.example/").join(" "), root);
        assert_eq!(of("https://mcp.example").join(" "), root);
        assert_eq!(of("https://mcp.example/mcp?tenant=1"), [format!("{root}/mcp?tenant=1"), root.clone()]);
        assert_eq!(of("https://mcp.example/mcp/"), [format!("{root}/mcp/"), format!("{root}/mcp"), root]);
    }

    /// R-OAUTH-05: what the server is called goes into both requests as it calls itself.
    #[test]
    fn a_document_names_the_resource_and_its_authorization_servers() {
        let resource = parse(&document(), AT, UPSTREAM).unwrap();
        assert_eq!(resource.identifier, UPSTREAM);
        assert_eq!(resource.scopes, BTreeSet::from(["read".to_owned(), "write".to_owned()]));
        assert_eq!(canonical(&url("https://MCP.example")), "https://mcp.example");
        assert_eq!(canonical(&url("https://mcp.example/mcp")), "https://mcp.example/mcp");
    }

    /// R-OAUTH-05: a document about another resource would have a person's token made for that one.
    #[test]
    fn a_document_about_something_else_is_not_used() {
        const ROOT: &str = "https://mcp.example/.well-known/oauth-protected-resource";
        const OWN: &str = "https://mcp.example/one/metadata";
        const ELSEWHERE: &str = "https://docs.example/.well-known/oauth-protected-resource";
        for (resource, at, right) in [
            ("https://mcp.example/one/mcp", AT, true),
            ("https://mcp.example/one/mcp", OWN, true),
            ("https://mcp.example/one/mcp", ELSEWHERE, true),
            ("https://mcp.example/one/mcp/", OWN, true),
            ("https://MCP.example:443/one/mcp", OWN, true),
            ("https://mcp.example", ROOT, true),
            ("https://mcp.example/one", AT, true),
            // A server says of itself that it is the whole host: its neighbours' tokens would be made for it.
            ("https://mcp.example", OWN, false),
            ("https://mcp.example", ELSEWHERE, false),
            ("https://mcp.example", "https://mcp.example/.well-known/oauth-protected-resources", false),
            ("https://mcp.example/two", ROOT, false),
            ("https://mcp.example/on", ROOT, false),
            ("https://mcp.example/one/mcp/deeper", ROOT, false),
            ("https://mcp.example/one/mcp?tenant=2", ROOT, false),
            ("https://mcp.example:8443/one/mcp", AT, false),
            ("http://mcp.example/one/mcp", AT, false),
            ("https://other.example/one/mcp", AT, false),
            ("https://mcp.example.evil.example/one/mcp", AT, false),
            ("https://user@mcp.example/one/mcp", AT, false),
            ("https://mcp.example/one/mcp#x", AT, false),
            ("mcp.example/one/mcp", AT, false),
            ("", AT, false),
        ] {
            let mut document = document();
            document["resource"] = resource.into();
            let parsed = parse(&document, at, UPSTREAM);
            if right {
                assert_eq!(parsed.unwrap().identifier, resource, "{at}");
            } else {
                assert_eq!(parsed, Err(ResourceError::Resource { found: resource.to_owned() }), "{at}");
            }
        }
    }

    #[test]
    fn what_is_no_document_is_not_used() {
        for text in ["", "[]", "7", "{}", "<html>", r#"{"resource":7}"#, r#"{"resource":"a","resource":"b"}"#] {
            let parsed = Resource::parse(text.as_bytes(), &url(AT), &url(UPSTREAM));
            assert!(matches!(parsed, Err(ResourceError::NotMetadata(_))), "{text}: {parsed:?}");
        }
    }

    /// R-OAUTH-05
    #[test]
    fn the_issuer_of_the_configuration_is_used_or_else_the_first() {
        let egress = site::strict_egress();
        let upstream = url(UPSTREAM);
        let choose = |named: &[&str], pinned: Option<&str>| {
            let pinned = pinned.map(|text| Issuer::parse(text).unwrap());
            let mut document = document();
            document["authorization_servers"] = named.into();
            let reach = Reach::of(&egress, &upstream, pinned.as_ref());
            let chosen = parse(&document, AT, UPSTREAM).unwrap().choose(pinned.as_ref(), &reach);
            chosen.map(|issuer| issuer.as_str().to_owned())
        };
        let (one, two) = ("https://id.example", "https://two.example/tenant/");
        assert_eq!(choose(&[one, two], None).unwrap(), one);
        assert_eq!(choose(&[one, two], Some(two)).unwrap(), two);
        let changed = choose(&[one], Some(two));
        assert_eq!(changed, Err(ResourceError::Pinned { found: one.to_owned(), pinned: two.to_owned() }));
        assert!(choose(&["https://two.example/tenant"], Some(two)).is_err(), "compared as text");
        assert_eq!(choose(&[], None), Err(ResourceError::NoServer));
        assert_eq!(choose(&[], Some(one)), Err(ResourceError::NoServer));
        for none in [
            "javascript:alert(1)",
            "http://id.example",
            "https://id.example?x=1",
            "https://a@id.example",
            "http://127.0.0.1",
            "id.example",
        ] {
            assert_eq!(choose(&[none], None), Err(ResourceError::Server { found: none.to_owned() }));
            assert_eq!(choose(&[none, one], None).unwrap(), one);
        }
    }
}
