//! R-GW-04: an access token goes where its owner saw at consent that it goes, and nowhere else.

use usher_store::AskReason;
use usher_testkit::{
    client::Modern,
    upstream::{Script, Upstream},
};

use super::{connected, scene_with};
use crate::{
    harness::{CALLS, Setup},
    needs_modern::ask,
    refresh::scene::{Scene, furnish, token_of},
};

/// A server at another address, which must not see the token.
async fn elsewhere(scene: &Scene) -> Upstream {
    let other = Upstream::start().await;
    furnish(&other, &scene.hub);
    other.forbid(token_of(&scene.stored().await));
    other
}

/// R-GW-04: a server that moved gets nothing before its owner allows the new address; back at the old one nobody is asked.
#[tokio::test]
async fn a_server_that_moved_gets_no_token_and_back_again_nobody_is_asked() {
    let (mut scene, person) = connected().await;
    let (new, old) = (elsewhere(&scene).await, scene.stage.upstream.origin().to_owned());
    let moved = new.origin().to_owned();

    scene.configured(|text| text.replace(&old, &moved)).await;

    for call in CALLS {
        let asked = ask(&scene.stage.modern(), call).await;
        assert_eq!(scene.stage.interaction(&asked.url()).await.reason, AskReason::NewDestination);
        let page = person.get(&asked.url()).await;
        assert!(page.text().contains(&moved), "{}", page.describe());
    }
    assert_eq!(scene.stage.modern().call("tools/list", "{}").await.status, 200);
    new.assert_clean();

    scene.configured(|text| text.replace(&moved, &old)).await;
    scene.goes_through().await;
}

/// R-GW-04: another server of the same provider has not been allowed anything.
#[tokio::test]
async fn another_server_of_the_provider_gets_no_token() {
    let other = Upstream::start().await;
    let more = format!(
        "[[upstream]]\nname = \"other\"\nurl = \"{}\"\n[[upstream.needs]]\nprovider = \"hub\"\n\
         header = {{ Authorization = \"Bearer {{access_token}}\" }}\n",
        other.url()
    );
    let scene = scene_with(Setup { more, ..Setup::default() }).await;
    scene.connect().await;
    scene.goes_through().await;
    other.forbid(token_of(&scene.stored().await));
    let client = Modern::new(format!("{}/mcp/other", scene.stage.origin)).token(&scene.stage.token);
    ask(&client.elicitation(&["form", "url"]), CALLS[0]).await;
    other.assert_clean();
    scene.assert_clean();
}

/// R-SEC-05: the token does not follow a redirect of the server.
#[tokio::test]
async fn a_redirect_of_the_server_takes_no_token_along() {
    let (scene, _) = connected().await;
    let other = elsewhere(&scene).await;
    let script = Script::new().body(307, "text/plain", "").response_header("location", &other.url());
    scene.stage.upstream.tool("get_forecast", script);
    scene.call().await;
    assert!(other.requests().is_empty());
}
