//! A service of one's own for each test: temporary store, free port, a clock that can be set forward.

use std::{
    collections::BTreeMap,
    fmt::Write,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU32, Ordering},
    },
};

use elicit::SystemRandom;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret, SecretString};
use tokio::net::TcpListener;
use usher::{
    clock::{Clock, SystemClock},
    commands::install_crypto_provider,
    config::Config,
    identity::tokens::local_user,
    pages,
    relay::Pace,
    serve::{Running, start, start_at},
};
use usher_store::{
    Advanced, AuditAction, Completion, Credential, Interaction, InteractionId, KeyFile, Step, Store, Vault,
};
use usher_testkit::{
    DEADLINE,
    client::{Legacy, Modern, Reply},
    idp::{CLIENT, CLIENT_SECRET, Idp, Token},
    person::Person,
    provider::Api,
    upstream::{Script, Upstream},
    within,
};

/// The key that the weather server accepts.
pub const KEY: &str = "key-for-the-weather-5f1d";

/// The program under test.
pub const USHER: &str = env!("CARGO_BIN_EXE_usher");

/// The bearer token of the client `second`, where [`Setup::second`] is set.
pub const SECOND: &str = "token-of-the-second-client-0123456789ab";

/// Method and params of a call of each kind that may need a credential.
pub const CALLS: [(&str, &str); 3] = [
    ("tools/call", r#"{"name":"get_forecast","arguments":{"city":"Berlin"}}"#),
    ("prompts/get", r#"{"name":"plan"}"#),
    ("resources/read", r#"{"uri":"weather://berlin"}"#),
];

/// The person agreed to open the page.
pub const ACCEPT: &str = r#"{"action":"accept"}"#;
/// The person refused in the client.
pub const DECLINE: &str = r#"{"action":"decline"}"#;
/// Dismissed without a choice.
pub const CANCEL: &str = r#"{"action":"cancel"}"#;

/// A clock that runs with the system's and can be set forward.
#[derive(Default)]
pub struct TestClock {
    ahead: AtomicI64,
}

impl TestClock {
    /// Sets the clock forward.
    pub fn forward(&self, seconds: i64) {
        self.ahead.fetch_add(seconds, Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        SystemClock.now() + SignedDuration::from_secs(self.ahead.load(Ordering::SeqCst))
    }
}

/// A folder that goes with the test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("usher-it-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::SeqCst));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a test may change of the usual set-up.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct Setup {
    /// More lines for the `[[upstream]]` table, before its needs.
    pub upstream: String,
    /// `on = […]` and the like for the need; the header is there already.
    pub needs: String,
    /// Without any need.
    pub free: bool,
    /// With the provider's check request.
    pub check: bool,
    /// More text at the end of the file.
    pub more: String,
    /// With a second client, whose token is [`SECOND`].
    pub second: bool,
    /// The title of the provider and of the server, in place of "Weather".
    pub title: Option<&'static str>,
    /// The issuer whose users come, in identity mode oidc; without one the mode is local.
    pub issuer: Option<Arc<Idp>>,
    /// More lines for `[identity]` in mode oidc.
    pub identity: String,
    /// Whether the world knows the service by another address, `https://usher.example`; for mode oidc.
    pub behind: bool,
    /// How long streams wait, where that is not as usual.
    pub pace: Pace,
}

/// A running service with a weather server behind it.
pub struct Stage {
    pub running: Option<Running>,
    pub clock: Arc<TestClock>,
    pub folder: Folder,
    pub upstream: Upstream,
    pub api: Api,
    pub origin: String,
    /// The token of the usual client; in mode oidc, of the client `editor` for the user `user-1`.
    pub token: String,
    pub idp: Option<Arc<Idp>>,
}

impl Stage {
    /// The usual set-up: the server needs the key for every call.
    pub async fn new() -> Self {
        Self::with(Setup::default(), Upstream::start().await).await
    }

    pub async fn with(setup: Setup, upstream: Upstream) -> Self {
        let folder = Folder::new();
        if setup.second {
            let text = format!("default = \"{}\"\nsecond = \"{SECOND}\"\n", "token-of-the-first-client-0123456789abc");
            std::fs::write(folder.path().join("usher.tokens"), text).unwrap();
            let owner = std::os::unix::fs::PermissionsExt::from_mode(0o600);
            std::fs::set_permissions(folder.path().join("usher.tokens"), owner).unwrap();
        }
        let api = Api::start("x-api-key", KEY).await;
        Self::furnished(&setup, folder, upstream, api).await
    }

    /// The same in a folder that may hold keys and tokens already.
    pub async fn furnished(setup: &Setup, folder: Folder, upstream: Upstream, api: Api) -> Self {
        furnish(&upstream);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let text = config_text(setup, port, &upstream, &api);
        let mut stage = Self::start(&text, setup.pace, Some(listener), folder, upstream, api).await;
        if let Some(idp) = &setup.issuer {
            stage.idp = Some(Arc::clone(idp));
            stage.token = stage.token_of("user-1", "editor");
        }
        stage
    }

    async fn start(
        text: &str,
        pace: Pace,
        listener: Option<TcpListener>,
        folder: Folder,
        upstream: Upstream,
        api: Api,
    ) -> Self {
        install_crypto_provider();
        let clock = Arc::new(TestClock::default());
        std::fs::write(folder.path().join("usher.toml"), text).unwrap();
        let config =
            Config::parse(text, &folder.path().join("usher.toml"), &|_| None).map_err(|faults| faults.to_string());
        let config = config.unwrap_or_else(|faults| panic!("{faults}"));
        let random = Arc::new(SystemRandom);
        let running = start_at(pace, config, listener, clock.clone(), random, Some(Path::new(USHER))).await.unwrap();
        let origin = running.app.config.public_url.origin().to_owned();
        let token = running.app.identity.tokens().map(|tokens| tokens.first().1.expose_secret().to_owned());
        let token = token.unwrap_or_default();
        Self { running: Some(running), clock, folder, upstream, api, origin, token, idp: None }
    }

    pub fn app(&self) -> &usher::app::App {
        &self.running.as_ref().unwrap().app
    }

    pub fn endpoint(&self) -> String {
        format!("{}/mcp/weather", self.origin)
    }

    /// A modern client that can show links.
    pub fn modern(&self) -> Modern {
        Modern::new(self.endpoint()).token(&self.token).elicitation(&["form", "url"])
    }

    /// A legacy client that can show links; not yet initialised.
    pub fn legacy(&self) -> Legacy {
        Legacy::new(self.endpoint()).token(&self.token).elicitation(&["form", "url"])
    }

    /// A person who is signed in; in mode oidc, the user `user-1`.
    pub async fn person(&self) -> Person {
        if self.idp.is_some() {
            return self.person_of("user-1").await;
        }
        let person = Person::new(&self.origin).language("en");
        let link = pages::login::link(self.app(), &local_user()).await.unwrap();
        person.sign_in(&link).await;
        person
    }

    /// Stops the service and waits for it.
    pub async fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop().await;
        }
    }
}

/// What stories about an issuer need again and again.
impl Stage {
    /// A service in identity mode oidc, with an issuer of its own.
    pub async fn oidc(setup: Setup) -> Self {
        let issuer = Some(Arc::new(Idp::start().await));
        Self::with(Setup { issuer, ..setup }, Upstream::start().await).await
    }

    /// A person who has signed in at the issuer.
    pub async fn person_of(&self, user: &str) -> Person {
        let person = Person::new(&self.origin).language("en");
        let page = person.get("/").await;
        let page = person.sign_in_at(&page, user).await;
        assert_eq!(page.heading().as_deref(), Some("Your connections"), "{}", page.describe());
        person
    }

    /// The issuer.
    pub fn idp(&self) -> &Idp {
        self.idp.as_ref().unwrap()
    }

    /// An access token that is right in every way, to be made wrong.
    pub fn access(&self, user: &str, client: &str) -> Token<'_> {
        self.idp().access_token(user).client(client).audience(self.endpoint())
    }

    /// The same as it is.
    pub fn token_of(&self, user: &str, client: &str) -> String {
        self.access(user, client).mint()
    }

    /// A modern client that can show links, with this token.
    pub fn modern_with(&self, token: &str) -> Modern {
        Modern::new(self.endpoint()).token(token).elicitation(&["form", "url"])
    }
}

/// What the weather server offers: all of it wants the key.
pub fn furnish(upstream: &Upstream) {
    upstream.tool("get_forecast", Script::new().require("x-api-key", KEY).text("sunny"));
    upstream.prompt(
        "plan",
        Script::new()
            .require("x-api-key", KEY)
            .result(r#"{"messages":[{"role":"user","content":{"type":"text","text":"plan the day"}}]}"#),
    );
    upstream.resource(
        "weather://berlin",
        Script::new().require("x-api-key", KEY).result(r#"{"contents":[{"uri":"weather://berlin","text":"sunny"}]}"#),
    );
}

/// The configuration of a service at this port.
pub fn config_text(setup: &Setup, port: u16, upstream: &Upstream, api: &Api) -> String {
    let public_url = if setup.behind { "https://usher.example".to_owned() } else { format!("http://127.0.0.1:{port}") };
    let mut text = format!("public_url = \"{public_url}\"\n[listen]\naddress = \"127.0.0.1:{port}\"\n");
    // A JSON string is a TOML string.
    let title = usher_testkit::quote(setup.title.unwrap_or("Weather"));
    if let Some(idp) = &setup.issuer {
        let (issuer, identity) = (idp.issuer(), &setup.identity);
        write!(text, "[identity]\nmode = \"oidc\"\nissuer = \"{issuer}\"\nclient_id = \"{CLIENT}\"\n").unwrap();
        write!(text, "client_secret = \"{CLIENT_SECRET}\"\n{identity}\n").unwrap();
    }
    write!(text, "[[provider]]\nname = \"weather\"\ntitle = {title}\nkind = \"secret\"\n").unwrap();
    text.push_str("[[provider.field]]\nname = \"api_key\"\nlabel = \"API key\"\n");
    if setup.check {
        let url = api.url("/me");
        write!(text, "[provider.check]\nget = \"{url}\"\nheader = {{ X-Api-Key = \"{{api_key}}\" }}\n").unwrap();
    }
    write!(
        text,
        "[[upstream]]\nname = \"weather\"\ntitle = {title}\nurl = \"{}\"\n{}\n",
        upstream.url(),
        setup.upstream
    )
    .unwrap();
    if !setup.free {
        text.push_str("[[upstream.needs]]\nprovider = \"weather\"\nheader = { X-Api-Key = \"{api_key}\" }\n");
        text.push_str(&setup.needs);
    }
    text.push('\n');
    text.push_str(&setup.more);
    text
}

/// What stories about credentials need again and again.
impl Stage {
    /// Stops the service and starts it anew on the same folder, with another set-up and another server.
    pub async fn moved(mut self, setup: &Setup, upstream: Upstream) -> Self {
        self.stop().await;
        let Self { folder, api, .. } = self;
        Self::furnished(setup, folder, upstream, api).await
    }

    /// The interaction that a link leads to.
    pub async fn interaction(&self, url: &str) -> Interaction {
        let id = InteractionId::parse(url.rsplit('/').next().unwrap()).unwrap();
        self.app().store.interaction(&id, self.clock.now()).await.unwrap().unwrap()
    }

    /// The questions that wait for the person.
    pub async fn waiting(&self) -> Vec<Interaction> {
        self.app().store.waiting_interactions(&local_user(), self.clock.now()).await.unwrap()
    }

    /// What is stored for the person at the weather provider.
    pub async fn credential(&self) -> Option<Credential> {
        self.app().store.credential(&local_user(), "weather").await.unwrap()
    }

    /// Connects the weather for the first client, and returns the person who did.
    pub async fn connected(&self) -> Person {
        self.connected_with(KEY).await
    }

    /// The same with a key of the test's choice.
    pub async fn connected_with(&self, key: &str) -> Person {
        let (method, params) = CALLS[0];
        let asked = self.modern().call(method, params).await;
        let person = self.person().await;
        let done = person.connect(&asked.url(), &[("api_key", key)]).await;
        assert_eq!(done.heading().as_deref(), Some("Connected"), "{}", done.describe());
        person
    }

    /// The portal's address, which errors name.
    pub fn portal(&self) -> String {
        format!("{}/", self.origin)
    }
}

/// What a call that ended before its server tells its caller: a result with `isError` for a tool, else a JSON-RPC error.
pub fn told(method: &str, reply: &Reply) -> String {
    if method == "tools/call" {
        assert!(reply.is_tool_error(), "{}", reply.text());
        return reply.content_text();
    }
    reply.error_message()
}

/// Whether a reply is what the weather server answers.
pub fn answered(reply: &Reply) -> bool {
    reply.response().result().is_some_and(|result| ["sunny", "plan the day"].iter().any(|text| result.contains(text)))
}

/// What stories about the transport need again and again.
impl Stage {
    /// A server that needs no credential: everything passes.
    pub async fn free(upstream: Upstream) -> Self {
        Self::with(Setup { free: true, ..Setup::default() }, upstream).await
    }

    /// A legacy client that can show links, initialised.
    pub async fn ready(&self) -> Legacy {
        let client = self.legacy();
        let reply = client.initialize().await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        client
    }

    /// Stops the service and starts it anew, on the same folder and at the same address.
    pub async fn restart(&mut self) {
        self.stop().await;
        let config = Config::load(&self.folder.path().join("usher.toml"), &|_| None);
        let config = config.unwrap_or_else(|faults| panic!("{faults}"));
        self.running = Some(
            start(config, None, self.clock.clone(), Arc::new(SystemRandom), Some(Path::new(USHER))).await.unwrap(),
        );
    }
}

/// What another replica does, of which this service hears nothing.
impl Stage {
    /// The same store, opened once more. Its events reach nobody here, as when a connection was lost.
    pub async fn elsewhere(&self) -> Store {
        let keys = Arc::new(KeyFile::load(&self.app().config.keys_file).unwrap());
        let random = Arc::new(SystemRandom);
        Store::open(&self.app().config.store, Arc::new(Vault::new(keys, random.clone())), random).await.unwrap()
    }

    /// The person connects the weather there.
    pub async fn connect_elsewhere(&self, url: &str, key: &str) {
        self.connect_at(self.elsewhere().await, url, key).await;
    }

    /// The same at a store that is open already.
    pub async fn connect_at(&self, store: Store, url: &str, key: &str) {
        let now = self.clock.now();
        let id = InteractionId::parse(url.rsplit('/').next().unwrap()).unwrap();
        let mut interaction = store.interaction(&id, now).await.unwrap().unwrap();
        for step in [Step::Open, Step::Consent] {
            let Advanced::Done(next) = store.advance(interaction, step, now).await.unwrap() else { panic!("a step") };
            interaction = next;
        }
        let secrets = BTreeMap::from([("api_key".to_owned(), SecretString::from(key))]);
        let done = store.complete(interaction, Completion::Connect { secrets }, now).await.unwrap();
        assert!(matches!(done, Advanced::Done(_)));
        store.close().await;
    }

    /// Waits for the person's audit rows of this kind, which are written in the background, and counts them.
    pub async fn audited(&self, action: AuditAction) -> usize {
        let rows = async || {
            let rows = self.app().store.audit_of(&local_user(), 1000).await.unwrap();
            rows.iter().filter(|row| row.action == Some(action)).count()
        };
        let written = async {
            while rows().await == 0 {
                tokio::task::yield_now().await;
            }
        };
        within(DEADLINE, "nothing was audited", written).await;
        rows().await
    }
}
