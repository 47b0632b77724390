//! A service whose server needs an account at a provider of kind `oauth`.

use std::{fmt::Write as _, sync::Arc};

use usher::identity::tokens::local_user;
use usher_store::{AuditAction, Credential, Interaction, InteractionId};
use usher_testkit::{
    client::{Modern, Reply},
    idp::Idp,
    oauth::{CLIENT, CLIENT_SECRET, Endpoint, Provider},
    person::{Page, Person},
    upstream::{Script, Upstream},
};

use crate::harness::{Setup, Stage};

/// The call that needs the account.
pub const CALL: (&str, &str) = ("tools/call", r#"{"name":"list_repos","arguments":{}}"#);

/// What the server answers it with.
pub const ANSWER: &str = "three repositories";

pub struct Scene {
    pub stage: Stage,
    pub provider: Provider,
}

/// What a test may change.
#[derive(Default)]
pub struct Change {
    /// More lines for the provider's table, before its sub-tables.
    pub provider: String,
    /// More tables of the provider's.
    pub tables: String,
    /// More lines for the need.
    pub need: String,
    /// More text at the end.
    pub more: String,
    /// The issuer whose users come.
    pub issuer: Option<Arc<Idp>>,
    /// Without the scope `repo`.
    pub no_scopes: bool,
}

/// A `[[provider]]` of kind `oauth`.
pub fn definition(provider: &Provider, name: &str, change: &Change) -> String {
    let mut text = String::new();
    let url = |endpoint| provider.url(endpoint);
    let scopes = if change.no_scopes { "" } else { "scopes = [\"repo\"]\n" };
    write!(
        text,
        "[[provider]]\nname = \"{name}\"\ntitle = \"Forge {name}\"\nkind = \"oauth\"\nclient_id = \"{CLIENT}\"\nclient_secret = \"{CLIENT_SECRET}\"\n{scopes}\
         authorization_endpoint = \"{}\"\ntoken_endpoint = \"{}\"\nissuer = \"{}\"\niss = \"required\"\n{}\n\
         [provider.scope_text]\nrepo = \"Read and write your repositories\"\n\
         [provider.account]\nurl = \"{}\"\nmember = \"data.user.name\"\n{}\n",
        url(Endpoint::Authorization),
        url(Endpoint::Token),
        provider.issuer(),
        change.provider,
        url(Endpoint::Account),
        change.tables,
    )
    .unwrap();
    text
}

impl Scene {
    pub async fn new() -> Self {
        Self::with(Change::default()).await
    }

    pub async fn with(change: Change) -> Self {
        Self::at(Provider::start().await, change).await
    }

    pub async fn at(provider: Provider, change: Change) -> Self {
        let more = definition(&provider, "forge", &change) + &change.more;
        let upstream = Upstream::start().await;
        upstream.tool("list_repos", Script::new().text(ANSWER));
        let need = format!("[[upstream.needs]]\nprovider = \"forge\"\n{}\n", change.need);
        let second = change.issuer.is_none();
        let setup = Setup { free: true, second, upstream: need, more, issuer: change.issuer, ..Setup::default() };
        let stage = Stage::with(setup, upstream).await;
        provider.answer_at(&format!("{}/callback/forge", stage.origin));
        Self { stage, provider }
    }

    /// Asks, and is asked.
    pub async fn asked(&self, client: &Modern) -> Reply {
        let asked = client.call(CALL.0, CALL.1).await;
        assert!(asked.is_input_required(), "{}", asked.text());
        asked
    }

    /// Agrees on the page of a question: the redirect to the provider.
    pub async fn leave(&self, person: &Person, url: &str) -> Page {
        let page = person.get(url).await;
        let left = person.agreement(&page, &[]).stay().send().await;
        assert_eq!(left.status, 303, "{}", left.describe());
        left
    }

    /// Agrees here and there: the address that leads back.
    pub async fn back(&self, person: &Person, url: &str) -> String {
        let left = self.leave(person, url).await;
        person.at_issuer(&left, "user-1").await
    }

    /// The whole way.
    pub async fn connect(&self, person: &Person, url: &str) -> Page {
        let back = self.back(person, url).await;
        person.come_back(&back).await
    }

    pub async fn state(&self, url: &str) -> Interaction {
        self.stage.interaction(url).await
    }

    pub async fn credential(&self) -> Option<Credential> {
        self.stage.app().store.credential(&local_user(), "forge").await.unwrap()
    }

    /// The access tokens that the server got, in order.
    pub fn sent(&self) -> Vec<String> {
        let calls = self.stage.upstream.requests_of("tools/call");
        let token = |value: &str| value.strip_prefix("Bearer ").unwrap().to_owned();
        calls.iter().map(|call| token(call.header("authorization").unwrap())).collect()
    }

    pub async fn audited(&self, action: AuditAction) -> usize {
        let rows = self.stage.app().store.audit_of(&local_user(), 1000).await.unwrap();
        rows.iter().filter(|row| row.action == Some(action)).count()
    }
}

pub fn went(reply: &Reply) -> bool {
    reply.response().result().is_some_and(|result| result.contains(ANSWER))
}

pub fn is_heading(page: &Page, heading: &str) {
    assert_eq!(page.heading().as_deref(), Some(heading), "{}", page.describe());
}

pub fn id_of(url: &str) -> InteractionId {
    InteractionId::parse(url.rsplit('/').next().unwrap()).unwrap()
}
