//! The stage of a crash: one store, one key file, one port; services come and go.

use std::time::Duration;

use secrecy::ExposeSecret as _;
use usher::{
    clock::{Clock as _, SystemClock},
    identity::tokens::local_user,
};
use usher_store::{AuditAction, FailPoint, InteractionId, StateName, Store};
use usher_testkit::{
    Message,
    client::{Legacy, Modern, Reply, Stream},
    free_port,
    person::Person,
    provider::Api,
    upstream::Upstream,
    within,
};

use super::process::Process;
use crate::{
    database::{Database, TOKEN, open},
    harness::{CALLS, KEY, Setup, answered, config_text, furnish},
};

/// How soon whoever talks to a process hears of its death.
pub(super) const PROMPT: Duration = Duration::from_secs(5);

/// What says that a question is completed.
pub(super) const COMPLETE: &str = "notifications/elicitation/complete";
/// A message of the upstream on GET streams, to see what came before it.
const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

pub(super) struct Scene {
    pub(super) database: Database,
    pub(super) upstream: Upstream,
    pub(super) api: Api,
    origin: String,
    process: Option<Process>,
}

/// What a crash left.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Left {
    pub(super) state: StateName,
    /// Whether the person's key is stored, and opens.
    pub(super) connected: bool,
    /// Whether the legacy session is still to be told of the completion.
    pub(super) owed: bool,
}

impl Scene {
    /// A service that stands still at `point`.
    pub(super) async fn new(database: Database, point: FailPoint) -> Self {
        Self::with(database, point, Upstream::start().await, "").await
    }

    /// The same with another server, and more lines in its table.
    pub(super) async fn with(database: Database, point: FailPoint, upstream: Upstream, lines: &str) -> Self {
        furnish(&upstream);
        let api = Api::start("x-api-key", KEY).await;
        let port = free_port();
        let more = Database::section(&database.url);
        let setup = Setup { check: true, upstream: lines.to_owned(), more, ..Setup::default() };
        let text = config_text(&setup, port, &upstream, &api);
        std::fs::write(database.folder.path().join("usher.toml"), text).unwrap();
        let process = Some(Process::start(database.folder.path(), Some(point)).await);
        Self { database, upstream, api, origin: format!("http://127.0.0.1:{port}"), process }
    }

    /// Waits until the process stands still, and kills it there.
    pub(super) async fn crash(&mut self) {
        self.process.take().unwrap().crash().await;
    }

    /// A new process on what the other one left.
    pub(super) async fn start_again(&mut self) {
        self.process = Some(Process::start(self.database.folder.path(), None).await);
    }

    pub(super) fn modern(&self) -> Modern {
        Modern::new(format!("{}/mcp/weather", self.origin)).token(TOKEN).elicitation(&["form", "url"])
    }

    /// A legacy client, initialised.
    pub(super) async fn legacy(&self) -> Legacy {
        let client = self.newcomer();
        let reply = client.initialize().await;
        assert!(client.session().is_some(), "{}", reply.text());
        client
    }

    /// A legacy client that has no session yet.
    pub(super) fn newcomer(&self) -> Legacy {
        Legacy::new(format!("{}/mcp/weather", self.origin)).token(TOKEN).elicitation(&["form", "url"])
    }

    /// A sign-in link of the running process.
    pub(super) fn link(&self) -> &str {
        &self.process.as_ref().unwrap().link
    }

    /// Somebody who is not signed in.
    pub(super) fn stranger(&self) -> Person {
        Person::new(&self.origin).language("en")
    }

    /// The person, signed in.
    pub(super) async fn person(&self) -> Person {
        let person = self.stranger();
        assert_eq!(person.sign_in(self.link()).await.status, 200);
        person
    }

    /// What is stored of a question and its key. Nobody serves at this moment.
    pub(super) async fn left(&self, id: &InteractionId) -> Left {
        assert!(self.process.is_none());
        let (store, user) = (self.database.store().await, local_user());
        let interaction = store.interaction(id, SystemClock.now()).await.unwrap().unwrap();
        let connections = store.connections(&user).await.unwrap();
        assert!(connections.unreadable.is_empty(), "half a credential: {connections:?}");
        let keys: Vec<_> =
            connections.readable.iter().map(|stored| stored.secrets["api_key"].expose_secret().to_owned()).collect();
        assert!(keys.is_empty() || keys == [KEY], "another key, or two");
        let owed = store.notice_sessions(id).await.unwrap().len();
        assert!(owed <= 1);
        store.close().await;
        Left { state: interaction.state.name(), connected: !keys.is_empty(), owed: owed == 1 }
    }

    /// The same session, on what is left: the call goes through with the key that is stored.
    pub(super) async fn goes_through(&self, legacy: &Legacy) {
        let reply = legacy.call(CALLS[0].0, CALLS[0].1).await;
        assert!(answered(&reply), "{}", reply.text());
        let reply = self.modern().call(CALLS[0].0, CALLS[0].1).await;
        assert!(answered(&reply), "{}", reply.text());
    }

    /// What the session is told of the completion on a new GET stream: once where that is owed, and then never again.
    pub(super) async fn is_told(&self, legacy: &Legacy, id: &InteractionId, owed: bool) {
        let mut stream = legacy.open_get(None).await;
        self.upstream.wait_until("a GET stream", |upstream| upstream.get_streams() == 1).await;
        if owed {
            assert_eq!(elicitation_id(&stream.expect(COMPLETE).await), *id);
        }
        self.upstream.push_message(CHANGED).await;
        let next = stream.next_message().await.unwrap();
        assert_eq!(next.text, CHANGED, "no second notice");
        let store = self.database.store().await;
        assert!(store.notice_sessions(id).await.unwrap().is_empty(), "nor is one to come");
        store.close().await;
    }

    /// The end of every story of a question: completed once, stored once.
    pub(super) async fn all_happened_once(&self, id: &InteractionId) {
        let (store, user) = (self.database.store().await, local_user());
        let rows = store.audit_of(&user, 1000).await.unwrap();
        let connections = store.connections(&user).await.unwrap();
        store.close().await;
        for action in [AuditAction::InteractionCompleted, AuditAction::CredentialConnected] {
            let done = rows.iter().filter(|row| row.action == Some(action) && row.interaction.as_ref() == Some(id));
            assert_eq!(done.count(), 1, "{action:?}");
        }
        assert_eq!((connections.readable.len(), connections.unreadable.len()), (1, 0));
        self.upstream.assert_clean();
    }
}

/// A look past the service.
impl Database {
    /// The store, opened past the service.
    pub(crate) async fn store(&self) -> Store {
        open(&self.url, self.folder.path()).await
    }

    /// How often this was done to the person.
    pub(super) async fn audited(&self, action: AuditAction, interaction: Option<&InteractionId>) -> usize {
        let store = self.store().await;
        let rows = store.audit_of(&local_user(), 1000).await.unwrap();
        store.close().await;
        let meant = |of: Option<&InteractionId>| interaction.is_none() || of == interaction;
        rows.iter().filter(|row| row.action == Some(action) && meant(row.interaction.as_ref())).count()
    }

    /// The links of the questions that wait for the person.
    pub(super) async fn waiting(&self) -> Vec<InteractionId> {
        let store = self.store().await;
        let waiting = store.waiting_interactions(&local_user(), SystemClock.now()).await.unwrap();
        store.close().await;
        waiting.into_iter().map(|interaction| interaction.id).collect()
    }
}

/// The end of what a killed process was sending: at once, and without an answer.
pub(super) async fn cut(stream: Stream) -> Reply {
    let reply = stream.reply_within(PROMPT).await;
    assert!(!reply.messages.iter().any(Message::is_response), "{}", reply.text());
    reply
}

/// Whether a request to a killed process ended at once, without an answer.
pub(super) async fn broke<T>(request: impl Future<Output = Result<T, reqwest::Error>>) {
    assert!(within(PROMPT, "the request hangs", request).await.is_err(), "it was answered");
}

/// The interaction that a message is about.
pub(super) fn elicitation_id(message: &Message) -> InteractionId {
    InteractionId::parse(&message.string(&["params", "elicitationId"]).unwrap()).unwrap()
}

/// The interaction that a link leads to.
pub(super) fn id_in(url: &str) -> InteractionId {
    InteractionId::parse(url.rsplit('/').next().unwrap()).unwrap()
}

/// Connects on the page of a link.
pub(super) async fn connect(person: &Person, url: &str) {
    let done = person.connect(url, &[("api_key", KEY)]).await;
    assert_eq!(done.heading().as_deref(), Some("Connected"), "{}", done.describe());
}
