//! Requests to the token endpoint and their replies: kinds 2, 3, 4, 5, 9, 10, 11 and 16.

use serde_json::json;
use usher_testkit::oauth::settings::{ApiHost, ClientAuth, Expiry, Offline, ReplyBody, RequestBody};
use usher_testkit::oauth::{Client as Known, Trouble};
use usher_testkit::provider::Behaviour;

use super::*;

#[tokio::test]
async fn kind_02_the_token_stands_within_another_member() {
    let differ = |settings: &mut Settings| {
        settings.tokens.nested = Some("authed_user");
        settings.tokens.access_member = "token";
        settings.refreshing.nested = Some("authed_user");
    };
    let lines = "[provider.reply]\naccess_token = \"authed_user.token\"\nrefresh_token = \"authed_user.refresh_token\"\n\
                 expires = \"authed_user.expires_in\"\nscope = \"authed_user.scope\"";
    let scene = Scene::new(differ, lines).await;
    let tokens = scene.connected().await;
    assert_eq!((tokens.scopes.clone(), lives(&tokens).is_some()), (Some(set(&["read", "write"])), true));
    assert!(scene.is_good(&scene.refresh(&tokens).await.unwrap()));
    // Whoever does not say so finds none, and is told nothing of what came instead.
    let scene = Scene::new(differ, "").await;
    let error = scene.connect().await.unwrap_err();
    assert_eq!(error, TokenError::Garbage("it holds no access token"));
}

#[tokio::test]
async fn kind_03_the_client_proves_itself_in_the_one_way_that_is_taken() {
    for (way, name) in [
        (ClientAuth::Basic, "client_secret_basic"),
        (ClientAuth::Basic, "client_secret_basic_plain"),
        (ClientAuth::Body, "client_secret_post"),
    ] {
        let differ = |settings: &mut Settings| settings.tokens.client_auth = vec![way];
        let scene = Scene::new(differ, &format!("client_authentication = {name:?}")).await;
        let tokens = scene.connected().await;
        scene.refresh(&tokens).await.unwrap();
        scene.provider.assert_clean();
    }
    let scene = Scene::new(|_| {}, "client_authentication = \"none\"").await;
    scene.provider.put_client(Known::public(CLIENT));
    scene.connected().await;
    // A client that may be public, and is.
    let scene = Scene::new(|_| {}, "public_clients = true").await;
    scene.provider.put_client(Known::public(CLIENT));
    let scene = Scene { client: Client { secret: None, ..scene.client.clone() }, ..scene };
    scene.connected().await;
    scene.provider.assert_clean();
}

/// The secret that a registration gave to a public client is not sent.
#[tokio::test]
async fn kind_03_a_secret_that_must_not_be_used_is_not_sent() {
    let scene = Scene::new(|_| {}, "client_authentication = \"none\"").await;
    scene.provider.put_client(Known::new(CLIENT, "unused-secret").auth(ClientAuth::None));
    let scene =
        Scene { client: Client { secret: Some(SecretString::from("unused-secret")), ..scene.client.clone() }, ..scene };
    let tokens = scene.connected().await;
    scene.refresh(&tokens).await.unwrap();
    scene.provider.assert_clean();
}

#[tokio::test]
async fn kind_04_parameters_are_sent_as_json() {
    let differ = |settings: &mut Settings| settings.tokens.request = RequestBody::Json;
    let lines = "[provider.token]\nrequest = \"json\"\nheader = { Notion-Version = \"2025-09-03\" }";
    let scene = Scene::new(differ, lines).await;
    let tokens = scene.connected().await;
    scene.refresh(&tokens).await.unwrap();
    let requests = scene.provider.requests_to(Endpoint::Token);
    assert_eq!(requests[0].header("notion-version"), Some("2025-09-03"));
    scene.provider.assert_clean();
}

#[tokio::test]
async fn kind_05_a_form_comes_unless_json_is_asked_for() {
    let differ = |settings: &mut Settings| settings.tokens.reply = ReplyBody::FormUnlessAsked;
    let scene = Scene::new(differ, "").await;
    assert_eq!(scene.connected().await.scopes, Some(set(&["read", "write"])));
    // And one that sends a form whatever was asked for is read as well, by its media type or because the file says so.
    let form = "access_token=a%2Bb&scope=read%2Cwrite&token_type=bearer&expires_in=60&access_token=evil";
    let lines = "[provider.reply]\nformat = \"form\"\nscope_separator = \",\"";
    let scene = Scene::new(|_| {}, lines).await;
    scene.provider.trouble(Endpoint::Token, Trouble::Instead(Behaviour::Body(200, form.to_owned())));
    let tokens = scene.connect().await.unwrap();
    assert_eq!((access_token(&tokens), tokens.scopes.clone()), ("a+b", Some(set(&["read", "write"]))));
    assert!((50..=60).contains(&lives(&tokens).unwrap()));
    let error = Scene::standard().await;
    error.provider.trouble(Endpoint::Token, Trouble::Instead(Behaviour::Body(200, form.to_owned())));
    assert_eq!(error.connect().await.unwrap_err(), TokenError::Garbage("it holds no access token"));
}

#[tokio::test]
async fn kind_09_a_token_may_have_no_end() {
    let differ = |settings: &mut Settings| {
        settings.tokens.expiry = Expiry::Never;
        settings.authorization.offline = Offline::Never;
    };
    let scene = Scene::new(differ, "").await;
    let tokens = scene.connected().await;
    assert!(tokens.expires_at.is_none() && tokens.refresh_token.is_none());
    // What cannot be refreshed is connected anew, when it is refused.
    assert!(matches!(scene.refresh(&tokens).await.unwrap_err(), TokenError::Dead(_)));
    assert_eq!(scene.provider.count(Endpoint::Refresh), 0);
}

#[tokio::test]
async fn kind_09_the_provider_is_asked_when_a_token_ends() {
    let differ = |settings: &mut Settings| settings.tokens.expiry = Expiry::Unsaid;
    let scene = Scene::new(differ, "introspection_endpoint = \"@introspect\"").await;
    let tokens = scene.connected().await;
    assert!((3_500..=3_600).contains(&lives(&tokens).unwrap()));
    let fresh = scene.refresh(&tokens).await.unwrap();
    assert!(lives(&fresh).is_some());
    assert_eq!(scene.provider.count(Endpoint::Introspection), 2);
    // One that does not answer is no reason to give the connection up.
    scene.provider.trouble(Endpoint::Introspection, Trouble::Instead(Behaviour::Status(500)));
    assert_eq!(lives(&scene.refresh(&fresh).await.unwrap()), None);
    // Without it, what the file says is taken.
    let scene = Scene::new(differ, "[provider.reply]\nlifetime = \"2h\"").await;
    assert!((7_100..=7_200).contains(&lives(&scene.connected().await).unwrap()));
}

#[tokio::test]
async fn kind_10_a_lifetime_is_asked_for() {
    let differ = |settings: &mut Settings| settings.tokens.lifetime_parameter = Some("expires_in");
    let parameters = "parameters = { expires_in = \"7200\" }";
    let scene = Scene::new(differ, &format!("[provider.token]\n{parameters}\n[provider.refresh]\n{parameters}")).await;
    let tokens = scene.connected().await;
    assert!((7_100..=7_200).contains(&lives(&tokens).unwrap()));
    assert!((7_100..=7_200).contains(&lives(&scene.refresh(&tokens).await.unwrap()).unwrap()));
    scene.provider.assert_clean();
    let scene = Scene::new(differ, "").await;
    assert!(scene.connected().await.refresh_token.is_none(), "nobody asked");
}

#[tokio::test]
async fn kind_11_an_end_is_told_in_many_ways() {
    for (expiry, member, meaning) in [
        (Expiry::In, "expires_in", "seconds"),
        (Expiry::InText, "expires_in", "seconds"),
        (Expiry::InMilliseconds, "expires_in", "milliseconds"),
        (Expiry::At, "expires_at", "unix"),
        (Expiry::AtText, "expires_at", "unix"),
        (Expiry::AtMilliseconds, "expires_at", "unix_milliseconds"),
        (Expiry::AtDate, "expires_at", "time"),
    ] {
        let lines = format!("[provider.reply]\nexpires = {member:?}\nexpires_as = {meaning:?}");
        let scene = Scene::new(|settings| settings.tokens.expiry = expiry, &lines).await;
        let tokens = scene.connected().await;
        assert!((3_500..=3_601).contains(&lives(&tokens).unwrap()), "{expiry:?}: {:?}", lives(&tokens));
        let fresh = scene.refresh(&tokens).await.unwrap();
        assert!((3_500..=3_601).contains(&lives(&fresh).unwrap()), "{expiry:?}: {:?}", lives(&fresh));
    }
}

#[tokio::test]
async fn kind_16_the_reply_says_where_the_api_is() {
    let differ = |settings: &mut Settings| settings.server.api_host = ApiHost::InReply("instance_url");
    let lines = "[provider.reply]\nfields = { api = \"instance_url\" }";
    let scene = Scene::new(differ, lines).await;
    let tokens = scene.connected().await;
    assert!(field(&tokens, "api").starts_with("http://127.0.0.1:"));
    assert_eq!(scene.server.definition().fields(), ["access_token", "api"]);
    // Without it the connection is of no use.
    let error = Scene::new(|_| {}, lines).await.connect().await.unwrap_err();
    assert_eq!(error, TokenError::Garbage("it lacks a field of the definition"));
}

#[tokio::test]
async fn kind_16_a_call_after_connecting_says_where_the_api_is() {
    let differ = |settings: &mut Settings| settings.server.api_host = ApiHost::ByCall;
    let lines = "[provider.lookup]\nurl = \"@resources\"\nfields = { cloud = \"0.id\", api = \"0.url\" }";
    let scene = Scene::new(differ, lines).await;
    let tokens = scene.connected().await;
    assert_eq!(field(&tokens, "cloud"), "cloud-1");
    let fresh = scene.refresh(&tokens).await.unwrap();
    assert_eq!((field(&fresh, "cloud"), scene.provider.count(Endpoint::Resources)), ("cloud-1", 1), "asked once");
    for (trouble, transient) in [
        (Behaviour::Status(503), true),
        (Behaviour::Status(403), false),
        (Behaviour::Body(200, "[]".to_owned()), true),
        (Behaviour::Drop, true),
    ] {
        scene.provider.trouble_next(Endpoint::Resources, Trouble::Instead(trouble.clone()));
        assert_eq!(scene.connect().await.unwrap_err().is_transient(), transient, "{trouble:?}");
    }
}

/// RFC 6749, section 5.1: nothing said is what was asked for; fewer are noted.
#[tokio::test]
async fn granted_scopes_are_what_the_reply_says_or_what_was_asked_for() {
    let scene = Scene::new(|settings| settings.authorization.scopes_granted = Some(vec!["read"]), "").await;
    let tokens = scene.connected().await;
    assert_eq!(tokens.lacks(&set(&["read", "write"])), set(&["write"]));
    for (scope, expected) in [
        (json!(null), None),
        (json!(""), None),
        (json!(["read", "write"]), Some(set(&["read", "write"]))),
        (json!("read  write"), Some(set(&["read", "write"]))),
        (json!(7), None),
    ] {
        let members = json!({ "scope": scope });
        let scene = Scene::new(move |settings| settings.tokens.members = members, "").await;
        assert_eq!(scene.connected().await.scopes, expected, "{scope}");
    }
    // A comma in the reply, where a space stood in the request.
    let differ = |settings: &mut Settings| settings.tokens.members = json!({ "scope": "read,write" });
    let scene = Scene::new(differ, "[provider.reply]\nscope_separator = \",\"").await;
    assert_eq!(scene.connected().await.scopes, Some(set(&["read", "write"])));
}

/// What comes to stand in a header is fit for it, and what needs a key that we do not have is no bearer token.
#[tokio::test]
async fn a_token_that_cannot_be_used_is_not_kept() {
    for members in [
        json!({ "access_token": "a\r\nX-Admin: 1" }),
        json!({ "access_token": "a".repeat(20_000) }),
        json!({ "access_token": "schlüssel" }),
        json!({ "refresh_token": "a\n" }),
        json!({ "token_type": "DPoP" }),
        json!({ "access_token": "" }),
        json!({ "access_token": null }),
        json!({ "access_token": ["a"] }),
        json!({ "access_token": { "a": "b" } }),
    ] {
        let differ = members.clone();
        let scene = Scene::new(move |settings| settings.tokens.members = differ, "").await;
        assert!(matches!(scene.connect().await, Err(TokenError::Garbage(_))), "{members}");
    }
    for kind in ["Bearer", "bearer ", "user", "bot", ""] {
        let members = json!({ "token_type": kind });
        Scene::new(move |settings| settings.tokens.members = members, "").await.connected().await;
    }
}
