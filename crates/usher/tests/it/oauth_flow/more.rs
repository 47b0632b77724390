//! More permissions than were given: the person sees what is new, and what they gave works until then.

use usher_store::{CredentialStatus, Interaction};
use usher_testkit::{client::Modern, oauth::Endpoint, upstream::{Script, Upstream}};

use super::scene::{CALL, Change, Scene, is_heading, went};
use crate::{harness::ACCEPT, needs_modern::retry};

/// Two servers, the second of which needs more.
async fn two(upstream: &Upstream) -> Scene {
    upstream.tool("delete_repo", Script::new().text("deleted"));
    let second = format!(
        "[[upstream]]\nname = \"second\"\nurl = \"{}\"\n[[upstream.needs]]\nprovider = \"forge\"\nscopes = [\"delete_repo\"]\n",
        upstream.url()
    );
    Scene::with(Change { more: second, ..Change::default() }).await
}

fn at_second(scene: &Scene) -> Modern {
    let endpoint = format!("{}/mcp/second", scene.stage.origin);
    Modern::new(endpoint).token(&scene.stage.token).elicitation(&["form", "url"])
}

const DELETE: (&str, &str) = ("tools/call", r#"{"name":"delete_repo","arguments":{}}"#);

/// R-GW-03: a need with scopes that the grant lacks asks again; the old grant stays until the new one is stored.
#[tokio::test]
async fn a_need_with_more_scopes_asks_for_them() {
    let upstream = Upstream::start().await;
    let scene = two(&upstream).await;
    let person = scene.stage.person().await;
    let asked = scene.asked(&scene.stage.modern()).await;
    is_heading(&scene.connect(&person, &asked.url()).await, "Connected");
    let client = at_second(&scene);
    let more = client.call(DELETE.0, DELETE.1).await;
    assert!(more.text().contains("needs more permissions at Forge forge"), "{}", more.text());
    let page = person.get(&more.url()).await;
    is_heading(&page, "More permissions for Forge forge");
    for shown in ["New permissions delete_repo", "You gave already Read and write your repositories repo"] {
        assert!(page.text().contains(shown), "{shown}: {}", page.text());
    }
    let back = scene.back(&person, &more.url()).await;
    assert!(went(&scene.stage.modern().call(CALL.0, CALL.1).await), "what was given works on the way");
    let declined = scene.back_as(&person, &more.url(), "deny").await;
    let page = person.come_back(&declined).await;
    assert!(page.text().contains("What you had allowed before is still in place."), "{}", page.text());
    assert!(went(&scene.stage.modern().call(CALL.0, CALL.1).await), "and after a no");
    drop(back);
    person.submit(&page, &page.form_by_button("Start again"), None, &[]).await;
    is_heading(&scene.connect(&person, &more.url()).await, "Connected");
    let reply = retry(&client, DELETE, &more, ACCEPT).await;
    assert!(reply.text().contains("deleted"), "{}", reply.text());
    let grant = scene.credential().await.unwrap().grant.unwrap();
    assert_eq!(grant.scopes.into_iter().collect::<Vec<_>>(), ["delete_repo", "repo"]);
    assert!(went(&scene.stage.modern().call(CALL.0, CALL.1).await), "the first server goes on with the new one");
    scene.provider.assert_clean();
}

/// A provider that grants less than it was asked for, or calls it otherwise, is not asked for ever.
#[tokio::test]
async fn what_a_provider_does_not_grant_is_not_asked_again_and_again() {
    let scene = Scene::with(Change { need: "scopes = [\"admin\"]".to_owned(), ..Change::default() }).await;
    scene.provider.set(|settings| settings.authorization.scopes_granted = Some(vec!["repo"]));
    let client = scene.stage.modern();
    let person = scene.stage.person().await;
    let asked = scene.asked(&client).await;
    is_heading(&scene.connect(&person, &asked.url()).await, "Connected");
    assert!(went(&retry(&client, CALL, &asked, ACCEPT).await));
    assert!(went(&client.call(CALL.0, CALL.1).await));
    let grant = scene.credential().await.unwrap().grant.unwrap();
    assert_eq!(grant.scopes.into_iter().collect::<Vec<_>>(), ["repo"]);
    assert_eq!(grant.asked.into_iter().collect::<Vec<_>>(), ["admin", "repo"]);
}

/// A provider that says nothing of scopes has granted what it was asked for (RFC 6749, section 5.1).
#[tokio::test]
async fn scopes_that_are_not_told_are_those_that_were_asked_for() {
    let scene = Scene::new().await;
    scene.provider.set(|settings| settings.tokens.scope_member = "elsewhere");
    let person = scene.stage.person().await;
    let asked = scene.asked(&scene.stage.modern()).await;
    is_heading(&scene.connect(&person, &asked.url()).await, "Connected");
    let grant = scene.credential().await.unwrap().grant.unwrap();
    assert_eq!(grant.scopes.into_iter().collect::<Vec<_>>(), ["repo"]);
}

/// What a server demanded of a call is asked for beside what was given; until then the old grant is used.
#[tokio::test]
async fn what_a_server_demanded_is_asked_for_when_more_is_asked() {
    let upstream = Upstream::start().await;
    let scene = two(&upstream).await;
    let person = scene.stage.person().await;
    let asked = scene.asked(&scene.stage.modern()).await;
    scene.connect(&person, &asked.url()).await;
    let stored = scene.credential().await.unwrap();
    let demanded = std::collections::BTreeSet::from(["audit".to_owned()]);
    let store = &scene.stage.app().store;
    assert!(store.demand_scopes(&stored.user, "forge", stored.version, &demanded, stored.updated_at).await.unwrap());
    assert!(went(&scene.stage.modern().call(CALL.0, CALL.1).await), "it works as it is");
    let more = at_second(&scene).call(DELETE.0, DELETE.1).await;
    let left = scene.leave(&person, &more.url()).await;
    assert!(left.location().unwrap().contains("scope=audit%20delete_repo%20repo"), "{}", left.describe());
    let back = person.at_issuer(&left, "user-1").await;
    is_heading(&person.come_back(&back).await, "Connected");
    let stored = scene.credential().await.unwrap();
    assert_eq!(stored.status, CredentialStatus::Working);
    assert_eq!(stored.approvals.len(), 2, "what was agreed to stays agreed to");
    let Interaction { state, .. } = scene.state(&more.url()).await;
    assert_eq!(state.name().as_str(), "completed");
    assert_eq!(scene.provider.count(Endpoint::Token), 2);
}
