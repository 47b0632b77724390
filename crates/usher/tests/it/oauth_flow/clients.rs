//! Several clients, and one account.

use usher_testkit::oauth::{Endpoint, Who};

use super::scene::{CALL, Scene, is_heading, went};
use crate::{
    harness::{ACCEPT, SECOND},
    needs_modern::retry,
};

/// R-OAUTH-04: a client that the person has not allowed gets nothing of what is connected, and starts nothing at the
/// provider; the person allows it on our page, without going anywhere.
#[tokio::test]
async fn another_client_is_allowed_on_our_page() {
    let scene = Scene::new().await;
    let person = scene.stage.person().await;
    let asked = scene.asked(&scene.stage.modern()).await;
    is_heading(&scene.connect(&person, &asked.url()).await, "Connected");
    // A provider that remembers a consent asks nobody.
    scene.provider.set(|settings| settings.who = Who::Always("user-1".to_owned()));
    let second = scene.stage.modern().token(SECOND);
    let new_client = scene.asked(&second).await;
    let visits = scene.provider.count(Endpoint::Authorization);
    let page = person.get(&new_client.url()).await;
    is_heading(&page, "Allow second to use Forge forge?");
    assert_eq!(page.status, 200, "the page leads nowhere by itself");
    is_heading(&person.agree(&page, &[]).await, "Connected");
    assert_eq!(scene.provider.count(Endpoint::Authorization), visits);
    assert!(went(&retry(&second, CALL, &new_client, ACCEPT).await));
    assert!(went(&scene.stage.modern().call(CALL.0, CALL.1).await), "the first one too");
    assert_eq!(scene.provider.counts().exchanges, 1);
}

/// Another account takes the place of the first, if the person wants that.
#[tokio::test]
async fn another_account_can_be_connected_instead() {
    let scene = Scene::new().await;
    let person = scene.stage.person().await;
    let asked = scene.asked(&scene.stage.modern()).await;
    is_heading(&scene.connect(&person, &asked.url()).await, "Connected");
    let second = scene.asked(&scene.stage.modern().token(SECOND)).await;
    let page = person.get(&second.url()).await;
    let form = page.form_by_button("authorize");
    let left = person.submission(&page, &form, Some("authorize"), &[]).stay().send().await;
    let done = person.come_back(&person.at_issuer(&left, "user-2").await).await;
    assert!(done.text().contains("Connected as Person <b>user-2</b>"), "{}", done.text());
    assert!(went(&scene.stage.modern().call(CALL.0, CALL.1).await));
    let token = scene.sent().pop().unwrap();
    assert_eq!(scene.provider.token_book().look_up(&token).unwrap().subject, "user-2");
}
