//! Tokens that only the issuer can read.

use serde_json::{Value, json};
use usher_testkit::{
    idp::{CLIENT, Client, Endpoint},
    provider::Behaviour,
};

use super::{called, is_invalid, opens};
use crate::harness::{Setup, Stage};

async fn asking(identity: &str) -> Stage {
    Stage::oidc(Setup { free: true, identity: identity.to_owned(), ..Setup::default() }).await
}

const ASKING: &str = "tokens = \"introspection\"";

fn count(stage: &Stage) -> usize {
    stage.idp().count(Endpoint::Introspection)
}

/// R-ID-02, R-ID-04
#[tokio::test]
async fn the_issuer_says_whose_token_it_is_and_for_whom() {
    let stage = asking(ASKING).await;
    let right = || stage.access("user-1", "editor");
    opens(&stage, &right().opaque(), "opaque").await;
    opens(&stage, &stage.token, "a JWT").await;
    opens(&stage, &right().without("iss").without("exp").without("iat").opaque(), "what it leaves out, it vouches for")
        .await;
    let asked = stage.idp().requests_to(Endpoint::Introspection);
    assert!(asked[0].header("authorization").unwrap().starts_with("Basic "));
    for (what, token) in [
        ("for another server", right().audience(format!("{}/mcp/other", stage.origin))),
        ("for nobody", right().without("aud")),
        ("of another issuer", right().claim("iss", "https://other.example")),
        ("a refresh token", right().claim("token_use", "refresh_token")),
        ("an ID token", right().claim("nonce", "n1")),
        ("an ID token beside another", right().claim("at_hash", "x")),
        ("not yet valid", right().at("nbf", 120)),
        ("without a user", right().without("sub")),
        ("without a client", right().without("client_id")),
    ] {
        is_invalid(&stage, &token.opaque(), what).await;
    }
    is_invalid(&stage, "nobody-knows-this-token", "unknown").await;
    for active in [json!("true"), json!(1), Value::Null] {
        stage.idp().set(|settings| settings.introspection = json!({ "active": active }));
        is_invalid(&stage, &right().opaque(), "active is true or it is not").await;
    }
    assert_eq!(stage.idp().count(Endpoint::Jwks), 0, "no key is needed");
}

#[tokio::test]
async fn a_token_that_was_revoked_opens_for_a_minute_at_most() {
    let stage = asking(ASKING).await;
    let token = stage.access("user-1", "editor").opaque();
    for _ in 0..5 {
        opens(&stage, &token, "known").await;
    }
    assert_eq!(count(&stage), 1, "what it says is remembered");
    stage.idp().revoke(&token);
    stage.clock.forward(30);
    opens(&stage, &token, "still remembered").await;
    stage.clock.forward(30);
    is_invalid(&stage, &token, "revoked").await;
    assert_eq!(count(&stage), 2);
    for _ in 0..5 {
        is_invalid(&stage, &token, "remembered as revoked").await;
    }
    assert_eq!(count(&stage), 2);
    stage.clock.forward(10);
    is_invalid(&stage, &token, "asked again").await;
    assert_eq!(count(&stage), 3);

    // Never beyond its own end.
    let short = stage.access("user-1", "editor").at("exp", 100).opaque();
    opens(&stage, &short, "for thirty seconds more").await;
    stage.clock.forward(31);
    opens(&stage, &short, "within the minute that clocks may differ").await;
    assert_eq!(count(&stage), 5, "and asked again");
}

#[tokio::test]
async fn an_issuer_that_does_not_answer_is_no_answer() {
    let stage = asking(ASKING).await;
    let token = stage.access("user-1", "editor").opaque();
    for behaviour in [
        Behaviour::Status(500),
        Behaviour::Status(401),
        Behaviour::Body(200, "no JSON".to_owned()),
        Behaviour::Huge(64 * 1024 + 1),
        Behaviour::Redirect("https://other.example/".to_owned()),
        Behaviour::Drop,
    ] {
        stage.idp().behave(Endpoint::Introspection, behaviour.clone());
        assert_eq!(called(&stage, &token).await.status, 503, "{behaviour:?}");
    }
    stage.idp().behave(Endpoint::Introspection, Behaviour::Check);
    opens(&stage, &token, "it answers").await;
}

#[tokio::test]
async fn another_client_may_ask_and_elsewhere() {
    let more = "[identity.introspection]\nclient_id = \"resource\"\nclient_secret = \"s p+c/i%a:l\"";
    let stage = asking(more).await;
    stage.idp().add_client(Client::new("resource", "s p+c/i%a:l"));
    stage.idp().set(|settings| settings.auth_methods = vec!["client_secret_basic"]);
    opens(&stage, &stage.access("user-1", "editor").opaque(), CLIENT).await;

    stage.idp().set(|settings| settings.metadata = json!({ "introspection_endpoint": null }));
    let asked = asking(ASKING).await;
    asked.idp().set(|settings| settings.metadata = json!({ "introspection_endpoint": null }));
    assert_eq!(called(&asked, &asked.token).await.status, 503, "nowhere to ask");
}
