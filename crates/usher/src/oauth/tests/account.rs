//! "Connected as …".

use serde_json::json;
use usher_testkit::oauth::{Account, Trouble};
use usher_testkit::provider::Behaviour;

use super::*;

const CALL: &str = "[provider.account]\nurl = \"@me\"\nmember = [\"data.user.nickname\", \"data.user.name\"]";

async fn shown(scene: &Scene) -> Result<Option<String>, CallError> {
    let tokens = scene.connected().await;
    account(&scene.egress, &scene.server, &tokens).await
}

/// R-SEC-02: what an account is called is its owner's to choose, and cannot hide anything.
#[tokio::test]
async fn an_account_is_shown_by_the_first_member_that_is_there() {
    let scene = Scene::new(|_| {}, CALL).await;
    assert_eq!(shown(&scene).await.unwrap().unwrap(), "Person <b>user-1</b>‹U+202E›");
    scene.provider.put_account(Account::new("user-1", json!({ "data": { "user": { "nickname": 7 } } })));
    assert_eq!(shown(&scene).await.unwrap().unwrap(), "7");
    scene.provider.put_account(Account::new("user-1", json!({ "data": {} })));
    assert_eq!(shown(&scene).await, Err(CallError::Garbage));
    assert_eq!(shown(&Scene::standard().await).await, Ok(None), "where nobody says how");
    scene.provider.assert_clean();
}

#[tokio::test]
async fn an_account_is_shown_by_a_post_or_by_the_reply_itself() {
    let lines = "[provider.account]\nurl = \"@me\"\nmethod = \"POST\"\nbody = '{\"query\":\"x\"}'\nmember = \"data.user.login\"";
    let scene = Scene::new(|settings| settings.server.account_by_post = true, lines).await;
    assert_eq!(shown(&scene).await.unwrap().unwrap(), "user-1");
    let request = &scene.provider.requests_to(Endpoint::Account)[0];
    assert_eq!(request.body.as_ref(), br#"{"query":"x"}"#);

    let differ = |settings: &mut Settings| settings.tokens.members = json!({ "workspace": { "name": "Acme\u{7}" } });
    let scene = Scene::new(differ, "[provider.account]\nmember = \"workspace.name\"").await;
    assert_eq!(shown(&scene).await.unwrap().unwrap(), "Acme‹U+0007›");
    assert_eq!(scene.provider.count(Endpoint::Account), 0);
}

#[tokio::test]
async fn an_account_that_cannot_be_had_says_why_and_nothing_else() {
    let scene = Scene::new(|_| {}, CALL).await;
    let tokens = scene.connected().await;
    for (trouble, expected) in [
        (Behaviour::Status(401), Some(CallError::Refused(401))),
        (Behaviour::Status(403), Some(CallError::Refused(403))),
        (Behaviour::Status(500), Some(CallError::Answered(500))),
        (Behaviour::Redirect("http://127.0.0.1:1/".to_owned()), Some(CallError::Answered(302))),
        (Behaviour::Body(200, "<html>".to_owned()), Some(CallError::Garbage)),
        (Behaviour::Endless, None),
        (Behaviour::Drop, None),
    ] {
        scene.provider.trouble_next(Endpoint::Account, Trouble::Instead(trouble.clone()));
        let found = account(&scene.egress, &scene.server, &tokens).await.unwrap_err();
        match expected {
            Some(expected) => assert_eq!(found, expected, "{trouble:?}"),
            None => assert!(matches!(found, CallError::NoAnswer(_)), "{trouble:?}: {found:?}"),
        }
        scene.assert_silent(&format!("{found} {found:?}"));
    }
}

/// Kind 16, R-SEC-05: a host that a reply named is looked at before anything is sent there.
#[tokio::test]
async fn kind_16_a_host_of_a_reply_is_not_trusted() {
    let differ = |settings: &mut Settings| settings.tokens.members = json!({ "instance": "169.254.169.254" });
    let lines = "[provider.reply]\nfields = { instance = \"instance\" }\n[provider.account]\n\
                 url = \"https://{instance}/me\"\nmember = \"login\"";
    let scene = Scene::new(differ, lines).await;
    assert!(matches!(shown(&scene).await, Err(CallError::Request(reason)) if reason.contains("not public")));
}
