//! Crashes on a person's way to a provider and back: the code goes out at most once, nothing is stored twice, and the
//! person starts again.

use http::Method;
use sqlx::{AnyConnection, Connection as _, Executor as _};
use usher::{
    clock::{Clock as _, SystemClock},
    identity::tokens::local_user,
};
use usher_store::{AuditAction, FailPoint, InteractionId, StateName};
use usher_testkit::{
    client::{Modern, Reply},
    free_port,
    oauth::{Endpoint, Provider},
    person::{Page, Person},
    provider::Api,
    upstream::{Script, Upstream},
};

use super::{
    process::Process,
    scene::{broke, id_in},
};
use crate::{
    database::{Database, TOKEN},
    harness::{ACCEPT, KEY, Setup, config_text},
    oauth_flow::scene::{ANSWER, CALL, Change, definition, is_heading, went},
};

struct Scene {
    database: Database,
    provider: Provider,
    upstream: Upstream,
    origin: String,
    process: Option<Process>,
}

impl Scene {
    /// A service that stands still at `point`.
    async fn new(database: Database, point: FailPoint) -> Self {
        let (provider, upstream) = (Provider::start().await, Upstream::start().await);
        upstream.tool("list_repos", Script::new().require_token(&provider.token_book()).text(ANSWER));
        let api = Api::start("x-api-key", KEY).await;
        let port = free_port();
        let section = definition(&provider, "forge", &Change::default());
        let more = section + &Database::section(&database.url);
        let need = "[[upstream.needs]]\nprovider = \"forge\"\n".to_owned();
        let setup = Setup { free: true, upstream: need, more, ..Setup::default() };
        let text = config_text(&setup, port, &upstream, &api);
        std::fs::write(database.folder.path().join("usher.toml"), text).unwrap();
        let process = Some(Process::start(database.folder.path(), Some(point)).await);
        Self { database, provider, upstream, origin: format!("http://127.0.0.1:{port}"), process }
    }

    async fn crash(&mut self) {
        self.process.take().unwrap().crash().await;
    }

    async fn start_again(&mut self) {
        self.process = Some(Process::start(self.database.folder.path(), None).await);
    }

    fn modern(&self) -> Modern {
        Modern::new(format!("{}/mcp/weather", self.origin)).token(TOKEN).elicitation(&["form", "url"])
    }

    /// Asked, and the person, signed in.
    async fn asked(&self) -> (Reply, Person) {
        let asked = self.modern().call(CALL.0, CALL.1).await;
        let person = Person::new(&self.origin).language("en");
        assert_eq!(person.sign_in(&self.process.as_ref().unwrap().link).await.status, 200);
        (asked, person)
    }

    /// Agrees here and there: the address that leads back.
    async fn back(&self, person: &Person, url: &str) -> String {
        let page = person.get(url).await;
        let left = person.agreement(&page, &[]).stay().send().await;
        person.at_issuer(&left, "user-1").await
    }

    /// How far the question is, and how much is stored. Nobody serves at this moment.
    async fn left(&self, id: &InteractionId) -> (StateName, usize) {
        assert!(self.process.is_none());
        let store = self.database.store().await;
        let interaction = store.interaction(id, SystemClock.now()).await.unwrap().unwrap();
        let connections = store.connections(&local_user()).await.unwrap();
        assert!(connections.unreadable.is_empty(), "half a grant: {connections:?}");
        store.close().await;
        (interaction.state.name(), connections.readable.len())
    }

    /// The exchange that was cut off has been so for a minute.
    async fn a_minute_passes(&self) {
        sqlx::any::install_default_drivers();
        let mut connection = AnyConnection::connect(&self.database.url).await.unwrap();
        let sql = "UPDATE interactions SET state_at = state_at - 60000000 WHERE state = 'exchanging'";
        connection.execute(sql).await.unwrap();
        connection.close().await.unwrap();
    }

    /// Connected once, stored once, and good.
    async fn all_happened_once(&self, asked: &Reply, page: &Page) {
        is_heading(page, "Connected");
        let state = asked.request_state();
        let reply = self.modern().retry(CALL.0, CALL.1, Some(&asked.answer_all(ACCEPT)), state.as_deref()).await;
        assert!(went(&reply), "{}", reply.text());
        let id = id_in(&asked.url());
        for action in [AuditAction::InteractionCompleted, AuditAction::CredentialConnected] {
            assert_eq!(self.database.audited(action, Some(&id)).await, 1, "{action:?}");
        }
        assert_eq!(self.provider.counts().codes_again, 0, "no code went out twice");
        self.provider.assert_clean();
        self.upstream.assert_clean();
    }
}

/// The way out is kept, and the browser was not sent there: it goes again.
pub(super) async fn leaves(database: Database, point: FailPoint) {
    let mut scene = Scene::new(database, point).await;
    let (asked, person) = scene.asked().await;
    let page = person.get(&asked.url()).await;
    tokio::join!(broke(person.agreement(&page, &[]).stay().try_send()), scene.crash());
    assert_eq!(scene.left(&id_in(&asked.url())).await, (StateName::Consented, 0));

    scene.start_again().await;
    let back = scene.back(&person, &asked.url()).await;
    let page = person.come_back(&back).await;
    scene.all_happened_once(&asked, &page).await;
    assert_eq!(scene.provider.counts().codes, 1);
}

/// The browser is back: its code has gone out, or never will. The page says that it is under way, then that it was cut
/// off; the person starts again.
pub(super) async fn comes_back(database: Database, point: FailPoint) {
    let mut scene = Scene::new(database, point).await;
    let (asked, person) = scene.asked().await;
    let back = scene.back(&person, &asked.url()).await;
    let visit = person.visit(Method::GET, &back).from_site("https://issuer.example").stay();
    tokio::join!(broke(visit.try_send()), scene.crash());
    let id = id_in(&asked.url());
    assert_eq!(scene.left(&id).await, (StateName::Exchanging, 0));
    let sent = usize::from(point == FailPoint::ExchangeAnswered);
    assert_eq!(scene.provider.count(Endpoint::Token), sent);

    scene.start_again().await;
    is_heading(&person.come_back(&back).await, "Connecting Forge forge");
    assert_eq!(scene.provider.count(Endpoint::Token), sent, "a code goes out once");
    scene.a_minute_passes().await;
    let page = person.get(&asked.url()).await;
    is_heading(&page, "This did not work");
    assert!(page.text().contains("Usher was interrupted"), "{}", page.text());
    let page = person.submit(&page, &page.form_by_button("Start again"), None, &[]).await;
    is_heading(&page, "Connect Forge forge");
    let again = scene.back(&person, &asked.url()).await;
    assert_eq!(person.come_back(&back).await.status, 403, "the first way back is none");
    let page = person.come_back(&again).await;
    scene.all_happened_once(&asked, &page).await;
}

/// The transaction with the grant: it took place, or nothing did.
pub(super) async fn completes(database: Database, point: FailPoint) {
    let mut scene = Scene::new(database, point).await;
    let (asked, person) = scene.asked().await;
    let back = scene.back(&person, &asked.url()).await;
    let visit = person.visit(Method::GET, &back).from_site("https://issuer.example").stay();
    tokio::join!(broke(visit.try_send()), scene.crash());
    let id = id_in(&asked.url());
    let done = matches!(point, FailPoint::CompletionCommitted | FailPoint::CompletionTold);
    let expected = if done { (StateName::Completed, 1) } else { (StateName::Exchanging, 0) };
    assert_eq!(scene.left(&id).await, expected);

    scene.start_again().await;
    if !done {
        scene.a_minute_passes().await;
        let page = person.get(&asked.url()).await;
        person.submit(&page, &page.form_by_button("Start again"), None, &[]).await;
        let again = scene.back(&person, &asked.url()).await;
        person.come_back(&again).await;
    }
    let page = person.come_back(&back).await;
    scene.all_happened_once(&asked, &page).await;
}
