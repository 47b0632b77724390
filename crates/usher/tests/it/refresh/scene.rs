//! A server that takes the tokens of a provider, and a person who has an account there.

use std::collections::{BTreeMap, BTreeSet};

use aws_lc_rs::digest::{SHA256, digest};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use elicit::SystemRandom;
use jiff::{SignedDuration, Timestamp};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use usher::{clock::Clock as _, credentials::refresh_at, identity::tokens::local_user};
use usher_store::{Advanced, Completion, Credential, Grant, GrantClient, GrantServer, InteractionId, Step, Store};
use usher_testkit::{
    agent,
    client::Reply,
    oauth::{CLIENT, CLIENT_SECRET, Endpoint, Provider, Who},
    person::Person,
    upstream::{Script, Upstream},
};

use crate::harness::{CALLS, Setup, Stage, answered};

/// How long an access token lasts, in seconds.
pub const HOUR: i64 = 3600;

const VERIFIER: &str = "verifier-0123456789-0123456789-0123456789-0123456789";

/// A service whose server takes the tokens of the provider `hub`.
pub struct Scene {
    pub stage: Stage,
    pub hub: Provider,
}

impl Scene {
    /// The person has not connected yet.
    pub async fn new() -> Self {
        Self::with(Setup::default(), Upstream::start().await).await
    }

    pub async fn with(setup: Setup, upstream: Upstream) -> Self {
        let hub = Provider::start().await;
        let stage = Stage::with(prepared(setup, &hub), upstream).await;
        furnish(&stage.upstream, &hub);
        Self { stage, hub }
    }

    /// The person has connected, with a token of an hour.
    pub async fn connected() -> Self {
        let scene = Self::new().await;
        scene.connect().await;
        scene
    }

    /// The same with a token that has just expired.
    pub async fn expired() -> Self {
        let scene = Self::connected().await;
        scene.stage.clock.forward(HOUR);
        scene
    }

    /// The person connects.
    pub async fn connect(&self) -> Credential {
        let granted = granted(&self.hub, "user-1").await;
        let grant = grant(&self.hub, &granted, self.stage.clock.now());
        self.connect_with(&granted, grant).await
    }

    /// The same with a grant that the test made.
    pub async fn connect_with(&self, granted: &Value, grant: Grant) -> Credential {
        let asked = self.stage.modern().call(CALLS[0].0, CALLS[0].1).await;
        store_grant(&self.stage.app().store, &asked.url(), granted, grant, self.stage.clock.now()).await;
        self.stored().await
    }

    /// What is stored.
    pub async fn stored(&self) -> Credential {
        self.stage.app().store.credential(&local_user(), "hub").await.unwrap().unwrap()
    }

    /// A call of the usual client.
    pub async fn call(&self) -> Reply {
        self.stage.modern().call(CALLS[0].0, CALLS[0].1).await
    }

    /// The same, which has to go through.
    pub async fn goes_through(&self) {
        let reply = self.call().await;
        assert!(answered(&reply), "{}", reply.text());
    }

    /// Everything that the test set out to see went by the rules.
    pub fn assert_clean(&self) {
        self.hub.assert_clean();
        self.stage.upstream.assert_clean();
    }
}

/// The set-up with the provider, which every call needs.
pub fn prepared(setup: Setup, hub: &Provider) -> Setup {
    let need = format!(
        "[[upstream.needs]]\nprovider = \"hub\"\nheader = {{ Authorization = \"Bearer {{access_token}}\" }}\n{}\n",
        setup.needs
    );
    Setup { free: true, more: format!("{need}{}{}", section(hub, CLIENT), setup.more), ..setup }
}

/// The provider in the configuration, with this client.
pub fn section(hub: &Provider, client: &str) -> String {
    format!(
        "[[provider]]\nname = \"hub\"\ntitle = \"Hub\"\nkind = \"oauth\"\nissuer = \"{}\"\nauthorization_endpoint = \"{}\"\n\
         token_endpoint = \"{}\"\nclient_id = \"{client}\"\nclient_secret = \"{CLIENT_SECRET}\"\nscopes = [\"read\"]\n",
        hub.issuer(),
        hub.url(Endpoint::Authorization),
        hub.url(Endpoint::Token),
    )
}

/// What the server offers: all of it wants a good token.
pub fn furnish(upstream: &Upstream, hub: &Provider) {
    let script = || Script::new().require_token(&hub.token_book());
    upstream.tool("get_forecast", script().text("sunny"));
    let plan = r#"{"messages":[{"role":"user","content":{"type":"text","text":"plan the day"}}]}"#;
    upstream.prompt("plan", script().result(plan));
    let weather = r#"{"contents":[{"uri":"weather://berlin","text":"sunny"}]}"#;
    upstream.resource("weather://berlin", script().result(weather));
}

/// What the provider gives after a person's consent: the reply of its token endpoint.
pub async fn granted(hub: &Provider, subject: &str) -> Value {
    let back = "http://127.0.0.1:9/callback/hub";
    hub.set(|settings| settings.who = Who::Always(subject.to_owned()));
    let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, VERIFIER.as_bytes()));
    let mut url = url::Url::parse(&hub.url(Endpoint::Authorization)).unwrap();
    url.query_pairs_mut().extend_pairs([
        ("response_type", "code"),
        ("client_id", CLIENT),
        ("redirect_uri", back),
        ("scope", "read"),
        ("state", "s-1"),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
    ]);
    let page = Person::new(hub.issuer()).get(url.as_str()).await;
    let location = url::Url::parse(page.location().unwrap()).unwrap();
    let code = location.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned();
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.extend_pairs([
        ("grant_type", "authorization_code"),
        ("code", &code),
        ("redirect_uri", back),
        ("code_verifier", VERIFIER),
    ]);
    let request = agent()
        .post(hub.url(Endpoint::Token))
        .basic_auth(CLIENT, Some(CLIENT_SECRET))
        .header("content-type", "application/x-www-form-urlencoded")
        .header("accept", "application/json")
        .body(form.finish());
    let reply: Value = serde_json::from_str(&request.send().await.unwrap().text().await.unwrap()).unwrap();
    assert!(reply["access_token"].is_string(), "{reply}");
    reply
}

/// The same as a grant of this moment.
pub fn grant(hub: &Provider, granted: &Value, now: Timestamp) -> Grant {
    let expires_at = granted["expires_in"].as_i64().map(|seconds| now + SignedDuration::from_secs(seconds));
    Grant {
        refresh_token: granted["refresh_token"].as_str().map(|token| SecretString::from(token.to_owned())),
        expires_at,
        refresh_at: refresh_at(now, expires_at, &SystemRandom),
        scopes: BTreeSet::from(["read".to_owned()]),
        asked: BTreeSet::from(["read".to_owned()]),
        demanded: BTreeSet::new(),
        account: Some("user-1".to_owned()),
        values: BTreeMap::new(),
        server: GrantServer {
            issuer: hub.issuer(),
            token_endpoint: None,
            revocation_endpoint: None,
            resource: None,
            client: GrantClient {
                id: CLIENT.to_owned(),
                secret: None,
                method: "client_secret_basic".to_owned(),
                redirect_uri: "http://127.0.0.1:9/callback/hub".to_owned(),
            },
        },
    }
}

/// The secrets of a reply.
pub fn secrets(granted: &Value) -> BTreeMap<String, SecretString> {
    let token = granted["access_token"].as_str().unwrap().to_owned();
    BTreeMap::from([("access_token".to_owned(), SecretString::from(token))])
}

/// Completes the question of a link with a grant, as a visit to the provider does.
pub async fn store_grant(store: &Store, url: &str, granted: &Value, grant: Grant, now: Timestamp) {
    let id = InteractionId::parse(url.rsplit('/').next().unwrap()).unwrap();
    let mut interaction = store.interaction(&id, now).await.unwrap().unwrap();
    for step in [Step::Open, Step::Consent] {
        let Advanced::Done(next) = store.advance(interaction, step, now).await.unwrap() else { panic!("a step") };
        interaction = next;
    }
    let (state, kept) = (SecretString::from("state-0123456789"), SecretString::from("nothing"));
    assert!(store.begin_flow(&id, &state, "browser", &kept, now).await.unwrap());
    let flow = store.claim_flow(&id, &state, "browser", now).await.unwrap().unwrap();
    let completion = Completion::Grant { secrets: secrets(granted), grant: Box::new(grant) };
    let done = store.complete(flow.interaction, completion, now).await.unwrap();
    assert!(matches!(done, Advanced::Done(_)), "{done:?}");
}

/// The access token of a credential.
pub fn token_of(credential: &Credential) -> &str {
    credential.secrets["access_token"].expose_secret()
}
