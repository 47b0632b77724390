//! The OAuth provider as the standards have it, with a client that does everything right, and with one that does not.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod relying;

use http::{HeaderMap, StatusCode, header};
use relying::{
    Answer, BACK, account, asking, code, code_fields, connect, consent, exchange, field, refresh, refreshing, request,
    revoke,
};
use serde_json::json;
use usher_testkit::agent;
use usher_testkit::oauth::settings::{ClientAuth, Reuse};
use usher_testkit::oauth::{Account, CLIENT, CLIENT_SECRET, Client, Counts, Endpoint, Provider, Trouble};
use usher_testkit::person::{Page, Person};
use usher_testkit::provider::Behaviour;
use usher_testkit::upstream::Gate;

#[tokio::test]
async fn a_person_allows_and_a_client_gets_tokens_for_one_account() {
    let provider = Provider::start().await;
    let person = Person::new("http://127.0.0.1:9");
    let page = person.get(&asking(&provider, &[])).await;
    assert_eq!(page.heading().as_deref(), Some("Allow usher-at-provider?"));
    assert!(page.text().contains("read write"), "{}", page.text());
    let allowed = person.submit(&page, &page.main_form(), Some("user-2"), &[]).await;
    let location = allowed.location().unwrap();
    assert!(location.starts_with(BACK), "{location}");
    assert_eq!(field(location, "state").as_deref(), Some("s&1"));
    assert_eq!(field(location, "iss"), Some(provider.issuer()));

    let answer = exchange(&provider, &field(location, "code").unwrap()).await;
    let tokens = answer.json();
    assert_eq!((answer.status, &tokens["expires_in"], &tokens["scope"]), (200, &json!(3600), &json!("read write")));
    assert_ne!(tokens["access_token"], tokens["refresh_token"]);
    let access = answer.string("access_token");
    assert_eq!(account(&provider, &access).await.json()["data"]["user"]["login"], "user-2");
    assert_eq!(account(&provider, "access-of-somebody").await.status, 401);
    provider.put_account(Account::new("user-2", json!({ "me": 2 })));
    assert_eq!(account(&provider, &access).await.json(), json!({ "me": 2 }));
    assert_eq!(provider.token_book().look_up(&access).unwrap().scopes, ["read", "write"]);
    assert_eq!(provider.counts(), Counts { codes: 1, exchanges_tried: 1, exchanges: 1, ..Counts::default() });
    assert_eq!((provider.count(Endpoint::Authorization), provider.count(Endpoint::Account)), (2, 3));
    let secrets = provider.secrets();
    assert!(secrets.contains(&access) && secrets.iter().any(|secret| secret == CLIENT_SECRET) && secrets.len() == 4);
    provider.assert_clean();
}

#[tokio::test]
async fn a_person_who_denies_leads_to_an_error_and_no_code() {
    let provider = Provider::start().await;
    let person = Person::new("http://127.0.0.1:9");
    let page = person.get(&asking(&provider, &[])).await;
    let denied = person.submit(&page, &page.main_form(), Some("deny"), &[]).await;
    let location = denied.location().unwrap();
    assert_eq!(field(location, "error").as_deref(), Some("access_denied"));
    assert!(field(location, "code").is_none() && field(location, "iss").is_some(), "{location}");
    provider.set(|settings| settings.authorization.error = Some("server_error"));
    let failed = person.get(&asking(&provider, &[])).await;
    assert_eq!(field(failed.location().unwrap(), "error").as_deref(), Some("server_error"));
    assert_eq!(provider.counts().codes, 0);
    provider.assert_clean();

    // The way of the fake person over any issuer, from a page of ours that leads there.
    provider.set(|settings| settings.authorization.error = None);
    let leading = |address: &str| {
        let headers = HeaderMap::from_iter([(header::LOCATION, address.parse().unwrap())]);
        let (url, status) = ("http://127.0.0.1:9/connect".to_owned(), StatusCode::SEE_OTHER);
        Page { url, status, headers, html: String::new(), hops: Vec::new() }
    };
    let page = leading(&asking(&provider, &[]));
    assert!(person.at_issuer(&page, "user-1").await.starts_with(&format!("{BACK}?code=")));
    assert!(person.at_issuer(&page, "deny").await.starts_with(&format!("{BACK}?error=access_denied")));
}

#[tokio::test]
async fn a_wrong_authorization_request_is_an_error_and_a_violation() {
    let provider = Provider::start().await;
    provider.answer_at(BACK);
    for (change, error) in [
        (("response_type", "token"), "unsupported_response_type"),
        (("state", ""), "invalid_request"),
        (("code_challenge", ""), "invalid_request"),
        (("code_challenge_method", "plain"), "invalid_request"),
        (("client_secret", CLIENT_SECRET), "invalid_request"),
        (("scope", "read,write"), "invalid_scope"),
        (("resource", "mcp"), "invalid_target"),
    ] {
        let location = consent(&provider, &[change]).await;
        assert_eq!(field(&location, "error").as_deref(), Some(error), "{change:?}");
        assert_eq!(provider.take_violations().len(), 1, "{change:?}");
    }
    let twice = format!("{}&scope=more", asking(&provider, &[]));
    let person = Person::new(provider.issuer());
    assert!(person.get(&twice).await.location().unwrap().contains("invalid_request"));
    for change in [("client_id", "stranger"), ("redirect_uri", "http://127.0.0.1:9/callback/fake/")] {
        let page = person.get(&asking(&provider, &[change])).await;
        assert_eq!((page.status.as_u16(), page.location()), (400, None), "{change:?}");
    }
    assert_eq!(provider.take_violations().len(), 3);
}

#[tokio::test]
async fn a_code_is_good_once_with_its_verifier_its_address_and_its_client() {
    let provider = Provider::start().await;
    provider.put_client(Client::new("other", "secret-of-another"));
    let token = provider.url(Endpoint::Token);
    for (name, value) in [
        ("code_verifier", "another-0123456789-0123456789-0123456789-0123456789"),
        ("code_verifier", ""),
        ("redirect_uri", "http://127.0.0.1:9/callback/fake/"),
        ("redirect_uri", ""),
    ] {
        let code = code(&provider, &[]).await;
        let mut fields = code_fields(&code);
        fields.retain(|(known, _)| *known != name);
        fields.extend((!value.is_empty()).then_some((name, value)));
        assert_eq!(Answer::of(request(&token, &fields)).await.error(), (400, "invalid_grant".to_owned()), "{name}");
    }
    let stolen = code(&provider, &[]).await;
    let fields = [code_fields(&stolen), vec![("client_id", "other"), ("client_secret", "secret-of-another")]].concat();
    assert_eq!(Answer::of(request(&token, &fields)).await.error(), (400, "invalid_grant".to_owned()));

    let code = code(&provider, &[]).await;
    let first = exchange(&provider, &code).await;
    assert_eq!(first.status, 200);
    let access = first.string("access_token");
    assert_eq!(account(&provider, &access).await.status, 200);
    assert_eq!(exchange(&provider, &code).await.error(), (400, "invalid_grant".to_owned()));
    assert_eq!(account(&provider, &access).await.status, 401, "what came of a code that came twice is worth nothing");
    let counts = provider.counts();
    assert_eq!((counts.exchanges_tried, counts.exchanges, counts.codes_again), (7, 1, 1));
}

#[tokio::test]
async fn a_client_proves_itself_in_one_way_that_is_taken() {
    let provider = Provider::start().await;
    provider.put_client(Client::public("public"));
    let token = provider.url(Endpoint::Token);
    let fields = |id: &'static str, secret: Option<&'static str>| {
        let mut fields = code_fields("none");
        fields.push(("client_id", id));
        fields.extend(secret.map(|secret| ("client_secret", secret)));
        fields
    };
    let try_it = async |fields: &[(&str, &str)]| Answer::of(request(&token, fields)).await.error().1;
    assert_eq!(try_it(&code_fields("none")).await, "invalid_grant");
    assert_eq!(try_it(&fields(CLIENT, Some(CLIENT_SECRET))).await, "invalid_grant");
    assert_eq!(try_it(&fields("public", None)).await, "invalid_grant");
    assert!(provider.violations().is_empty());
    for (id, secret) in [(CLIENT, Some("wrong")), (CLIENT, None), ("public", Some("any")), ("stranger", None)] {
        assert_eq!(try_it(&fields(id, secret)).await, "invalid_client", "{id} {secret:?}");
    }
    let twice = request(&token, &fields(CLIENT, Some(CLIENT_SECRET))).basic_auth(CLIENT, Some(CLIENT_SECRET));
    let answer = Answer::of(twice).await;
    assert!(answer.status == 401 && answer.headers.contains_key("www-authenticate"), "{answer:?}");
    assert_eq!(provider.take_violations().len(), 5);

    provider.set(|settings| settings.tokens.client_auth = vec![ClientAuth::Body]);
    assert_eq!(try_it(&code_fields("none")).await, "invalid_client");
    assert_eq!(try_it(&fields(CLIENT, Some(CLIENT_SECRET))).await, "invalid_grant");
    provider.set(|settings| settings.tokens.client_auth = vec![ClientAuth::Basic]);
    assert_eq!(try_it(&code_fields("none")).await, "invalid_grant");
    assert_eq!(try_it(&fields(CLIENT, Some(CLIENT_SECRET))).await, "invalid_client");
    assert_eq!(try_it(&fields("public", None)).await, "invalid_client");
    let query = Answer::of(request(&format!("{token}?a=b"), &code_fields("none"))).await;
    assert_eq!(query.error(), (400, "invalid_request".to_owned()));
}

#[tokio::test]
async fn refresh_tokens_are_replaced_and_one_that_comes_again_ends_everything() {
    let provider = Provider::start().await;
    let first = connect(&provider, &[]).await;
    let second = refresh(&provider, &first.string("refresh_token")).await;
    let third = refresh(&provider, &second.string("refresh_token")).await;
    assert_eq!((second.status, third.status), (200, 200));
    let wide = [("grant_type", "refresh_token"), ("refresh_token", &third.string("refresh_token")), ("scope", "all")];
    let wide = Answer::of(request(&provider.url(Endpoint::Token), &wide)).await;
    assert_eq!(wide.error(), (400, "invalid_scope".to_owned()));
    assert_eq!(provider.grants_of("user-1"), 1);

    provider.set(|settings| settings.refreshing.reuse = Reuse::Refused);
    let again = refresh(&provider, &first.string("refresh_token")).await;
    assert_eq!(again.error(), (400, "invalid_grant".to_owned()));
    assert_eq!(account(&provider, &third.string("access_token")).await.status, 200);
    provider.set(|settings| settings.refreshing.reuse = Reuse::EndsGrant);
    assert_eq!(refresh(&provider, &first.string("refresh_token")).await.status, 400);
    assert_eq!(account(&provider, &third.string("access_token")).await.status, 401);
    assert_eq!(refresh(&provider, &third.string("refresh_token")).await.status, 400);
    let counts = provider.counts();
    assert_eq!((counts.refreshes_tried, counts.refreshes), (6, 2));
    assert_eq!((counts.refresh_tokens_again, counts.refresh_tokens_dead), (2, 1));
    assert_eq!((provider.count(Endpoint::Token), provider.count(Endpoint::Refresh)), (1, 6));
}

#[tokio::test]
async fn tokens_expire_and_are_revoked_by_client_or_person() {
    let provider = Provider::start().await;
    let tokens = connect(&provider, &[]).await;
    let (access, token) = (tokens.string("access_token"), tokens.string("refresh_token"));
    let introspect = async |access: &str| {
        let answer = Answer::of(request(&provider.url(Endpoint::Introspection), &[("token", access)])).await;
        answer.json()
    };
    assert_eq!(
        (introspect(&access).await["active"].clone(), introspect(&token).await),
        (json!(true), json!({ "active": false }))
    );
    provider.set(|settings| settings.ahead = 3_600);
    assert_eq!(
        (account(&provider, &access).await.status, introspect(&access).await),
        (401, json!({ "active": false }))
    );
    provider.set(|settings| settings.ahead = 0);
    assert_eq!(revoke(&provider, &access).await.status, 200);
    assert_eq!(account(&provider, &access).await.status, 401);
    let tokens = refresh(&provider, &token).await;
    assert_eq!(revoke(&provider, &tokens.string("refresh_token")).await.status, 200);
    assert_eq!(account(&provider, &tokens.string("access_token")).await.status, 401);
    assert_eq!(revoke(&provider, "unknown").await.status, 200);
    let stranger = request(&provider.url(Endpoint::Revocation), &[("token", "x"), ("client_id", "stranger")]);
    assert_eq!(Answer::of(stranger).await.status, 401);
    assert_eq!((provider.counts().revocations, provider.grants_of("user-1")), (2, 0));

    let tokens = connect(&provider, &[]).await;
    provider.end_access_tokens_of("user-1");
    assert_eq!(account(&provider, &tokens.string("access_token")).await.status, 401);
    let tokens = refresh(&provider, &tokens.string("refresh_token")).await;
    provider.end_refresh_tokens_of("user-1");
    assert_eq!(account(&provider, &tokens.string("access_token")).await.status, 200);
    assert_eq!(refresh(&provider, &tokens.string("refresh_token")).await.error(), (400, "invalid_grant".to_owned()));
    provider.revoke_grants_of("user-2");
    assert_eq!(provider.grants_of("user-1"), 1);
    provider.revoke_grants_of("user-1");
    assert_eq!(account(&provider, &tokens.string("access_token")).await.status, 401);
}

#[tokio::test]
async fn an_endpoint_in_trouble_does_its_work_or_not_as_told() {
    let provider = Provider::start().await;
    let token = connect(&provider, &[]).await.string("refresh_token");
    provider.trouble(Endpoint::Refresh, Trouble::Instead(Behaviour::Status(503)));
    assert_eq!(refresh(&provider, &token).await.status, 503);
    provider.trouble_next(Endpoint::Refresh, Trouble::Limited("7".to_owned()));
    let limited = refresh(&provider, &token).await;
    assert_eq!((limited.status, limited.headers["retry-after"].to_str().unwrap()), (429, "7"));
    assert_eq!(refresh(&provider, &token).await.status, 503, "the next one meets what is always there");
    connect(&provider, &[]).await;
    provider.well(Endpoint::Refresh);
    assert_eq!((provider.counts().refreshes_tried, provider.count(Endpoint::Refresh)), (0, 3));

    provider.trouble_next(Endpoint::Refresh, Trouble::ReplyLost);
    assert!(Answer::maybe(refreshing(&provider, &token)).await.is_none());
    assert_eq!(provider.counts().refreshes, 1, "the work was done");
    assert_eq!(refresh(&provider, &token).await.status, 400);
    assert_eq!(provider.counts().refresh_tokens_again, 1);

    let token = connect(&provider, &[]).await.string("refresh_token");
    let gate = Gate::new();
    provider.trouble_next(Endpoint::Refresh, Trouble::ReplyHeld(gate.clone()));
    let (answer, ()) = tokio::join!(refresh(&provider, &token), async {
        gate.reached(1).await;
        assert_eq!(provider.counts().refreshes, 2);
        gate.open();
    });
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn metadata_stands_where_the_standards_say_and_names_what_there_is() {
    let provider = Provider::start_at("/one").await;
    let origin = provider.issuer().strip_suffix("/one").unwrap().to_owned();
    let get = async |path: &str| Answer::of(agent().get(format!("{origin}{path}"))).await;
    let document = get("/.well-known/oauth-authorization-server/one").await.json();
    assert_eq!(document["issuer"], provider.issuer());
    assert_eq!(document["token_endpoint"], provider.url(Endpoint::Token));
    assert_eq!(document["code_challenge_methods_supported"], json!(["S256"]));
    assert!(
        document.get("registration_endpoint").is_none()
            && document["authorization_response_iss_parameter_supported"] == true
    );
    assert_eq!(get("/.well-known/openid-configuration/one").await.json(), document);
    assert_eq!(get("/one/.well-known/openid-configuration").await.json(), document);
    assert_eq!(get("/.well-known/oauth-authorization-server").await.status, 404);
    assert_eq!(get("/one/.well-known/oauth-authorization-server").await.status, 404);
    let answer = connect(&provider, &[]).await;
    assert_eq!(account(&provider, &answer.string("access_token")).await.status, 200);
    assert_eq!(provider.count(Endpoint::Metadata), 3);
}
