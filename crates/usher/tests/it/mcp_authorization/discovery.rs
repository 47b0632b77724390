//! What a server and its authorization server say of themselves, right and wrong.

use serde_json::json;
use usher_testkit::{
    oauth::{Endpoint, Provider, settings::MetadataPlace},
    upstream::{ChallengeMetadata, ResourcePlace},
};

use super::scene::{Change, Scene, parameters};

/// Each place where metadata may be.
#[tokio::test]
async fn metadata_are_found_wherever_the_specification_has_them() {
    for (place, challenge) in [
        (ResourcePlace::Inserted, ChallengeMetadata::Right),
        (ResourcePlace::Inserted, ChallengeMetadata::Absent),
        (ResourcePlace::Root, ChallengeMetadata::Absent),
        (ResourcePlace::Elsewhere("/about/notes.json"), ChallengeMetadata::Right),
    ] {
        let scene = Scene::with(Change {
            guard: Box::new(move |guard| {
                guard.metadata.places = vec![place];
                guard.metadata_in_challenge = challenge.clone();
            }),
            ..Change::default()
        })
        .await;
        scene.connected().await;
        scene.assert_clean();
    }
    for place in [MetadataPlace::Oauth, MetadataPlace::OpenIdInserted, MetadataPlace::OpenIdAppended] {
        let provider = Provider::start_at("/tenant").await;
        provider.set(|settings| settings.server.metadata_places = vec![place]);
        let scene = Scene::at(provider, Change::default()).await;
        scene.connected().await;
        scene.assert_clean();
    }
}

/// R-OAUTH-05: nobody is sent to an authorization server that does not bind codes to who asked for them.
#[tokio::test]
async fn without_s256_nobody_is_sent_anywhere() {
    for methods in [json!(null), json!(["plain"])] {
        let scene = Scene::new().await;
        scene
            .provider
            .set(|settings| settings.server.metadata = json!({ "code_challenge_methods_supported": methods }));
        let page = scene.page(&scene.stage.person().await).await;
        assert!(page.text().contains("does not support a sign-in that is safe (PKCE)"), "{}", page.text());
        assert!(scene.provider.requests_to(Endpoint::Registration).is_empty());
    }
}

/// R-OAUTH-05: the metadata's `issuer` is identical to the one that was asked for.
#[tokio::test]
async fn metadata_of_another_issuer_lead_nowhere() {
    for other in ["https://honest.example".to_owned(), "{issuer}/".to_owned()] {
        let scene = Scene::new().await;
        let other = other.replace("{issuer}", &scene.provider.issuer());
        scene.provider.set(|settings| settings.server.metadata = json!({ "issuer": other }));
        let page = scene.page(&scene.stage.person().await).await;
        assert!(page.form_with(|form| form.button("Go on").is_some()).is_none(), "{}", page.describe());
        assert!(scene.provider.requests_to(Endpoint::Registration).is_empty());
    }
}

/// A document about another server is not used: its tokens would be for that one.
#[tokio::test]
async fn metadata_of_another_resource_lead_nowhere() {
    let scene = Scene::with(Change {
        guard: Box::new(|guard| guard.metadata.resource = Some("https://bank.example/mcp".to_owned())),
        ..Change::default()
    })
    .await;
    scene.page(&scene.stage.person().await).await;
    assert!(scene.provider.requests().is_empty());
}

/// R-SEC-05: what a server names is requested at no private address that nobody allowed.
#[tokio::test]
async fn a_server_has_nothing_requested_inside() {
    let scene = Scene::with(Change { strict: true, ..Change::default() }).await;
    scene.page(&scene.stage.person().await).await;
    assert!(scene.provider.requests().is_empty());
}

/// The server's challenge says which scopes are asked for, else its metadata; offline access where it is known.
#[tokio::test]
async fn scopes_are_those_that_the_server_names() {
    let challenged = Scene::with(Change {
        guard: Box::new(|guard| {
            guard.scopes = vec!["notes.read"];
            guard.metadata.scopes_supported = Some(vec!["notes.read", "notes.write"]);
        }),
        ..Change::default()
    })
    .await;
    let supported = Scene::with(Change {
        guard: Box::new(|guard| guard.metadata.scopes_supported = Some(vec!["notes.read", "notes.write"])),
        ..Change::default()
    })
    .await;
    supported.provider.set(|settings| settings.server.metadata = json!({ "scopes_supported": ["offline_access"] }));
    for (scene, expected, prompt) in
        [(challenged, "notes.read", None), (supported, "notes.read notes.write offline_access", Some("consent"))]
    {
        let person = scene.stage.person().await;
        let asked = scene.asked(&scene.stage.modern()).await;
        let left = scene.leave(&person, &asked.url()).await;
        let said = parameters(left.refresh().unwrap());
        assert_eq!(said["scope"], expected);
        assert_eq!(said.get("prompt").map(String::as_str), prompt);
    }
}
