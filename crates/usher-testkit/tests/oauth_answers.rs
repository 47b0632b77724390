//! What real providers answer otherwise, refreshing and revoking included, by the numbers of the kinds of
//! deviations: that the fake does it, and objects to a client that does not go along.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

mod relying;

use http::Method;
use relying::{
    Answer, BACK, FORM, account, code, code_fields, connect, encode, exchange, exchange_with, json_body, refresh,
    request, with,
};
use serde_json::json;
use usher_testkit::agent;
use usher_testkit::oauth::settings::{
    DeadToken, ErrorReply, Expiry, RefreshBy, ReplyBody, RequestBody, Revocation, Rotation,
};
use usher_testkit::oauth::{CLIENT, CLIENT_SECRET, Endpoint, Provider};

#[tokio::test]
async fn kind_2_tokens_stand_elsewhere_in_the_reply_and_are_called_otherwise() {
    let provider = with(|settings| {
        settings.tokens.nested = Some("data.authed_user");
        settings.tokens.access_member = "user_token";
        settings.tokens.refresh_member = "renewal";
        settings.tokens.scope_member = "permissions";
        settings.tokens.scope_array = true;
        settings.tokens.members = json!({ "access_token": "of-the-bot", "ok": true });
    })
    .await;
    let answer = connect(&provider, &[]).await.json();
    let inner = &answer["data"]["authed_user"];
    assert_eq!((&answer["access_token"], &answer["ok"]), (&json!("of-the-bot"), &json!(true)));
    assert_eq!(inner["permissions"], json!(["read", "write"]));
    assert_eq!(account(&provider, inner["user_token"].as_str().unwrap()).await.status, 200);
    let refreshed = refresh(&provider, inner["renewal"].as_str().unwrap()).await;
    assert_eq!(account(&provider, &refreshed.string("user_token")).await.status, 200, "at the top after a refresh");
    provider.set(|settings| settings.refreshing.nested = Some("data"));
    let refreshed = refresh(&provider, &refreshed.string("renewal")).await.json();
    assert!(refreshed["data"]["user_token"].is_string());
}

#[tokio::test]
async fn kind_5_replies_are_forms() {
    let provider = with(|settings| settings.tokens.reply = ReplyBody::FormUnlessAsked).await;
    let first = code(&provider, &[]).await;
    assert!(exchange(&provider, &first).await.json()["access_token"].is_string(), "JSON was asked for");
    let second = code(&provider, &[]).await;
    let anything = || {
        let request = agent().post(provider.url(Endpoint::Token)).basic_auth(CLIENT, Some(CLIENT_SECRET));
        request.header("content-type", FORM).body(encode(&code_fields(&second)))
    };
    let form = Answer::of(anything()).await;
    assert_eq!(form.kind(), "application/x-www-form-urlencoded");
    assert!(form.text.starts_with("access_token=access-") && form.text.contains("&expires_in=3600"), "{}", form.text);
    assert!(Answer::of(anything()).await.text.starts_with("error=invalid_grant&"), "errors too");
    provider.set(|settings| settings.tokens.reply = ReplyBody::FormUnsaid);
    let first = code(&provider, &[]).await;
    let form = exchange(&provider, &first).await;
    assert!(form.kind() == "text/html" && form.text.starts_with("access_token="), "{form:?}");
}

#[tokio::test]
async fn kinds_9_and_11_the_expiry_is_told_in_every_way_or_not_at_all() {
    let provider = with(|settings| settings.tokens.lifetime = 100).await;
    for (expiry, member) in [
        (Expiry::In, "expires_in"),
        (Expiry::InText, "expires_in"),
        (Expiry::InMilliseconds, "expires_in"),
        (Expiry::At, "expires_at"),
        (Expiry::AtText, "expires_at"),
        (Expiry::AtMilliseconds, "expires_at"),
        (Expiry::AtDate, "expires_at"),
    ] {
        provider.set(|settings| settings.tokens.expiry = expiry);
        let tokens = connect(&provider, &[]).await.json();
        let told = &tokens[member];
        let (number, text) = (told.as_i64().unwrap_or(0), told.as_str().unwrap_or_default());
        let right = match expiry {
            Expiry::In => number == 100,
            Expiry::InText => text == "100",
            Expiry::InMilliseconds => number == 100_000,
            Expiry::At => (1_700_000_000..9_000_000_000).contains(&number),
            Expiry::AtText => (1_700_000_000..9_000_000_000).contains(&text.parse::<i64>().unwrap()),
            Expiry::AtMilliseconds => number > 1_700_000_000_000,
            _ => text.len() == 20 && text.starts_with("20") && text.ends_with('Z'),
        };
        assert!(right, "{expiry:?}: {tokens}");
    }
    let exp = async |token: &str| {
        let answer = Answer::of(request(&provider.url(Endpoint::Introspection), &[("token", token)])).await;
        answer.json()["exp"].clone()
    };
    for (expiry, lasting) in [(Expiry::Unsaid, 401), (Expiry::Never, 200)] {
        provider.set(|settings| settings.tokens.expiry = expiry);
        let tokens = connect(&provider, &[]).await;
        assert!(tokens.json().get("expires_in").is_none() && tokens.json().get("expires_at").is_none());
        let access = tokens.string("access_token");
        assert_eq!(exp(&access).await.is_i64(), expiry == Expiry::Unsaid);
        provider.set(|settings| settings.ahead = 101);
        assert_eq!(account(&provider, &access).await.status, lasting);
        provider.set(|settings| settings.ahead = 0);
    }
    provider.set(|settings| {
        settings.tokens.expiry = Expiry::In;
        settings.tokens.expiry_member = Some("ttl");
        settings.server.introspection = false;
    });
    assert_eq!(connect(&provider, &[]).await.json()["ttl"], 100);
    assert_eq!(Answer::of(request(&provider.url(Endpoint::Introspection), &[])).await.status, 404);
}

#[tokio::test]
async fn kind_10_a_lifetime_must_be_asked_for() {
    let provider = with(|settings| settings.tokens.lifetime_parameter = Some("expires_in")).await;
    let first = code(&provider, &[]).await;
    let tokens = exchange(&provider, &first).await.json();
    assert!(tokens.get("expires_in").is_none() && tokens.get("refresh_token").is_none(), "{tokens}");
    let second = code(&provider, &[]).await;
    let tokens = exchange_with(&provider, &second, &[("expires_in", "172800")]).await;
    assert_eq!(tokens.json()["expires_in"], 172_800);
    let token = tokens.string("refresh_token");
    let fields = [("grant_type", "refresh_token"), ("refresh_token", &token), ("expires_in", "60")];
    let refreshed = Answer::of(request(&provider.url(Endpoint::Token), &fields)).await;
    assert_eq!(refreshed.json()["expires_in"], 60);
}

#[tokio::test]
async fn kind_12_refreshing_has_an_address_a_method_or_a_token_of_its_own() {
    let provider = with(|settings| settings.refreshing.own_url = true).await;
    let token = connect(&provider, &[]).await.string("refresh_token");
    let fields = [("grant_type", "refresh_token"), ("refresh_token", &*token)];
    assert_eq!(refresh(&provider, &token).await.status, 404);
    let refreshed = Answer::of(request(&provider.url(Endpoint::Refresh), &fields)).await;
    assert_eq!((refreshed.status, provider.count(Endpoint::Refresh)), (200, 2));
    let code = code(&provider, &[]).await;
    let misled = Answer::of(request(&provider.url(Endpoint::Refresh), &code_fields(&code))).await;
    assert_eq!(misled.error().1, "unsupported_grant_type");

    let by = RefreshBy::AccessToken { grant_type: "ig_refresh_token", parameter: "access_token" };
    provider.set(|settings| {
        settings.refreshing.by = by;
        settings.refreshing.method = Method::GET;
        settings.refreshing.request = Some(RequestBody::Query);
        settings.refreshing.ends_access = true;
        settings.refreshing.demanded = vec!["redirect_uri"];
    });
    let tokens = connect(&provider, &[]).await;
    assert!(tokens.json().get("refresh_token").is_none());
    let access = tokens.string("access_token");
    let query = encode(&[("grant_type", "ig_refresh_token"), ("access_token", &access)]);
    let url = format!("{}?{query}", provider.url(Endpoint::Refresh));
    let get = |url: &str| agent().get(url).basic_auth(CLIENT, Some(CLIENT_SECRET));
    assert_eq!(Answer::of(get(&url)).await.error().1, "invalid_request", "no redirect URI");
    let url = format!("{url}&redirect_uri={BACK}");
    let refreshed = Answer::of(get(&url)).await;
    assert_eq!(refreshed.status, 200);
    assert_eq!(account(&provider, &access).await.status, 401, "the old one has ended");
    assert_eq!(account(&provider, &refreshed.string("access_token")).await.status, 200);
    assert_eq!(Answer::of(get(&url)).await.error(), (400, "invalid_grant".to_owned()));
}

#[tokio::test]
async fn kind_13_refresh_tokens_rotate_with_grace_stay_or_are_left_out() {
    let provider = with(|settings| settings.refreshing.rotation = Rotation::Grace(30)).await;
    let first = connect(&provider, &[]).await.string("refresh_token");
    assert_ne!(refresh(&provider, &first).await.string("refresh_token"), first);
    assert_eq!(refresh(&provider, &first).await.status, 200, "within the grace time");
    provider.set(|settings| settings.ahead = 31);
    assert_eq!(refresh(&provider, &first).await.status, 400);
    assert_eq!((provider.counts().refresh_tokens_again, provider.grants_of("user-1")), (1, 0));
    provider.set(|settings| {
        settings.ahead = 0;
        settings.refreshing.rotation = Rotation::Kept;
    });
    let first = connect(&provider, &[]).await.string("refresh_token");
    assert_eq!(refresh(&provider, &first).await.string("refresh_token"), first);
    provider.set(|settings| settings.refreshing.rotation = Rotation::Omitted);
    assert!(refresh(&provider, &first).await.json().get("refresh_token").is_none());
    assert_eq!(refresh(&provider, &first).await.status, 200);
    provider.set(|settings| settings.refreshing.lifetime = Some(50));
    let first = connect(&provider, &[]).await.string("refresh_token");
    provider.set(|settings| settings.ahead = 50);
    assert_eq!(refresh(&provider, &first).await.error(), (400, "invalid_grant".to_owned()));
}

#[tokio::test]
async fn kind_14_a_refresh_tells_other_things_than_the_beginning() {
    let provider = with(|settings| {
        settings.tokens.members = json!({ "team": "one", "scope": null });
        settings.refreshing.members = json!({ "team": "two", "expires_in": null });
        settings.refreshing.scope = true;
        settings.refreshing.ends_access = true;
    })
    .await;
    let first = connect(&provider, &[]).await;
    assert!(first.json()["team"] == "one" && first.json().get("scope").is_none());
    let second = refresh(&provider, &first.string("refresh_token")).await;
    assert!(second.json()["team"] == "two" && second.json().get("expires_in").is_none());
    assert_eq!(second.json()["scope"], "", "they have to be asked for again");
    assert!(provider.token_book().look_up(&second.string("access_token")).unwrap().scopes.is_empty());
    assert_eq!(account(&provider, &first.string("access_token")).await.status, 401);
    let token = second.string("refresh_token");
    let fields = [("grant_type", "refresh_token"), ("refresh_token", &*token), ("scope", "read write")];
    let third = Answer::of(request(&provider.url(Endpoint::Token), &fields)).await;
    assert_eq!(third.json()["scope"], "read write");
}

#[tokio::test]
async fn kind_22_errors_look_otherwise_and_a_dead_token_too() {
    let provider = Provider::start().await;
    let url = provider.url(Endpoint::Token);
    for (errors, status, kind, text) in [
        (ErrorReply::Ok, 200, "application/json", r#"{"error":"invalid_grant","error_description":"#),
        (ErrorReply::NotOk, 200, "application/json", r#"{"ok":false,"error":"invalid_grant"}"#),
        (ErrorReply::Nested, 400, "application/json", r#"{"error":{"type":"invalid_grant","message":"#),
        (ErrorReply::Text, 400, "text/plain", "Sorry, invalid_grant: the code is not known."),
        (ErrorReply::Html, 400, "text/html", "<!doctype html><h1>Error 400</h1>"),
        (ErrorReply::Empty, 400, "text/plain", ""),
    ] {
        provider.set(|settings| settings.errors = errors);
        let answer = Answer::of(request(&url, &code_fields("unknown"))).await;
        assert_eq!((answer.status, answer.kind()), (status, kind), "{errors:?}");
        assert!(answer.text.starts_with(text) && answer.text.is_empty() == text.is_empty(), "{}", answer.text);
    }
    provider.set(|settings| {
        settings.errors = ErrorReply::NotOk;
        settings.error_codes = vec![("invalid_client", "bad_client_secret")];
        settings.refreshing.dead = DeadToken::Code("invalid_request");
    });
    let stranger = Answer::of(request(&url, &[("client_id", "stranger")])).await;
    assert_eq!(stranger.error(), (200, "bad_client_secret".to_owned()));
    assert_eq!(refresh(&provider, "dead").await.error(), (200, "invalid_request".to_owned()));
    provider.set(|settings| {
        settings.refreshing.dead = DeadToken::Says(400, "text/plain", "Token is expired or invalid");
    });
    let dead = refresh(&provider, "dead").await;
    assert_eq!((dead.status, dead.text.as_str()), (400, "Token is expired or invalid"));
    assert_eq!(provider.counts().refresh_tokens_dead, 2);
}

#[tokio::test]
async fn kind_23_tokens_are_revoked_in_the_providers_own_way_or_not() {
    let provider = Provider::start().await;
    let url = provider.url(Endpoint::Revocation);
    let own = provider.url(Endpoint::Token).replace("/token", &format!("/applications/{CLIENT}/grant"));
    for (way, status) in [
        (Revocation::Json, 200),
        (Revocation::Query, 200),
        (Revocation::Delete, 204),
        (Revocation::Bearer, 200),
        (Revocation::None, 404),
    ] {
        provider.set(|settings| settings.server.revocation = way);
        let access = connect(&provider, &[]).await.string("access_token");
        let basic = |request: reqwest::RequestBuilder| request.basic_auth(CLIENT, Some(CLIENT_SECRET));
        let ask = || match way {
            Revocation::Json => json_body(basic(agent().post(&url)), &json!({ "token": access })),
            Revocation::Query => agent().post(format!("{url}?token={access}")),
            Revocation::Delete => json_body(basic(agent().delete(&own)), &json!({ "access_token": access })),
            Revocation::Bearer => agent().post(&url).bearer_auth(&access),
            _ => request(&url, &[("token", &access)]),
        };
        let alive = provider.grants_of("user-1");
        assert_eq!(Answer::of(ask()).await.status, status, "{way:?}");
        let ended = usize::from(way != Revocation::None);
        assert_eq!(provider.grants_of("user-1"), alive - ended, "{way:?}");
        assert_eq!(account(&provider, &access).await.status == 401, ended == 1, "{way:?}");
        let again = Answer::of(ask()).await.status;
        assert!((400..500).contains(&again), "{way:?} twice: {again}");
    }
    assert_eq!(provider.counts().revocations, 4);
    provider.set(|settings| settings.server.revocation = Revocation::Delete);
    let stranger = agent().delete(&own).basic_auth(CLIENT, Some("wrong"));
    assert_eq!(Answer::of(json_body(stranger, &json!({ "access_token": "x" }))).await.status, 401);
}

#[tokio::test]
async fn the_account_is_had_by_post_by_a_header_of_its_own_or_with_a_scope() {
    let provider = with(|settings| {
        settings.server.account_by_post = true;
        settings.server.api_header = Some("x-access-token");
        settings.server.account_scope = Some("profile");
    })
    .await;
    let narrow = connect(&provider, &[]).await.string("access_token");
    let wide = connect(&provider, &[("scope", "profile")]).await.string("access_token");
    let url = provider.url(Endpoint::Account);
    assert_eq!(Answer::of(agent().get(&url).header("x-access-token", &wide)).await.status, 405);
    assert_eq!(Answer::of(agent().post(&url).bearer_auth(&wide)).await.status, 401);
    assert_eq!(Answer::of(agent().post(&url).header("x-access-token", &narrow)).await.status, 403);
    assert_eq!(Answer::of(agent().post(&url).header("x-access-token", &wide)).await.status, 200);
    assert_eq!(provider.subject_of(&wide).as_deref(), Some("user-1"));
}
