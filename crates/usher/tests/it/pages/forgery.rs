//! Requests that did not come from our own page.

use http::Method;
use usher_store::{AuditAction, InteractionState};
use usher_testkit::person::{Page, Visit};

use super::{audit, is_heading, link, refusals, sign_in_link, stranger};
use crate::harness::{KEY, Stage};

const EVIL: &str = "https://evil.example";

/// A form of the open question at `url`, sent with `csrf` after `change`.
async fn send(
    page: &Page,
    person: &usher_testkit::person::Person,
    csrf: &str,
    change: impl Fn(Visit) -> Visit,
) -> Page {
    let fields = [("csrf", csrf), ("action", "connect"), ("api_key", KEY)];
    change(person.visit(Method::POST, &page.url).fields(&fields)).send().await
}

/// R-OAUTH-03, R-SEC-08: `Sec-Fetch-Site` first, then `Origin`; without both nobody can tell, so it is refused.
#[tokio::test]
async fn forms_of_other_pages_are_refused() {
    let stage = Stage::new().await;
    let url = link(&stage).await;
    let person = stage.person().await;
    let page = person.get(&url).await;
    let csrf = page.main_form().input("csrf").unwrap().value.clone();
    let own = stage.origin.clone();
    let changes: [(&str, &dyn Fn(Visit) -> Visit); 9] = [
        ("another site", &|visit| visit.from_site(EVIL)),
        ("a foreign origin", &|visit| visit.header("origin", EVIL)),
        ("a null origin", &|visit| visit.header("origin", "null")),
        ("another port", &|visit| visit.header("origin", "http://127.0.0.1:1")),
        ("another name of this machine", &|visit| visit.header("origin", &own.replace("127.0.0.1", "localhost"))),
        ("cross-site without origin", &|visit| visit.omit("origin").header("sec-fetch-site", "cross-site")),
        ("same-site", &|visit| visit.omit("origin").header("sec-fetch-site", "same-site")),
        ("no page at all", &|visit| visit.omit("origin").header("sec-fetch-site", "none")),
        ("neither header", &|visit| visit.omit("origin").omit("sec-fetch-site")),
    ];
    for (what, change) in changes {
        let sent = send(&page, &person, &csrf, change).await;
        assert_eq!(sent.status, 403, "{what}: {}", sent.describe());
        assert!(stage.credential().await.is_none(), "{what}");
    }
    assert!(matches!(stage.interaction(&url).await.state, InteractionState::Opened { .. }));
    assert!(refusals(&stage, AuditAction::PageRefused).await >= 4, "{:?}", audit(&stage).await);
    let only_origin = send(&page, &person, &csrf, |visit| visit.omit("sec-fetch-site")).await;
    is_heading(&only_origin, "Connected");
}

/// R-OAUTH-03: a form needs the token of this session and this very question.
#[tokio::test]
async fn a_form_without_the_right_token_is_refused() {
    let stage = Stage::with(
        crate::harness::Setup { second: true, ..Default::default() },
        usher_testkit::upstream::Upstream::start().await,
    )
    .await;
    let url = link(&stage).await;
    let call = crate::harness::CALLS[0];
    let other = stage.modern().token(crate::harness::SECOND).call(call.0, call.1).await.url();
    let (person, second) = (stage.person().await, stage.person().await);
    let csrf = |page: &Page| page.main_form().input("csrf").unwrap().value.clone();
    let page = person.get(&url).await;
    let right = csrf(&page);
    let of_other_question = csrf(&person.get(&other).await);
    let of_other_session = csrf(&second.get(&url).await);
    let sign_out = page.form_by_action("/logout").input("csrf").unwrap().value.clone();
    let cut = right[..right.len() - 1].to_owned();
    for wrong in ["", "x", &cut, &of_other_question, &of_other_session, &sign_out] {
        assert_ne!(wrong, right);
        let sent = send(&page, &person, wrong, |visit| visit).await;
        assert_eq!(sent.status, 403, "{}", sent.describe());
        is_heading(&sent, "This request was refused");
    }
    let without = person.post_form(&url, &[("action", "connect"), ("api_key", KEY)]).await;
    assert_eq!(without.status, 403);
    for action in ["allow", "decline", "restart", "delete", ""] {
        let sent = person.post_form(&url, &[("csrf", &cut), ("action", action)]).await;
        assert_eq!(sent.status, 403, "{action}");
    }
    assert!(stage.credential().await.is_none());
    assert!(stage.interaction(&url).await.state.is_open());
    assert_eq!(refusals(&stage, AuditAction::PageRefused).await, 12);
}

/// What is no form of ours is refused: another type, a field twice, another action.
#[tokio::test]
async fn what_is_no_form_of_ours_is_refused() {
    let stage = Stage::new().await;
    let url = link(&stage).await;
    let person = stage.person().await;
    let page = person.get(&url).await;
    let csrf = page.main_form().input("csrf").unwrap().value.clone();
    let json = send(&page, &person, &csrf, |visit| visit.header("content-type", "application/json")).await;
    assert_eq!(json.status, 403);
    let plain = send(&page, &person, &csrf, |visit| visit.header("content-type", "text/plain")).await;
    assert_eq!(plain.status, 403);
    let twice = [("csrf", csrf.as_str()), ("action", "connect"), ("api_key", KEY), ("api_key", "b")];
    assert_eq!(person.post_form(&url, &twice).await.status, 403);
    let huge = "x".repeat(300 * 1024);
    let large = [("csrf", csrf.as_str()), ("action", "connect"), ("api_key", huge.as_str())];
    assert_eq!(person.post_form(&url, &large).await.status, 403);
    let strange = [("csrf", csrf.as_str()), ("action", "destroy"), ("api_key", KEY)];
    assert_eq!(person.post_form(&url, &strange).await.status, 403);
    assert!(stage.credential().await.is_none());
}

/// R-OAUTH-03: nor can another page disconnect, sign out or sign in.
#[tokio::test]
async fn other_pages_can_neither_disconnect_nor_sign_out_nor_sign_in() {
    let stage = Stage::new().await;
    let person = stage.connected().await;
    let page = person.get("/connections/weather/disconnect").await;
    let disconnect = page.main_form().input("csrf").unwrap().value.clone();
    let sign_out = page.form_by_action("/logout").input("csrf").unwrap().value.clone();
    for (path, csrf) in [("/connections/weather/disconnect", disconnect.as_str()), ("/logout", sign_out.as_str())] {
        for change in [
            person
                .visit(Method::POST, path)
                .fields(&[("csrf", csrf)])
                .omit("origin")
                .header("sec-fetch-site", "cross-site"),
            person.visit(Method::POST, path).fields(&[("csrf", csrf)]).omit("origin").omit("sec-fetch-site"),
            person.visit(Method::POST, path).fields(&[("csrf", csrf)]).header("origin", EVIL),
            person.visit(Method::POST, path).fields(&[("csrf", "x")]),
            person.visit(Method::POST, path).fields(&[]),
        ] {
            assert_eq!(change.send().await.status, 403, "{path}");
        }
    }
    // R-SEC-03: each that gets past the door is audited for the person on whom it was tried.
    assert_eq!(refusals(&stage, AuditAction::PageRefused).await, 8, "{:?}", audit(&stage).await);
    is_heading(&person.get("/").await, "Your connections");
    assert!(stage.credential().await.is_some());
    let link = sign_in_link(&stage).await;
    let token = link.split("token=").nth(1).unwrap();
    let victim = stranger(&stage);
    let forged = victim.visit(Method::POST, "/login").fields(&[("token", token)]).from_site(EVIL).send().await;
    assert_eq!(forged.status, 403, "{}", forged.describe());
    assert!(victim.cookies().is_empty());
    is_heading(&victim.sign_in(&link).await, "Your connections");
}

/// A link on another site may lead to a question: it is shown, and nothing happens by that.
#[tokio::test]
async fn a_link_on_another_site_shows_the_question_and_nothing_more() {
    let stage = Stage::new().await;
    let url = link(&stage).await;
    let person = stage.person().await;
    let page = person.visit(Method::GET, &url).from_site(EVIL).send().await;
    is_heading(&page, "Connect Weather");
    for query in ["?action=connect&api_key=x", "?action=decline", "?csrf=x&action=allow"] {
        is_heading(&person.get(&format!("{url}{query}")).await, "Connect Weather");
    }
    assert!(stage.interaction(&url).await.state.is_open());
    assert!(stage.credential().await.is_none());
}
