//! The guarded upstream and the provider as its authorization server: discovery, registration, tokens, and what they can be
//! told to do wrong.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod relying;

use axum::Router;
use axum::routing::get;
use http::StatusCode;
use relying::{Answer, BACK, FORM, asking, code, code_fields, consent, consent_at, encode, field, json_body};
use serde_json::{Value, json};
use usher_testkit::agent;
use usher_testkit::client::{Legacy, Modern};
use usher_testkit::oauth::settings::{ClientAuth, MetadataPlace, Pkce, RegisteredSecret, Registration};
use usher_testkit::oauth::{Endpoint, Provider, ReplyIssuer};
use usher_testkit::provider::Behaviour;
use usher_testkit::upstream::{ChallengeMetadata, Guard, ResourcePlace, Script, Upstream};

/// An access token of `user-1` for a resource.
async fn token(provider: &Provider, resource: &str, scope: &str) -> String {
    let code = code(provider, &[("resource", resource), ("scope", scope)]).await;
    let fields = [code_fields(&code), vec![("resource", resource)]].concat();
    let answer = Answer::of(relying::request(&provider.url(Endpoint::Token), &fields)).await;
    answer.string("access_token")
}

fn challenge(headers: &http::HeaderMap) -> &str {
    headers.get("www-authenticate").map(|value| value.to_str().unwrap()).unwrap_or_default()
}

async fn document(url: &str) -> (u16, Value) {
    let answer = Answer::of(agent().get(url)).await;
    (answer.status, serde_json::from_str(&answer.text).unwrap_or_default())
}

#[tokio::test]
async fn a_guarded_upstream_takes_tokens_for_itself_and_says_where_to_get_them() {
    let (provider, upstream) = (Provider::start().await, Upstream::start().await);
    upstream.tool("t", Script::new()).guard(Guard::by(&provider));
    let place = format!("{}/.well-known/oauth-protected-resource", upstream.origin());
    let refused = Modern::new(upstream.url()).call("tools/list", "{}").await;
    assert_eq!(refused.status, 401);
    assert_eq!(refused.header("www-authenticate"), Some(&*format!("Bearer resource_metadata=\"{place}/mcp\"")));
    assert_eq!(Legacy::new(upstream.url()).initialize().await.status, 401);
    let (_, told) = document(&format!("{place}/mcp")).await;
    assert_eq!(told["resource"], upstream.url());
    assert_eq!(told["authorization_servers"], json!([provider.issuer()]));
    assert!(told.get("scopes_supported").is_none());

    let good = token(&provider, &upstream.url(), "read").await;
    let modern = Modern::new(upstream.url()).token(&good);
    assert_eq!(modern.tool("t", "{}").await.content_text(), "ok");
    let legacy = Legacy::new(upstream.url()).token(&good);
    legacy.initialize().await;
    assert_eq!(legacy.call("tools/list", "{}").await.status, 200);
    for other in ["stranger".to_owned(), token(&provider, "https://other.example/mcp", "read").await] {
        let refused = Modern::new(upstream.url()).token(&other).tool("t", "{}").await;
        assert_eq!(refused.status, 401);
        assert!(refused.header("www-authenticate").unwrap().starts_with("Bearer error=\"invalid_token\", "));
    }
    provider.end_access_tokens_of("user-1");
    assert_eq!(modern.tool("t", "{}").await.status, 401);
    upstream.assert_clean();
}

#[tokio::test]
async fn only_calls_may_be_guarded_and_a_call_may_need_more_scopes() {
    let (provider, upstream) = (Provider::start().await, Upstream::start().await);
    upstream.tool("t", Script::new()).tool("u", Script::new());
    let mut guard = Guard::by(&provider).calls_only();
    guard.scopes = vec!["read"];
    guard.scopes_of.insert("u", vec!["write"]);
    upstream.guard(guard);
    let stranger = Modern::new(upstream.url());
    assert_eq!(stranger.call("tools/list", "{}").await.status, 200);
    let refused = stranger.tool("t", "{}").await;
    assert!(refused.header("www-authenticate").unwrap().contains("scope=\"read\""), "{refused:?}");
    let read = token(&provider, &upstream.url(), "read").await;
    let reading = Modern::new(upstream.url()).token(&read);
    assert_eq!(reading.tool("t", "{}").await.status, 200);
    let narrow = reading.tool("u", "{}").await;
    assert_eq!(narrow.status, StatusCode::FORBIDDEN);
    let told = narrow.header("www-authenticate").unwrap();
    assert!(
        told.starts_with("Bearer error=\"insufficient_scope\", scope=\"read write\", resource_metadata="),
        "{told}"
    );
    let both = token(&provider, &upstream.url(), "read write").await;
    let writing = Modern::new(upstream.url()).token(&both);
    assert_eq!(writing.tool("u", "{}").await.status, 200);
    upstream.change_guard(|guard| guard.refuses = true);
    assert_eq!(writing.tool("u", "{}").await.status, 401);
    upstream.unguard();
    assert_eq!(stranger.tool("u", "{}").await.status, 200);
}

#[tokio::test]
async fn challenge_and_metadata_of_the_resource_can_be_wrong_missing_or_elsewhere() {
    let (first, second, upstream) = (Provider::start().await, Provider::start().await, Upstream::start().await);
    upstream.guard(Guard::by(&first));
    let place = format!("{}/.well-known/oauth-protected-resource", upstream.origin());
    let refused = async || Answer::of(agent().get(upstream.url())).await;
    upstream.change_guard(|guard| {
        guard.metadata.places = vec![ResourcePlace::Elsewhere("/about.json")];
        guard.metadata.resource = Some("https://other.example/mcp".to_owned());
        guard.metadata.scopes_supported = Some(vec!["read"]);
        guard.metadata.document = json!({ "bearer_methods_supported": null });
        guard.add(&second);
    });
    assert!(challenge(&refused().await.headers).ends_with("/about.json\""));
    let (_, told) = document(&format!("{}/about.json", upstream.origin())).await;
    assert_eq!(
        told,
        json!({
            "resource": "https://other.example/mcp",
            "authorization_servers": [first.issuer(), second.issuer()],
            "scopes_supported": ["read"],
        })
    );
    assert_eq!(document(&format!("{place}/mcp")).await.0, 404);

    upstream.change_guard(|guard| {
        guard.metadata.places = vec![ResourcePlace::Root];
        guard.metadata_in_challenge = ChallengeMetadata::Absent;
        guard.move_to(&second);
    });
    assert_eq!(challenge(&refused().await.headers), "Bearer");
    assert_eq!((document(&format!("{place}/mcp")).await.0, document(&place).await.0), (404, 200));
    assert_eq!(document(&place).await.1["authorization_servers"], json!([second.issuer()]));
    let resource = "https://other.example/mcp";
    for (provider, status) in [(&first, 401), (&second, 200)] {
        let token = token(provider, resource, "read").await;
        let client = Modern::new(upstream.url()).token(&token);
        assert_eq!(client.call("tools/list", "{}").await.status, status, "the issuer has changed");
    }
    upstream.change_guard(|guard| guard.metadata.behaviour = Behaviour::Status(503));
    assert_eq!(document(&place).await.0, 503);
    upstream.change_guard(|guard| {
        guard.metadata.places.clear();
        guard.metadata_in_challenge = ChallengeMetadata::Says("http://169.254.169.254/".to_owned());
    });
    assert!(challenge(&refused().await.headers).contains("169.254.169.254"));
    assert_eq!(document(&place).await.0, 404);
    upstream.change_guard(|guard| guard.challenge = Some(String::new()));
    assert!(!refused().await.headers.contains_key("www-authenticate"));
    upstream.assert_clean();
}

#[tokio::test]
async fn metadata_of_the_server_can_be_wrong_or_in_one_place_only() {
    let provider = Provider::start_at("/one").await;
    let origin = provider.issuer().strip_suffix("/one").unwrap().to_owned();
    let places = [
        (MetadataPlace::Oauth, "/.well-known/oauth-authorization-server/one"),
        (MetadataPlace::OpenIdInserted, "/.well-known/openid-configuration/one"),
        (MetadataPlace::OpenIdAppended, "/one/.well-known/openid-configuration"),
        (MetadataPlace::OauthAppended, "/one/.well-known/oauth-authorization-server"),
    ];
    for (only, _) in places {
        provider.set(|settings| settings.server.metadata_places = vec![only]);
        for (place, path) in places {
            let status = document(&format!("{origin}{path}")).await.0;
            assert_eq!(status == 200, place == only, "{path} with {only:?}");
        }
    }
    provider.set(|settings| {
        settings.server.metadata_places = vec![MetadataPlace::Oauth];
        settings.server.metadata =
            json!({ "issuer": format!("{origin}/one/"), "token_endpoint": "http://127.0.0.1:9/t" });
        settings.authorization.pkce = Pkce::Plain;
        settings.authorization.scopes_known = Some(vec!["read"]);
        settings.registry.registration = Registration::Open;
        settings.registry.documents = true;
        settings.callback.issuer_promised = false;
    });
    let told = document(&format!("{origin}/.well-known/oauth-authorization-server/one")).await.1;
    assert_eq!(told["issuer"], format!("{origin}/one/"));
    assert_eq!(told["token_endpoint"], "http://127.0.0.1:9/t");
    assert_eq!(told["code_challenge_methods_supported"], json!(["plain"]));
    assert_eq!(told["scopes_supported"], json!(["read"]));
    assert_eq!(told["registration_endpoint"], provider.url(Endpoint::Registration));
    assert_eq!(told["client_id_metadata_document_supported"], true);
    assert!(told.get("authorization_response_iss_parameter_supported").is_none());
    provider.set(|settings| settings.authorization.pkce = Pkce::Ignored);
    let told = document(&format!("{origin}/.well-known/oauth-authorization-server/one")).await.1;
    assert!(told.get("code_challenge_methods_supported").is_none());
}

#[tokio::test]
async fn iss_can_be_missing_or_wrong_in_replies_and_in_error_replies() {
    let provider = Provider::start().await;
    let other = ReplyIssuer::Other("https://other.example".to_owned());
    for (issuer, error_issuer, expected) in [
        (ReplyIssuer::Missing, None, [None, None]),
        (other.clone(), None, [Some("https://other.example"); 2]),
        (ReplyIssuer::Missing, Some(other), [None, Some("https://other.example")]),
    ] {
        provider.set(|settings| {
            settings.callback.issuer = issuer;
            settings.callback.error_issuer = error_issuer;
        });
        let good = consent(&provider, &[]).await;
        let bad = consent(&provider, &[("response_type", "token")]).await;
        assert_eq!([field(&good, "iss").as_deref(), field(&bad, "iss").as_deref()], expected);
    }
}

/// What a client says of itself.
fn told(way: &str) -> Value {
    json!({
        "client_name": "A client",
        "redirect_uris": [BACK],
        "application_type": "native",
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": way,
    })
}

async fn register(provider: &Provider, told: &Value) -> Answer {
    Answer::of(json_body(agent().post(provider.url(Endpoint::Registration)), told)).await
}

/// A token request of a client that was registered.
async fn tokens_of(provider: &Provider, id: &str, secret: Option<&str>) -> Answer {
    let location = consent(provider, &[("client_id", id)]).await;
    let code = field(&location, "code").unwrap_or_else(|| panic!("{location}"));
    let mut fields = code_fields(&code);
    fields.push(("client_id", id));
    fields.extend(secret.map(|secret| ("client_secret", secret)));
    Answer::of(agent().post(provider.url(Endpoint::Token)).header("content-type", FORM).body(encode(&fields))).await
}

#[tokio::test]
async fn a_client_registers_itself_and_is_then_known_for_its_addresses() {
    let provider = Provider::start().await;
    assert_eq!(register(&provider, &told("none")).await.status, 404);
    provider.set(|settings| settings.registry.registration = Registration::Open);
    let public = register(&provider, &told("none")).await;
    assert_eq!(public.status, 201);
    assert!(public.json().get("client_secret").is_none() && public.json()["client_name"] == "A client");
    let tokens = tokens_of(&provider, &public.string("client_id"), None).await;
    assert!(tokens.status == 200 && tokens.json().get("refresh_token").is_some());
    let secret = register(&provider, &told("client_secret_post")).await;
    assert_eq!(secret.json()["client_secret_expires_at"], 0);
    let (id, text) = (secret.string("client_id"), secret.string("client_secret"));
    assert_eq!(tokens_of(&provider, &id, None).await.error().1, "invalid_client");
    assert_eq!(tokens_of(&provider, &id, Some(&text)).await.status, 200);
    provider.take_violations();
    for (name, value, error) in [
        ("application_type", Value::Null, "invalid_client_metadata"),
        ("application_type", json!("web"), "invalid_redirect_uri"),
        ("redirect_uris", json!([]), "invalid_redirect_uri"),
        ("token_endpoint_auth_method", json!("private_key_jwt"), "invalid_client_metadata"),
        ("grant_types", json!(["refresh_token"]), "invalid_client_metadata"),
    ] {
        let mut wrong = told("none");
        wrong[name] = value;
        assert_eq!(register(&provider, &wrong).await.error(), (400, error.to_owned()), "{name}");
    }
    assert_eq!(provider.take_violations().len(), 5);
    assert_eq!((provider.counts().registrations, provider.clients().len()), (2, 3));
    let mut alone = told("none");
    alone["grant_types"] = json!(["authorization_code"]);
    let alone = register(&provider, &alone).await.string("client_id");
    assert!(tokens_of(&provider, &alone, None).await.json().get("refresh_token").is_none());

    let managed = public.string("registration_client_uri");
    assert_eq!(Answer::of(agent().delete(&managed)).await.status, 401);
    let key = public.string("registration_access_token");
    assert_eq!(Answer::of(agent().delete(&managed).bearer_auth(key)).await.status, 204);
    assert!(!provider.clients().contains(&public.string("client_id")));
}

#[tokio::test]
async fn a_registration_can_be_refused_expire_or_return_a_secret_that_must_not_be_used() {
    let provider = Provider::start().await;
    provider.set(|settings| settings.registry.registration = Registration::Refused(403, "access_denied"));
    assert_eq!(register(&provider, &told("none")).await.error(), (403, "access_denied".to_owned()));
    provider.set(|settings| {
        settings.registry.registration = Registration::Open;
        settings.registry.secret = RegisteredSecret::Always;
        settings.registry.lasts = Some(60);
    });
    let client = register(&provider, &told("none")).await;
    assert!(client.json()["client_secret_expires_at"].as_i64().unwrap() > 60);
    let (id, secret) = (client.string("client_id"), client.string("client_secret"));
    assert_eq!(tokens_of(&provider, &id, Some(&secret)).await.error(), (401, "invalid_client".to_owned()));
    assert_eq!(tokens_of(&provider, &id, None).await.status, 200);
    provider.set(|settings| settings.ahead = 61);
    assert_eq!(tokens_of(&provider, &id, None).await.error(), (401, "invalid_client".to_owned()));
    provider.set(|settings| settings.tokens.client_auth = vec![ClientAuth::Basic]);
    assert_eq!(register(&provider, &told("none")).await.error().1, "invalid_client_metadata");
    provider.forget_client(&id);
    assert!(!provider.clients().contains(&id));
}

#[tokio::test]
async fn a_client_that_is_an_address_is_fetched_and_checked() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let serve = |path: &str, change: Value| {
        let mut document = json!({
            "client_id": format!("{origin}{path}"), "client_name": "Documented", "redirect_uris": [BACK],
            "grant_types": ["authorization_code", "refresh_token"], "token_endpoint_auth_method": "none",
        });
        document.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let text = document.to_string();
        get(move || async move { ([("content-type", "application/json")], text) })
    };
    let router = Router::new()
        .route("/right", serve("/right", json!({})))
        .route("/other", serve("/right", json!({})))
        .route("/secret", serve("/secret", json!({ "token_endpoint_auth_method": "client_secret_post" })))
        .route("/nameless", serve("/nameless", json!({ "client_name": null })))
        .route("/large", serve("/large", json!({ "pad": "x".repeat(6_000) })))
        .route("/text", get(|| async { "text" }));
    let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    let provider = Provider::start().await;
    let right = format!("{origin}/right");
    let unknown = usher_testkit::person::Person::new(&origin).get(&asking(&provider, &[("client_id", &right)])).await;
    assert_eq!((unknown.status.as_u16(), provider.take_violations().len()), (400, 1));
    provider.set(|settings| settings.registry.documents = true);
    let tokens = tokens_of(&provider, &right, None).await;
    assert!(tokens.status == 200 && tokens.json().get("refresh_token").is_some(), "{tokens:?}");
    assert_eq!((provider.counts().documents, provider.violations().len()), (1, 0));
    for path in ["/other", "/secret", "/nameless", "/large", "/text", "/none", "/"] {
        let address = asking(&provider, &[("client_id", &format!("{origin}{path}"))]);
        let page = usher_testkit::person::Person::new(&origin).get(&address).await;
        assert_eq!((page.status.as_u16(), provider.take_violations().len()), (400, 2), "{path}");
    }
    let elsewhere = asking(&provider, &[("client_id", &right), ("redirect_uri", "http://127.0.0.1:9/other")]);
    assert_eq!(usher_testkit::person::Person::new(&origin).get(&elsewhere).await.status, 400);
    assert!(consent_at(&provider, &asking(&provider, &[("client_id", &right)])).await.starts_with(BACK));
    task.abort();
}
