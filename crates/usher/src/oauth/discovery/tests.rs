use serde_json::{Value, json};

use super::*;
use crate::{
    egress::{Blocked, Egress},
    oauth::site::{self, Site},
};

const RESOURCE: &str = "/.well-known/oauth-protected-resource/mcp";
const ROOT: &str = "/.well-known/oauth-protected-resource";
const OAUTH: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";

/// An MCP server at `/mcp` and its authorization server, each at an origin of its own.
struct World {
    egress: Egress,
    mcp: Site,
    id: Site,
}

impl World {
    /// Everything as it should be; the operator allows what is on this machine.
    async fn right() -> Self {
        let world = Self { egress: site::egress(), mcp: Site::start().await, id: Site::start().await };
        world.mcp.has(RESOURCE, &world.resource());
        world.id.has(OAUTH, &world.server(&world.id.origin));
        world
    }

    fn resource(&self) -> Value {
        json!({
            "resource": self.mcp.url("/mcp").as_str(),
            "authorization_servers": [self.id.origin],
            "scopes_supported": ["read", "write"],
        })
    }

    fn server(&self, issuer: &str) -> Value {
        json!({
            "issuer": issuer,
            "authorization_endpoint": self.id.url("/authorize").as_str(),
            "token_endpoint": self.id.url("/token").as_str(),
            "code_challenge_methods_supported": ["S256"],
        })
    }

    fn turns_away(&self, challenge: &str) {
        self.mcp.answers("/mcp", 401, vec![("www-authenticate", challenge.to_owned())], "");
    }

    async fn discover(&self) -> Result<Discovered, DiscoveryError> {
        self.discover_with(None, None).await
    }

    async fn discover_with(&self, pinned: Option<&str>, noted: Option<&str>) -> Result<Discovered, DiscoveryError> {
        let pinned = pinned.map(|text| Issuer::parse(text).unwrap());
        let upstream = self.mcp.url("/mcp");
        let reach = Reach::of(&self.egress, &upstream, pinned.as_ref());
        discover(&reach, &upstream, pinned.as_ref(), &mut noted.map(str::to_owned)).await
    }

    /// The fault of the server's own document.
    async fn resource_fault(&self) -> DocumentError<ResourceError> {
        match self.discover().await.unwrap_err() {
            DiscoveryError::Resource { fault, .. } => fault,
            other => panic!("{other}"),
        }
    }

    /// The fault of the authorization server's document.
    async fn server_fault(&self) -> DocumentError<ServerError> {
        match self.discover().await.unwrap_err() {
            DiscoveryError::Server { fault, .. } => fault,
            other => panic!("{other}"),
        }
    }
}

#[tokio::test]
async fn a_server_leads_to_its_authorization_server() {
    let world = World::right().await;
    world.turns_away("Bearer scope=\"read\"");
    let found = world.discover().await.unwrap();
    assert_eq!(found.resource, world.mcp.url("/mcp").as_str());
    assert_eq!(found.server.issuer.as_str(), world.id.origin);
    assert_eq!((found.challenged.len(), found.supported.len()), (1, 2));
    assert_eq!(world.mcp.paths(), ["/mcp", RESOURCE]);
    assert_eq!(world.id.paths(), [OAUTH]);
    for asked in [world.mcp.asked(), world.id.asked()].concat() {
        assert!(!asked.headers.contains_key("authorization") && !asked.headers.contains_key("cookie"));
    }
}

#[tokio::test]
async fn the_challenge_says_where_metadata_are() {
    let world = World::right().await;
    let elsewhere = Site::start().await;
    elsewhere.has("/about/mcp", &world.resource());
    world.turns_away(&format!("Bearer resource_metadata=\"{}\"", elsewhere.url("/about/mcp")));
    let found = world.discover().await.unwrap();
    assert_eq!(found.resource, world.mcp.url("/mcp").as_str());
    assert_eq!(world.mcp.paths(), ["/mcp"], "no other place is looked at");
    assert_eq!(elsewhere.paths(), ["/about/mcp"]);
}

/// Where the challenge points, the metadata must be: no other place is tried in their stead.
#[tokio::test]
async fn a_challenge_that_points_nowhere_is_an_error() {
    let world = World::right().await;
    world.turns_away(&format!("Bearer resource_metadata=\"{}\"", world.mcp.url("/gone")));
    let fault = world.resource_fault().await;
    assert_eq!(fault, DocumentError::Fetch(FetchError::Absent(StatusCode::NOT_FOUND)));
}

#[tokio::test]
async fn metadata_may_be_at_the_root() {
    let world = World::right().await;
    world.mcp.says(RESOURCE, 404, "");
    let mut resource = world.resource();
    resource["resource"] = world.mcp.origin.clone().into();
    world.mcp.has(ROOT, &resource);
    let found = world.discover().await.unwrap();
    assert_eq!(found.resource, world.mcp.origin);
    assert_eq!(world.mcp.paths(), ["/mcp", RESOURCE, ROOT]);
}

/// A page for people, at the first place, is not the end.
#[tokio::test]
async fn a_page_in_place_of_metadata_is_passed_over() {
    let world = World::right().await;
    world.mcp.says(RESOURCE, 200, "<html>welcome");
    world.mcp.has(ROOT, &world.resource());
    world.id.says(OAUTH, 200, "<html>welcome");
    world.id.has(OPENID, &world.server(&world.id.origin));
    assert!(world.discover().await.is_ok());
}

/// A server that turns only calls away points to its metadata only then.
#[tokio::test]
async fn where_a_call_was_turned_away_to_is_remembered() {
    let world = World::right().await;
    world.mcp.says(RESOURCE, 404, "");
    world.mcp.says("/mcp", 200, "{}");
    world.mcp.has("/about", &world.resource());
    let noted = world.mcp.url("/about").to_string();
    assert!(matches!(world.discover().await, Err(DiscoveryError::NoResource { .. })));
    assert!(world.discover_with(None, Some(&noted)).await.is_ok());
}

#[tokio::test]
async fn a_server_that_says_nothing_needs_an_issuer_in_the_configuration() {
    let world = World::right().await;
    world.mcp.says(RESOURCE, 404, "");
    let error = world.discover().await.unwrap_err();
    assert!(error.to_string().contains("issuer and client_id have to be configured"), "{error}");
    assert!(!error.is_transient());
    let found = world.discover_with(Some(&world.id.origin), None).await.unwrap();
    assert_eq!(found.resource, world.mcp.url("/mcp").as_str());
}

/// R-OAUTH-05: credentials of the configuration are for its issuer alone.
#[tokio::test]
async fn another_issuer_than_the_configured_one_is_an_error() {
    let world = World::right().await;
    let error = world.discover_with(Some("https://id.example"), None).await.unwrap_err();
    assert!(error.to_string().contains("https://id.example"), "{error}");
    assert_eq!(world.id.paths(), Vec::<String>::new());
}

/// R-OAUTH-05: a document of another issuer is not used, wherever it is.
#[tokio::test]
async fn a_document_of_another_issuer_leads_nowhere() {
    let world = World::right().await;
    for place in [OAUTH, OPENID] {
        world.id.has(place, &world.server("https://honest.example"));
    }
    let fault = world.server_fault().await;
    assert!(matches!(fault, DocumentError::Content(ServerError::Issuer { .. })), "{fault}");
    assert_eq!(world.id.paths(), [OAUTH, OPENID]);

    world.id.has(OPENID, &world.server(&world.id.origin));
    assert!(world.discover().await.is_ok(), "the issuer's own is at the second place");
}

#[tokio::test]
async fn an_issuer_with_a_path_is_looked_for_at_three_places() {
    let world = World::right().await;
    let issuer = format!("{}/tenant", world.id.origin);
    let mut resource = world.resource();
    resource["authorization_servers"] = json!([issuer]);
    world.mcp.has(RESOURCE, &resource);
    let last = format!("/tenant{OPENID}");
    world.id.has(&last, &world.server(&issuer));
    assert_eq!(world.discover().await.unwrap().server.issuer.as_str(), issuer);
    assert_eq!(world.id.paths(), [format!("{OAUTH}/tenant"), format!("{OPENID}/tenant"), last]);
}

/// R-OAUTH-05: no `code_challenge_methods_supported`, no flow; what OpenID discovery says is not asked in its stead.
#[tokio::test]
async fn a_server_without_pkce_gets_nobody() {
    let world = World::right().await;
    let mut server = world.server(&world.id.origin);
    server.as_object_mut().unwrap().remove("code_challenge_methods_supported");
    world.id.has(OAUTH, &server);
    world.id.has(OPENID, &world.server(&world.id.origin));
    assert_eq!(world.server_fault().await, DocumentError::Content(ServerError::Pkce));
    assert_eq!(world.id.paths(), [OAUTH]);
}

/// R-SEC-05: a server's word leads to no address that nobody allowed: neither to metadata, nor to an authorization server.
#[tokio::test]
async fn a_server_cannot_have_private_addresses_requested() {
    let mut world = World::right().await;
    world.egress = site::strict_egress();
    assert!(matches!(world.resource_fault().await, DocumentError::Content(ResourceError::Server { .. })));
    assert_eq!(world.id.paths(), Vec::<String>::new());

    let inside = Site::start().await;
    for place in [
        inside.url("/latest/meta-data").to_string(),
        "https://169.254.169.254/".to_owned(),
        "file:///etc/passwd".to_owned(),
    ] {
        world.turns_away(&format!("Bearer resource_metadata=\"{place}\""));
        let fault = world.resource_fault().await;
        assert!(matches!(fault, DocumentError::Fetch(FetchError::Blocked(_))), "{place}: {fault}");
    }
    assert_eq!(inside.paths(), Vec::<String>::new());
    // What the operator wrote down is theirs to choose, and so is its whole origin.
    world.turns_away(&format!("Bearer resource_metadata=\"{}\"", world.mcp.url(RESOURCE)));
    let pinned = world.id.origin.clone();
    assert!(world.discover_with(Some(&pinned), None).await.is_ok());
}

/// R-SEC-05
#[tokio::test]
async fn redirects_are_not_followed() {
    let world = World::right().await;
    let inside = Site::start().await;
    world.mcp.answers(RESOURCE, 302, vec![("location", inside.url("/x").to_string())], "");
    assert!(matches!(world.discover().await, Err(DiscoveryError::NoResource { .. })));
    world.mcp.has(RESOURCE, &world.resource());
    world.id.answers(OAUTH, 307, vec![("location", inside.url("/x").to_string())], "");
    assert_eq!(world.server_fault().await, DocumentError::Fetch(FetchError::Absent(StatusCode::TEMPORARY_REDIRECT)));
    assert_eq!(inside.paths(), Vec::<String>::new());
}

/// R-SEC-04: what may pass is told from what stays.
#[tokio::test]
async fn an_outage_is_told_from_a_misconfiguration() {
    let world = World::right().await;
    for (status, transient) in [(503, true), (429, true), (408, true), (401, false), (410, false)] {
        world.id.says(OAUTH, status, "");
        assert_eq!(world.discover().await.unwrap_err().is_transient(), transient, "{status}");
    }
    world.id.has(OAUTH, &world.server(&world.id.origin));
    world.mcp.says(RESOURCE, 500, "");
    assert!(world.discover().await.unwrap_err().is_transient());
    world.mcp.says(RESOURCE, 200, &" ".repeat(300 * 1024));
    assert!(!world.discover().await.unwrap_err().is_transient(), "a document without end stays so");
}

#[tokio::test]
async fn an_address_that_is_not_public_is_said_to_be_so() {
    let world = World::right().await;
    world.turns_away("Bearer resource_metadata=\"https://10.0.0.1/x\"");
    let fault = world.resource_fault().await;
    assert_eq!(fault, DocumentError::Fetch(FetchError::Blocked(Blocked::Address)));
}
