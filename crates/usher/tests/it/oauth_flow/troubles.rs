//! Providers that refuse, say nothing that can be understood, or nothing at all: a page that says so, and the way to
//! start again.

use std::time::Duration;

use http::Method;
use usher_store::{FailureReason, InteractionState};
use usher_testkit::{
    oauth::{CLIENT, Client, Endpoint, Trouble},
    provider::Behaviour,
    upstream::Gate,
};

use super::scene::{Change, Scene, is_heading, is_refused};

async fn reason(scene: &Scene, url: &str) -> FailureReason {
    match scene.state(url).await.state {
        InteractionState::Failed { reason, .. } => reason,
        other => panic!("{other:?}"),
    }
}

/// Every error that comes in place of a code: bound to its flow, told, and no second use of the way back.
#[tokio::test]
async fn an_error_in_place_of_a_code_is_told() {
    let scene = Scene::new().await;
    let person = scene.stage.person().await;
    let asked = scene.asked(&scene.stage.modern()).await;
    for (error, expected, says) in [
        ("access_denied", FailureReason::ProviderDeclined, "says that you did not agree there"),
        ("server_error", FailureReason::ProviderUnreachable, "could not be reached"),
        ("temporarily_unavailable", FailureReason::ProviderUnreachable, "did not answer in time"),
        ("invalid_scope", FailureReason::Misconfigured, "does not accept this Usher as an app"),
        ("unauthorized_client", FailureReason::Misconfigured, "Look at the log of Usher"),
        ("<script>alert(1)</script>", FailureReason::Misconfigured, "does not accept this Usher as an app"),
    ] {
        scene.provider.set(|settings| settings.authorization.error = Some(error));
        let left = scene.leave(&person, &asked.url()).await;
        let back = person.at_issuer(&left, "user-1").await;
        let page = person.come_back(&back).await;
        is_heading(&page, "This did not work");
        assert!(page.text().contains(says), "{error}: {}", page.text());
        assert!(!page.html.contains("<script>alert"), "{}", page.html);
        assert_eq!(reason(&scene, &asked.url()).await, expected, "{error}");
        is_refused(&person.come_back(&back).await);
        person.submit(&page, &page.form_by_button("Start again"), None, &[]).await;
    }
    scene.provider.set(|settings| settings.authorization.error = None);
    is_heading(&scene.connect(&person, &asked.url()).await, "Connected");
    assert_eq!(scene.provider.count(Endpoint::Token), 1, "an error is exchanged for nothing");
}

/// R-SEC-04: whatever is wrong with the token endpoint, it is asked once, told, and the person starts again.
#[tokio::test]
async fn a_token_endpoint_in_trouble_is_told() {
    let scene = Scene::new().await;
    let person = scene.stage.person().await;
    let asked = scene.asked(&scene.stage.modern()).await;
    let html = "<html><body><h1>Bad gateway</h1></body></html>".to_owned();
    let mut asked_times = 0;
    for (trouble, expected) in [
        (Trouble::Instead(Behaviour::Status(503)), FailureReason::ProviderUnreachable),
        (Trouble::Limited("30".to_owned()), FailureReason::ProviderUnreachable),
        (Trouble::Instead(Behaviour::Drop), FailureReason::ProviderUnreachable),
        (Trouble::ReplyLost, FailureReason::ProviderUnreachable),
        (Trouble::Instead(Behaviour::Body(200, html)), FailureReason::ProviderRefused),
        (Trouble::Instead(Behaviour::Body(200, "{}".to_owned())), FailureReason::ProviderRefused),
        (
            Trouble::Instead(Behaviour::Body(400, r#"{"error":"invalid_grant"}"#.to_owned())),
            FailureReason::ProviderRefused,
        ),
        (
            Trouble::Instead(Behaviour::Body(200, r#"{"error":"bad_verification_code"}"#.to_owned())),
            FailureReason::ProviderRefused,
        ),
        (
            Trouble::Instead(Behaviour::Body(401, r#"{"error":"invalid_client"}"#.to_owned())),
            FailureReason::Misconfigured,
        ),
        (Trouble::Instead(Behaviour::Huge(4 << 20)), FailureReason::ProviderRefused),
        (Trouble::Instead(Behaviour::Redirect("https://evil.example/token".to_owned())), FailureReason::Misconfigured),
    ] {
        let what = format!("{trouble:?}");
        scene.provider.trouble(Endpoint::Token, trouble);
        let back = scene.back(&person, &asked.url()).await;
        let page = person.come_back(&back).await;
        is_heading(&page, "This did not work");
        asked_times += 1;
        assert_eq!(scene.provider.count(Endpoint::Token), asked_times, "{what}: once");
        assert_eq!(reason(&scene, &asked.url()).await, expected, "{what}");
        is_refused(&person.come_back(&back).await);
        assert_eq!(scene.provider.count(Endpoint::Token), asked_times, "{what}: never again");
        scene.provider.well(Endpoint::Token);
        person.submit(&page, &page.form_by_button("Start again"), None, &[]).await;
    }
    assert!(scene.credential().await.is_none());
    is_heading(&scene.connect(&person, &asked.url()).await, "Connected");
}

/// R-SEC-04: a provider that is silent is given up in time; meanwhile another tab says what is the case.
#[tokio::test]
async fn a_silent_token_endpoint_is_given_up() {
    let scene = Scene::new().await;
    let person = scene.stage.person().await;
    let asked = scene.asked(&scene.stage.modern()).await;
    let back = scene.back(&person, &asked.url()).await;
    scene.provider.trouble(Endpoint::Token, Trouble::Instead(Behaviour::Silence));
    let visit = person.visit(Method::GET, &back).from_site("https://issuer.example").patience(Duration::from_secs(40));
    let other_tab = async {
        scene.provider.wait_for(Endpoint::Token, 1).await;
        let page = person.get(&asked.url()).await;
        is_heading(&page, "Connecting Forge forge");
        assert_eq!(page.header("refresh"), Some("2"), "it looks again by itself");
        let consent = person.get(&back).await;
        is_heading(&consent, "Connecting Forge forge");
    };
    let (page, ()) = tokio::join!(visit.send(), other_tab);
    is_heading(&page, "This did not work");
    assert_eq!(reason(&scene, &asked.url()).await, FailureReason::ProviderUnreachable);
    assert_eq!(scene.provider.count(Endpoint::Token), 1);
}

/// A person who closes the window while the code is being exchanged has agreed all the same.
#[tokio::test]
async fn a_window_that_is_closed_breaks_nothing_off() {
    let scene = Scene::new().await;
    let person = scene.stage.person().await;
    let asked = scene.asked(&scene.stage.modern()).await;
    let back = scene.back(&person, &asked.url()).await;
    let gate = Gate::new();
    scene.provider.trouble(Endpoint::Token, Trouble::ReplyHeld(gate.clone()));
    {
        let visit = person.visit(Method::GET, &back).from_site("https://issuer.example").send();
        tokio::select! {
            page = visit => panic!("it was answered: {}", page.describe()),
            _ = scene.provider.wait_for(Endpoint::Token, 1) => {}
        }
    }
    gate.open();
    let connected = async {
        while scene.credential().await.is_none() {
            tokio::task::yield_now().await;
        }
    };
    usher_testkit::within(usher_testkit::DEADLINE, "it was broken off", connected).await;
    is_heading(&person.get(&asked.url()).await, "Connected");
}

/// Whose account it is, is good to know; nothing depends on it.
#[tokio::test]
async fn an_account_that_nobody_names_is_connected_all_the_same() {
    for trouble in [Behaviour::Status(500), Behaviour::Body(200, "{}".to_owned()), Behaviour::Drop] {
        let scene = Scene::new().await;
        let person = scene.stage.person().await;
        let asked = scene.asked(&scene.stage.modern()).await;
        scene.provider.trouble(Endpoint::Account, Trouble::Instead(trouble));
        let done = scene.connect(&person, &asked.url()).await;
        is_heading(&done, "Connected");
        assert!(!done.text().contains("Connected as"), "{}", done.text());
    }
}

/// Our own registration that is not known there is the operator's to mend, which the page says.
#[tokio::test]
async fn a_client_that_the_provider_does_not_know_is_the_operators_to_mend() {
    let scene = Scene::with(Change::default()).await;
    let person = scene.stage.person().await;
    let asked = scene.asked(&scene.stage.modern()).await;
    let back = scene.back(&person, &asked.url()).await;
    scene.provider.put_client(Client::new(CLIENT, "another secret"));
    let page = person.come_back(&back).await;
    assert!(page.text().contains("does not accept this Usher as an app"), "{}", page.text());
    assert_eq!(reason(&scene, &asked.url()).await, FailureReason::Misconfigured);
}
