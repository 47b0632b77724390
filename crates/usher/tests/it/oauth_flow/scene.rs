//! A service whose server needs an account at a provider of kind `oauth`.

use std::{fmt::Write as _, sync::Arc};

use elicit::UserId;
use url::Url;
use usher::identity::tokens::local_user;
use usher_store::{AuditAction, Credential, Interaction, InteractionId};
use usher_testkit::{
    client::{Modern, Reply},
    idp::Idp,
    oauth::{CLIENT, CLIENT_SECRET, Endpoint, Provider},
    person::{Page, Person},
    provider::Api,
    upstream::{Script, Upstream},
};

use crate::harness::{Folder, KEY, Setup, Stage};

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
        Self::furnished(provider, change, None).await
    }

    /// In a folder that has keys and tokens already.
    pub async fn in_folder(change: Change, folder: Folder) -> Self {
        Self::furnished(Provider::start().await, change, Some(folder)).await
    }

    async fn furnished(provider: Provider, change: Change, folder: Option<Folder>) -> Self {
        let more = definition(&provider, "forge", &change) + &change.more;
        let upstream = Upstream::start().await;
        upstream.tool("list_repos", Script::new().text(ANSWER));
        let need = format!("[[upstream.needs]]\nprovider = \"forge\"\n{}\n", change.need);
        let second = change.issuer.is_none() && folder.is_none();
        let setup = Setup { free: true, second, upstream: need, more, issuer: change.issuer, ..Setup::default() };
        let stage = match folder {
            None => Stage::with(setup, upstream).await,
            Some(folder) => Stage::furnished(&setup, folder, upstream, Api::start("x-api-key", KEY).await).await,
        };
        provider.answer_at(&format!("{}/callback/forge", stage.origin));
        Self { stage, provider }
    }

    /// Asks, and is asked.
    pub async fn asked(&self, client: &Modern) -> Reply {
        let asked = client.call(CALL.0, CALL.1).await;
        assert!(asked.is_input_required(), "{}", asked.text());
        asked
    }

    /// Agrees on the page of a question: the page that goes on to the provider.
    pub async fn leave(&self, person: &Person, url: &str) -> Page {
        let page = person.get(url).await;
        let left = person.agreement(&page, &[]).stay().send().await;
        assert_eq!(left.status, 200, "{}", left.describe());
        left
    }

    /// Agrees here and there, as `user-1`: the address that leads back.
    pub async fn back(&self, person: &Person, url: &str) -> String {
        self.back_as(person, url, "user-1").await
    }

    /// The same with this account at the provider, or `deny`.
    pub async fn back_as(&self, person: &Person, url: &str, account: &str) -> String {
        let left = self.leave(person, url).await;
        person.at_issuer(&left, account).await
    }

    /// The client of a user, in identity mode oidc.
    pub fn client_of(&self, user: &str) -> Modern {
        self.stage.modern_with(&self.stage.token_of(user, "editor"))
    }

    /// A user, in identity mode oidc.
    pub fn user(&self, name: &str) -> UserId {
        UserId::new(self.stage.idp().issuer(), name).unwrap()
    }

    /// What a user has stored.
    pub async fn stored_of(&self, user: &UserId) -> Option<Credential> {
        self.stage.app().store.credential(user, "forge").await.unwrap()
    }

    /// How often this was audited of a user.
    pub async fn audited_of(&self, user: &UserId, action: AuditAction) -> usize {
        let rows = self.stage.app().store.audit_of(user, 1000).await.unwrap();
        rows.iter().filter(|row| row.action == Some(action)).count()
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
        self.stored_of(&local_user()).await
    }

    /// The access tokens that the server got, in order.
    pub fn sent(&self) -> Vec<String> {
        let calls = self.stage.upstream.requests_of("tools/call");
        let token = |value: &str| value.strip_prefix("Bearer ").unwrap().to_owned();
        calls.iter().map(|call| token(call.header("authorization").unwrap())).collect()
    }

    pub async fn audited(&self, action: AuditAction) -> usize {
        self.audited_of(&local_user(), action).await
    }
}

pub fn went(reply: &Reply) -> bool {
    reply.response().result().is_some_and(|result| result.contains(ANSWER))
}

pub fn is_heading(page: &Page, heading: &str) {
    assert_eq!(page.heading().as_deref(), Some(heading), "{}", page.describe());
}

/// A way back that is refused: a clear page, and nothing else.
pub fn is_refused(page: &Page) {
    assert_eq!(page.status, 403, "{}", page.describe());
    is_heading(page, "This way back does not work");
}

pub fn id_of(url: &str) -> InteractionId {
    InteractionId::parse(url.rsplit('/').next().unwrap()).unwrap()
}

/// An address with a parameter changed, or without it.
pub fn changed(url: &str, name: &str, value: Option<&str>) -> String {
    let mut changed = Url::parse(url).unwrap();
    let pairs: Vec<_> = changed.query_pairs().into_owned().filter(|(key, _)| key != name).collect();
    changed.query_pairs_mut().clear().extend_pairs(pairs);
    if let Some(value) = value {
        changed.query_pairs_mut().append_pair(name, value);
    }
    changed.into()
}

/// A parameter of an address.
pub fn parameter(url: &str, name: &str) -> String {
    let url = Url::parse(url).unwrap();
    url.query_pairs().find(|(key, _)| key == name).unwrap().1.into_owned()
}
