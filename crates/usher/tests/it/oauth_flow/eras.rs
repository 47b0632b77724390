//! The way of an account, for a call of each era.

use usher_testkit::oauth::Endpoint;

use super::scene::{CALL, Scene, id_of, is_heading, went};
use crate::{harness::ACCEPT, needs_modern::retry};

/// R-GW-03, R-OAUTH-01, R-OAUTH-02, R-OAUTH-03, R-SEC-06: asked, agreed here and there, back; the call goes on by
/// itself with the access token, which only the server gets.
#[tokio::test]
async fn a_call_goes_on_once_its_account_is_connected() {
    let scene = Scene::new().await;
    let client = scene.stage.modern();
    let asked = scene.asked(&client).await;
    let person = scene.stage.person().await;
    let page = person.get(&asked.url()).await;
    is_heading(&page, "Connect Forge forge");
    let host = scene.provider.address().to_string();
    for shown in ["Asked by default", "Weather", "Read and write your repositories", "You will sign in at", &host] {
        assert!(page.text().contains(shown), "{shown}: {}", page.text());
    }
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("form-action 'self';"), "{policy}");
    assert!(policy.contains("frame-ancestors 'none'"), "{policy}");
    assert!(!person.cookies().iter().any(|cookie| cookie.name.ends_with("-flow")), "no flow cookie before consent");
    assert!(scene.provider.requests().is_empty(), "nobody is asked before consent");

    let left = scene.leave(&person, &asked.url()).await;
    let address = left.refresh().unwrap();
    assert!(address.starts_with(&scene.provider.url(Endpoint::Authorization)), "{address}");
    assert!(address.contains("code_challenge_method=S256") && address.contains("scope=repo"), "{address}");
    assert!(address.contains(&format!("state={}.", id_of(&asked.url()))), "{address}");
    assert!(
        person.set_cookie_lines().iter().any(|line| {
            ["-flow=", "; HttpOnly", "; SameSite=Lax", "; Path=/"].iter().all(|part| line.contains(part))
        })
    );
    let back = person.at_issuer(&left, "user-1").await;
    assert!(back.starts_with(&format!("{}/callback/forge?", scene.stage.origin)), "{back}");
    let done = person.come_back(&back).await;
    is_heading(&done, "Connected");
    assert!(done.url.ends_with(&format!("/connect/{}", id_of(&asked.url()))), "no code in the address: {}", done.url);
    assert!(done.text().contains("Connected as Person <b>user-1</b>"), "{}", done.text());

    let reply = retry(&client, CALL, &asked, ACCEPT).await;
    assert!(went(&reply), "{}", reply.text());
    let token = scene.sent().pop().unwrap();
    let known = scene.provider.token_book().look_up(&token).unwrap();
    assert_eq!((known.subject.as_str(), known.scopes), ("user-1", vec!["repo".to_owned()]));
    assert_eq!(scene.provider.counts().exchanges, 1);
    scene.provider.assert_clean();
    scene.stage.upstream.assert_clean();
}

/// The older protocol: the held call goes on.
#[tokio::test]
async fn a_held_call_goes_on_once_its_account_is_connected() {
    let scene = Scene::new().await;
    let client = scene.stage.ready().await;
    let mut stream = client.open(CALL.0, CALL.1).await;
    let question = stream.expect("elicitation/create").await;
    let message = question.string(&["params", "message"]).unwrap();
    assert!(message.contains("needs your Forge forge account") && message.contains("sign in"), "{message}");
    client.respond(question.id().unwrap(), ACCEPT).await;
    let url = question.string(&["params", "url"]).unwrap();
    let person = scene.stage.person().await;
    is_heading(&scene.connect(&person, &url).await, "Connected");
    assert!(went(&stream.reply().await));
    scene.provider.assert_clean();
}
