use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};

use elicit::SystemRandom;
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use usher_store::{KeyFile, KeyRing, Vault};

mod registering;

use super::*;
use crate::{
    config::folder::Folder,
    oauth::site::{self, Site},
};

const OAUTH: &str = "/.well-known/oauth-authorization-server";
const RESOURCE: &str = "/.well-known/oauth-protected-resource/mcp";

#[derive(Default)]
struct Hand(AtomicI64);

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(1_900_000_000 + self.0.load(Ordering::SeqCst)).unwrap()
    }
}

/// A service with one server that demands its own sign-in, and its authorization server.
struct World {
    servers: AuthorizationServers,
    hand: Arc<Hand>,
    id: Site,
    mcp: Site,
    _folder: Folder,
}

impl World {
    /// `lines` go into the provider; `metadata` into what the authorization server says.
    async fn start(public_url: &str, lines: &str, metadata: Value) -> Self {
        Self::needing(public_url, lines, "", metadata).await
    }

    /// The same with `need` in the server's need.
    async fn needing(public_url: &str, lines: &str, need: &str, metadata: Value) -> Self {
        let folder = Folder::new();
        let (id, mcp) = (Site::start().await, Site::start().await);
        let mut document = json!({
            "issuer": id.origin,
            "authorization_endpoint": id.url("/authorize").as_str(),
            "token_endpoint": id.url("/token").as_str(),
            "registration_endpoint": id.url("/register").as_str(),
            "code_challenge_methods_supported": ["S256"],
        });
        document.as_object_mut().unwrap().extend(metadata.as_object().unwrap().clone());
        document.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        id.has(OAUTH, &document);
        let resource = json!({
            "resource": mcp.url("/mcp").as_str(),
            "authorization_servers": [id.origin],
            "scopes_supported": ["read", "write"],
        });
        mcp.has(RESOURCE, &resource);
        let lines = lines.replace("{issuer}", &id.origin);
        let upstream = mcp.url("/mcp");
        let identity = if public_url.starts_with("https") {
            "[identity]\nmode = \"oidc\"\nissuer = \"https://sign-in.example\"\nclient_id = \"x\"\n"
        } else {
            ""
        };
        let text = format!(
            "public_url = \"{public_url}\"\n{identity}[[provider]]\nname = \"notes\"\nkind = \"mcp\"\n{lines}\n\
             [[upstream]]\nname = \"notes\"\nurl = \"{upstream}\"\n[[upstream.needs]]\nprovider = \"notes\"\n{need}\n"
        );
        let config = Config::parse(&text, Path::new("/srv/usher/usher.toml"), &|_| None).unwrap();
        let hand = Arc::new(Hand::default());
        let random = Arc::new(SystemRandom);
        let keys = KeyFile::create(&folder.path("usher.keys"), &SystemRandom, hand.now()).unwrap();
        let vault = Arc::new(Vault::new(Arc::new(KeyRing::new(keys)), random.clone()));
        let url = SecretString::from(format!("sqlite:{}", folder.path("usher.db").display()));
        let store = Store::open(&url, vault, random).await.unwrap();
        let clock = Arc::clone(&hand) as Arc<dyn Clock>;
        let servers = AuthorizationServers::new(Arc::new(config), store, clock, site::egress());
        Self { servers, hand, id, mcp, _folder: folder }
    }

    fn provider(&self) -> Provider {
        self.servers.parts.config.provider("notes").unwrap().clone()
    }

    async fn account(&self) -> Result<Account, AccountError> {
        self.servers.account(&self.provider(), &BTreeMap::new()).await
    }

    /// Each registration gets the next id.
    fn registers(&self, id: &str, more: &Value) {
        let mut reply = json!({ "client_id": id, "client_secret": format!("secret of {id}") });
        reply.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.id.says("/register", 201, &reply.to_string());
    }

    fn registrations(&self) -> usize {
        self.id.paths().iter().filter(|path| *path == "/register").count()
    }
}

const LOCAL: &str = "http://127.0.0.1:8420";
const PUBLIC: &str = "https://usher.example";

#[tokio::test]
async fn a_client_registers_itself_once() {
    let world = World::start(LOCAL, "", json!({})).await;
    world.registers("one", &json!({}));
    let all = futures_util::future::join_all((0..5).map(|_| world.account())).await;
    for account in all {
        let account = account.unwrap();
        assert_eq!((account.client.id.as_str(), account.origin), ("one", ClientOrigin::Registered));
        assert_eq!(account.client.method, ClientAuthentication::Basic);
        assert_eq!(account.server.issuer(), world.id.origin);
        assert_eq!(account.server.resource(), Some(world.mcp.url("/mcp").as_str()));
    }
    assert_eq!(world.registrations(), 1);
}

/// R-OAUTH-02: one redirect URI for each authorization server.
#[tokio::test]
async fn the_redirect_uri_is_this_issuer_s_alone() {
    let world = World::start(LOCAL, "", json!({})).await;
    world.registers("one", &json!({}));
    let account = world.account().await.unwrap();
    let expected = format!("{LOCAL}/callback/notes/{}", crate::oauth::issuer_key(&world.id.origin));
    assert_eq!(account.client.redirect_uri, expected);
    let asked = world.id.asked().into_iter().find(|asked| asked.path == "/register").unwrap();
    let body: Value = serde_json::from_str(&asked.body).unwrap();
    assert_eq!(body["redirect_uris"], json!([expected]));
    assert_eq!(body["application_type"], "native");
}

#[tokio::test]
async fn a_client_that_the_server_forgot_is_made_anew() {
    let world = World::start(LOCAL, "", json!({})).await;
    world.registers("one", &json!({}));
    let account = world.account().await.unwrap();
    world.registers("two", &json!({}));
    assert_eq!(world.account().await.unwrap().client.id, "one");
    assert!(world.servers.client_refused(&account).await.unwrap());
    assert_eq!(world.account().await.unwrap().client.id, "two");
    // Whoever hears of the first one late takes nothing from the second.
    world.servers.client_refused(&account).await.unwrap();
    assert_eq!(world.account().await.unwrap().client.id, "two");
    assert_eq!(world.registrations(), 2);
}

#[tokio::test]
async fn a_client_whose_secret_ends_is_made_anew() {
    let world = World::start(LOCAL, "", json!({})).await;
    world.registers("one", &json!({ "client_secret_expires_at": 1_900_000_600 }));
    assert_eq!(world.account().await.unwrap().client.id, "one");
    world.registers("two", &json!({ "client_secret_expires_at": 0 }));
    world.hand.0.fetch_add(500, Ordering::SeqCst);
    assert_eq!(world.account().await.unwrap().client.id, "one");
    world.hand.0.fetch_add(60, Ordering::SeqCst);
    assert_eq!(world.account().await.unwrap().client.id, "two");
}

#[tokio::test]
async fn our_document_is_used_where_it_is_advertised_and_can_be_read() {
    let advertised = json!({ "client_id_metadata_document_supported": true });
    let world = World::start(PUBLIC, "", advertised.clone()).await;
    let account = world.account().await.unwrap();
    let key = crate::oauth::issuer_key(&world.id.origin);
    assert_eq!(account.client.id, format!("{PUBLIC}/.well-known/usher-client/notes/{key}.json"));
    assert_eq!((account.client.method, account.origin), (ClientAuthentication::None, ClientOrigin::Document));
    assert_eq!(world.registrations(), 0);
    assert!(!world.servers.client_refused(&account).await.unwrap());

    for (public_url, lines, metadata) in [
        (LOCAL, "", advertised.clone()),
        ("https://usher.internal", "", advertised.clone()),
        (PUBLIC, "", json!({})),
        (PUBLIC, "registration = \"dynamic\"", advertised.clone()),
        (
            PUBLIC,
            "",
            json!({
                "client_id_metadata_document_supported": true,
                "token_endpoint_auth_methods_supported": ["client_secret_basic"],
            }),
        ),
    ] {
        let world = World::start(public_url, lines, metadata).await;
        world.registers("one", &json!({}));
        assert_eq!(world.account().await.unwrap().origin, ClientOrigin::Registered, "{public_url} {lines}");
    }
    let world = World::start("https://usher.internal", "registration = \"metadata_document\"", json!({})).await;
    assert_eq!(world.account().await.unwrap().origin, ClientOrigin::Document, "the operator knows better");
    let world = World::start(LOCAL, "registration = \"metadata_document\"", json!({})).await;
    assert!(matches!(world.account().await, Err(AccountError::NoDocument)));
}

/// R-OAUTH-05: what the operator registered is for one issuer.
#[tokio::test]
async fn the_client_of_the_configuration_goes_to_its_issuer_alone() {
    let lines = "issuer = \"{issuer}\"\nclient_id = \"ours\"\nclient_secret = \"kept\"";
    let world = World::start(LOCAL, lines, json!({ "registration_endpoint": null })).await;
    let account = world.account().await.unwrap();
    assert_eq!((account.client.id.as_str(), account.origin), ("ours", ClientOrigin::Configured));
    assert_eq!(account.client.secret.as_ref().unwrap().expose_secret(), "kept");
    assert!(account.grant_server().client.secret.is_none(), "the configuration keeps it");

    let elsewhere = "issuer = \"https://id.example\"\nclient_id = \"ours\"\nclient_secret = \"kept\"";
    let world = World::start(LOCAL, elsewhere, json!({})).await;
    let error = world.account().await.unwrap_err();
    assert!(error.to_string().contains("whose credentials are for that one alone"), "{error}");
    assert!(!error.is_transient());
    assert_eq!(world.id.paths(), Vec::<String>::new());
}

/// R-OAUTH-05: what is kept with a grant says whose it is.
#[tokio::test]
async fn a_grant_is_kept_with_its_issuer_and_client() {
    let world = World::start(LOCAL, "", json!({ "revocation_endpoint": null })).await;
    world.registers("one", &json!({}));
    let kept = world.account().await.unwrap().grant_server();
    assert_eq!((kept.issuer.as_str(), kept.client.id.as_str()), (world.id.origin.as_str(), "one"));
    assert_eq!(kept.token_endpoint.as_deref(), Some(world.id.url("/token").as_str()));
    assert_eq!(kept.resource.as_deref(), Some(world.mcp.url("/mcp").as_str()));
    assert_eq!(kept.client.secret.unwrap().expose_secret(), "secret of one");
    let (provider, issuer) = (world.provider(), world.id.origin.clone());
    assert_eq!(world.servers.still_names(&provider, &issuer).await, Named::Same);
    assert!(matches!(world.servers.still_names(&provider, "https://other.example").await, Named::Other(_)));
}

#[tokio::test]
async fn scopes_are_those_of_the_challenge_then_of_the_operator_then_all() {
    for (challenge, lines, need, expected) in [
        ("Bearer scope=\"admin\"", "scopes = [\"ours\"]", "", &["admin"][..]),
        ("Bearer scope=\"admin\"", "", "", &["admin"]),
        ("Bearer", "scopes = [\"ours\"]", "", &[]),
        ("Bearer", "", "scopes = [\"ours\"]", &[]),
        ("Bearer", "", "", &["read", "write"]),
    ] {
        let world = World::needing(LOCAL, lines, need, json!({})).await;
        world.registers("one", &json!({}));
        world.mcp.answers("/mcp", 401, vec![("www-authenticate", challenge.to_owned())], "");
        let scopes: Vec<String> = world.account().await.unwrap().scopes.into_iter().collect();
        assert_eq!(scopes, expected, "{challenge} {lines} {need}");
    }
}

#[tokio::test]
async fn offline_access_is_asked_for_where_it_is_known() {
    for (scopes, expected) in [(json!(["read", "offline_access"]), true), (json!(["read"]), false)] {
        let world = World::start(LOCAL, "", json!({ "scopes_supported": scopes })).await;
        world.registers("one", &json!({}));
        let account = world.account().await.unwrap();
        let request = crate::oauth::Request {
            state: &SecretString::from("s"),
            verifier: &SecretString::from("v".repeat(43)),
            scopes: &["read".to_owned()],
            language: "en",
        };
        let url = crate::oauth::authorize(&account.server, &account.client, &request).unwrap();
        let value = |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
        assert_eq!(value("scope").unwrap().contains("offline_access"), expected);
        assert_eq!(value("prompt").is_some(), expected, "OpenID providers want both");
        assert_eq!(value("resource").as_deref(), Some(world.mcp.url("/mcp").as_str()));
    }
}
