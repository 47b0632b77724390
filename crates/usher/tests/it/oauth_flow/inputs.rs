//! Providers whose host the person chooses (kind 15).

use usher_testkit::oauth::{CLIENT, CLIENT_SECRET, Endpoint, Provider};

use super::scene::{CALL, Change, Scene, is_heading, went};
use crate::{harness::ACCEPT, needs_modern::retry};

/// A provider where each customer has a place of their own.
async fn tenants() -> Scene {
    let provider = Provider::start().await;
    provider.set(|settings| settings.tenants = vec!["acme".to_owned(), "other".to_owned()]);
    let url = |endpoint| provider.url_of("{shop}", endpoint);
    let more = format!(
        "[[provider]]\nname = \"shop\"\ntitle = \"Shop\"\nkind = \"oauth\"\nclient_id = \"{CLIENT}\"\nclient_secret = \"{CLIENT_SECRET}\"\n\
         authorization_endpoint = \"{}\"\ntoken_endpoint = \"{}\"\n\
         [[provider.input]]\nname = \"shop\"\nlabel = \"the name of your shop\"\npattern = \"[a-z]+\"\n\
         [[upstream]]\nname = \"shop\"\nurl = \"http://127.0.0.1:9/mcp\"\n[[upstream.needs]]\nprovider = \"shop\"\n\
         [egress]\nallow = [\"127.0.0.0/8\"]\n",
        url(Endpoint::Authorization),
        url(Endpoint::Token),
    );
    let scene = Scene::at(provider, Change { more, ..Change::default() }).await;
    scene.provider.answer_at(&format!("{}/callback/shop", scene.stage.origin));
    scene
}

/// What the person typed is checked, stays, and is where they are sent; the page names the host before anybody goes
/// there.
#[tokio::test]
async fn a_host_that_the_person_chooses_is_named_before_they_go_there() {
    let scene = tenants().await;
    let endpoint = format!("{}/mcp/shop", scene.stage.origin);
    let client = usher_testkit::client::Modern::new(endpoint).token(&scene.stage.token).elicitation(&["form", "url"]);
    let asked = client.call(CALL.0, CALL.1).await;
    let person = scene.stage.person().await;
    let page = person.get(&asked.url()).await;
    is_heading(&page, "Connect Shop");
    assert!(!page.text().contains("You will sign in at"), "{}", page.text());
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("form-action 'self';"), "{policy}");
    for (typed, says) in [("", "Enter the name of your shop."), ("a/../b", "is not written as it should be")] {
        let wrong = person.agree(&page, &[("shop", typed)]).await;
        assert_eq!(wrong.status, 422, "{}", wrong.describe());
        assert!(wrong.text().contains(says), "{}", wrong.text());
        assert_eq!(wrong.form_by_button("authorize").input("shop").unwrap().value, typed);
    }
    let named = person.agree(&page, &[("shop", "Acme")]).await;
    assert!(named.text().contains("You will sign in at"), "{}", named.text());
    let left = person.agreement(&named, &[]).stay().send().await;
    assert!(
        left.location().unwrap().starts_with(&scene.provider.url_of("acme", Endpoint::Authorization)),
        "{}",
        left.describe()
    );
    // Another one than the page named is named first.
    let other = person.agreement(&named, &[("shop", "other")]).stay().send().await;
    assert_eq!(other.status, 303, "the same host: {}", other.describe());
    let back = person.at_issuer(&other, "user-1").await;
    is_heading(&person.come_back(&back).await, "Connected");
    let stored =
        scene.stage.app().store.credential(&usher::identity::tokens::local_user(), "shop").await.unwrap().unwrap();
    assert_eq!(stored.grant.unwrap().values["shop"], "other");
    // The call goes on, to a server that is not there.
    let reply = retry(&client, CALL, &asked, ACCEPT).await;
    assert!(!went(&reply) && reply.text().contains("cannot be reached"), "{}", reply.text());
}
