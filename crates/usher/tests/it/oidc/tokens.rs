//! Which access tokens open.

use serde_json::{Value, json};
use usher_store::AuditAction;
use usher_testkit::{
    agent,
    client::Modern,
    idp::{Algorithm, Signature},
    upstream::{Script, Upstream},
};

use super::{called, is_invalid, opens};
use crate::{
    harness::{Setup, Stage},
    raw::{address, exchange, request},
};

async fn free() -> Stage {
    Stage::oidc(Setup { free: true, ..Setup::default() }).await
}

/// R-ID-02
#[tokio::test]
async fn a_right_token_opens_whatever_it_is_signed_by() {
    let stage = free().await;
    for algorithm in [Algorithm::Es256, Algorithm::Rs256, Algorithm::EdDsa] {
        // Keys are made, and so published, before the service looks at them.
        stage.idp().key(algorithm);
    }
    for algorithm in [Algorithm::Es256, Algorithm::Rs256, Algorithm::EdDsa] {
        let token = stage.access("user-1", "editor").signed(Signature::By(algorithm)).mint();
        opens(&stage, &token, algorithm.name()).await;
    }
    let many = json!(["https://other.example", stage.endpoint()]);
    opens(&stage, &stage.access("user-1", "editor").audience(many).mint(), "several audiences").await;
    let without = stage.access("user-1", "editor").without("client_id").claim("azp", "editor").mint();
    opens(&stage, &without, "azp in place of client_id").await;
}

/// R-ID-04, R-ID-05: a token that was made for somebody else opens nothing, and neither does one that nobody made.
#[tokio::test]
async fn a_token_that_is_wrong_in_any_way_opens_nothing() {
    let stage = free().await;
    opens(&stage, &stage.token, "a right one").await;
    let right = || stage.access("user-1", "editor");
    let other = format!("{}/mcp/other", stage.origin);
    let with_slash = format!("{}/", stage.endpoint());
    for (what, token) in [
        ("for another server here", right().audience(other)),
        ("for the whole service", right().audience(stage.origin.clone())),
        ("with a slash more", right().audience(with_slash)),
        ("for nobody", right().without("aud")),
        ("for others", right().audience(json!(["a", "b"]))),
        ("for our own client", right().audience("usher")),
        ("expired", right().at("exp", -120)),
        ("without an end", right().without("exp")),
        ("not yet valid", right().at("nbf", 120)),
        ("made tomorrow", right().at("iat", 86_400)),
        ("of another issuer", right().claim("iss", "https://other.example")),
        ("of none", right().without("iss")),
        ("not signed", right().signed(Signature::None)),
        ("with the public key as a secret", right().signed(Signature::PublicKeyAsSecret(Algorithm::Es256))),
        ("by somebody else", right().signed(Signature::Stranger(Algorithm::Es256))),
        ("broken", right().signed(Signature::Broken(Algorithm::Es256))),
        ("with the id of no key", right().header("kid", "other").at("iat", -120)),
        ("with something critical", right().header("crit", json!(["x"]))),
        ("of another type", right().header("typ", "logout+jwt")),
        ("without a user", right().without("sub")),
        ("with a user who is a number", right().claim("sub", 7)),
        ("without a client", right().without("client_id")),
        ("with two clients", right().claim("azp", "other")),
        ("bound to a key", right().claim("cnf", json!({ "jkt": "x" }))),
        ("an ID token", stage.idp().id_token("user-1").audience(stage.endpoint()).claim("nonce", "n")),
        ("an ID token as it is", stage.idp().id_token("user-1")),
        ("too long", right().claim("x", "x".repeat(16 * 1024))),
    ] {
        is_invalid(&stage, &token.mint(), what).await;
    }
    for (what, token) in [
        ("opaque", "0123456789abcdef0123456789abcdef"),
        ("dots", ".."),
        ("no base64", "a!.b!.c!"),
        ("one of mode local", "token-of-the-first-client-0123456789abc"),
    ] {
        is_invalid(&stage, token, what).await;
    }
    assert_eq!(stage.upstream.requests_of("tools/list").len(), 1, "nothing of it reached the server");
}

/// R-ID-05, RFC 6750, section 2: a token is what stands in the one header for it.
#[tokio::test]
async fn a_token_elsewhere_than_in_its_header_is_none() {
    let stage = free().await;
    let (host, token) = (address(&stage.origin), stage.token.clone());
    let bearer = format!("Bearer {token}");
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    for (line, more) in [
        ("POST /mcp/weather", vec![]),
        ("POST /mcp/weather", vec![("Authorization", bearer.as_str()), ("Authorization", bearer.as_str())]),
        ("POST /mcp/weather", vec![("Authorization", "Basic dXNlcjpwdw==")]),
        ("POST /mcp/weather", vec![("Cookie", bearer.as_str())]),
        ("GET /mcp/weather", vec![]),
        ("DELETE /mcp/weather", vec![]),
    ] {
        let mut headers = vec![("Host", host.as_str()), ("Content-Type", "application/json"), ("Accept", "*/*")];
        headers.extend(more.iter().copied());
        let line = format!("{line}?access_token={token}");
        let answer = exchange(&stage.origin, request(&line, &headers, body)).await;
        assert_eq!(answer.status, 401, "{line}: {}", answer.text);
        let metadata = format!("{}/.well-known/oauth-protected-resource/mcp/weather", stage.origin);
        assert_eq!(answer.header("www-authenticate"), Some(&*format!("Bearer resource_metadata=\"{metadata}\"")));
    }
    for scheme in ["bearer", "BEARER"] {
        let client = stage.modern_with("");
        let authorization = format!("{scheme} {token}");
        let reply = client.request("tools/list", "{}").header("authorization", &authorization).send().await;
        assert_eq!(reply.status, 200, "{scheme}");
    }
}

/// R-ID-05: too narrow a token is told which scope it lacks, wherever it stands.
#[tokio::test]
async fn a_token_without_a_scope_that_is_needed_is_told_which() {
    let setup = Setup { free: true, identity: "scopes = [\"mcp\", \"mcp:tools\"]".to_owned(), ..Setup::default() };
    let stage = Stage::oidc(setup).await;
    let metadata = format!("{}/.well-known/oauth-protected-resource/mcp/weather", stage.origin);
    let challenge = format!("Bearer resource_metadata=\"{metadata}\", scope=\"mcp mcp:tools\"");
    for scope in [json!("mcp"), json!(""), json!("mcp mcp:tool"), json!(["mcp"]), Value::Null] {
        let reply = called(&stage, &stage.access("user-1", "editor").claim("scope", scope.clone()).mint()).await;
        assert_eq!(reply.status, 403, "{scope}: {}", reply.text());
        let expected = format!("{challenge}, error=\"insufficient_scope\"");
        assert_eq!(reply.header("www-authenticate"), Some(expected.as_str()));
    }
    let none = stage.modern_with("x").request("tools/list", "{}").omit("authorization").send().await;
    assert_eq!((none.status.as_u16(), none.header("www-authenticate")), (401, Some(challenge.as_str())));
    opens(&stage, &stage.access("user-1", "editor").scope("mcp:tools other mcp").mint(), "all of them").await;
    opens(&stage, &stage.access("user-1", "editor").claim("scp", json!(["mcp", "mcp:tools"])).mint(), "scp").await;
}

/// RFC 9728: a client learns who gives tokens for a server, and for which resource.
#[tokio::test]
async fn the_metadata_of_a_server_names_its_resource_and_the_issuer() {
    let stage = Stage::oidc(Setup { free: true, identity: "scopes = [\"mcp\"]".to_owned(), ..Setup::default() }).await;
    let asked = async |path: &str| {
        let response = agent().get(format!("{}{path}", stage.origin)).send().await.unwrap();
        assert!(!response.headers().contains_key("access-control-allow-origin"));
        (response.status().as_u16(), response.text().await.unwrap())
    };
    let (status, text) = asked("/.well-known/oauth-protected-resource/mcp/weather").await;
    assert_eq!(status, 200);
    let expected = json!({
        "resource": stage.endpoint(),
        "authorization_servers": [stage.idp().issuer()],
        "bearer_methods_supported": ["header"],
        "resource_name": "Weather",
        "scopes_supported": ["mcp"],
    });
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
    for path in ["mcp/other", "mcp", "", "mcp/weather/x", "other"] {
        assert_eq!(asked(&format!("/.well-known/oauth-protected-resource/{path}")).await.0, 404, "{path}");
    }
    let local = Stage::free(Upstream::start().await).await;
    let url = format!("{}/.well-known/oauth-protected-resource/mcp/weather", local.origin);
    assert_eq!(agent().get(url).send().await.unwrap().status(), 404, "mode local has no issuer");
}

/// R-ID-05: some issuers write another text into the token than what is asked for.
#[tokio::test]
async fn clients_are_told_what_to_ask_for() {
    let identity = "scopes = [\"mcp\"]\nscopes_supported = [\"api://usher/mcp\", \"openid\"]".to_owned();
    let stage = Stage::oidc(Setup { free: true, identity, ..Setup::default() }).await;
    let url = format!("{}/.well-known/oauth-protected-resource/mcp/weather", stage.origin);
    let metadata: Value = serde_json::from_str(&agent().get(url).send().await.unwrap().text().await.unwrap()).unwrap();
    assert_eq!(metadata["scopes_supported"], json!(["api://usher/mcp", "openid"]));
    let refused = called(&stage, &stage.access("user-1", "editor").scope("api://usher/mcp").mint()).await;
    assert_eq!(refused.status, 403, "{}", refused.text());
    assert!(refused.header("www-authenticate").unwrap().contains("scope=\"api://usher/mcp openid\""));
    opens(&stage, &stage.access("user-1", "editor").scope("mcp").mint(), "what is looked for").await;
}

#[tokio::test]
async fn a_server_that_there_is_not_has_nothing_to_ask_a_token_for() {
    let stage = free().await;
    let elsewhere = Modern::new(format!("{}/mcp/other", stage.origin));
    for client in [elsewhere.clone(), elsewhere.token(&stage.token)] {
        let reply = client.call("tools/list", "{}").await;
        assert_eq!((reply.status.as_u16(), reply.header("www-authenticate")), (404, None));
    }
}

/// R-ID-04: where the issuer has one audience for all, it is that one, and the endpoint's own opens no more.
#[tokio::test]
async fn a_configured_audience_stands_in_for_the_endpoint() {
    let setup = Setup { free: true, identity: "audience = \"api://usher\"".to_owned(), ..Setup::default() };
    let stage = Stage::oidc(setup).await;
    opens(&stage, &stage.access("user-1", "editor").audience("api://usher").mint(), "the configured one").await;
    is_invalid(&stage, &stage.token, "the endpoint's own").await;
}

/// R-ID-04, R-OAUTH-01: the client's token goes no further.
#[tokio::test]
async fn the_token_of_the_client_reaches_no_server() {
    let upstream = Upstream::start().await;
    upstream.tool("greet", Script::new().text("hello"));
    let issuer = Some(std::sync::Arc::new(usher_testkit::idp::Idp::start().await));
    let stage = Stage::with(Setup { free: true, issuer, ..Setup::default() }, upstream).await;
    let signature = stage.token.rsplit('.').next().unwrap();
    stage.upstream.forbid(signature);
    assert_eq!(stage.modern().call("tools/call", r#"{"name":"greet"}"#).await.content_text(), "hello");
    let legacy = stage.ready().await;
    assert_eq!(legacy.call("tools/call", r#"{"name":"greet"}"#).await.content_text(), "hello");
    for request in stage.upstream.requests() {
        assert!(!request.headers.contains_key("authorization"), "{:?}", request.headers);
    }
    stage.upstream.assert_clean();
}

/// R-SEC-03: who is turned away is audited, without the token and not each time.
#[tokio::test]
async fn a_refusal_is_audited_with_its_reason() {
    let setup = Setup {
        free: true,
        upstream: "allow = { claim = \"groups\", any = [\"engineering\"] }".to_owned(),
        ..Setup::default()
    };
    let stage = Stage::oidc(setup).await;
    for _ in 0..3 {
        let reply = called(&stage, &stage.token).await;
        assert_eq!((reply.status.as_u16(), reply.header("www-authenticate")), (403, None), "{}", reply.text());
        assert_eq!(reply.error_message(), "this server is not for this user");
    }
    let user = elicit::UserId::new(stage.idp().issuer(), "user-1").unwrap();
    let rows = async || {
        let rows = stage.app().store.audit_of(&user, 100).await.unwrap();
        rows.into_iter().filter(|row| row.action == Some(AuditAction::TokenRefused)).count()
    };
    let written = async {
        while rows().await == 0 {
            tokio::task::yield_now().await;
        }
    };
    usher_testkit::within(usher_testkit::DEADLINE, "nothing was audited", written).await;
    assert_eq!(rows().await, 1);
    for groups in [json!(["other", "engineering"]), json!("engineering")] {
        opens(&stage, &stage.access("user-1", "editor").claim("groups", groups).mint(), "a member").await;
    }
}
