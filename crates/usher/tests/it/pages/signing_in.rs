//! The sign-in link, the session, and the way back.

use http::Method;
use usher_store::AuditAction;

use super::{audit, foreign_link, is_heading, link, sign_in_link, stranger};
use crate::harness::{KEY, Stage};

/// R-URL-03: the link works once; looking at it does not use it up, and signs nobody in.
#[tokio::test]
async fn a_sign_in_link_works_once_and_looking_does_not_use_it_up() {
    let stage = Stage::new().await;
    let url = sign_in_link(&stage).await;
    let preview = stranger(&stage);
    for _ in 0..3 {
        is_heading(&preview.get(&url).await, "Is this you?");
    }
    assert!(preview.cookies().is_empty(), "a preview of the link is nobody");
    let person = stranger(&stage);
    is_heading(&person.sign_in(&url).await, "Your connections");
    let again = person.get(&sign_in_link(&stage).await).await;
    is_heading(&again, "Is this you?");
    assert!(again.text().contains("You are signed in already"), "{}", again.text());
    let thief = stranger(&stage);
    let page = thief.sign_in(&url).await;
    assert_eq!(page.status, 410, "{}", page.describe());
    is_heading(&page, "This sign-in link no longer works");
    assert!(thief.cookies().is_empty());
    is_heading(&thief.get("/").await, "Sign in");
    is_heading(&person.get("/").await, "Your connections");
    assert!(audit(&stage).await.iter().any(|row| row.action == Some(AuditAction::BrowserSignedIn)));
}

/// R-SEC-03: anybody on the machine can invent tokens; that is audited, and does not fill the store.
#[tokio::test]
async fn invented_tokens_do_not_fill_the_audit_log() {
    let mut stage = Stage::new().await;
    let somebody = stranger(&stage);
    for number in 0..300 {
        let token = format!("{number:0>43}");
        let page = somebody.post_form("/login", &[("token", &token)]).await;
        assert_eq!(page.status, 410, "{}", page.describe());
    }
    stage.stop().await;
    let database = std::fs::read(stage.folder.path().join("usher.db")).unwrap();
    let rows = String::from_utf8_lossy(&database).matches("browser.refused").count();
    assert!((1..150).contains(&rows), "{rows}");
}

/// R-SEC-04: the link expires.
#[tokio::test]
async fn a_sign_in_link_expires() {
    let stage = Stage::new().await;
    let url = sign_in_link(&stage).await;
    stage.clock.forward(10 * 60 + 1);
    let person = stranger(&stage);
    let page = person.sign_in(&url).await;
    assert_eq!(page.status, 410, "{}", page.describe());
    assert!(person.cookies().is_empty());
}

/// Two browsers press the button at once: one of them gets in.
#[tokio::test]
async fn two_parallel_uses_of_a_sign_in_link_are_one() {
    let stage = Stage::new().await;
    let url = sign_in_link(&stage).await;
    let (one, other) = (stranger(&stage), stranger(&stage));
    let (first, second) = tokio::join!(one.sign_in(&url), other.sign_in(&url));
    let mut statuses = [first.status.as_u16(), second.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 410]);
}

/// R-ID-02, R-ID-03: whoever opens a link without a session signs in first, comes back to it, and learns nothing before.
#[tokio::test]
async fn a_link_leads_over_the_sign_in_back_to_itself() {
    let stage = Stage::new().await;
    let url = link(&stage).await;
    let person = stranger(&stage);
    let page = person.get(&url).await;
    is_heading(&page, "Sign in");
    assert!(!page.html.contains("Weather") && !page.html.contains("api_key"), "{}", page.html);
    assert!(stage.interaction(&url).await.state.is_open());
    let back = person.sign_in(&sign_in_link(&stage).await).await;
    assert_eq!(back.url, url);
    is_heading(&back, "Connect Weather");
    is_heading(&person.agree(&back, &[("api_key", KEY)]).await, "Connected");
    let next = person.sign_in(&sign_in_link(&stage).await).await;
    is_heading(&next, "Your connections");
}

/// R-ID-03: a form that is sent without a session stores nothing.
#[tokio::test]
async fn a_form_without_a_session_stores_nothing() {
    let stage = Stage::new().await;
    let url = link(&stage).await;
    let person = stage.person().await;
    let page = person.get(&url).await;
    person.clear_cookies();
    let sent = person.agree(&page, &[("api_key", KEY)]).await;
    is_heading(&sent, "Sign in");
    assert!(stage.credential().await.is_none());
}

/// R-URL-03: the place to go back to is one of ours, whoever wrote the cookie or the address.
#[tokio::test]
async fn signing_in_leads_nowhere_but_to_our_own_pages() {
    let stage = Stage::new().await;
    let name = {
        let person = stranger(&stage);
        person.get(&link(&stage).await).await;
        person.cookies().into_iter().find(|cookie| cookie.name.ends_with("-place")).unwrap().name
    };
    for place in [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "/connect/../../evil",
        "/login",
        "/connect/x",
        "%2F%2Fevil.example",
    ] {
        let person = stranger(&stage);
        person.plant_cookie(&format!("{name}={place}; Path=/"));
        let page = person.sign_in(&sign_in_link(&stage).await).await;
        assert_eq!(page.url, format!("{}/", stage.origin), "{place}: {}", page.describe());
        assert!(page.hops.iter().all(|(_, location)| location == "/"), "{place}: {:?}", page.hops);
    }
    for query in ["return=https://evil.example", "next=//evil.example", "lang=//evil.example"] {
        let person = stranger(&stage);
        let page = person.sign_in(&format!("{}&{query}", sign_in_link(&stage).await)).await;
        assert_eq!(page.url, format!("{}/", stage.origin), "{query}");
    }
}

/// A switch of accounts comes back to the page of ours that it began at, and to nothing else.
#[tokio::test]
async fn switching_accounts_leads_back_to_our_own_pages_only() {
    let stage = Stage::new().await;
    let url = foreign_link(&stage).await;
    for (place, back) in [(None, url.as_str()), (Some("https://evil.example/"), "/"), (Some("//evil.example"), "/")] {
        let person = stage.person().await;
        let page = person.get(&url).await;
        let form = page.form_by_button("Switch account");
        let fields: Vec<(&str, &str)> = place.map(|place| ("return", place)).into_iter().collect();
        let out = person.submit(&page, &form, None, &fields).await;
        is_heading(&out, "Sign in");
        let page = person.sign_in(&sign_in_link(&stage).await).await;
        assert!(page.url.ends_with(back), "{place:?}: {}", page.describe());
    }
}

/// A new sign-in is a new session, and the one of before is over.
#[tokio::test]
async fn a_new_sign_in_is_a_new_session() {
    let stage = Stage::new().await;
    let person = stage.person().await;
    let before = person.cookies();
    person.sign_in(&sign_in_link(&stage).await).await;
    let after = person.cookies();
    assert_ne!(before, after);
    let old = format!("{}={}", before[0].name, before[0].value);
    let page = stranger(&stage).visit(Method::GET, "/").header("cookie", &old).send().await;
    is_heading(&page, "Sign in");
    is_heading(&person.get("/").await, "Your connections");
}

/// R-SEC-04: a session ends by itself when nobody uses it, and at the latest after ninety days.
#[tokio::test]
async fn a_session_ends_when_it_is_idle_or_old() {
    const DAY: i64 = 24 * 60 * 60;
    let stage = Stage::new().await;
    let person = stage.person().await;
    for _ in 0..4 {
        stage.clock.forward(20 * DAY);
        is_heading(&person.get("/").await, "Your connections");
    }
    stage.clock.forward(11 * DAY);
    is_heading(&person.get("/").await, "Sign in");
    let person = stage.person().await;
    stage.clock.forward(31 * DAY);
    is_heading(&person.get("/").await, "Sign in");
}
