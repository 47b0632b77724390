//! What the issuer may do to the service that trusts it.

use usher_testkit::{
    idp::{Algorithm, Endpoint, Key, Signature},
    provider::Behaviour,
};

use super::{called, is_invalid, opens};
use crate::harness::{Setup, Stage};

async fn free() -> Stage {
    Stage::oidc(Setup { free: true, ..Setup::default() }).await
}

/// Both clocks go on together.
fn forward(stage: &Stage, seconds: i64) {
    stage.clock.forward(seconds);
    stage.idp().set(|settings| settings.ahead += seconds);
}

/// R-SEC-04: the service starts while the issuer is away, and serves once it is there.
#[tokio::test]
async fn a_service_that_was_there_before_its_issuer_serves_once_that_is_up() {
    let stage = free().await;
    stage.idp().behave(Endpoint::Discovery, Behaviour::Status(503));
    let reply = called(&stage, &stage.token).await;
    assert_eq!(reply.status, 503, "nobody is told to sign in again: {}", reply.text());
    assert_eq!((reply.header("retry-after"), reply.header("www-authenticate")), (Some("5"), None));
    stage.idp().behave(Endpoint::Discovery, Behaviour::Check);
    forward(&stage, 2);
    opens(&stage, &stage.token_of("user-1", "editor"), "the issuer is up").await;
}

/// R-SEC-04
#[tokio::test]
async fn while_the_issuer_is_away_its_keys_go_on() {
    let stage = free().await;
    opens(&stage, &stage.token, "before").await;
    for endpoint in [Endpoint::Discovery, Endpoint::Jwks] {
        stage.idp().behave(endpoint, Behaviour::Drop);
    }
    forward(&stage, 20 * 60 * 60);
    opens(&stage, &stage.token_of("user-2", "editor"), "twenty hours later").await;
    is_invalid(
        &stage,
        &stage.access("user-2", "editor").signed(Signature::Stranger(Algorithm::Es256)).mint(),
        "forged",
    )
    .await;
}

#[tokio::test]
async fn a_flood_of_tokens_with_unknown_keys_asks_the_issuer_once_a_minute() {
    let stage = free().await;
    opens(&stage, &stage.token, "a right one").await;
    forward(&stage, 61);
    let tokens = (0..40).map(|number| stage.access("user-1", "editor").header("kid", format!("k{number}")).mint());
    let tokens: Vec<_> = tokens.collect();
    let flood = tokens.iter().map(|token| called(&stage, token));
    for reply in futures_util::future::join_all(flood).await {
        // Those who come after the fetch are told to come back when there may be another.
        assert!(matches!(reply.status.as_u16(), 401 | 503), "{}", reply.text());
        assert_eq!(reply.header("retry-after").is_some(), reply.status == 503);
    }
    assert_eq!((stage.idp().count(Endpoint::Discovery), stage.idp().count(Endpoint::Jwks)), (1, 2));
    opens(&stage, &stage.token_of("user-2", "editor"), "a right one after it").await;
}

#[tokio::test]
async fn new_keys_of_the_issuer_are_found_and_old_ones_forgotten() {
    let stage = free().await;
    let old = stage.token.clone();
    opens(&stage, &old, "by the first key").await;
    stage.idp().publish(Key::new(Algorithm::Es256, "key-2"));
    stage.idp().withdraw("key-1");
    forward(&stage, 61);
    opens(&stage, &stage.token_of("user-1", "editor"), "by the second key").await;
    is_invalid(&stage, &old, "by the key that was withdrawn").await;
}

#[tokio::test]
async fn an_issuer_that_calls_itself_otherwise_is_not_the_one() {
    let stage = free().await;
    stage.idp().set(|settings| settings.metadata = serde_json::json!({ "issuer": "https://other.example" }));
    assert_eq!(called(&stage, &stage.token).await.status, 503);
    assert_eq!(stage.idp().count(Endpoint::Jwks), 0);
}
