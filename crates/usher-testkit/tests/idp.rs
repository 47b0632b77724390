//! The issuer with a client that does everything right, and with what it can be told to do wrong; the TLS front before it.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::StatusCode;
use jsonwebtoken::{DecodingKey, crypto, jwk::JwkSet};
use serde_json::{Value, json};
use usher_testkit::agent;
use usher_testkit::idp::{Algorithm, CLIENT, CLIENT_SECRET, Endpoint, Idp, Key, ReplyIssuer, Signature, Who};
use usher_testkit::person::Person;
use usher_testkit::provider::Behaviour;
use usher_testkit::tls::Front;

const BACK: &str = "http://127.0.0.1:9/login/callback";
const VERIFIER: &str = "verifier-0123456789-0123456789-0123456789-0123456789";

async fn json_of(url: &str) -> Value {
    let text = agent().get(url).send().await.unwrap().text().await.unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Where a client sends the browser.
fn asking(idp: &Idp, more: &str) -> String {
    let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, VERIFIER.as_bytes()));
    format!(
        "{}?response_type=code&client_id={CLIENT}&redirect_uri={BACK}&scope=openid+offline_access&state=s%261&nonce=n1\
         &code_challenge={challenge}&code_challenge_method=S256{more}",
        idp.url(Endpoint::Authorization)
    )
}

/// A field of the address that the browser was sent to.
fn field(location: &str, name: &str) -> Option<String> {
    let url = reqwest::Url::parse(location).unwrap();
    url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

async fn exchange(idp: &Idp, fields: &str) -> (StatusCode, Value) {
    let request = agent().post(idp.url(Endpoint::Token)).basic_auth(CLIENT, Some(CLIENT_SECRET));
    let request = request.header("content-type", "application/x-www-form-urlencoded").body(fields.to_owned());
    let response = request.send().await.unwrap();
    let status = response.status();
    (status, serde_json::from_str(&response.text().await.unwrap()).unwrap())
}

fn code_fields(code: &str) -> String {
    format!("grant_type=authorization_code&code={code}&redirect_uri={BACK}&code_verifier={VERIFIER}")
}

/// Whether the signature of a token is right by the keys that are published, with the key and algorithm that it names.
async fn verifies(idp: &Idp, token: &str) -> bool {
    let keys: JwkSet = serde_json::from_value(json_of(&idp.url(Endpoint::Jwks)).await).unwrap();
    let header = jsonwebtoken::decode_header(token).unwrap();
    let key = DecodingKey::from_jwk(keys.find(&header.kid.unwrap()).unwrap()).unwrap();
    let (message, signature) = token.rsplit_once('.').unwrap();
    crypto::verify(signature, message.as_bytes(), &key, header.alg).unwrap_or(false)
}

fn claims(token: &str) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap()).unwrap()
}

#[tokio::test]
async fn a_person_signs_in_and_the_code_is_good_once() {
    let idp = Idp::start().await;
    let metadata = json_of(&idp.url(Endpoint::Discovery)).await;
    assert_eq!(metadata["issuer"], idp.issuer());
    assert_eq!(json_of(&idp.url(Endpoint::OauthDiscovery)).await, metadata);

    let person = Person::new(idp.issuer());
    let page = person.get(&asking(&idp, "")).await;
    assert_eq!(page.heading().as_deref(), Some("Who are you?"));
    let gone = person.submit(&page, &page.main_form(), Some("user-2"), &[]).await;
    let location = gone.location().unwrap();
    assert!(location.starts_with(BACK), "{location}");
    assert_eq!(field(location, "state").as_deref(), Some("s&1"));
    assert_eq!(field(location, "iss"), Some(idp.issuer()));
    let code = field(location, "code").unwrap();

    let (status, _) = exchange(&idp, &code_fields("other")).await;
    assert_eq!(status, 400);
    let (status, tokens) = exchange(&idp, &code_fields(&code)).await;
    assert_eq!(status, 200, "{tokens}");
    let id_token = tokens["id_token"].as_str().unwrap();
    assert!(verifies(&idp, id_token).await);
    let told = claims(id_token);
    assert_eq!((&told["sub"], &told["oid"], &told["nonce"]), (&json!("user-2"), &json!("object-2"), &json!("n1")));
    let (status, again) = exchange(&idp, &code_fields(&code)).await;
    assert_eq!((status, &again["error"]), (StatusCode::BAD_REQUEST, &json!("invalid_grant")));
    let refresh = format!("grant_type=refresh_token&refresh_token={}", tokens["refresh_token"].as_str().unwrap());
    assert_eq!(exchange(&idp, &refresh).await.0, 200);
    assert_eq!(exchange(&idp, &refresh).await.0, 400, "it was replaced");

    // Remembered by a cookie, but for who asks to be asked.
    assert_eq!(person.get(&asking(&idp, "")).await.status, 302);
    for prompt in ["login", "select_account", "consent+login"] {
        assert_eq!(person.get(&asking(&idp, &format!("&prompt={prompt}"))).await.status, 200, "{prompt}");
    }
    let silent = Person::new(idp.issuer()).get(&asking(&idp, "&prompt=none")).await;
    assert_eq!(field(silent.location().unwrap(), "error").as_deref(), Some("login_required"));
    person.get(&idp.url(Endpoint::EndSession)).await;
    assert_eq!(person.get(&asking(&idp, "")).await.status, 200);
}

#[tokio::test]
async fn a_code_needs_its_verifier_its_address_and_its_client() {
    let idp = Idp::start().await;
    idp.set(|settings| settings.who = Who::Always("user-1".to_owned()));
    let person = Person::new(idp.issuer());
    for (was, is) in [(VERIFIER, "another"), (BACK, "http://127.0.0.1:9/other"), ("code_verifier", "verifier")] {
        let gone = person.get(&asking(&idp, "")).await;
        let code = field(gone.location().unwrap(), "code").unwrap();
        let (status, answer) = exchange(&idp, &code_fields(&code).replace(was, is)).await;
        assert_eq!((status, &answer["error"]), (StatusCode::BAD_REQUEST, &json!("invalid_grant")), "{was}");
    }
    idp.set(|settings| settings.auth_methods = vec!["client_secret_post"]);
    assert_eq!(exchange(&idp, &code_fields("x")).await.0, 401);
}

#[tokio::test]
async fn tokens_can_be_wrong_in_every_way() {
    let idp = Idp::start_at("/realms/one").await;
    for algorithm in [Algorithm::Es256, Algorithm::Es384, Algorithm::Rs256, Algorithm::Ps256, Algorithm::EdDsa] {
        let signed = |signature| idp.access_token("user-1").audience("a").signed(signature).mint();
        assert!(verifies(&idp, &signed(Signature::By(algorithm))).await, "{algorithm:?}");
        for wrong in [Signature::Stranger(algorithm), Signature::Broken(algorithm)] {
            assert!(!verifies(&idp, &signed(wrong.clone())).await, "{wrong:?}");
        }
        let deceiving = signed(Signature::PublicKeyAsSecret(algorithm));
        assert_eq!(jsonwebtoken::decode_header(deceiving).unwrap().alg, jsonwebtoken::Algorithm::HS256);
    }
    let none = idp.access_token("user-1").signed(Signature::None).mint();
    assert!(none.ends_with('.') && none.starts_with("eyJhbGciOiJub25l"), "{none}");
    let told = claims(&idp.access_token("user-1").without("exp").at("nbf", 600).claim("aud", json!(["a", "b"])).mint());
    assert!(told.get("exp").is_none() && told["nbf"].as_i64() > told["iat"].as_i64());
    assert_eq!((&told["iss"], &told["aud"]), (&json!(idp.issuer()), &json!(["a", "b"])));

    idp.publish(Key::new(Algorithm::Es256, "key-2"));
    idp.withdraw("key-1");
    let keys = json_of(&idp.url(Endpoint::Jwks)).await.to_string();
    assert!(keys.contains("key-2") && !keys.contains("key-1"), "{keys}");
}

#[tokio::test]
async fn introspection_knows_what_was_revoked() {
    let idp = Idp::start().await;
    let token = idp.access_token("user-1").scope("read").opaque();
    let ask = async |secret| {
        let request = agent().post(idp.url(Endpoint::Introspection)).basic_auth(CLIENT, Some(secret));
        let request = request.header("content-type", "application/x-www-form-urlencoded");
        let response = request.body(format!("token={token}")).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    assert_eq!(ask("wrong").await.0, 401);
    let (status, text) = ask(CLIENT_SECRET).await;
    assert!(status == 200 && text.contains(r#""active":true"#) && text.contains(r#""scope":"read""#), "{text}");
    idp.set(|settings| settings.ahead = 301);
    assert_eq!(ask(CLIENT_SECRET).await.1, r#"{"active":false}"#);
    idp.set(|settings| settings.ahead = 0);
    idp.revoke(&token);
    assert_eq!(ask(CLIENT_SECRET).await.1, r#"{"active":false}"#);
    assert_eq!(idp.count(Endpoint::Introspection), 4);
}

#[tokio::test]
async fn the_issuer_does_wrong_what_it_is_told() {
    let idp = Idp::start().await;
    idp.set(|settings| {
        settings.who = Who::Always("user-1".to_owned());
        settings.metadata = json!({ "issuer": "https://other.example", "jwks_uri": null });
        settings.reply_issuer = ReplyIssuer::Other("https://other.example".to_owned());
        settings.jwks = Some(json!({ "keys": 7 }));
        settings.id_claims = json!({ "aud": "other", "nonce": null });
    });
    let metadata = json_of(&idp.url(Endpoint::Discovery)).await;
    assert!(metadata["issuer"] == "https://other.example" && metadata.get("jwks_uri").is_none());
    assert_eq!(json_of(&idp.url(Endpoint::Jwks)).await, json!({ "keys": 7 }));
    let gone = Person::new(idp.issuer()).get(&asking(&idp, "")).await;
    let location = gone.location().unwrap().to_owned();
    assert_eq!(field(&location, "iss").as_deref(), Some("https://other.example"));
    let (_, tokens) = exchange(&idp, &code_fields(&field(&location, "code").unwrap())).await;
    let told = claims(tokens["id_token"].as_str().unwrap());
    assert!(told["aud"] == "other" && told.get("nonce").is_none(), "{told}");

    idp.behave(Endpoint::Token, Behaviour::Redirect("http://127.0.0.1:9/elsewhere".to_owned()));
    let moved = agent().post(idp.url(Endpoint::Token)).send().await.unwrap();
    assert_eq!(moved.status(), 302);
    idp.behave(Endpoint::Jwks, Behaviour::Body(200, "no JSON".to_owned()));
    assert_eq!(agent().get(idp.url(Endpoint::Jwks)).send().await.unwrap().text().await.unwrap(), "no JSON");
    idp.set(|settings| settings.authorization_error = Some("access_denied".to_owned()));
    let gone = Person::new(idp.issuer()).get(&asking(&idp, "")).await;
    assert_eq!(field(gone.location().unwrap(), "error").as_deref(), Some("access_denied"));
}

#[tokio::test]
async fn the_front_speaks_tls_with_a_certificate_that_only_its_authority_vouches_for() {
    let idp = Idp::start().await;
    let front = Front::start(idp.address().to_string()).await;
    let issuer = front.origin();
    idp.set(|settings| settings.issuer.clone_from(&issuer));
    let url = idp.url(Endpoint::Discovery);
    assert!(url.starts_with("https://localhost:"), "{url}");
    let text = front.agent().get(&url).send().await.unwrap().text().await.unwrap();
    assert!(text.contains(&format!("{issuer}/token")), "{text}");
    let other = Front::start(idp.address().to_string()).await;
    other.agent().get(&url).send().await.unwrap_err();
    assert!(front.authority().starts_with("-----BEGIN CERTIFICATE-----\n"));
    assert!(reqwest::Certificate::from_pem(front.authority().as_bytes()).is_ok());
}
