//! The provider is away, slow, has enough, or says what nobody understands: nobody is asked for that, and it is not hammered.

use std::time::Duration;

use usher_store::CredentialStatus;
use usher_testkit::{
    client::Reply,
    oauth::{Endpoint, Trouble},
    provider::Behaviour,
};

use super::scene::{HOUR, Scene};
use crate::harness::{CALLS, answered, told};

fn status(status: u16) -> Trouble {
    Trouble::Instead(Behaviour::Status(status))
}

fn says(reply: &Reply, words: &[&str]) {
    let text = told(CALLS[0].0, reply);
    assert!(words.iter().all(|word| text.contains(word)), "{text}");
}

/// R-SEC-04: while a token is good, an outage of its provider is felt by nobody.
#[tokio::test]
async fn a_token_that_is_good_is_used_through_an_outage() {
    let scene = Scene::connected().await;
    scene.hub.trouble(Endpoint::Refresh, status(503));
    scene.stage.clock.forward(HOUR - 120);
    scene.goes_through().await;
    super::until("a failed attempt", || async { scene.stored().await.attempts == 1 }).await;
    for _ in 0..10 {
        scene.goes_through().await;
    }
    assert_eq!(scene.hub.count(Endpoint::Refresh), 1, "it is not asked again at once");
    let stored = scene.stored().await;
    assert_eq!((stored.status, stored.attempts), (CredentialStatus::Working, 1));
    scene.stage.clock.forward(30);
    scene.hub.well(Endpoint::Refresh);
    scene.goes_through().await;
    super::until("the new token", || async { scene.stored().await.attempts == 0 }).await;
    assert_eq!(scene.hub.counts().refreshes, 1);
    scene.assert_clean();
}

/// R-SEC-04, cases 37: once it has expired, each call ends with an error that names the provider and says when to try again, for
/// tools, prompts and resources alike. Nobody is asked to sign in again, and the provider is not asked by each call.
#[tokio::test]
async fn an_expired_token_and_a_provider_that_is_away_make_a_clear_error() {
    for trouble in [
        status(503),
        status(500),
        Trouble::Instead(Behaviour::Drop),
        Trouble::Instead(Behaviour::Body(200, "<html>maintenance</html>".to_owned())),
        Trouble::Instead(Behaviour::Body(200, "{}".to_owned())),
        Trouble::Instead(Behaviour::Huge(8 << 20)),
    ] {
        let scene = Scene::expired().await;
        let what = format!("{trouble:?}");
        scene.hub.trouble(Endpoint::Refresh, trouble);
        for (method, params) in CALLS {
            let text = told(method, &scene.stage.modern().call(method, params).await);
            let says = ["Hub", "cannot be reached", "try again in", "Your connection is still there"];
            assert!(says.iter().all(|words| text.contains(words)), "{what}: {text}");
        }
        assert_eq!(scene.hub.count(Endpoint::Refresh), 1, "{what}");
        assert!(scene.stage.upstream.requests_of(CALLS[0].0).is_empty(), "{what}");
        let stored = scene.stored().await;
        assert_eq!((stored.status, stored.attempts), (CredentialStatus::Working, 1), "{what}");
        assert!(scene.stage.waiting().await.is_empty(), "{what}");
        scene.stage.clock.forward(10);
        scene.hub.well(Endpoint::Refresh);
        scene.goes_through().await;
        assert_eq!(scene.stored().await.attempts, 0);
        scene.hub.assert_clean();
    }
}

/// The same in the legacy era.
#[tokio::test]
async fn a_legacy_call_ends_with_the_same_error() {
    let scene = Scene::expired().await;
    scene.hub.trouble(Endpoint::Refresh, status(503));
    let client = scene.stage.ready().await;
    for (method, params) in CALLS {
        let text = told(method, &client.call(method, params).await);
        assert!(text.contains("Hub") && text.contains("try again in"), "{text}");
    }
    assert_eq!(scene.hub.count(Endpoint::Refresh), 1);
}

/// R-SEC-04: the pauses between attempts grow, whoever asks meanwhile.
#[tokio::test]
async fn pauses_grow_while_it_is_away() {
    let scene = Scene::expired().await;
    scene.hub.trouble(Endpoint::Refresh, status(503));
    let mut attempts = 0;
    let mut asked_at = Vec::new();
    for second in 0..120 {
        let reply = scene.call().await;
        assert!(reply.is_tool_error(), "{}", reply.text());
        if scene.hub.count(Endpoint::Refresh) > attempts {
            attempts = scene.hub.count(Endpoint::Refresh);
            asked_at.push(second);
        }
        scene.stage.clock.forward(1);
    }
    // After 0, 5 to 6, 10 to 12, 20 to 24 and 40 to 48 seconds more.
    assert!((4..=5).contains(&attempts), "{asked_at:?}");
    let pauses: Vec<_> = asked_at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(pauses.is_sorted(), "{asked_at:?}");
}

/// A provider that says when it wants to be asked again is asked then, also after a new start, and for other tokens of it.
#[tokio::test]
async fn a_provider_that_says_when_is_not_asked_before() {
    for (trouble, words) in [
        (Trouble::Limited("120".to_owned()), "takes no more requests"),
        (Trouble::Unavailable("120".to_owned()), "takes no more requests"),
    ] {
        let mut scene = Scene::expired().await;
        scene.hub.trouble_next(Endpoint::Refresh, trouble);
        says(&scene.call().await, &["Hub", words, "try again in 2 minutes"]);
        scene.stage.clock.forward(100);
        says(&scene.call().await, &["Hub", "try again in 20 seconds"]);
        scene.stage.restart().await;
        says(&scene.call().await, &["Hub", "try again in"]);
        assert_eq!(scene.hub.count(Endpoint::Refresh), 1);
        scene.stage.clock.forward(21);
        scene.goes_through().await;
        scene.assert_clean();
    }
}

/// R-SEC-04: a provider that says nothing holds a call for no longer than it has for an answer.
#[tokio::test]
async fn a_provider_that_says_nothing_ends_the_call_in_time() {
    let scene = Scene::expired().await;
    scene.hub.trouble(Endpoint::Refresh, Trouble::Instead(Behaviour::Silence));
    let client = scene.stage.modern();
    let reply = client.request(CALLS[0].0, CALLS[0].1).send_within(Duration::from_secs(14)).await;
    says(&reply, &["Hub", "try again in"]);
    says(&scene.call().await, &["Hub", "try again in"]);
    assert_eq!(scene.hub.count(Endpoint::Refresh), 1);
}

/// A registration that the provider refuses is for the operator to mend: users are not sent to sign in for that.
#[tokio::test]
async fn a_registration_that_is_refused_is_not_the_users_fault() {
    let scene = Scene::expired().await;
    scene.hub.forget_client(usher_testkit::oauth::CLIENT);
    says(&scene.call().await, &["Hub", "does not accept Usher itself"]);
    assert_eq!(scene.stored().await.status, CredentialStatus::Working);
    scene.hub.put_client(usher_testkit::oauth::Client::new(
        usher_testkit::oauth::CLIENT,
        usher_testkit::oauth::CLIENT_SECRET,
    ));
    scene.stage.clock.forward(10);
    assert!(answered(&scene.call().await));
}

/// The store is gone: what is kept in memory is used while it lasts, which asks nobody; what has expired ends in words.
#[tokio::test]
async fn a_token_in_memory_needs_no_store() {
    let scene = Scene::connected().await;
    scene.goes_through().await;
    scene.stage.app().store.close().await;
    scene.goes_through().await;
    scene.stage.clock.forward(HOUR);
    let reply = scene.call().await;
    assert!(reply.error_message().contains("store"), "{}", reply.text());
    assert_eq!(scene.hub.count(Endpoint::Refresh), 0, "without a lease nothing is sent");
}
