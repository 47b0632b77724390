//! What real providers want to be asked otherwise, by the numbers of the kinds of
//! deviations: that the fake does it, and objects to a client that does not go along.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod relying;

use relying::{
    Answer, BACK, FORM, VERIFIER, asking, asking_at, code, code_fields, connect, consent, consent_at, encode, error_of,
    exchange, exchange_with, field, json_body, request, with,
};
use serde_json::{Value, json};
use usher_testkit::agent;
use usher_testkit::oauth::settings::{ApiHost, ClientAuth, Offline, Pkce, RequestBody, ResourceParameter, Separator};
use usher_testkit::oauth::{CLIENT, CLIENT_SECRET, Client, Endpoint, Provider};

#[tokio::test]
async fn kind_1_scopes_are_separated_and_encoded_otherwise() {
    for (separator, good, bad) in
        [(Separator::Comma, "read,write", "read write"), (Separator::Plus, "read+write", "read write")]
    {
        let provider = with(|settings| settings.authorization.separator = separator).await;
        assert_eq!(connect(&provider, &[("scope", good)]).await.json()["scope"], good);
        assert_eq!(error_of(&provider, &[("scope", bad)]).await.as_deref(), Some("invalid_scope"));
    }
    let provider = with(|settings| {
        settings.authorization.scopes_unencoded = true;
        settings.authorization.separator = Separator::Plus;
    })
    .await;
    let bare = asking(&provider, &[("scope", "")]);
    let granted = async |scope: &str| consent_at(&provider, &format!("{bare}&scope={scope}")).await;
    let code = field(&granted("files:read+a/b").await, "code").unwrap();
    assert_eq!(exchange(&provider, &code).await.json()["scope"], "files:read+a/b");
    assert!(granted("files%3Aread").await.contains("invalid_scope"));
    assert!(granted("read%2Bwrite").await.contains("invalid_scope"));

    let provider = with(|settings| {
        settings.authorization.scope_parameter = "user_scope";
        settings.authorization.scopes_known = Some(vec!["read", "write"]);
        settings.authorization.scopes_granted = Some(vec!["read"]);
        settings.tokens.scope_separator = Some(Separator::Comma);
    })
    .await;
    let tokens = connect(&provider, &[("scope", "more"), ("user_scope", "read write")]).await;
    assert_eq!(tokens.json()["scope"], "read", "only that was granted");
    assert_eq!(error_of(&provider, &[("user_scope", "delete")]).await.as_deref(), Some("invalid_scope"));
    provider.set(|settings| settings.authorization.scopes_granted = None);
    assert_eq!(connect(&provider, &[("user_scope", "read write")]).await.json()["scope"], "read,write");
}

#[tokio::test]
async fn kind_3_secrets_are_decoded_or_not_and_some_must_not_be_used() {
    let provider = with(|settings| settings.tokens.client_auth = vec![ClientAuth::BasicPlain]).await;
    provider.put_client(Client::new("odd", "a+b%20c"));
    let url = provider.url(Endpoint::Token);
    let as_odd = async |secret: &str| {
        let request = agent().post(&url).basic_auth("odd", Some(secret)).header("content-type", FORM);
        Answer::of(request.body("grant_type=authorization_code&code=x")).await.error().1
    };
    assert_eq!(as_odd("a+b%20c").await, "invalid_grant");
    assert_eq!(as_odd("a%2Bb%2520c").await, "invalid_client");
    provider.set(|settings| settings.tokens.client_auth = vec![ClientAuth::Basic]);
    assert_eq!(as_odd("a+b%20c").await, "invalid_client");
    assert_eq!(as_odd("a%2Bb%2520c").await, "invalid_grant");

    let provider = with(|settings| settings.tokens.client_auth = vec![ClientAuth::None, ClientAuth::Body]).await;
    provider.put_client(Client::new("alone", "not-to-be-used").auth(ClientAuth::None).redirect_uri(BACK));
    let code = field(&consent(&provider, &[("client_id", "alone")]).await, "code").unwrap();
    let by = [("client_id", "alone"), ("client_secret", "not-to-be-used")];
    assert_eq!(exchange_with(&provider, &code, &by).await.error().1, "invalid_client");
    assert_eq!(exchange_with(&provider, &code, &by[..1]).await.status, 200);
}

#[tokio::test]
async fn kind_4_token_requests_are_json_or_stand_in_the_address() {
    let provider = with(|settings| {
        settings.tokens.request = RequestBody::Json;
        settings.tokens.demanded = vec![("audience", "api")];
        settings.tokens.demanded_headers = vec![("notion-version", "")];
    })
    .await;
    let url = provider.url(Endpoint::Token);
    let first = code(&provider, &[]).await;
    let body = |code: &str| {
        let mut body: Value =
            code_fields(code).into_iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect();
        body["audience"] = "api".into();
        body
    };
    let ask = || agent().post(&url).basic_auth(CLIENT, Some(CLIENT_SECRET));
    assert_eq!(exchange(&provider, &first).await.error(), (400, "invalid_request".to_owned()), "a form");
    assert_eq!(Answer::of(json_body(ask(), &body(&first))).await.status, 400, "no header");
    let ask = || ask().header("notion-version", "2025");
    let mut other = body(&first);
    other["audience"] = "other".into();
    assert_eq!(Answer::of(json_body(ask(), &other)).await.status, 400, "another audience");
    assert_eq!(Answer::of(json_body(ask(), &body(&first))).await.status, 200);
    assert_eq!(provider.take_violations().len(), 3);

    provider.set(|settings| settings.tokens.request = RequestBody::Query);
    let second = code(&provider, &[]).await;
    let mut fields = code_fields(&second);
    fields.push(("audience", "api"));
    let query = format!("{url}?{}", encode(&fields));
    let ask = |url: &str| agent().post(url).basic_auth(CLIENT, Some(CLIENT_SECRET)).header("notion-version", "2025");
    assert_eq!(Answer::of(ask(&query).body("grant_type=authorization_code")).await.status, 400, "a body");
    assert_eq!(Answer::of(ask(&query)).await.status, 200);
}

#[tokio::test]
async fn kind_6_proof_keys_are_refused_ignored_or_plain() {
    let without = [("code_challenge", ""), ("code_challenge_method", "")];
    let unproved = async |provider: &Provider| {
        let code = field(&consent(provider, &without).await, "code");
        let fields = [("grant_type", "authorization_code"), ("code", &code?), ("redirect_uri", BACK)];
        Some(Answer::of(request(&provider.url(Endpoint::Token), &fields)).await.status)
    };
    let provider = with(|settings| settings.authorization.pkce = Pkce::Refused).await;
    assert_eq!(error_of(&provider, &[]).await.as_deref(), Some("invalid_request"));
    let location = consent(&provider, &without).await;
    let answer = exchange(&provider, &field(&location, "code").unwrap()).await;
    assert_eq!(answer.error(), (400, "invalid_request".to_owned()), "a verifier is refused as well");
    assert_eq!(unproved(&provider).await, Some(200));
    for (pkce, right) in [(Pkce::Demanded, None), (Pkce::Verified, Some(200)), (Pkce::Ignored, Some(200))] {
        provider.set(|settings| settings.authorization.pkce = pkce);
        assert_eq!(unproved(&provider).await, right, "{pkce:?}");
    }
    let code = code(&provider, &[]).await;
    assert_eq!(exchange_with(&provider, &code, &[]).await.status, 200, "ignored");
    provider.set(|settings| settings.authorization.pkce = Pkce::Plain);
    assert_eq!(error_of(&provider, &[]).await.as_deref(), Some("invalid_request"));
    let plain = [("code_challenge", VERIFIER), ("code_challenge_method", "plain")];
    assert_eq!(connect(&provider, &plain).await.status, 200);
}

#[tokio::test]
async fn kinds_7_and_8_parameters_are_demanded() {
    let provider = with(|settings| {
        settings.authorization.offline = Offline::Parameters(vec![("access_type", "offline"), ("prompt", "consent")]);
        settings.authorization.demanded = vec![("owner", "user"), ("audience", "")];
    })
    .await;
    let demanded = [("owner", "user"), ("audience", "api")];
    assert_eq!(error_of(&provider, &demanded[..1]).await.as_deref(), Some("invalid_request"));
    assert_eq!(error_of(&provider, &[("owner", "group"), demanded[1]]).await.as_deref(), Some("invalid_request"));
    let offline = async |provider: &Provider, more: &[(&str, &str)]| {
        let tokens = connect(provider, &[&demanded[..], more].concat()).await.json();
        (tokens["refresh_token"].is_string(), tokens["scope"].as_str().unwrap().to_owned())
    };
    assert!(!offline(&provider, &[("access_type", "offline")]).await.0);
    assert!(offline(&provider, &[("access_type", "offline"), ("prompt", "consent")]).await.0);
    provider.set(|settings| settings.authorization.offline = Offline::Scope("offline_access"));
    assert_eq!(offline(&provider, &[]).await, (false, "read write".to_owned()));
    assert_eq!(offline(&provider, &[("scope", "read offline_access")]).await, (true, "read".to_owned()));
    provider.set(|settings| settings.authorization.offline = Offline::Never);
    assert!(!offline(&provider, &[("access_type", "offline"), ("prompt", "consent")]).await.0);
}

#[tokio::test]
async fn kinds_15_and_16_hosts_are_chosen_by_the_user_or_told_afterwards() {
    let provider = with(|settings| {
        settings.tenants = vec!["acme".to_owned(), "other".to_owned()];
        settings.server.api_host = ApiHost::InReply("instance_url");
    })
    .await;
    assert!(provider.url_of("{shop}", Endpoint::Token).ends_with("/t/{shop}/token"));
    let at = |tenant: &str, endpoint| provider.url_of(tenant, endpoint);
    for address in [provider.url(Endpoint::Authorization), at("nobody", Endpoint::Authorization)] {
        assert_eq!(Answer::of(agent().get(address)).await.status, 404);
    }
    let location = consent_at(&provider, &asking_at(&at("acme", Endpoint::Authorization), &[])).await;
    let code = field(&location, "code").unwrap();
    let tokens = Answer::of(request(&at("acme", Endpoint::Token), &code_fields(&code))).await;
    assert_eq!(tokens.status, 200);
    let (api, access) = (tokens.string("instance_url"), tokens.string("access_token"));
    assert_eq!(api, at("acme", Endpoint::Account).trim_end_matches("/api/me"));
    let me = async |tenant| Answer::of(agent().get(at(tenant, Endpoint::Account)).bearer_auth(&access)).await.status;
    assert_eq!((me("acme").await, me("other").await), (200, 401));
    let location = consent_at(&provider, &asking_at(&at("acme", Endpoint::Authorization), &[])).await;
    let code = field(&location, "code").unwrap();
    assert_eq!(Answer::of(request(&at("other", Endpoint::Token), &code_fields(&code))).await.status, 400);

    let provider = with(|settings| settings.server.api_host = ApiHost::ByCall).await;
    let tokens = connect(&provider, &[]).await;
    let ask = || agent().get(provider.url(Endpoint::Resources));
    let resources = Answer::of(ask().bearer_auth(tokens.string("access_token"))).await.json();
    assert_eq!((&resources[0]["id"], &resources[0]["url"]), (&json!("cloud-1"), &json!(provider.issuer())));
    assert_eq!(Answer::of(ask()).await.status, 401);
}

#[tokio::test]
async fn kinds_17_and_18_the_callback_has_more_parameters_and_other_names() {
    let provider = with(|settings| {
        settings.callback.extra = vec![("realmId", "9130".to_owned())];
        settings.callback.code_parameter = "auth_code";
        settings.callback.state_parameter = "echo";
        settings.callback.error_parameter = "problem";
        settings.callback.description_parameter = "because";
        settings.callback.denied = "user_denied";
        settings.tokens.code_parameter = "auth_code";
        settings.authorization.client_id_parameter = "client_key";
    })
    .await;
    let location = consent(&provider, &[("client_id", ""), ("client_key", CLIENT)]).await;
    assert_eq!(field(&location, "realmId").as_deref(), Some("9130"));
    assert_eq!((field(&location, "echo").as_deref(), field(&location, "state")), (Some("s&1"), None));
    let code = field(&location, "auth_code").unwrap();
    let mut fields = code_fields(&code);
    fields[1].0 = "auth_code";
    fields.extend([("client_key", CLIENT), ("client_secret", CLIENT_SECRET)]);
    let itself = agent().post(provider.url(Endpoint::Token)).header("content-type", FORM);
    assert_eq!(Answer::of(itself.body(encode(&fields))).await.status, 200);
    let change = [("client_id", ""), ("client_key", CLIENT), ("response_type", "token")];
    let location = consent(&provider, &change).await;
    assert_eq!(field(&location, "problem").as_deref(), Some("unsupported_response_type"));
    assert!(field(&location, "because").is_some() && field(&location, "error").is_none());
    provider.set(|settings| settings.callback.state_parameter = "");
    let location = consent(&provider, &change[..2]).await;
    assert!(!location.contains("s%261"), "{location}");
}

#[tokio::test]
async fn kind_20_a_resource_is_demanded_refused_or_ignored() {
    const RESOURCE: (&str, &str) = ("resource", "https://mcp.example/mcp");
    let provider = with(|settings| settings.authorization.resource = ResourceParameter::Demanded).await;
    assert_eq!(error_of(&provider, &[]).await.as_deref(), Some("invalid_target"));
    for (more, status) in [(vec![], 400), (vec![("resource", "https://other.example")], 400), (vec![RESOURCE], 200)] {
        let code = code(&provider, &[RESOURCE]).await;
        let answer = exchange_with(&provider, &code, &more).await;
        assert_eq!(answer.status, status, "{more:?}: {answer:?}");
        if status == 200 {
            let token = answer.string("refresh_token");
            let fields = [("grant_type", "refresh_token"), ("refresh_token", &*token), RESOURCE];
            let url = provider.url(Endpoint::Token);
            assert_eq!(Answer::of(request(&url, &fields[..2])).await.error().1, "invalid_target");
            let refreshed = Answer::of(request(&url, &fields)).await.string("access_token");
            assert_eq!(provider.token_book().look_up(&refreshed).unwrap().resource.as_deref(), Some(RESOURCE.1));
        }
    }
    provider.set(|settings| settings.authorization.resource = ResourceParameter::Refused);
    assert_eq!(error_of(&provider, &[RESOURCE]).await.as_deref(), Some("invalid_target"));
    let code = code(&provider, &[]).await;
    assert_eq!(exchange_with(&provider, &code, &[RESOURCE]).await.error().1, "invalid_target");
    provider.set(|settings| settings.authorization.resource = ResourceParameter::Ignored);
    let tokens = connect(&provider, &[RESOURCE]).await;
    assert_eq!(provider.token_book().look_up(&tokens.string("access_token")).unwrap().resource, None);
}
