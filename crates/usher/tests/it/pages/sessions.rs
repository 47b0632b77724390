//! The browsers in which a person is signed in.

use elicit::{SystemRandom, UserId};
use http::Method;
use secrecy::SecretString;
use usher::clock::Clock as _;
use usher_store::{BrowserId, BrowserTimes, InteractionId, NewBrowserSession};
use usher_testkit::person::Person;

use super::{is_heading, sign_in_link, stranger};
use crate::harness::Stage;

const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";

/// A browser of the owner's that says `agent` of itself.
async fn signed_in(stage: &Stage, agent: &str) -> Person {
    let person = stranger(stage);
    let page = person.signing_in(&sign_in_link(stage).await).await.header("user-agent", agent).send().await;
    is_heading(&page, "Your connections");
    person
}

/// Another user's browser.
async fn of_mallory(stage: &Stage) -> SecretString {
    let (user, now) = (UserId::new("https://accounts.example", "mallory-7").unwrap(), stage.clock.now());
    let [link, token] = [(); 2].map(|()| SecretString::from(InteractionId::new(&SystemRandom).as_str()));
    let store = &stage.app().store;
    store.create_login_link(&link, &user, now + std::time::Duration::from_mins(1), now).await.unwrap();
    let expires_at = now + std::time::Duration::from_hours(1);
    let new = NewBrowserSession { token: &token, agent: "Mallory", kept: None, before: None, expires_at };
    store.use_login_link(&link, new, now).await.unwrap().unwrap();
    token
}

/// R-SEC-06: a person sees where they are signed in, and ends what they do not know; it is over at once.
#[tokio::test]
async fn another_browser_is_signed_out_at_once() {
    let stage = Stage::new().await;
    let other = signed_in(&stage, "<script>alert(1)</script>\"'><img src=x>").await;
    let person = signed_in(&stage, FIREFOX).await;
    of_mallory(&stage).await;
    let page = person.get("/sessions").await;
    is_heading(&page, "Where you are signed in");
    for said in ["Firefox on Linux", "This browser", "<script>alert(1)</script>"] {
        assert!(page.text().contains(said), "{said}: {}", page.text());
    }
    assert!(!page.html.contains("<script>alert") && !page.html.contains("<img"), "{}", page.html);
    assert!(!page.text().contains("Mallory"), "another user's is not in it");
    let form = page.form_by_button("Sign out");

    let ended = person.submit(&page, &form, None, &[]).await;

    assert!(ended.text().contains("That browser is signed out."), "{}", ended.text());
    assert!(!ended.html.contains("action=\"/sessions/"), "no other one is left");
    is_heading(&other.get("/").await, "Sign in");
    is_heading(&person.get("/").await, "Your connections");
}

#[tokio::test]
async fn all_others_are_signed_out_and_this_one_stays() {
    let stage = Stage::new().await;
    let others = [signed_in(&stage, "").await, signed_in(&stage, "curl/8").await];
    let person = stage.person().await;
    let mallory = of_mallory(&stage).await;
    let page = person.get("/sessions").await;
    let ended = person.submit(&page, &page.form_by_action("/sessions/others/end"), None, &[]).await;
    assert!(ended.text().contains("You are signed in here only."), "{}", ended.text());
    for other in others {
        is_heading(&other.get("/sessions").await, "Sign in");
    }
    let there = stage.app().store.browser_session(&mallory, BrowserTimes::LONGEST, stage.clock.now()).await.unwrap();
    assert!(there.is_some(), "another user's stays");
}

/// R-ID-03, R-OAUTH-03: what a page shows of a browser signs nobody in; another user's id, another form's token and another
/// site end nothing.
#[tokio::test]
async fn nobody_ends_what_is_not_theirs() {
    let stage = Stage::new().await;
    let other = signed_in(&stage, "").await;
    let person = stage.person().await;
    let mallory = of_mallory(&stage).await;
    let page = person.get("/sessions").await;
    let form = page.form_by_button("Sign out");
    let (path, right) = (form.action.clone(), form.input("csrf").unwrap().value.clone());
    let all = page.form_by_action("/sessions/others/end").input("csrf").unwrap().value.clone();
    let foreign = format!("/sessions/{}/end", BrowserId::of(&mallory));
    let post = |path: &str, csrf: &str| person.visit(Method::POST, path).fields(&[("csrf", csrf)]);
    for refused in [
        post(&path, ""),
        post(&path, &all),
        post(&foreign, &right),
        post("/sessions/others/end", &right),
        post(&path, &right).from_site("https://evil.example"),
        post("/sessions/others/end", &all).omit("origin").omit("sec-fetch-site"),
    ] {
        let page = refused.send().await;
        assert_eq!(page.status, 403, "{}", page.describe());
    }
    assert_eq!(post("/sessions/nothing/end", &right).send().await.status, 404);
    let id = path.split('/').nth(2).unwrap().to_owned();
    let thief = stranger(&stage);
    let name = person.cookies().into_iter().find(|cookie| cookie.value.len() == 43).unwrap().name;
    thief.plant_cookie(&format!("{name}={id}; Path=/"));
    is_heading(&thief.get("/").await, "Sign in");
    is_heading(&other.get("/").await, "Your connections");
    let there = stage.app().store.browser_session(&mallory, BrowserTimes::LONGEST, stage.clock.now()).await.unwrap();
    assert!(there.is_some());
}
