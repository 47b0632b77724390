//! What is asked of the issuer, and how often.

use std::{
    path::Path,
    sync::atomic::{AtomicI64, Ordering},
};

use serde_json::json;
use usher_testkit::{
    idp::{Algorithm as Fake, Endpoint, Idp, Key, Signature},
    provider::Behaviour,
    upstream::Gate,
};

use super::{jwt::Kind, *};
use crate::{
    clock::SystemClock,
    commands::install_crypto_provider,
    config::{AccessTokens, Config, Introspection},
    egress::Allowed,
};

/// A clock that is set forward by hand.
#[derive(Default)]
struct Ahead(AtomicI64);

impl Clock for Ahead {
    fn now(&self) -> Timestamp {
        SystemClock.now() + SignedDuration::from_secs(self.0.load(Ordering::SeqCst))
    }
}

struct Scene {
    idp: Idp,
    clock: Arc<Ahead>,
    provider: Arc<OpenIdProvider>,
}

impl Scene {
    async fn new() -> Self {
        install_crypto_provider();
        let idp = Idp::start().await;
        let config = Oidc::of(&idp.issuer());
        let clock = Arc::new(Ahead::default());
        let egress = Egress::allowing(Allowed::default()).unwrap();
        let provider = Arc::new(OpenIdProvider::new(config, egress, clock.clone()));
        Self { idp, clock, provider }
    }

    fn forward(&self, seconds: i64) {
        self.clock.0.fetch_add(seconds, Ordering::SeqCst);
        self.idp.set(|settings| settings.ahead += seconds);
    }

    async fn verify(&self, token: &str) -> Result<(), VerifyError> {
        let issuer = self.idp.issuer();
        let expected = Expected { issuer: &issuer, audience: "here", kind: Kind::Access };
        self.provider.verify(token, &expected).await.map(|_| ())
    }

    fn token(&self) -> String {
        self.idp.access_token("user-1").audience("here").mint()
    }

    fn counts(&self) -> (usize, usize) {
        (self.idp.count(Endpoint::Discovery), self.idp.count(Endpoint::Jwks))
    }
}

#[tokio::test]
async fn the_issuer_is_asked_at_the_first_use_and_by_one_at_a_time() {
    let scene = Scene::new().await;
    assert_eq!(scene.counts(), (0, 0));
    let token = scene.token();
    let all = futures_util::future::join_all((0..20).map(|_| scene.verify(&token))).await;
    assert!(all.iter().all(Result::is_ok), "{all:?}");
    assert_eq!(scene.counts(), (1, 1));
}

#[tokio::test]
async fn a_flood_of_unknown_keys_has_the_keys_fetched_once_a_minute() {
    let scene = Scene::new().await;
    scene.verify(&scene.token()).await.unwrap();
    for minute in 1..=3 {
        for number in 0..30 {
            let token = scene.idp.access_token("user-1").audience("here").header("kid", format!("{minute}-{number}"));
            scene.verify(&token.mint()).await.unwrap_err();
            let token = scene.idp.access_token("user-1").audience("here").signed(Signature::Stranger(Fake::Es256));
            scene.verify(&token.mint()).await.unwrap_err();
        }
        assert_eq!(scene.counts(), (1, minute), "the first was fetched within that minute");
        scene.forward(60);
    }
}

#[tokio::test]
async fn a_new_key_is_found_and_one_that_was_withdrawn_forgotten() {
    let scene = Scene::new().await;
    let old = scene.token();
    scene.verify(&old).await.unwrap();
    scene.forward(61);
    scene.idp.publish(Key::new(Fake::Es256, "key-2"));
    scene.idp.withdraw("key-1");
    scene.verify(&old).await.unwrap();
    scene.verify(&scene.token()).await.unwrap();
    let refused = scene.verify(&old).await.unwrap_err();
    assert_eq!(refused, VerifyError::Invalid(Invalid::UnknownKey));
    // A key that was replaced under its own id is found by its signatures.
    scene.forward(61);
    scene.idp.withdraw("key-2");
    scene.idp.publish(Key::new(Fake::Es256, "key-2"));
    scene.verify(&scene.token()).await.unwrap();
}

/// R-ID-02: nor does the first token after a quiet night.
#[tokio::test]
async fn a_key_that_was_withdrawn_opens_nothing_once_the_keys_are_old() {
    let scene = Scene::new().await;
    let withdrawn = scene.token();
    scene.verify(&withdrawn).await.unwrap();
    scene.idp.publish(Key::new(Fake::Es256, "key-2"));
    scene.idp.withdraw("key-1");
    scene.forward(15 * 60 + 1);
    let refused = scene.verify(&withdrawn).await.unwrap_err();
    assert_eq!(refused, VerifyError::Invalid(Invalid::UnknownKey));
    scene.verify(&scene.token()).await.unwrap();
    assert_eq!(scene.counts(), (1, 2));
}

/// R-ID-05: nobody is told to sign in again whose token the issuer may have made by a key that cannot be had yet.
#[tokio::test]
async fn a_token_of_a_newer_key_waits_until_the_keys_can_be_fetched() {
    let scene = Scene::new().await;
    let old = scene.token();
    scene.verify(&old).await.unwrap();
    scene.idp.publish(Key::new(Fake::Es256, "key-2"));
    scene.idp.withdraw("key-1");
    // Within the minute in which the keys are not fetched again.
    scene.forward(30);
    let new = scene.token();
    assert_eq!(scene.verify(&new).await.unwrap_err(), VerifyError::Unavailable(Unavailable));
    scene.idp.behave(Endpoint::Jwks, Behaviour::Status(500));
    scene.forward(31);
    assert_eq!(scene.verify(&new).await.unwrap_err(), VerifyError::Unavailable(Unavailable), "and while they cannot");
    let unknown = scene.idp.access_token("user-1").audience("here").header("kid", "unknown");
    let unknown = unknown.at("iat", -3600).mint();
    let refused = scene.verify(&unknown).await.unwrap_err();
    assert_eq!(refused, VerifyError::Invalid(Invalid::UnknownKey), "an older one is not of a newer key");
    scene.idp.behave(Endpoint::Jwks, Behaviour::Check);
    scene.forward(61);
    scene.verify(&new).await.unwrap();
    scene.forward(61);
    assert_eq!(scene.verify(&old).await.unwrap_err(), VerifyError::Invalid(Invalid::UnknownKey));
}

/// R-SEC-04
#[tokio::test]
async fn without_the_issuer_its_keys_are_used_for_a_day() {
    let scene = Scene::new().await;
    scene.verify(&scene.token()).await.unwrap();
    for endpoint in [Endpoint::Discovery, Endpoint::Jwks] {
        scene.idp.behave(endpoint, Behaviour::Status(500));
    }
    scene.forward(23 * 60 * 60);
    scene.verify(&scene.token()).await.unwrap();
    scene.forward(60 * 60);
    assert_eq!(scene.verify(&scene.token()).await.unwrap_err(), VerifyError::Unavailable(Unavailable));
    scene.idp.behave(Endpoint::Jwks, Behaviour::Check);
    scene.forward(61);
    scene.verify(&scene.token()).await.unwrap();
}

#[tokio::test]
async fn what_the_issuer_must_not_answer_is_no_answer() {
    for (endpoint, behaviour) in [
        (Endpoint::Discovery, Behaviour::Status(404)),
        (Endpoint::Discovery, Behaviour::Body(200, "<html>".to_owned())),
        (Endpoint::Discovery, Behaviour::Huge(metadata::LIMIT + 1)),
        (Endpoint::Discovery, Behaviour::Redirect("https://other.example/".to_owned())),
        (Endpoint::Discovery, Behaviour::Drop),
        (Endpoint::Jwks, Behaviour::Status(204)),
        (Endpoint::Jwks, Behaviour::Body(200, "{\"keys\":7}".to_owned())),
        (Endpoint::Jwks, Behaviour::Huge(keys::LIMIT + 1)),
        (Endpoint::Jwks, Behaviour::Endless),
        (Endpoint::Jwks, Behaviour::Redirect("https://other.example/".to_owned())),
    ] {
        let scene = Scene::new().await;
        scene.idp.behave(endpoint, behaviour.clone());
        let refused = scene.verify(&scene.token()).await.unwrap_err();
        assert_eq!(refused, VerifyError::Unavailable(Unavailable), "{behaviour:?}");
        scene.idp.behave(endpoint, Behaviour::Check);
        scene.forward(2);
        scene.verify(&scene.token()).await.unwrap();
    }
}

/// R-SEC-05: the operator chose the issuer, and nobody what it names elsewhere.
#[tokio::test]
async fn keys_at_a_private_address_are_not_fetched() {
    let scene = Scene::new().await;
    let elsewhere = Idp::start().await;
    for place in [elsewhere.url(Endpoint::Jwks), "https://169.254.169.254/jwks".to_owned(), "file:///jwks".to_owned()] {
        scene.idp.set(|settings| settings.metadata = json!({ "jwks_uri": place }));
        assert_eq!(scene.verify(&scene.token()).await.unwrap_err(), VerifyError::Unavailable(Unavailable), "{place}");
        scene.forward(25 * 60 * 60);
    }
    assert_eq!(elsewhere.count(Endpoint::Jwks), 0);
}

/// A provider that asks the issuer about tokens.
fn asking(scene: &Scene) -> Arc<OpenIdProvider> {
    let asked = Introspection {
        endpoint: Some(Url::parse(&scene.idp.url(Endpoint::Introspection)).unwrap()),
        client_id: usher_testkit::idp::CLIENT.to_owned(),
        client_secret: usher_testkit::idp::CLIENT_SECRET.into(),
    };
    let config = Oidc { tokens: AccessTokens::Introspection(asked), ..scene.provider.config.clone() };
    Arc::new(OpenIdProvider::new(config, scene.provider.egress.clone(), scene.clock.clone()))
}

#[tokio::test]
async fn those_who_ask_about_one_token_at_a_time_ask_once() {
    let scene = Scene::new().await;
    let (provider, issuer) = (asking(&scene), scene.idp.issuer());
    let token = scene.idp.access_token("user-1").audience("here").opaque();
    let expected = Expected { issuer: &issuer, audience: "here", kind: Kind::Access };
    for round in 1..=2 {
        let all = (0..20).map(|_| provider.introspect([7; 32], &token, &expected));
        let all = futures_util::future::join_all(all).await;
        assert!(all.iter().all(Result::is_ok), "{all:?}");
        assert_eq!(scene.idp.count(Endpoint::Introspection), round, "what is over is not joined");
    }
    let left = provider.introspect([8; 32], "x", &expected);
    assert!(futures_util::FutureExt::now_or_never(left).is_none(), "it left");
    assert!(provider.questions.is_empty());
}

/// R-SEC-04
#[tokio::test]
async fn a_question_waits_for_its_turn_no_longer_than_it_may() {
    let scene = Scene::new().await;
    let (provider, issuer) = (asking(&scene), scene.idp.issuer());
    let expected = Expected { issuer: &issuer, audience: "here", kind: Kind::Access };
    let all = provider.asking.acquire_many(u32::try_from(introspect::AT_A_TIME).unwrap()).await.unwrap();
    tokio::time::pause();
    let start = tokio::time::Instant::now();
    let found = provider.introspect([7; 32], "token", &expected).await;
    assert!(matches!(found, Err(introspect::AskError::Unavailable)));
    assert_eq!(start.elapsed().as_secs(), 5);
    drop(all);
}

#[tokio::test]
async fn a_client_that_leaves_takes_the_keys_from_nobody() {
    let scene = Scene::new().await;
    let gate = Gate::new();
    scene.idp.behave(Endpoint::Jwks, Behaviour::Wait(gate.clone()));
    let token = scene.token();
    tokio::select! {
        _ = scene.verify(&token) => panic!("the gate is closed"),
        () = gate.reached(1) => {}
    }
    gate.open();
    scene.verify(&token).await.unwrap();
    assert_eq!(scene.counts(), (1, 1));
}

/// A call with a token that was verified within the last minute pays for a hash and a look-up.
#[tokio::test]
#[ignore = "a measurement, for release builds"]
async fn a_token_that_is_known_costs_less_than_20_microseconds() {
    const TIMES: u32 = 10_000;
    let scene = Scene::new().await;
    let text = "[[upstream]]\nname = \"weather\"\nurl = \"https://weather.example/mcp\"\n";
    let config = Config::parse(text, Path::new("/etc/usher/usher.toml"), &|_| None).unwrap();
    let (upstream, public_url) = (&config.upstreams[0], &config.public_url);
    let audience = resource::uri(public_url, "weather");
    let token = scene.idp.access_token("user-1").audience(audience).claim("padding", "x".repeat(500)).mint();
    scene.provider.authenticate(&token, upstream, public_url).await.unwrap();
    let start = tokio::time::Instant::now();
    for _ in 0..TIMES {
        scene.provider.authenticate(&token, upstream, public_url).await.unwrap();
    }
    let each = start.elapsed() / TIMES;
    assert!(each < std::time::Duration::from_micros(20), "{each:?}");
}
