//! A service whose server demands MCP authorization, by an authorization server of its own.

use std::collections::BTreeMap;

use usher::identity::tokens::local_user;
use usher_store::{Credential, CredentialStatus};
use usher_testkit::{
    client::{Modern, Reply},
    oauth::{Endpoint, Provider, settings::Registration},
    person::{Page, Person},
    upstream::{Guard, Script, Upstream},
};

use crate::harness::{ACCEPT, Setup, Stage};
use crate::needs_modern::retry;

/// The call that needs the account.
pub const CALL: (&str, &str) = ("tools/call", r#"{"name":"list_notes","arguments":{}}"#);
/// One that may need more of it.
pub const WRITE: (&str, &str) = ("tools/call", r#"{"name":"write_note","arguments":{}}"#);

/// What the server answers it with.
pub const ANSWER: &str = "three notes";

pub struct Scene {
    pub stage: Stage,
    pub provider: Provider,
}

/// What a test may change.
pub struct Change {
    /// More lines for the provider's table.
    pub provider: String,
    /// More lines for the need.
    pub need: String,
    /// What the server demands, if not a token for everything.
    pub guard: Box<dyn Fn(&mut Guard)>,
    /// Nothing at a private address may be requested but what the operator wrote down.
    pub strict: bool,
}

impl Default for Change {
    fn default() -> Self {
        Self { provider: String::new(), need: String::new(), guard: Box::new(|_| {}), strict: false }
    }
}

impl Scene {
    pub async fn new() -> Self {
        Self::with(Change::default()).await
    }

    pub async fn with(change: Change) -> Self {
        Self::at(Provider::start().await, change).await
    }

    pub async fn at(provider: Provider, change: Change) -> Self {
        provider.set(|settings| settings.registry.registration = Registration::Open);
        let upstream = Upstream::start().await;
        upstream.tool("list_notes", Script::new().text(ANSWER)).tool("write_note", Script::new().text("written"));
        let mut guard = Guard::by(&provider);
        (change.guard)(&mut guard);
        upstream.guard(guard);
        let egress = if change.strict { "" } else { "[egress]\nallow = [\"127.0.0.1\"]\n" };
        let more = format!(
            "{egress}[[provider]]\nname = \"notes\"\ntitle = \"Notes\"\nkind = \"mcp\"\n{}\n",
            change.provider.replace("{issuer}", &provider.issuer())
        );
        let need = format!("[[upstream.needs]]\nprovider = \"notes\"\n{}\n", change.need);
        let setup = Setup { free: true, upstream: need, more, ..Setup::default() };
        let stage = Stage::with(setup, upstream).await;
        Self { stage, provider }
    }

    /// Asks, and is asked.
    pub async fn asked(&self, client: &Modern) -> Reply {
        let asked = client.call(CALL.0, CALL.1).await;
        assert!(asked.is_input_required(), "{}", asked.text());
        asked
    }

    /// The page of the question of a call.
    pub async fn page(&self, person: &Person) -> Page {
        let asked = self.asked(&self.stage.modern()).await;
        person.get(&asked.url()).await
    }

    /// Agrees on the page of a question: the redirect to the authorization server.
    pub async fn leave(&self, person: &Person, url: &str) -> Page {
        let page = person.get(url).await;
        let left = person.agreement(&page, &[]).stay().send().await;
        assert_eq!(left.status, 200, "{}", left.describe());
        left
    }

    /// The whole way.
    pub async fn connect(&self, person: &Person, url: &str) -> Page {
        let left = self.leave(person, url).await;
        let back = person.at_issuer(&left, "user-1").await;
        person.come_back(&back).await
    }

    /// A call that is asked, connected and goes on.
    pub async fn connected(&self) -> Modern {
        let client = self.stage.modern();
        let asked = self.asked(&client).await;
        let done = self.connect(&self.stage.person().await, &asked.url()).await;
        assert_eq!(done.heading().as_deref(), Some("Connected"), "{}", done.describe());
        let reply = retry(&client, CALL, &asked, ACCEPT).await;
        assert!(went(&reply), "{}", reply.text());
        client
    }

    pub async fn credential(&self) -> Option<Credential> {
        self.stage.app().store.credential(&local_user(), "notes").await.unwrap()
    }

    pub async fn status(&self) -> CredentialStatus {
        self.credential().await.unwrap().status
    }

    /// The access tokens that calls brought to the server, in order; nothing for those that brought none.
    pub fn sent(&self) -> Vec<Option<String>> {
        let calls = self.stage.upstream.requests_of("tools/call");
        let token = |value: &str| value.strip_prefix("Bearer ").unwrap().to_owned();
        calls.iter().map(|call| call.header("authorization").map(token)).collect()
    }

    /// Nothing that a provider would complain of, and nothing that a server would.
    pub fn assert_clean(&self) {
        self.provider.assert_clean();
        self.stage.upstream.assert_clean();
    }
}

pub fn went(reply: &Reply) -> bool {
    reply.response().result().is_some_and(|result| result.contains(ANSWER))
}

/// The parameters of an address that somebody is sent to.
pub fn parameters(address: &str) -> BTreeMap<String, String> {
    let url = url(address);
    url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
}

pub fn url(text: &str) -> reqwest::Url {
    reqwest::Url::parse(text).unwrap()
}

/// The parameters of each request that brings a code, or a refresh token.
pub fn token_requests(provider: &Provider, endpoint: Endpoint) -> Vec<BTreeMap<String, String>> {
    let of = |body: &[u8]| parameters(&format!("http://x/?{}", text(body)));
    provider.requests_to(endpoint).iter().map(|request| of(&request.body)).collect()
}

/// The text of a body.
pub fn text(body: &[u8]) -> String {
    String::from_utf8(body.to_vec()).unwrap()
}
