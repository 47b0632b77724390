//! The REST API for servers in other languages, over HTTP.

mod asking;
mod bodies;
mod calls;
mod cancelling;
mod command;
mod description;
mod guide;
mod keys;
mod limits;
mod others;
mod waiting;

use std::fmt::Write as _;

use http::{HeaderMap, Method, StatusCode};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value, json};
use usher::{clock::Clock as _, identity::tokens::local_user};
use usher_store::{ApiKey, ApiScope, AuditAction, Interaction, NewApiKey};
use usher_testkit::{DEADLINE, agent, upstream::Upstream, within};

use crate::harness::{Setup, Stage};

/// Where questions are asked.
const INTERACTIONS: &str = "/api/v1/interactions";

/// More needs of the weather server: what people do for one call alone.
const PER_CALL: &str = "[[upstream.needs]]\nprovider = \"confirm\"\non = [\"tools/delete_*\", \"resources/vault:*\"]\n\
                        [[upstream.needs]]\nprovider = \"pay\"\non = [\"tools/buy_*\"]\n";

/// The usual set-up with a second server `other`, which needs the same credential, and these limits.
async fn stage(limits: &str) -> Stage {
    let upstream = Upstream::start().await;
    let mut setup = Setup { needs: PER_CALL.to_owned(), ..Setup::default() };
    write!(
        setup.more,
        "[[provider]]\nname = \"unused\"\nkind = \"secret\"\n[[provider.field]]\nname = \"key\"\nlabel = \"Key\"\n\
         [[provider]]\nname = \"confirm\"\nkind = \"approval\"\nabout = \"Deleting needs your word.\"\n\
         [[provider]]\nname = \"pay\"\nkind = \"external\"\nabout = \"You pay 3 euros.\"\nurl = \"http://127.0.0.1:9/pay?id={{reference}}\"\n\
         [[upstream]]\nname = \"other\"\nurl = \"{}\"\n[[upstream.needs]]\nprovider = \"weather\"\n\
         header = {{ X-Api-Key = \"{{api_key}}\" }}\n[limits]\n{limits}\n",
        upstream.url()
    )
    .unwrap();
    Stage::with(setup, upstream).await
}

/// A server beside Usher, with a key.
#[derive(Clone)]
struct Server {
    http: reqwest::Client,
    origin: String,
    key: ApiKey,
    text: SecretString,
}

/// What it was answered.
#[derive(Debug)]
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

impl Server {
    /// The weather server, with both scopes.
    async fn weather(stage: &Stage) -> Self {
        Self::named(stage, "weather", &ApiScope::ALL).await
    }

    async fn named(stage: &Stage, server: &str, scopes: &[ApiScope]) -> Self {
        let new = NewApiKey {
            server: server.to_owned(),
            name: String::new(),
            scopes: scopes.iter().copied().collect(),
            expires_at: None,
        };
        let (key, text) = stage.app().store.create_api_key(new, stage.clock.now()).await.unwrap();
        Self { http: agent(), origin: stage.origin.clone(), key, text }
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.text.expose_secret())
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}{path}", self.origin)).header("authorization", self.bearer())
    }

    async fn get(&self, path: &str) -> Answer {
        send(self.request(Method::GET, path)).await
    }

    /// Waits, once there is a place to.
    async fn wait(&self, path: &str) -> Answer {
        loop {
            let answer = self.get(&format!("{path}?wait=60")).await;
            if answer.status != 429 {
                return answer;
            }
        }
    }

    async fn post(&self, path: &str, body: impl Into<String>) -> Answer {
        let request = self.request(Method::POST, path).header("content-type", "application/json");
        send(request.body(body.into())).await
    }

    /// Asks for the weather in the name of this client.
    async fn ask(&self, client: &str) -> Answer {
        self.post(INTERACTIONS, json!({ "provider": "weather", "client": client }).to_string()).await
    }

    /// An interaction that is open.
    async fn asked(&self, client: &str) -> Answer {
        let answer = self.ask(client).await;
        assert_eq!(answer.status, 201, "{}", answer.text);
        answer
    }
}

async fn send(request: reqwest::RequestBuilder) -> Answer {
    let answer = async {
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        Answer { status, headers, text: response.text().await.unwrap() }
    };
    within(DEADLINE, "no answer", answer).await
}

impl Answer {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("no {name}: {self:?}")).to_str().unwrap()
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|fault| panic!("{fault}: {self:?}"))
    }

    fn member(&self, name: &str) -> String {
        self.json()[name].as_str().unwrap_or_else(|| panic!("no {name}: {self:?}")).to_owned()
    }

    /// The path of the interaction.
    fn path(&self) -> String {
        format!("{INTERACTIONS}/{}", self.member("id"))
    }

    /// That it is a problem of this type, and well formed.
    fn problem(&self, status: u16, name: &str) {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.header("content-type"), "application/problem+json");
        let body = self.json();
        assert_eq!(body["type"], format!("urn:usher:problem:{name}"), "{body}");
        assert_eq!(body["status"], status);
        assert!(!body["title"].as_str().unwrap().is_empty() && !body["detail"].as_str().unwrap().is_empty(), "{body}");
        assert_eq!(body["errors"].is_array(), name == "invalid", "{body}");
    }

    /// Where it says that something is not right.
    fn faults(&self) -> Vec<String> {
        self.problem(422, "invalid");
        let body = self.json();
        let place = |fault: &Value| fault["pointer"].as_str().or(fault["parameter"].as_str()).unwrap().to_owned();
        body["errors"].as_array().unwrap().iter().map(place).collect()
    }

    /// When to come back, in seconds.
    fn retry_after(&self) -> u64 {
        self.header("retry-after").parse().unwrap()
    }
}

/// How often this was audited of a key, once it was.
async fn audited(stage: &Stage, key: &ApiKey, action: AuditAction) -> usize {
    let actor = key.actor().unwrap();
    let count = async || {
        let rows = stage.app().store.audit_of(&actor, 1000).await.unwrap();
        rows.iter().filter(|row| row.action == Some(action)).count()
    };
    let written = async {
        while count().await == 0 {
            tokio::task::yield_now().await;
        }
    };
    within(DEADLINE, "nothing was audited", written).await;
    count().await
}

/// The questions that wait for the owner.
async fn waiting(stage: &Stage) -> Vec<Interaction> {
    stage.app().store.waiting_interactions(&local_user(), stage.clock.now()).await.unwrap()
}
