//! A call that needs more scopes than were granted (403 with `insufficient_scope`).

use usher_store::CredentialStatus;
use usher_testkit::person::Person;

use super::scene::{ANSWER, CALL, Change, Scene, WRITE, parameters, went};
use crate::{harness::ACCEPT, needs_modern::retry};

async fn reading() -> Scene {
    Scene::with(Change {
        guard: Box::new(|guard| {
            guard.scopes = vec!["read"];
            guard.scopes_of.insert("write_note", vec!["write"]);
        }),
        ..Change::default()
    })
    .await
}

/// Agrees to more, and comes back: what was asked for.
async fn widened(scene: &Scene, person: &Person, url: &str) -> String {
    let left = scene.leave(person, url).await;
    let scopes = parameters(left.refresh().unwrap())["scope"].clone();
    let back = person.at_issuer(&left, "user-1").await;
    assert_eq!(person.come_back(&back).await.heading().as_deref(), Some("Connected"));
    scopes
}

/// R-GW-03: asked for everything together, and the call goes on; the old token is good until then.
#[tokio::test]
async fn a_call_that_needs_more_asks_for_all_together() {
    let scene = reading().await;
    let client = scene.connected().await;
    let asked = client.call(WRITE.0, WRITE.1).await;
    assert!(asked.is_input_required(), "{}", asked.text());
    assert_eq!(scene.status().await, CredentialStatus::Narrow);
    assert!(went(&client.call(CALL.0, CALL.1).await), "what it was good for it still is");
    assert_eq!(widened(&scene, &scene.stage.person().await, &asked.url()).await, "read write");
    let reply = retry(&client, WRITE, &asked, ACCEPT).await;
    assert!(reply.text().contains("written"), "{}", reply.text());
    assert_eq!(scene.status().await, CredentialStatus::Working);
    scene.assert_clean();
}

/// R-GW-03: the same in the client's era.
#[tokio::test]
async fn a_held_call_that_needs_more_asks_and_goes_on() {
    let scene = reading().await;
    scene.connected().await;
    let client = scene.stage.ready().await;
    let mut stream = client.open(WRITE.0, WRITE.1).await;
    let question = stream.expect("elicitation/create").await;
    client.respond(question.id().unwrap(), ACCEPT).await;
    let url = question.string(&["params", "url"]).unwrap();
    assert_eq!(widened(&scene, &scene.stage.person().await, &url).await, "read write");
    let reply = stream.reply().await;
    assert!(reply.text().contains("written"), "{}", reply.text());
}

/// R-SEC-04: a server that is never content ends the call; nobody is asked for the same again.
#[tokio::test]
async fn a_server_that_is_never_content_ends_the_call() {
    let scene = reading().await;
    let client = scene.connected().await;
    // Whatever the person agrees to, the authorization server leaves it out.
    scene.provider.set(|settings| settings.authorization.scopes_granted = Some(vec!["read"]));
    let asked = client.call(WRITE.0, WRITE.1).await;
    widened(&scene, &scene.stage.person().await, &asked.url()).await;
    let reply = retry(&client, WRITE, &asked, ACCEPT).await;
    assert!(reply.is_tool_error() && reply.text().contains("asked for already (read write)"), "{}", reply.text());
    let again = client.call(WRITE.0, WRITE.1).await;
    assert!(again.is_tool_error() && !again.is_input_required(), "{}", again.text());
    assert!(client.call(CALL.0, CALL.1).await.text().contains(ANSWER));
}

/// One that demands another scope each time is stopped by the limits of one call.
#[tokio::test]
async fn a_server_that_demands_more_and_more_ends_the_call() {
    let scene = reading().await;
    let client = scene.connected().await;
    let person = scene.stage.person().await;
    let mut asked = client.call(WRITE.0, WRITE.1).await;
    for round in 0..10 {
        if !asked.is_input_required() {
            assert!(asked.is_tool_error(), "{}", asked.text());
            assert!(round >= 2, "a server may find out step by step: {round}");
            return;
        }
        widened(&scene, &person, &asked.url()).await;
        let more: &'static str = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"][round];
        scene.stage.upstream.change_guard(|guard| {
            guard.scopes_of.get_mut("write_note").unwrap().push(more);
        });
        asked = retry(&client, WRITE, &asked, ACCEPT).await;
    }
    panic!("asked for ever");
}

/// What one person's call needs is not asked of another's.
#[tokio::test]
async fn the_challenge_of_a_call_is_that_call_s_alone() {
    let scene = reading().await;
    let client = scene.stage.modern();
    let asked = client.call(WRITE.0, WRITE.1).await;
    let left = scene.leave(&scene.stage.person().await, &asked.url()).await;
    assert_eq!(parameters(left.refresh().unwrap())["scope"], "read");
}
