//! The configuration changes, and what people connected is there.

use usher_testkit::oauth::Endpoint;

use super::{connected, disconnect, is_gone};
use crate::{
    people_commands::{json, says},
    refresh::scene::Scene,
};

impl Scene {
    /// The service starts again with another configuration.
    pub(super) async fn configured(&mut self, change: impl FnOnce(String) -> String) {
        let path = self.stage.folder.path().join("usher.toml");
        let text = change(std::fs::read_to_string(&path).unwrap());
        std::fs::write(&path, text).unwrap();
        self.stage.restart().await;
    }
}

/// The configuration without the provider, and without the need of it.
fn without(text: &str) -> String {
    let from = text.find("[[upstream.needs]]\nprovider = \"hub\"").unwrap();
    let end = text.find("[provider.revocation]").unwrap();
    let rest = text[end..].lines().skip(2).collect::<Vec<_>>().join("\n");
    format!("{}{rest}", &text[..from])
}

/// What is stored of a provider that is configured no longer is listed, sent nowhere, and works again when it is back.
#[tokio::test]
async fn a_provider_that_is_taken_out_and_put_back_loses_nothing() {
    let (mut scene, person) = connected().await;
    let before = std::fs::read_to_string(scene.stage.folder.path().join("usher.toml")).unwrap();
    let seen = scene.stage.upstream.requests().len();

    scene.configured(|text| without(&text)).await;

    let folder = scene.stage.folder.path().to_owned();
    let portal = person.get("/").await;
    for said in ["hub", "Not in use", "Connected as user-1"] {
        assert!(portal.text().contains(said), "{said}: {}", portal.text());
    }
    assert!(!portal.html.contains("/reconnect"), "{}", portal.text());
    let listed = says(&folder, &["connections", "list"], 0).await;
    assert!(listed.contains("not configured"), "{listed}");
    let object = json(&folder, &["connections", "list", "--json"]).await;
    assert!(object[0]["kind"].is_null(), "{object}");
    scene.call().await;
    scene.stage.clock.forward(3600);
    scene.call().await;
    let sent = scene.stage.upstream.requests().split_off(seen);
    assert!(sent.iter().all(|request| request.header("authorization").is_none()), "sent nowhere");
    assert_eq!(scene.hub.count(Endpoint::Refresh), 0, "and not refreshed");

    scene.configured(|_| before).await;

    scene.goes_through().await;
    assert_eq!(scene.stage.waiting().await.len(), 0, "nobody was asked");
}

/// A name that changed is another provider: what was connected stays under the old one, and its owner can end it.
#[tokio::test]
async fn a_provider_that_is_renamed_is_listed_under_its_old_name() {
    let (mut scene, person) = connected().await;
    scene
        .configured(|text| {
            text.replace("name = \"hub\"\ntitle = \"Hub\"", "name = \"spoke\"\ntitle = \"Spoke\"")
                .replace("provider = \"hub\"", "provider = \"spoke\"")
        })
        .await;
    let asked = scene.call().await;
    assert!(asked.is_input_required(), "{}", asked.text());
    assert!(person.get("/").await.text().contains("Not in use"));
    let ask = person.get("/connections/hub/disconnect").await;
    assert!(ask.text().contains("it stays listed: Usher cannot end it there."), "{}", ask.text());

    let gone = person.agree(&ask, &[]).await;

    assert!(
        gone.text().contains("hub is disconnected.") && gone.text().contains("nothing has ended"),
        "{}",
        gone.text()
    );
    assert_eq!(scene.hub.count(Endpoint::Revocation), 0, "nobody knows how");
    is_gone(&scene).await;
}

/// R-OAUTH-05: the same name with another server: its tokens go neither to that one nor with a call.
#[tokio::test]
async fn another_server_of_the_same_name_is_told_nothing() {
    let (mut scene, person) = connected().await;
    let other = usher_testkit::oauth::Provider::start().await;
    let (old, new) = (scene.hub.issuer(), other.issuer());
    scene.configured(|text| text.replace(&old, &new)).await;
    disconnect(&person).await;
    assert_eq!((other.requests().len(), scene.hub.count(Endpoint::Revocation)), (0, 0));
    is_gone(&scene).await;
}
