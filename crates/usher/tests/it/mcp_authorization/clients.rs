//! How our client becomes known: by registration, by our document, by the configuration.

use serde_json::{Value, json};
use usher_store::{FailureReason, InteractionState};
use usher_testkit::{
    oauth::{
        Client, Endpoint, Trouble,
        settings::{ClientAuth, Offline, RegisteredSecret, Registration},
    },
    provider::Behaviour,
};

use super::scene::{CALL, Change, Scene, parameters, went};
use crate::{harness::ACCEPT, needs_modern::retry};

/// A client that registers itself does so once, for all users and after a restart.
#[tokio::test]
async fn a_registration_is_kept() {
    let scene = Scene::new().await;
    scene.connected().await;
    let known = scene.provider.clients();
    scene
        .stage
        .app()
        .store
        .disconnect(&usher::identity::tokens::local_user(), "notes", scene.stage.app().clock.now())
        .await
        .unwrap();
    scene.connected().await;
    assert_eq!(scene.provider.clients(), known);
    scene.assert_clean();
}

/// What the reply says counts: a secret that came with the method `none` is not used.
#[tokio::test]
async fn a_secret_that_must_not_be_used_is_not() {
    let scene = Scene::new().await;
    scene.provider.set(|settings| {
        settings.tokens.client_auth = vec![ClientAuth::None];
        settings.registry.secret = RegisteredSecret::Always;
    });
    scene.connected().await;
    scene.assert_clean();
}

/// A client that the authorization server has forgotten is registered anew when the person starts again.
#[tokio::test]
async fn a_client_that_was_forgotten_is_made_anew() {
    let scene = Scene::new().await;
    let client = scene.stage.modern();
    let asked = scene.asked(&client).await;
    let person = scene.stage.person().await;
    let left = scene.leave(&person, &asked.url()).await;
    let before = parameters(left.refresh().unwrap())["client_id"].clone();
    let back = person.at_issuer(&left, "user-1").await;
    scene.provider.forget_client(&before);
    let failed = person.come_back(&back).await;
    assert_ne!(failed.heading().as_deref(), Some("Connected"), "{}", failed.describe());

    person.agree(&failed, &[]).await;
    let done = scene.connect(&person, &asked.url()).await;
    assert_eq!(done.heading().as_deref(), Some("Connected"), "{}", done.describe());
    assert!(went(&retry(&client, CALL, &asked, ACCEPT).await));
    assert_eq!(scene.provider.counts().registrations, 2);
}

/// A registration is good until its server says that it does not know it: a request that is wrong, or an endpoint that moved, is the
/// operator's to mend, and no other client changes that.
#[tokio::test]
async fn a_registration_outlives_what_is_no_fault_of_its_own() {
    let scene = Scene::new().await;
    let asked = scene.asked(&scene.stage.modern()).await;
    let person = scene.stage.person().await;
    let says = |code: &str| Behaviour::Body(400, format!(r#"{{"error":"{code}"}}"#));
    for wrong in [
        says("invalid_target"),
        says("redirect_uri_mismatch"),
        says("unsupported_grant_type"),
        Behaviour::Status(404),
        Behaviour::Status(405),
        Behaviour::Status(415),
        Behaviour::Redirect("https://evil.example/token".to_owned()),
    ] {
        let what = format!("{wrong:?}");
        scene.provider.trouble_next(Endpoint::Token, Trouble::Instead(wrong));
        let failed = scene.connect(&person, &asked.url()).await;
        let state = scene.stage.interaction(&asked.url()).await.state;
        let misconfigured = matches!(state, InteractionState::Failed { reason: FailureReason::Misconfigured, .. });
        assert!(misconfigured, "{what}: {state:?}");
        assert_eq!(scene.provider.counts().registrations, 1, "{what}");
        person.submit(&failed, &failed.form_by_button("Start again"), None, &[]).await;
    }
    let done = scene.connect(&person, &asked.url()).await;
    assert_eq!(done.heading().as_deref(), Some("Connected"), "{}", done.describe());
    assert_eq!(scene.provider.counts().registrations, 1);
}

/// R-OAUTH-03: what a refresh token is asked for by is among the permissions that the page names, and that are asked for.
#[tokio::test]
async fn the_page_names_every_scope_that_is_asked_for() {
    let scene = Scene::with(Change { provider: "scopes = [\"read\"]".to_owned(), ..Change::default() }).await;
    scene.provider.set(|settings| {
        settings.authorization.offline = Offline::Scope("offline_access");
        settings.authorization.scopes_known = Some(vec!["read", "offline_access"]);
    });
    let asked = scene.asked(&scene.stage.modern()).await;
    let person = scene.stage.person().await;
    let page = person.get(&asked.url()).await;
    let left = scene.leave(&person, &asked.url()).await;
    let scopes = parameters(left.refresh().unwrap())["scope"].clone();
    assert!(scopes.split(' ').any(|scope| scope == "offline_access"), "{scopes}");
    for scope in scopes.split(' ') {
        assert!(page.text().contains(scope), "{scope}: {}", page.text());
    }
    let back = person.at_issuer(&left, "user-1").await;
    person.come_back(&back).await;
    let asked_for = scene.credential().await.unwrap().grant.unwrap().asked;
    assert!(asked_for.contains("offline_access"), "{asked_for:?}");
}

/// R-OAUTH-05: the operator's own client, at the issuer that it was registered at.
#[tokio::test]
async fn the_client_of_the_configuration_needs_no_registration() {
    let lines = "issuer = \"{issuer}\"\nclient_id = \"ours\"\nclient_secret = \"kept-by-the-operator\"";
    // And nothing is allowed but what the operator wrote down.
    let scene = Scene::with(Change { provider: lines.to_owned(), strict: true, ..Change::default() }).await;
    let key = usher::oauth::issuer_key(&scene.provider.issuer());
    let redirect = format!("{}/callback/notes/{key}", scene.stage.origin);
    scene.provider.set(|settings| settings.registry.registration = Registration::Missing);
    scene.provider.put_client(Client::new("ours", "kept-by-the-operator").redirect_uri(&redirect));
    scene.connected().await;
    assert_eq!(scene.provider.count(Endpoint::Registration), 0);
    scene.assert_clean();
}

#[tokio::test]
async fn where_no_client_can_be_had_the_page_says_so() {
    let scene = Scene::new().await;
    scene.provider.set(|settings| settings.registry.registration = Registration::Refused(403, "access_denied"));
    let page = scene.page(&scene.stage.person().await).await;
    assert!(page.text().contains("does not accept this Usher as an app"), "{}", page.text());
    assert!(!page.text().contains("access_denied"), "what the server says is for the log: {}", page.text());
}

/// Our document is served at the client id that it names, and for no other provider or key.
#[tokio::test]
async fn the_document_about_us_is_served() {
    let change = Change { strict: true, ..Change::default() };
    let scene = Scene::with(change).await;
    let person = scene.stage.person().await;
    let key = usher::oauth::issuer_key("https://id.example");
    // Over http, our address is no client id.
    let place = |provider: &str, key: &str| format!("/.well-known/usher-client/{provider}/{key}.json");
    assert_eq!(person.get(&place("notes", &key)).await.status, 404);

    let setup = crate::harness::Setup {
        behind: true,
        free: true,
        upstream: "[[upstream.needs]]\nprovider = \"notes\"\n".to_owned(),
        more: "[[provider]]\nname = \"notes\"\nkind = \"mcp\"\n".to_owned(),
        ..Default::default()
    };
    let stage = crate::harness::Stage::oidc(setup).await;
    let agent = usher_testkit::agent();
    let at = |path: String| {
        let address = stage.app().config.listen;
        agent.get(format!("http://{address}{path}")).header("host", "usher.example")
    };
    let answer = at(place("notes", &key)).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-type"], "application/json");
    let document: Value = serde_json::from_str(&answer.text().await.unwrap()).unwrap();
    assert_eq!(document["client_id"], json!(format!("https://usher.example{}", place("notes", &key))));
    assert_eq!(document["redirect_uris"], json!([format!("https://usher.example/callback/notes/{key}")]));
    assert_eq!(document["token_endpoint_auth_method"], "none");
    for (provider, key) in
        [("weather", key.as_str()), ("none", &key), ("notes", "short"), ("notes", "..%2f..%2fxxxxxxxxxxxxxxxxxxx")]
    {
        assert_eq!(at(place(provider, key)).send().await.unwrap().status(), 404, "{provider} {key}");
    }
}
