//! Refreshing: kinds 12, 13 and 14.

use serde_json::json;
use usher_testkit::oauth::Trouble;
use usher_testkit::oauth::settings::{Pkce, RefreshBy, Rotation, Separator};
use usher_testkit::provider::Behaviour;

use super::*;

#[tokio::test]
async fn kind_12_refreshing_has_an_address_of_its_own() {
    let differ = |settings: &mut Settings| settings.refreshing.own_url = true;
    let scene = Scene::new(differ, "[provider.refresh]\nendpoint = \"@refresh\"").await;
    let tokens = scene.connected().await;
    assert!(scene.is_good(&scene.refresh(&tokens).await.unwrap()));
    scene.provider.assert_clean();
    // Whoever asks at the token endpoint is at the wrong place, and the grant is none the worse for it.
    let scene = Scene::new(differ, "").await;
    let tokens = scene.connected().await;
    assert!(matches!(scene.refresh(&tokens).await.unwrap_err(), TokenError::Client(_)));
}

#[tokio::test]
async fn kind_12_an_access_token_refreshes_itself() {
    let by = RefreshBy::AccessToken { grant_type: "ig_refresh_token", parameter: "access_token" };
    let differ = |settings: &mut Settings| {
        settings.refreshing.by = by;
        settings.refreshing.ends_access = true;
    };
    let lines = "[provider.refresh]\nby = \"access_token\"\ngrant_type = \"ig_refresh_token\"";
    let scene = Scene::new(differ, lines).await;
    let tokens = scene.connected().await;
    assert!(tokens.refresh_token.is_none());
    let fresh = scene.refresh(&tokens).await.unwrap();
    assert!(scene.is_good(&fresh) && !scene.is_good(&tokens));
    assert!(matches!(scene.refresh(&tokens).await.unwrap_err(), TokenError::Dead(_)));
    scene.provider.assert_clean();
}

/// A long-lived token that is refreshed by a GET, as some do.
#[tokio::test]
async fn kind_12_a_refresh_by_get_has_no_body() {
    let lines = "[provider.refresh]\nby = \"access_token\"\ngrant_type = \"th_refresh_token\"\nmethod = \"GET\"";
    let scene = Scene::new(|_| {}, lines).await;
    let tokens = scene.connected().await;
    let answer = Behaviour::Body(200, r#"{"access_token":"next","expires_in":5184000}"#.to_owned());
    scene.provider.trouble(Endpoint::Token, Trouble::Instead(answer));
    let fresh = scene.refresh(&tokens).await.unwrap();
    assert_eq!((access_token(&fresh), lives(&fresh).is_some()), ("next", true));
    let requests = scene.provider.requests();
    let request = requests.last().unwrap();
    assert_eq!((request.http_method.as_str(), request.body.len()), ("GET", 0));
    let wanted = format!("?grant_type=th_refresh_token&access_token={}", access_token(&tokens));
    assert!(request.path.contains(&wanted), "{}", request.path);
}

#[tokio::test]
async fn kind_13_a_new_refresh_token_replaces_the_old_one_at_once() {
    let scene = Scene::standard().await;
    let tokens = scene.connected().await;
    let fresh = scene.refresh(&tokens).await.unwrap();
    assert_ne!(refresh_token(&fresh), refresh_token(&tokens));
    let again = scene.refresh(&fresh).await.unwrap();
    assert!(scene.is_good(&again));
    assert_eq!(scene.refresh(&tokens).await.unwrap_err(), TokenError::Dead("invalid_grant".to_owned()));
}

#[tokio::test]
async fn kind_13_without_a_new_refresh_token_the_old_one_is_kept() {
    for rotation in [Rotation::Omitted, Rotation::Kept] {
        let scene = Scene::new(|settings| settings.refreshing.rotation = rotation, "").await;
        let tokens = scene.connected().await;
        let fresh = scene.refresh(&tokens).await.unwrap();
        assert_eq!(refresh_token(&fresh), refresh_token(&tokens), "{rotation:?}");
        assert!(scene.is_good(&scene.refresh(&fresh).await.unwrap()));
    }
    let empty = |settings: &mut Settings| {
        settings.refreshing.rotation = Rotation::Kept;
        settings.refreshing.members = json!({ "refresh_token": "" });
    };
    let scene = Scene::new(empty, "").await;
    let tokens = scene.connected().await;
    assert_eq!(refresh_token(&scene.refresh(&tokens).await.unwrap()), refresh_token(&tokens));
}

/// A reply that was lost leaves the old token in doubt: with a grace it is good once more, without it is dead.
#[tokio::test]
async fn kind_13_a_lost_reply_is_tried_once_more_by_whoever_asks() {
    for (rotation, good) in [(Rotation::Grace(30), true), (Rotation::AtOnce, false)] {
        let scene = Scene::new(|settings| settings.refreshing.rotation = rotation, "").await;
        let tokens = scene.connected().await;
        scene.provider.trouble_next(Endpoint::Refresh, Trouble::ReplyLost);
        let lost = scene.refresh(&tokens).await.unwrap_err();
        assert!(lost.is_transient() && lost.is_uncertain(), "{lost:?}");
        let again = scene.refresh(&tokens).await;
        assert_eq!(again.is_ok(), good, "{rotation:?}: {again:?}");
        if !good {
            assert_eq!(again.unwrap_err(), TokenError::Dead("invalid_grant".to_owned()));
        }
        assert_eq!(scene.provider.count(Endpoint::Refresh), 2, "nothing is retried in here");
    }
}

/// As Slack does: nested at first, at the top after a refresh, and another scope text.
#[tokio::test]
async fn kind_14_a_refresh_says_things_otherwise() {
    let differ = |settings: &mut Settings| {
        settings.tokens.nested = Some("authed_user");
        settings.tokens.members = json!({ "team": { "id": "T1" } });
        settings.refreshing.members = json!({ "team": { "id": "T2" }, "scope": "bot" });
    };
    let lines = "[provider.reply]\naccess_token = \"authed_user.access_token\"\n\
                 refresh_token = \"authed_user.refresh_token\"\nexpires = \"authed_user.expires_in\"\n\
                 scope = \"authed_user.scope\"\nfields = { team = \"team.id\" }\n[provider.refresh]\n\
                 keeps = [\"scope\", \"team\"]\n[provider.refresh.reply]\naccess_token = \"access_token\"\n\
                 refresh_token = \"refresh_token\"\nexpires = \"expires_in\"\nscope = \"scope\"";
    let scene = Scene::new(differ, lines).await;
    let tokens = scene.connected().await;
    let fresh = scene.refresh(&tokens).await.unwrap();
    assert!(scene.is_good(&fresh) && lives(&fresh).is_some());
    assert_eq!((field(&fresh, "team"), &fresh.scopes), ("T1", &None), "what a refresh never changes stays");
    // What is not said to stay changes.
    let scene = Scene::new(differ, &lines.replace("keeps = [\"scope\", \"team\"]", "")).await;
    let fresh = scene.refresh(&scene.connected().await).await.unwrap();
    assert_eq!((field(&fresh, "team"), fresh.scopes.clone()), ("T2", Some(set(&["bot"]))));
}

/// A refresh says what the provider wants to hear again, and nothing else: no verifier, no code.
#[tokio::test]
async fn kind_14_a_refresh_says_scopes_and_redirect_uri_where_they_are_wanted() {
    let differ = |settings: &mut Settings| {
        settings.authorization.separator = Separator::Comma;
        settings.authorization.pkce = Pkce::Verified;
    };
    let lines = "[provider.authorize]\nscope_separator = \",\"\n[provider.refresh]\nscope = true\nredirect_uri = true";
    let scene = Scene::new(differ, lines).await;
    scene.refresh(&scene.connected().await).await.unwrap();
    let requests = scene.provider.requests_to(Endpoint::Refresh);
    let body = String::from_utf8(requests[0].body.to_vec()).unwrap();
    assert!(body.contains("&scope=read%2Cwrite") && body.contains("&redirect_uri=http"), "{body}");
    assert!(!body.contains("verifier") && !body.contains("code"), "{body}");
    scene.provider.assert_clean();
    let scene = Scene::standard().await;
    scene.refresh(&scene.connected().await).await.unwrap();
    let requests = scene.provider.requests_to(Endpoint::Refresh);
    assert!(!String::from_utf8(requests[0].body.to_vec()).unwrap().contains("scope"));
}
