//! A service whose people sign in at an issuer.

use std::{path::Path, sync::Arc};

use elicit::{ClientId, Principal, SystemRandom, UserId};
use tokio::net::TcpListener;
use usher::{
    clock::Clock as _,
    commands::install_crypto_provider,
    config::Config,
    serve::{Running, start},
};
use usher_store::{AskReason, AuditAction, Interaction, InteractionId, NewInteraction};
use usher_testkit::{
    DEADLINE,
    idp::{CLIENT, CLIENT_SECRET, Endpoint, Idp},
    person::{Cookie, Page, Person},
    within,
};

use crate::harness::{Folder, KEY, TestClock, USHER};

pub(super) struct Scene {
    pub(super) idp: Idp,
    pub(super) origin: String,
    pub(super) clock: Arc<TestClock>,
    running: Option<Running>,
    folder: Folder,
    port: u16,
}

impl Scene {
    pub(super) async fn new() -> Self {
        Self::with("").await
    }

    /// With more keys of `[identity]`.
    pub(super) async fn with(more: &str) -> Self {
        install_crypto_provider();
        let idp = Idp::start().await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let origin = format!("http://127.0.0.1:{port}");
        let mut scene = Self { idp, origin, clock: Arc::default(), running: None, folder: Folder::new(), port };
        scene.begin(&Self::section(&scene.idp.issuer(), more), Some(listener)).await;
        scene
    }

    /// The section for this issuer.
    pub(super) fn section(issuer: &str, more: &str) -> String {
        format!(
            "[identity]\nmode = \"oidc\"\nissuer = \"{issuer}\"\nclient_id = \"{CLIENT}\"\n\
             client_secret = \"{CLIENT_SECRET}\"\n{more}\n"
        )
    }

    async fn begin(&mut self, identity: &str, listener: Option<TcpListener>) {
        let text = format!(
            "public_url = \"{}\"\n[listen]\naddress = \"127.0.0.1:{}\"\n{identity}\n\
             [[provider]]\nname = \"weather\"\ntitle = \"Weather\"\nkind = \"secret\"\n\
             [[provider.field]]\nname = \"api_key\"\nlabel = \"API key\"\n\
             [[upstream]]\nname = \"weather\"\ntitle = \"Weather\"\nurl = \"https://weather.example/mcp\"\n\
             [[upstream.needs]]\nprovider = \"weather\"\nheader = {{ X-Api-Key = \"{{api_key}}\" }}\n",
            self.origin, self.port
        );
        let path = self.folder.path().join("usher.toml");
        std::fs::write(&path, &text).unwrap();
        let config = Config::parse(&text, &path, &|_| None).unwrap_or_else(|faults| panic!("{faults}"));
        let random = Arc::new(SystemRandom);
        let running = start(config, listener, self.clock.clone(), random, Some(Path::new(USHER))).await.unwrap();
        self.running = Some(running);
    }

    pub(super) fn app(&self) -> &usher::app::App {
        &self.running.as_ref().unwrap().app
    }

    /// Stops the service and starts it anew, with another section.
    pub(super) async fn again(&mut self, identity: &str) {
        self.stop().await;
        self.begin(identity, None).await;
    }

    pub(super) async fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            running.stop().await;
        }
    }

    /// What the database holds as text.
    pub(super) fn database(&self) -> String {
        let read = |name: &str| std::fs::read(self.folder.path().join(name)).unwrap_or_default();
        String::from_utf8_lossy(&[read("usher.db"), read("usher.db-wal")].concat()).into_owned()
    }

    /// Waits until this was audited of somebody unknown, which is done in the background.
    pub(super) async fn refused(&self, detail: &str) {
        let written = async {
            while !self.database().contains(detail) {
                tokio::task::yield_now().await;
            }
        };
        within(DEADLINE, &format!("nobody audited {detail:?}"), written).await;
    }

    /// Time passes, here and at the issuer.
    pub(super) fn forward(&self, seconds: i64) {
        self.clock.forward(seconds);
        self.idp.set(|settings| settings.ahead += seconds);
    }

    pub(super) fn user(&self, subject: &str) -> UserId {
        UserId::new(self.idp.issuer(), subject).unwrap()
    }

    /// Somebody of whom the service knows nothing yet.
    pub(super) fn stranger(&self) -> Person {
        Person::new(&self.origin).language("en")
    }

    /// Somebody who has signed in.
    pub(super) async fn person(&self, subject: &str) -> Person {
        let person = self.stranger();
        let page = person.get("/").await;
        let page = person.sign_in_at(&page, subject).await;
        assert_eq!(page.heading().as_deref(), Some("Your connections"), "{}", page.describe());
        person
    }

    /// A browser that has begun to sign in, and the page that leads to the issuer.
    pub(super) async fn begun(&self) -> (Person, Page) {
        let person = self.stranger();
        let page = person.get("/").await;
        assert!(page.location().is_some_and(|to| to.starts_with(&self.idp.issuer())), "{}", page.describe());
        (person, page)
    }

    /// A browser to which the issuer has answered, and the address that it is sent back to.
    pub(super) async fn answered(&self, subject: &str) -> (Person, String) {
        let (person, page) = self.begun().await;
        let url = person.at_issuer(&page, subject).await;
        (person, url)
    }

    /// The link of a question for a key of this user's.
    pub(super) async fn link(&self, user: UserId) -> String {
        let now = self.clock.now();
        let new = NewInteraction {
            id: InteractionId::new(&SystemRandom),
            principal: Principal { user, client: ClientId::new("editor").unwrap() },
            client_claim: None,
            asked_by: None,
            provider: "weather".to_owned(),
            destination: self.app().config.upstreams[0].destination(),
            operation: None,
            reason: AskReason::Missing,
            expires_at: now + std::time::Duration::from_mins(15),
        };
        let asked = self.app().store.ask(&[new], None, now).await.unwrap();
        format!("{}/connect/{}", self.origin, asked[0].id)
    }

    pub(super) async fn interaction(&self, url: &str) -> Interaction {
        let id = InteractionId::parse(url.rsplit('/').next().unwrap()).unwrap();
        self.app().store.interaction(&id, self.clock.now()).await.unwrap().unwrap()
    }

    /// Whether this user has connected the weather.
    pub(super) async fn is_connected(&self, subject: &str) -> bool {
        let credential = self.app().store.credential(&self.user(subject), "weather").await.unwrap();
        credential.is_some_and(|credential| secrecy::ExposeSecret::expose_secret(&credential.secrets["api_key"]) == KEY)
    }

    /// How often this was audited for a user.
    pub(super) async fn audited(&self, user: &UserId, action: AuditAction) -> usize {
        let rows = self.app().store.audit_of(user, 1000).await.unwrap();
        rows.iter().filter(|row| row.action == Some(action)).count()
    }

    /// How many codes were exchanged.
    pub(super) fn exchanges(&self) -> usize {
        self.idp.count(Endpoint::Token)
    }
}

/// The cookie of a browser's session. Others of this host, such as the issuer's, lie beside it: cookies know no ports.
pub(super) fn session(person: &Person) -> Option<Cookie> {
    let ours = |cookie: &Cookie| cookie.name.starts_with("usher-");
    let other = |cookie: &Cookie| cookie.name.ends_with("-place") || cookie.name.ends_with("-sign-in");
    person.cookies().into_iter().find(|cookie| ours(cookie) && !other(cookie))
}

/// The value of a parameter in an address.
pub(super) fn parameter(url: &str, name: &str) -> Option<String> {
    let url = reqwest::Url::parse(url).unwrap();
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// The address with parameters changed; `None` takes one out.
pub(super) fn changed(url: &str, changes: &[(&str, Option<&str>)]) -> String {
    let mut url = reqwest::Url::parse(url).unwrap();
    let kept: Vec<(String, String)> = url
        .query_pairs()
        .into_owned()
        .filter(|(key, _)| changes.iter().all(|(name, _)| name != key))
        .chain(changes.iter().filter_map(|(name, value)| Some(((*name).to_owned(), (*value)?.to_owned()))))
        .collect();
    url.query_pairs_mut().clear().extend_pairs(kept);
    url.into()
}
