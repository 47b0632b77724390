//! Links that reach somebody else: of a question, and of a sign-in.

use usher_store::{AuditAction, InteractionState};

use super::{is_heading, is_refused, scene::Scene};
use crate::harness::KEY;

/// R-ID-03: a link that Alice forwards to Bob shows him nothing, and the other way round; opened and submitted.
#[tokio::test]
async fn a_forwarded_link_is_refused_both_ways() {
    for (owner, other) in [("user-1", "user-2"), ("user-2", "user-1")] {
        let scene = Scene::new().await;
        let url = scene.link(scene.user(owner)).await;
        let bob = scene.person(other).await;
        let page = bob.get(&url).await;
        assert_eq!(page.status, 403, "{}", page.describe());
        is_heading(&page, "This link is for another account");
        for word in [owner, other, "Weather", "editor", "127.0.0.1:1"] {
            assert!(!page.text().contains(word), "{word}: {}", page.text());
        }
        // With a form of his own: the token is another question's.
        let own = bob.get(&scene.link(scene.user(other)).await).await;
        let csrf = own.main_form().input("csrf").unwrap().value.clone();
        let sent = bob.post_form(&url, &[("csrf", &csrf), ("action", "connect"), ("api_key", KEY)]).await;
        assert_eq!(sent.status, 403, "{}", sent.describe());
        assert!(matches!(scene.interaction(&url).await.state, InteractionState::Created));
        assert!(!scene.is_connected(owner).await && !scene.is_connected(other).await);
        assert!(scene.audited(&scene.user(other), AuditAction::InteractionRefused).await >= 1);
    }
}

/// R-ID-03: the person is compared anew at the answer, whoever was signed in when the page was opened.
#[tokio::test]
async fn a_page_that_was_opened_by_one_is_not_answered_by_another() {
    let scene = Scene::new().await;
    let url = scene.link(scene.user("user-1")).await;
    let person = scene.person("user-1").await;
    let opened = person.get(&url).await;
    is_heading(&opened, "Connect Weather");
    person.clear_cookies();
    let page = person.get("/").await;
    is_heading(&person.sign_in_at(&page, "user-2").await, "Your connections");
    let sent = person.agree(&opened, &[("api_key", KEY)]).await;
    assert_eq!(sent.status, 403, "{}", sent.describe());
    assert!(!scene.is_connected("user-1").await && !scene.is_connected("user-2").await);
}

/// R-ID-03 (login CSRF): an answer of the issuer that belongs to the attacker's account signs in nobody else's browser,
/// whether that browser has begun nothing, or a sign-in of its own.
#[tokio::test]
async fn a_callback_that_is_sent_to_somebody_else_signs_them_in_as_nobody() {
    let scene = Scene::new().await;
    let (_attacker, url) = scene.answered("user-2").await;
    let victim = scene.stranger();
    is_refused(&victim.come_back(&url).await, 400, "not begun in this browser");
    let (busy, own) = scene.answered("user-1").await;
    is_refused(&busy.come_back(&url).await, 400, "not begun in this browser");
    let signed_in = scene.person("user-1").await;
    is_refused(&signed_in.come_back(&url).await, 400, "not begun in this browser");
    is_heading(&signed_in.get("/").await, "Your connections");
    is_heading(&busy.come_back(&own).await, "Your connections");
    assert_eq!(scene.audited(&scene.user("user-2"), AuditAction::BrowserSignedIn).await, 0);
    assert_eq!(scene.exchanges(), 2, "the attacker's code went nowhere");
    scene.refused("a reply to a browser that has begun no sign-in").await;
    scene.refused("a sign-in of another browser").await;
}

/// R-ID-03: Bob finishes what Alice's browser began: it is Bob's account in Alice's browser only if he sits at it.
#[tokio::test]
async fn a_sign_in_that_one_browser_began_is_not_finished_in_another() {
    let scene = Scene::new().await;
    let url = scene.link(scene.user("user-1")).await;
    let alice = scene.stranger();
    let page = alice.get(&url).await;
    let bob = scene.person("user-2").await;
    // Bob opens the address at the issuer that Alice's browser was sent to, signs in, and comes back.
    let back = bob.at_issuer(&page, "user-2").await;
    is_refused(&bob.come_back(&back).await, 400, "not begun in this browser");
    assert!(alice.get(&url).await.location().is_some(), "Alice is nobody still");
    is_heading(&bob.get("/").await, "Your connections");
}

/// R-ID-01: the same subject of another issuer is another person, whose session ends with the configuration.
#[tokio::test]
async fn the_same_subject_of_another_issuer_is_another_person() {
    let mut scene = Scene::new().await;
    let url = scene.link(scene.user("user-1")).await;
    let person = scene.person("user-1").await;
    is_heading(&person.get(&url).await, "Connect Weather");

    let other = usher_testkit::idp::Idp::start().await;
    let section = Scene::section(&other.issuer(), "");
    scene.again(&section).await;

    let page = person.get(&url).await;
    assert!(page.location().is_some_and(|to| to.starts_with(&other.issuer())), "{}", page.describe());
    let page = person.sign_in_at(&page, "user-1").await;
    assert_eq!(page.status, 403, "{}", page.describe());
    is_heading(&page, "This link is for another account");
    assert!(matches!(scene.interaction(&url).await.state, InteractionState::Opened { .. }));
}
