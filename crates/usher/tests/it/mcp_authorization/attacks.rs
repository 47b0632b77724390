//! An authorization server, or somebody between, that lies in the reply.

use usher_store::{AuditAction, FailureReason, InteractionState};
use usher_testkit::oauth::{Endpoint, Provider, ReplyIssuer, settings::Registration};

use super::scene::{Scene, text, url};

/// R-OAUTH-05, R-OAUTH-02: a reply of another issuer is not followed, be it a code or an error (RFC 9207).
#[tokio::test]
async fn a_reply_of_another_issuer_is_not_followed() {
    for other in [ReplyIssuer::Other("https://honest.example".to_owned()), ReplyIssuer::Missing] {
        let scene = Scene::new().await;
        scene.provider.set(|settings| settings.callback.issuer = other.clone());
        let asked = scene.asked(&scene.stage.modern()).await;
        let done = scene.connect(&scene.stage.person().await, &asked.url()).await;
        assert_eq!(done.status, 403, "{}", done.describe());
        assert_eq!(scene.provider.count(Endpoint::Token), 0, "the code went nowhere: {other:?}");
        assert!(scene.credential().await.is_none());
        assert_eq!(refused(&scene).await, 1);
    }
}

/// R-OAUTH-05: the error of another issuer is not believed either: nothing of it is shown.
#[tokio::test]
async fn an_error_of_another_issuer_is_not_shown() {
    let scene = Scene::new().await;
    let asked = scene.asked(&scene.stage.modern()).await;
    let person = scene.stage.person().await;
    let left = scene.leave(&person, &asked.url()).await;
    let said = super::scene::parameters(left.refresh().unwrap());
    let forged = format!(
        "{}?error=access_denied&error_description=send+your+password&state={}&iss=https%3A%2F%2Fevil.example",
        said["redirect_uri"], said["state"]
    );
    let page = person.come_back(&forged).await;
    assert_eq!(page.status, 403, "{}", page.describe());
    assert!(!page.text().contains("password"), "{}", page.text());
    assert!(scene.credential().await.is_none());
    // Refused for its issuer, and not taken for the person's own no.
    assert_eq!(refused(&scene).await, 1);
    let state = scene.stage.interaction(&asked.url()).await.state;
    let other = matches!(state, InteractionState::Failed { reason: FailureReason::ProviderRefused, .. });
    assert!(other, "{state:?}");
}

/// R-OAUTH-02: the reply of one authorization server is good at its own address alone.
#[tokio::test]
async fn a_reply_at_the_address_of_another_issuer_is_not_followed() {
    let scene = Scene::new().await;
    let asked = scene.asked(&scene.stage.modern()).await;
    let person = scene.stage.person().await;
    let left = scene.leave(&person, &asked.url()).await;
    let back = person.at_issuer(&left, "user-1").await;
    let other = usher::oauth::issuer_key("https://evil.example");
    let own = usher::oauth::issuer_key(&scene.provider.issuer());
    let page = person.come_back(&back.replace(&own, &other)).await;
    assert_ne!(page.heading().as_deref(), Some("Connected"), "{}", page.describe());
    assert_eq!(scene.provider.count(Endpoint::Token), 0);
}

/// A server that names another authorization server while a person is away has their code sent to the one that gave it.
#[tokio::test]
async fn a_code_goes_to_nobody_but_who_gave_it() {
    let scene = Scene::new().await;
    let evil = Provider::start().await;
    evil.set(|settings| settings.registry.registration = Registration::Open);
    let asked = scene.asked(&scene.stage.modern()).await;
    let person = scene.stage.person().await;
    let left = scene.leave(&person, &asked.url()).await;
    let back = person.at_issuer(&left, "user-1").await;
    scene.stage.upstream.change_guard(|guard| guard.move_to(&evil));
    scene.stage.clock.forward(301);
    person.come_back(&back).await;
    let sent = |provider: &Provider| {
        let requests = provider.requests_to(Endpoint::Token);
        requests.iter().filter(|request| text(&request.body).contains(&*code(&back))).count()
    };
    assert_eq!(sent(&scene.provider), 1, "who gave it gets it, once");
    assert_eq!(evil.count(Endpoint::Token), 0);
    assert!(evil.requests().iter().all(|request| !text(&request.body).contains(&*code(&back))));
}

async fn refused(scene: &Scene) -> usize {
    scene.stage.audited(AuditAction::CallbackRefused).await
}

fn code(back: &str) -> String {
    let url = url(back);
    url.query_pairs().find(|(name, _)| name == "code").unwrap().1.into_owned()
}
