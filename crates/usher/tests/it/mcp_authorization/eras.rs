//! The whole way, for a call of each era.

use usher_testkit::oauth::Endpoint;

use super::scene::{CALL, Scene, parameters, token_requests, went};
use crate::{harness::ACCEPT, needs_modern::retry};

/// R-GW-03, R-OAUTH-05: asked, agreed here and there, back; the call goes on with the token, which is for this very server: its
/// `resource` stands in both requests.
#[tokio::test]
async fn a_call_goes_on_once_the_server_s_own_account_is_connected() {
    let scene = Scene::new().await;
    let client = scene.stage.modern();
    let asked = scene.asked(&client).await;
    let person = scene.stage.person().await;
    let page = person.get(&asked.url()).await;
    assert_eq!(page.heading().as_deref(), Some("Connect Notes"), "{}", page.describe());
    assert!(page.text().contains(&scene.provider.address().to_string()), "{}", page.text());

    let left = scene.leave(&person, &asked.url()).await;
    let address = left.refresh().unwrap().to_owned();
    assert!(address.starts_with(&scene.provider.url(Endpoint::Authorization)), "{address}");
    let said = parameters(&address);
    assert_eq!(said["resource"], scene.stage.upstream.url());
    assert_eq!(said["code_challenge_method"], "S256");
    let back = person.at_issuer(&left, "user-1").await;
    assert!(back.starts_with(&format!("{}/callback/notes/", scene.stage.origin)), "one for each issuer: {back}");
    assert_eq!(said["redirect_uri"], back.split('?').next().unwrap());
    let done = person.come_back(&back).await;
    assert_eq!(done.heading().as_deref(), Some("Connected"), "{}", done.describe());

    let reply = retry(&client, CALL, &asked, ACCEPT).await;
    assert!(went(&reply), "{}", reply.text());
    let exchanged = token_requests(&scene.provider, Endpoint::Token);
    assert_eq!(exchanged.len(), 1);
    assert_eq!(exchanged[0]["resource"], scene.stage.upstream.url());
    let token = scene.sent().pop().flatten().unwrap();
    let known = scene.provider.token_book().look_up(&token).unwrap();
    assert_eq!(known.resource.as_deref(), Some(scene.stage.upstream.url().as_str()));
    assert_eq!(scene.provider.counts().registrations, 1);
    scene.assert_clean();
}

/// The older protocol: the held call goes on.
#[tokio::test]
async fn a_held_call_goes_on_once_the_server_s_own_account_is_connected() {
    let scene = Scene::new().await;
    let client = scene.stage.ready().await;
    let mut stream = client.open(CALL.0, CALL.1).await;
    let question = stream.expect("elicitation/create").await;
    client.respond(question.id().unwrap(), ACCEPT).await;
    let url = question.string(&["params", "url"]).unwrap();
    let done = scene.connect(&scene.stage.person().await, &url).await;
    assert_eq!(done.heading().as_deref(), Some("Connected"), "{}", done.describe());
    assert!(went(&stream.reply().await));
    scene.assert_clean();
}

/// R-GW-03: once the token is in memory, a call of either era makes no statement: it goes through without the store.
#[tokio::test]
async fn a_token_in_memory_is_used_without_the_store() {
    let scene = Scene::new().await;
    let modern = scene.connected().await;
    let legacy = scene.stage.ready().await;
    for closed in [false, true] {
        if closed {
            scene.stage.app().store.close().await;
        }
        for reply in [modern.call(CALL.0, CALL.1).await, legacy.call(CALL.0, CALL.1).await] {
            assert!(went(&reply), "the store is closed: {closed}: {}", reply.text());
        }
    }
    assert_eq!(scene.provider.count(Endpoint::Refresh), 0);
    scene.assert_clean();
}

/// R-OAUTH-05: `resource` stands in a refresh, too.
#[tokio::test]
async fn a_refresh_is_for_this_server_as_well() {
    let scene = Scene::new().await;
    let client = scene.connected().await;
    scene.provider.end_access_tokens_of("user-1");
    let reply = client.call(CALL.0, CALL.1).await;
    assert!(went(&reply), "{}", reply.text());
    let requests = token_requests(&scene.provider, Endpoint::Refresh);
    let refreshed = requests.last().unwrap();
    assert_eq!(refreshed["grant_type"], "refresh_token");
    assert_eq!(refreshed["resource"], scene.stage.upstream.url());
    scene.assert_clean();
}

/// R-GW-03: the server knows better than the configuration what needs an account.
#[tokio::test]
async fn a_call_that_no_pattern_names_is_asked_for_when_the_server_demands_it() {
    let change = super::scene::Change { need: "on = [\"prompts/*\"]".to_owned(), ..Default::default() };
    let scene = Scene::with(change).await;
    scene.stage.upstream.change_guard(|guard| *guard = guard.clone().calls_only());
    let client = scene.connected().await;
    assert_eq!(scene.sent()[0], None, "it is tried without");
    assert!(went(&client.call(CALL.0, CALL.1).await));

    let legacy = scene.stage.ready().await;
    assert!(went(&legacy.call(CALL.0, CALL.1).await));
}
