//! From the call to its answer, in both eras: the client's access token and the person in the browser are the same user.

use usher_testkit::person::Person;

use super::is_heading;
use crate::harness::{ACCEPT, CALLS, KEY, Setup, Stage, answered};

/// Opens the link as nobody, signs in on the way, and connects.
async fn connect(stage: &Stage, url: &str, user: &str) {
    let person = Person::new(&stage.origin).language("en");
    let page = person.get(url).await;
    let page = person.sign_in_at(&page, user).await;
    assert_eq!(page.url, url, "{}", page.describe());
    is_heading(&person.agree(&page, &[("api_key", KEY)]).await, "Connected");
}

/// R-GW-03, R-ID-01, R-ID-02, R-ID-03: asked, signed in, connected, and the retry brings the result.
#[tokio::test]
async fn a_modern_call_asks_and_goes_on_after_the_sign_in() {
    for (method, params) in CALLS {
        let stage = Stage::oidc(Setup::default()).await;
        let client = stage.modern();
        let asked = client.call(method, params).await;
        assert!(asked.is_input_required(), "{}", asked.text());
        let other = stage.person_of("user-2").await;
        is_heading(&other.get(&asked.url()).await, "This link is for another account");
        connect(&stage, &asked.url(), "user-1").await;
        let state = asked.request_state();
        let reply = client.retry(method, params, Some(&asked.answer_all(ACCEPT)), state.as_deref()).await;
        assert!(answered(&reply), "{}", reply.text());
        stage.upstream.assert_clean();
    }
}

/// The same on the stream of a legacy call, which is held meanwhile.
#[tokio::test]
async fn a_legacy_call_asks_and_goes_on_after_the_sign_in() {
    for (method, params) in CALLS {
        let stage = Stage::oidc(Setup::default()).await;
        let client = stage.legacy();
        assert_eq!(client.initialize().await.status, 200);
        let mut stream = client.open(method, params).await;
        let question = stream.expect("elicitation/create").await;
        assert_eq!(client.respond(question.id().unwrap(), ACCEPT).await.status, 202);
        let url = question.string(&["params", "url"]).unwrap();
        let other = stage.person_of("user-2").await;
        is_heading(&other.get(&url).await, "This link is for another account");
        connect(&stage, &url, "user-1").await;
        stream.expect("notifications/elicitation/complete").await;
        let reply = stream.reply().await;
        assert!(answered(&reply), "{}", reply.text());
        stage.upstream.assert_clean();
    }
}

/// R-ID-01: where the operator chose another claim than `sub`, it is the same user on both sides all the same.
#[tokio::test]
async fn another_claim_is_the_same_user_on_both_sides() {
    let stage = Stage::oidc(Setup { identity: "user_claim = \"oid\"".to_owned(), ..Setup::default() }).await;
    let token = stage.access("user-1", "editor").claim("oid", "object-1").mint();
    let asked = stage.modern_with(&token).call(CALLS[0].0, CALLS[0].1).await;
    assert!(asked.is_input_required(), "{}", asked.text());
    connect(&stage, &asked.url(), "user-1").await;
}
