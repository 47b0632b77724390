//! A service of one's own for each test: temporary store, free port, a clock that can be set forward.

use std::{
    fmt::Write,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU32, Ordering},
    },
};

use elicit::SystemRandom;
use jiff::{SignedDuration, Timestamp};
use secrecy::ExposeSecret;
use tokio::net::TcpListener;
use usher::{
    clock::{Clock, SystemClock},
    commands::install_crypto_provider,
    config::Config,
    identity::tokens::local_user,
    pages,
    serve::{Running, start},
};
use usher_testkit::{
    client::{Legacy, Modern},
    person::Person,
    provider::Api,
    upstream::{Script, Upstream},
};

/// The key that the weather server accepts.
pub const KEY: &str = "key-for-the-weather-5f1d";

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
}

/// A running service with a weather server behind it.
pub struct Stage {
    pub running: Option<Running>,
    pub clock: Arc<TestClock>,
    pub folder: Folder,
    pub upstream: Upstream,
    pub api: Api,
    pub origin: String,
    pub token: String,
}

impl Stage {
    /// The usual set-up: the server needs the key for every call.
    pub async fn new() -> Self {
        Self::with(Setup::default(), Upstream::start().await).await
    }

    pub async fn with(setup: Setup, upstream: Upstream) -> Self {
        let folder = Folder::new();
        let api = Api::start("x-api-key", KEY).await;
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
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let text = config_text(&setup, port, &upstream, &api);
        Self::start(&text, Some(listener), folder, upstream, api).await
    }

    async fn start(text: &str, listener: Option<TcpListener>, folder: Folder, upstream: Upstream, api: Api) -> Self {
        install_crypto_provider();
        let clock = Arc::new(TestClock::default());
        std::fs::write(folder.path().join("usher.toml"), text).unwrap();
        let config = Config::parse(text, &folder.path().join("usher.toml"), &|_| None).map_err(|faults| faults.to_string());
        let config = config.unwrap_or_else(|faults| panic!("{faults}"));
        let running = start(config, listener, clock.clone(), Arc::new(SystemRandom)).await.unwrap();
        let origin = running.app.config.public_url.origin().to_owned();
        let token = running.app.tokens.first().1.expose_secret().to_owned();
        Self { running: Some(running), clock, folder, upstream, api, origin, token }
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

    /// A person who is signed in.
    pub async fn person(&self) -> Person {
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

fn config_text(setup: &Setup, port: u16, upstream: &Upstream, api: &Api) -> String {
    let mut text = format!("public_url = \"http://127.0.0.1:{port}\"\n[listen]\naddress = \"127.0.0.1:{port}\"\n");
    text.push_str("[[provider]]\nname = \"weather\"\ntitle = \"Weather\"\nkind = \"secret\"\n");
    text.push_str("[[provider.field]]\nname = \"api_key\"\nlabel = \"API key\"\n");
    if setup.check {
        let url = api.url("/me");
        write!(text, "[provider.check]\nget = \"{url}\"\nheader = {{ X-Api-Key = \"{{api_key}}\" }}\n").unwrap();
    }
    write!(text, "[[upstream]]\nname = \"weather\"\ntitle = \"Weather\"\nurl = \"{}\"\n{}\n", upstream.url(), setup.upstream).unwrap();
    if !setup.free {
        text.push_str("[[upstream.needs]]\nprovider = \"weather\"\nheader = { X-Api-Key = \"{api_key}\" }\n");
        text.push_str(&setup.needs);
    }
    text.push('\n');
    text.push_str(&setup.more);
    text
}
