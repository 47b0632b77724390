//! The apps that may use what a person connected, and taking that back.

use http::Method;
use usher_store::AuditAction;
use usher_testkit::{person::Page, upstream::Upstream};

use super::{audit, is_heading, stranger};
use crate::harness::{CALLS, KEY, SECOND, Setup, Stage, answered};

/// Both clients may use the weather.
async fn both_connected() -> (Stage, usher_testkit::person::Person) {
    let stage = Stage::with(Setup { second: true, ..Setup::default() }, Upstream::start().await).await;
    let person = stage.connected().await;
    let asked = stage.modern().token(SECOND).call(CALLS[0].0, CALLS[0].1).await;
    let allowed = person.agree(&person.get(&asked.url()).await, &[]).await;
    is_heading(&allowed, "Connected");
    (stage, person)
}

fn csrf(page: &Page) -> String {
    page.main_form().input("csrf").unwrap().value.clone()
}

/// R-OAUTH-04: an app whose access is taken away uses nothing any more, and asks first; another app goes on.
#[tokio::test]
async fn an_app_loses_its_access_at_once_and_asks_again() {
    let (stage, person) = both_connected().await;
    let second = || stage.modern().token(SECOND);
    assert!(answered(&second().call(CALLS[0].0, CALLS[0].1).await));
    let page = person.get("/clients").await;
    is_heading(&page, "Apps that may use your connections");
    for said in ["second", "Weather", stage.upstream.origin(), "Not verified", "testkit", "Since"] {
        assert!(page.text().contains(said), "{said}: {}", page.text());
    }
    let (href, _) = page.links().into_iter().find(|(href, _)| href.ends_with("client=second")).unwrap();
    let ask = person.get(&href).await;
    is_heading(&ask, "Take access away from second?");
    assert!(answered(&second().call(CALLS[0].0, CALLS[0].1).await), "looking takes nothing away");

    let gone = person.agree(&ask, &[]).await;

    is_heading(&gone, "Apps that may use your connections");
    assert!(gone.text().contains("second may use nothing of yours any more"), "{}", gone.text());
    assert_eq!(gone.html.matches("href=\"/clients/revoke?").count(), 1);
    assert_eq!(person.get(&href).await.status, 404, "nothing is left to take away");
    let asked = second().call(CALLS[0].0, CALLS[0].1).await;
    assert!(asked.is_input_required(), "{}", asked.text());
    assert!(answered(&stage.modern().call(CALLS[0].0, CALLS[0].1).await), "another app goes on");
    is_heading(&person.get(&href).await, "Take access away from second?");
    is_heading(&person.get(&asked.url()).await, "Allow second to use Weather?");
    let line = audit(&stage).await.into_iter().find(|row| row.action == Some(AuditAction::ClientRevoked)).unwrap();
    assert_eq!(line.client.unwrap().as_str(), "second");
}

/// R-OAUTH-03: nobody else takes it away: not without the form's token, not from another site, not with the token of another
/// app's form, not signed out.
#[tokio::test]
async fn only_the_person_takes_access_away() {
    let (stage, person) = both_connected().await;
    let path = "/clients/revoke?client=second";
    let other = csrf(&person.get("/clients/revoke?client=default").await);
    let right = csrf(&person.get(path).await);
    let post = |csrf: &str| person.visit(Method::POST, path).fields(&[("csrf", csrf)]);
    for refused in [
        post(""),
        post(&other),
        post(&right).from_site("https://evil.example"),
        post(&right).omit("origin").omit("sec-fetch-site"),
    ] {
        let page = refused.send().await;
        assert_eq!(page.status, 403, "{}", page.describe());
    }
    is_heading(&stranger(&stage).post_form(path, &[("csrf", &right)]).await, "Sign in");
    for nobody in
        ["/clients/revoke", "/clients/revoke?client=", "/clients/revoke?client=nobody", "/clients/revoke?client=%00"]
    {
        assert_eq!(person.get(nobody).await.status, 404, "{nobody}");
    }
    assert_eq!(stage.credential().await.unwrap().clients().len(), 2);
    assert_eq!(post(&right).send().await.status, 200);
    assert_eq!(stage.credential().await.unwrap().clients().len(), 1);
}

/// A question of the app that is open when its access is taken away is withdrawn.
#[tokio::test]
async fn open_questions_of_the_app_are_withdrawn() {
    let stage = Stage::new().await;
    let person = stage.connected().await;
    let client = stage.modern();
    stage
        .upstream
        .tool("get_forecast", usher_testkit::upstream::Script::new().require("x-api-key", "another").text("sunny"));
    let asked = client.call(CALLS[0].0, CALLS[0].1).await;
    assert!(asked.is_input_required(), "{}", asked.text());
    assert_eq!(stage.waiting().await.len(), 1);
    person.agree(&person.get("/clients/revoke?client=default").await, &[]).await;
    assert!(stage.waiting().await.is_empty());
    let late = person.get(&asked.url()).await;
    is_heading(&late, "This question has closed");
    assert!(!late.html.contains(KEY));
}

/// R-SEC-02: whoever writes a link does not write a notice of ours.
#[tokio::test]
async fn an_address_of_somebody_elses_says_nothing() {
    let stage = Stage::new().await;
    let person = stage.person().await;
    for query in ["revoked=Call+us+at+555", "revoked=Call+us+at+555&mark=", "revoked=Call+us+at+555&mark=AAAA"] {
        let page = person.get(&format!("/clients?{query}")).await;
        assert!(!page.html.contains("role=\"status\"") && !page.text().contains("555"), "{query}: {}", page.text());
    }
}
