//! The issuer is away, slow, or answers nonsense.

use usher_testkit::{idp::Endpoint, provider::Behaviour};

use super::{is_heading, is_refused, scene::Scene};

const NOBODY: &str = "Nobody can sign in right now";

/// R-SEC-04: the page says that it is the issuer, and what to do; when it is back, everything goes on.
#[tokio::test]
async fn an_issuer_that_cannot_be_reached_is_told() {
    let scene = Scene::new().await;
    let link = scene.link(scene.user("user-1")).await;
    for behaviour in [
        Behaviour::Drop,
        Behaviour::Status(500),
        Behaviour::Status(404),
        Behaviour::Body(200, "<html>".to_owned()),
        Behaviour::Body(200, "{}".to_owned()),
        Behaviour::Huge(1024 * 1024),
        Behaviour::Endless,
        Behaviour::Redirect("http://127.0.0.1:9/".to_owned()),
    ] {
        scene.idp.behave(Endpoint::Discovery, behaviour);
        scene.forward(90);
        let page = scene.stranger().get(&link).await;
        is_refused(&page, 503, NOBODY);
        assert!(
            page.text().contains("127.0.0.1") && page.text().contains("tell the people who run"),
            "{}",
            page.text()
        );
    }
    scene.idp.behave(Endpoint::Discovery, Behaviour::Check);
    scene.forward(90);
    let person = scene.stranger();
    let page = person.get("/").await;
    is_heading(&person.sign_in_at(&page, "user-1").await, "Your connections");
}

/// R-SEC-04, R-SEC-05: neither does the token endpoint keep anybody waiting, fill the memory, or send the code elsewhere.
#[tokio::test]
async fn a_token_endpoint_that_answers_nonsense_signs_nobody_in() {
    let scene = Scene::new().await;
    for (behaviour, status, words) in [
        (Behaviour::Drop, 503, NOBODY),
        (Behaviour::Status(500), 503, NOBODY),
        (Behaviour::Status(200), 503, NOBODY),
        (Behaviour::Body(200, "{\"access_token\":".to_owned()), 503, NOBODY),
        (
            Behaviour::Body(
                200,
                "{\"access_token\":\"secret-7f\",\"token_type\":\"bearer\",\"id_token\":7}".to_owned(),
            ),
            503,
            NOBODY,
        ),
        (Behaviour::Body(400, "{\"error\":\"invalid_client\"}".to_owned()), 503, NOBODY),
        (Behaviour::Body(400, "{\"error\":\"invalid_grant\"}".to_owned()), 502, "does not prove who you are"),
        (Behaviour::Huge(1024 * 1024), 503, NOBODY),
        (Behaviour::Endless, 503, NOBODY),
        (Behaviour::Redirect("http://127.0.0.1:9/".to_owned()), 503, NOBODY),
    ] {
        let (person, url) = scene.answered("user-1").await;
        scene.idp.behave(Endpoint::Token, behaviour);
        let page = person.come_back(&url).await;
        is_refused(&page, status, words);
        assert!(!page.html.contains("secret-7f"));
        let before = scene.exchanges();
        is_refused(&person.come_back(&url).await, 410, "completed already");
        assert_eq!(scene.exchanges(), before, "a code goes out once, whatever becomes of it");
        scene.idp.behave(Endpoint::Token, Behaviour::Check);
        assert!(person.get("/").await.location().is_some());
    }
    assert!(!scene.database().contains("secret-7f"));
}

/// Whoever is signed in stays so while the issuer is away.
#[tokio::test]
async fn sessions_go_on_without_the_issuer() {
    let scene = Scene::new().await;
    let person = scene.person("user-1").await;
    for endpoint in [Endpoint::Discovery, Endpoint::Jwks, Endpoint::Token] {
        scene.idp.behave(endpoint, Behaviour::Drop);
    }
    scene.forward(3600);
    is_heading(&person.get("/").await, "Your connections");
}
