//! A fake OpenID provider and OAuth authorization server (OpenID Connect Core and Discovery, RFC 6749, 7636, 7662, 8414,
//! 9207), with users, clients and keys. It is strict about what it receives, and does wrong whatever it is told to do wrong:
//! by [`Settings`], by [`Behaviour`] for a whole endpoint, and by [`Token`] for a single token.

mod authorize;
mod endpoints;
mod exchange;
mod key;
mod people;
mod settings;
mod token;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::Recorded;
use crate::door::Door;
use crate::provider::Behaviour;
use crate::record::{Log, lock};

pub(crate) use authorize::redirect;
pub use key::{Algorithm, Key};
pub(crate) use key::{encoded, merge, random};
pub use people::{Client, User};
pub use settings::{ReplyIssuer, Settings, Who};
pub use token::{Signature, Token};

use people::Grant;

/// What the issuer answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Endpoint {
    /// The document of OpenID Connect Discovery.
    Discovery,
    /// The document of RFC 8414.
    OauthDiscovery,
    /// The public keys.
    Jwks,
    /// Where the browser goes.
    Authorization,
    /// Where codes are exchanged.
    Token,
    /// RFC 7662.
    Introspection,
    /// The claims of an access token's user.
    Userinfo,
    /// Where a browser signs out.
    EndSession,
}

impl Endpoint {
    const ALL: [Self; 8] = [
        Self::Discovery,
        Self::OauthDiscovery,
        Self::Jwks,
        Self::Authorization,
        Self::Token,
        Self::Introspection,
        Self::Userinfo,
        Self::EndSession,
    ];

    /// Its path, for an issuer with this path of its own.
    fn path(self, base: &str) -> String {
        match self {
            Self::Discovery => format!("{base}/.well-known/openid-configuration"),
            Self::OauthDiscovery => format!("/.well-known/oauth-authorization-server{base}"),
            Self::Jwks => format!("{base}/jwks"),
            Self::Authorization => format!("{base}/authorize"),
            Self::Token => format!("{base}/token"),
            Self::Introspection => format!("{base}/introspect"),
            Self::Userinfo => format!("{base}/userinfo"),
            Self::EndSession => format!("{base}/end-session"),
        }
    }
}

/// The id of a client that every issuer knows.
pub const CLIENT: &str = "usher";
/// Its secret.
pub const CLIENT_SECRET: &str = "secret-of-usher-at-its-issuer-77ab";

/// The fake issuer. Dropping it closes every connection.
#[derive(Debug)]
pub struct Idp {
    inner: Arc<Inner>,
    door: Door,
}

#[derive(Debug)]
struct Inner {
    base: String,
    settings: Mutex<Settings>,
    behaviours: Mutex<BTreeMap<Endpoint, Behaviour>>,
    keys: Mutex<Vec<Key>>,
    users: Mutex<Vec<User>>,
    clients: Mutex<Vec<Client>>,
    grants: Mutex<HashMap<String, Grant>>,
    refresh: Mutex<HashMap<String, Grant>>,
    issued: Mutex<HashMap<String, Value>>,
    log: Log,
}

impl Idp {
    /// An issuer at a free port of 127.0.0.1, with the users `user-1` and `user-2`, one ES256 key, and the client [`CLIENT`].
    pub async fn start() -> Self {
        Self::start_at("").await
    }

    /// The same with a path in its name: `/realms/one`.
    pub async fn start_at(base: &str) -> Self {
        let user = |number: u32| {
            User::new(&format!("user-{number}"))
                .claim("oid", format!("object-{number}"))
                .claim("email", format!("user-{number}@example.com"))
                .claim("name", format!("User {number}"))
                .claim("groups", json!(["everybody"]))
        };
        let inner = Arc::new(Inner {
            base: base.to_owned(),
            settings: Mutex::new(Settings::new(String::new())),
            behaviours: Mutex::default(),
            keys: Mutex::new(vec![Key::new(Algorithm::Es256, "key-1")]),
            users: Mutex::new(vec![user(1), user(2)]),
            clients: Mutex::new(vec![Client::new(CLIENT, CLIENT_SECRET)]),
            grants: Mutex::default(),
            refresh: Mutex::default(),
            issued: Mutex::default(),
            log: Log::new(),
        });
        let door = Door::open("127.0.0.1:0", endpoints::router(&inner)).await;
        lock(&inner.settings).issuer = format!("http://{}{base}", door.address);
        Self { inner, door }
    }

    /// Where it listens, whatever it is called.
    pub fn address(&self) -> std::net::SocketAddr {
        self.door.address
    }

    /// Its name.
    pub fn issuer(&self) -> String {
        lock(&self.inner.settings).issuer.clone()
    }

    /// The address of an endpoint.
    pub fn url(&self, endpoint: Endpoint) -> String {
        self.inner.url(endpoint)
    }

    /// Changes what it does.
    pub fn set(&self, change: impl FnOnce(&mut Settings)) {
        change(&mut lock(&self.inner.settings));
    }

    /// An endpoint behaves so from now on; [`Behaviour::Check`] is as usual.
    pub fn behave(&self, endpoint: Endpoint, behaviour: Behaviour) {
        lock(&self.inner.behaviours).insert(endpoint, behaviour);
    }

    /// Adds a user.
    pub fn add_user(&self, user: User) {
        lock(&self.inner.users).push(user);
    }

    /// Adds a client.
    pub fn add_client(&self, client: Client) {
        lock(&self.inner.clients).push(client);
    }

    /// Publishes a key; from now on it signs what is signed by its algorithm.
    pub fn publish(&self, key: Key) {
        lock(&self.inner.keys).push(key);
    }

    /// Publishes no more the key of this id, and signs nothing by it.
    pub fn withdraw(&self, kid: &str) {
        lock(&self.inner.keys).retain(|key| key.kid != kid);
    }

    /// The newest key of an algorithm, which is made and published if there is none.
    pub fn key(&self, algorithm: Algorithm) -> Key {
        self.inner.key(algorithm)
    }

    /// An access token for a user (RFC 9068), issued to the client `editor` and good for five minutes. It has no audience
    /// until it is given one.
    pub fn access_token(&self, subject: &str) -> Token<'_> {
        Token::access(&self.inner, subject)
    }

    /// An ID token for a user, as the client [`CLIENT`] gets it.
    pub fn id_token(&self, subject: &str) -> Token<'_> {
        Token::id(&self.inner, subject)
    }

    /// The token is worth nothing from now on; only introspection says so.
    pub fn revoke(&self, token: &str) {
        lock(&self.inner.issued).remove(token);
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Recorded> {
        self.inner.log.all()
    }

    /// The requests of one endpoint.
    pub fn requests_to(&self, endpoint: Endpoint) -> Vec<Recorded> {
        let path = endpoint.path(&self.inner.base);
        self.requests().into_iter().filter(|entry| entry.path.split('?').next() == Some(&path)).collect()
    }

    /// How many they are.
    pub fn count(&self, endpoint: Endpoint) -> usize {
        self.requests_to(endpoint).len()
    }

    /// Waits until there were so many; returns them.
    pub async fn wait_for(&self, endpoint: Endpoint, count: usize) -> Vec<Recorded> {
        let look = || {
            let found = self.requests_to(endpoint);
            (found.len() >= count).then_some(found)
        };
        self.inner.log.until(&format!("{count} requests at {endpoint:?}"), look).await
    }
}

impl Inner {
    fn url(&self, endpoint: Endpoint) -> String {
        let issuer = lock(&self.settings).issuer.clone();
        let origin = issuer.strip_suffix(&self.base).unwrap_or(&issuer);
        format!("{origin}{}", endpoint.path(&self.base))
    }

    /// Seconds since 1970.
    #[allow(clippy::disallowed_methods, reason = "an issuer has a clock of its own")]
    fn now(&self) -> i64 {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).expect("a clock after 1970");
        i64::try_from(since.as_secs()).expect("a clock of our time") + lock(&self.settings).ahead
    }

    fn remember(&self, token: &str, claims: Value) {
        lock(&self.issued).insert(token.to_owned(), claims);
    }

    fn key(&self, algorithm: Algorithm) -> Key {
        let mut keys = lock(&self.keys);
        if let Some(key) = keys.iter().rfind(|key| key.algorithm == algorithm) {
            return key.clone();
        }
        let key = Key::new(algorithm, &format!("key-{}-{}", algorithm.name(), random()));
        keys.push(key.clone());
        key
    }

    fn user(&self, subject: &str) -> Option<User> {
        lock(&self.users).iter().find(|user| user.subject() == subject).cloned()
    }

    fn client(&self, id: &str) -> Option<Client> {
        lock(&self.clients).iter().find(|client| client.id == id).cloned()
    }
}
