//! What a person types: checked with the provider, bounded, and never shown again.

use usher_testkit::{
    person::Page,
    provider::Behaviour,
    upstream::{Gate, Upstream},
};

use super::{is_heading, link};
use crate::harness::{KEY, Setup, Stage};

async fn checking() -> Stage {
    Stage::with(Setup { check: true, ..Setup::default() }, Upstream::start().await).await
}

fn assert_not_stored(page: &Page, typed: &str, says: &str) {
    assert_eq!(page.status, 422, "{}", page.describe());
    assert!(page.text().contains(says), "{}", page.describe());
    assert!(page.title().unwrap().starts_with("Error:"), "{:?}", page.title());
    assert!(!page.html.contains(typed), "the key is not shown again: {}", page.html);
    let input = page.main_form().input("api_key").unwrap().clone();
    assert_eq!((input.kind.as_str(), input.value.as_str()), ("password", ""));
}

/// R-OAUTH-01: the provider refuses the key: the page says with which status, does not echo it, and a better one works.
#[tokio::test]
async fn a_key_that_the_provider_refuses_is_not_stored() {
    let stage = checking().await;
    let person = stage.person().await;
    let page = person.get(&link(&stage).await).await;
    let wrong = "wrong-key-93b1";
    let refused = person.agree(&page, &[("api_key", wrong)]).await;
    assert_not_stored(&refused, wrong, "The provider refused this key (401)");
    stage.api.behave(Behaviour::Echo(403));
    let refused = person.agree(&refused, &[("api_key", wrong)]).await;
    assert_not_stored(&refused, wrong, "The provider refused this key (403)");
    assert!(stage.credential().await.is_none());
    stage.api.behave(Behaviour::Check);
    is_heading(&person.agree(&refused, &[("api_key", KEY)]).await, "Connected");
    let sent = stage.api.requests();
    assert_eq!(sent.len(), 3);
    assert_eq!(sent[2].header("x-api-key"), Some(KEY));
    assert_eq!(sent[2].header("cookie"), None);
}

/// R-SEC-04: the provider cannot say: nothing is stored, and the page says what to do.
#[tokio::test]
async fn a_key_that_cannot_be_checked_is_not_stored() {
    let stage = checking().await;
    let person = stage.person().await;
    let url = link(&stage).await;
    for (behaviour, says) in [
        (Behaviour::Status(500), "it answered 500"),
        (Behaviour::Echo(404), "it answered 404"),
        (Behaviour::Status(429), "it answered 429"),
        (Behaviour::Drop, "could not be reached"),
    ] {
        stage.api.behave(behaviour);
        let page = person.get(&url).await;
        let unchecked = person.agree(&page, &[("api_key", KEY)]).await;
        assert_not_stored(&unchecked, KEY, says);
        assert!(unchecked.text().contains("Nothing was stored"), "{}", unchecked.describe());
    }
    assert!(stage.credential().await.is_none());
}

/// R-SEC-05: the key does not follow a redirect.
#[tokio::test]
async fn the_check_follows_no_redirect() {
    let stage = checking().await;
    let elsewhere = usher_testkit::provider::Api::start("x-api-key", KEY).await;
    stage.api.behave(Behaviour::Redirect(elsewhere.url("/me")));
    let person = stage.person().await;
    let page = person.get(&link(&stage).await).await;
    let unchecked = person.agree(&page, &[("api_key", KEY)]).await;
    assert_not_stored(&unchecked, KEY, "it answered 302");
    assert!(elsewhere.requests().is_empty());
}

/// R-SEC-04: the status counts; a body without end is not read.
#[tokio::test]
async fn a_huge_or_endless_answer_of_the_provider_does_no_harm() {
    for behaviour in [Behaviour::Huge(64 * 1024 * 1024), Behaviour::Endless] {
        let stage = checking().await;
        stage.api.behave(behaviour);
        let person = stage.person().await;
        is_heading(&person.connect(&link(&stage).await, &[("api_key", KEY)]).await, "Connected");
    }
}

/// A slow provider is waited for, and the question can still be declined in another tab meanwhile.
#[tokio::test]
async fn a_slow_check_is_waited_for_and_a_decline_meanwhile_counts() {
    let stage = checking().await;
    let person = stage.person().await;
    let url = link(&stage).await;
    let page = person.get(&url).await;
    let gate = Gate::new();
    stage.api.behave(Behaviour::Wait(gate.clone()));
    let fields = [("api_key", KEY)];
    let slow = person.agree(&page, &fields);
    let meanwhile = async {
        gate.reached(1).await;
        let other_tab = person.get(&url).await;
        is_heading(&person.refuse(&other_tab).await, "Declined");
        gate.open();
    };
    let (done, ()) = tokio::join!(slow, meanwhile);
    is_heading(&done, "Declined");
    assert!(stage.credential().await.is_none());
}

/// R-SEC-04: a provider that never answers: the page says so within the deadline of ten seconds.
#[tokio::test]
async fn a_provider_that_never_answers_is_not_waited_for() {
    let stage = checking().await;
    stage.api.behave(Behaviour::Silence);
    let person = stage.person().await;
    let page = person.get(&link(&stage).await).await;
    let csrf = page.main_form().input("csrf").unwrap().value.clone();
    let cookie =
        person.cookies().iter().map(|one| format!("{}={}", one.name, one.value)).collect::<Vec<_>>().join("; ");
    // By hand, since the person's own patience ends at the same time.
    let sent = usher_testkit::agent()
        .post(&page.url)
        .header("origin", &stage.origin)
        .header("cookie", cookie)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(format!("csrf={csrf}&action=connect&api_key={KEY}"))
        .send();
    let response = tokio::time::timeout(std::time::Duration::from_secs(15), sent).await.unwrap().unwrap();
    assert_eq!(response.status(), 422);
    let html = response.text().await.unwrap();
    assert!(html.contains("did not answer within 10 seconds") && !html.contains(KEY), "{html}");
    assert!(stage.credential().await.is_none());
}

/// R-SEC-04: faults stand beside their field; limits are told; nothing is stored, and nothing sent to the provider.
#[tokio::test]
async fn what_cannot_be_a_key_is_told_beside_its_field() {
    let stage = checking().await;
    let person = stage.person().await;
    let page = person.get(&link(&stage).await).await;
    let long = "x".repeat(8 * 1024 + 1);
    for (typed, says) in [
        ("", "Enter your API key."),
        (" \t ", "Enter your API key."),
        (long.as_str(), "API key is too long. At most 8 KiB can be kept."),
        ("two\nlines-of-a-key", "API key contains characters that cannot be sent."),
        ("nul\u{0}in-a-key", "API key contains characters that cannot be sent."),
        ("ключ-in-a-key", "API key contains characters that cannot be sent."),
    ] {
        let wrong = person.agree(&page, &[("api_key", typed)]).await;
        assert_eq!(wrong.status, 422, "{typed:?}: {}", wrong.describe());
        assert!(wrong.text().contains(says), "{typed:?}: {}", wrong.describe());
        assert!(typed.trim().is_empty() || !wrong.html.contains(typed), "{typed:?} is not shown again");
        let input = wrong.main_form().input("api_key").unwrap().clone();
        assert_eq!(input.attribute("aria-invalid"), Some("true"));
        assert!(input.attribute("aria-describedby").unwrap().contains("fault-api_key"));
    }
    assert!(stage.credential().await.is_none());
    assert!(stage.api.requests().is_empty());
    let padded = person.agree(&page, &[("api_key", &format!("  {KEY}\r\n"))]).await;
    is_heading(&padded, "Connected");
    assert_eq!(stage.api.requests()[0].header("x-api-key"), Some(KEY), "blanks around a copied key are dropped");
}

/// R-ID-03: fields that nobody asked for are not taken.
#[tokio::test]
async fn a_form_with_fields_that_nobody_asked_for_is_not_taken() {
    let stage = Stage::new().await;
    let person = stage.person().await;
    let url = link(&stage).await;
    let csrf = person.get(&url).await.main_form().input("csrf").unwrap().value.clone();
    for extra in ["user", "provider", "destination", "api_key2"] {
        let fields = [("csrf", csrf.as_str()), ("action", "connect"), ("api_key", KEY), (extra, "x")];
        let sent = person.post_form(&url, &fields).await;
        assert_eq!(sent.status, 422, "{extra}: {}", sent.describe());
    }
    assert!(stage.credential().await.is_none());
}
