//! Signing out, here and at the issuer, and switching accounts.

use usher_store::AuditAction;
use usher_testkit::{
    idp::Endpoint,
    person::{Page, Person},
    provider::Behaviour,
};

use super::{
    is_heading,
    scene::{Scene, parameter, session},
};

async fn sign_out(person: &Person) -> Page {
    let page = person.get("/").await;
    let form = page.form_by_action("/logout");
    person.submit(&page, &form, None, &[]).await
}

/// The session is over at once; the issuer is told by the browser, from a page whose policy allows no form to lead there.
#[tokio::test]
async fn signing_out_ends_the_session_here_and_leads_to_the_issuer() {
    let scene = Scene::new().await;
    let person = scene.person("user-1").await;
    let old = session(&person).unwrap();
    let old = format!("{}={}", old.name, old.value);

    let page = sign_out(&person).await;

    assert_eq!(page.status, 200, "{}", page.describe());
    let there = page.refresh().unwrap();
    assert!(there.starts_with(&scene.idp.url(Endpoint::EndSession)), "{there}");
    assert_eq!(parameter(there, "client_id").as_deref(), Some("usher"));
    assert_eq!(parameter(there, "post_logout_redirect_uri"), Some(format!("{}/logout", scene.origin)));
    assert_eq!(parameter(there, "id_token_hint").unwrap().split('.').count(), 3);
    assert!(page.links().iter().any(|(to, text)| text == "Continue" && to.starts_with(&scene.idp.issuer())));
    assert!(page.header("content-security-policy").unwrap().contains("form-action 'self';"));
    assert_eq!(page.header("referrer-policy"), Some("same-origin"));
    assert_eq!(page.header("cache-control"), Some("no-store"));
    let back = person.sign_in_at(&page, "user-1").await;
    assert_eq!(back.url, format!("{}/logout", scene.origin));
    is_heading(&back, "Sign in to Usher");
    assert!(back.text().contains("You are signed out."), "{}", back.text());
    // Not signed in again by itself; the old cookie opens nothing.
    assert!(back.location().is_none() && back.refresh().is_none());
    let page = scene.stranger().visit(http::Method::GET, "/").header("cookie", &old).stay().send().await;
    assert_eq!(page.location(), Some("/login"));
    assert_eq!(scene.audited(&scene.user("user-1"), AuditAction::BrowserSignedOut).await, 1);
    let (to, _) = back.links().into_iter().find(|(_, text)| text == "Sign in").unwrap();
    let page = person.get(&to).await;
    is_heading(&person.sign_in_at(&page, "user-2").await, "Your connections");
}

/// An issuer that offers no sign-out, or is away: here the person is signed out all the same.
#[tokio::test]
async fn signing_out_needs_no_issuer() {
    let scene = Scene::new().await;
    scene.idp.set(|settings| settings.metadata = serde_json::json!({ "end_session_endpoint": null }));
    let person = scene.person("user-1").await;
    let page = sign_out(&person).await;
    assert_eq!(page.url, format!("{}/logout", scene.origin));
    assert!(page.text().contains("You are signed out."), "{}", page.text());
    assert_eq!(scene.idp.count(Endpoint::EndSession), 0);

    let mut scene = Scene::new().await;
    let person = scene.person("user-1").await;
    // Nothing is known of the issuer after a restart, and nothing can be asked.
    let section = Scene::section(&scene.idp.issuer(), "");
    scene.again(&section).await;
    scene.idp.behave(Endpoint::Discovery, Behaviour::Drop);
    let page = sign_out(&person).await;
    assert_eq!(page.url, format!("{}/logout", scene.origin), "{}", page.describe());
    assert!(session(&person).is_none(), "{:?}", person.cookies());
}

/// R-ID-03: whoever is the wrong person chooses another account at the issuer, and comes back to the same question.
#[tokio::test]
async fn switching_accounts_comes_back_to_the_question() {
    for (prompts, prompt) in [
        (serde_json::Value::Null, "select_account"),
        (vec!["none", "select_account"].into(), "select_account"),
        (vec!["none", "login"].into(), "login"),
    ] {
        let scene = Scene::new().await;
        scene.idp.set(|settings| settings.metadata = serde_json::json!({ "prompt_values_supported": prompts }));
        let url = scene.link(scene.user("user-1")).await;
        let person = scene.person("user-2").await;
        let page = person.get(&url).await;
        is_heading(&page, "This link is for another account");
        let form = page.form_by_button("Switch account");
        let page = person.submit(&page, &form, None, &[]).await;
        assert_eq!(page.refresh(), Some("/login?switch"), "{}", page.describe());
        let page = person.get("/login?switch").await;
        assert_eq!(parameter(page.location().unwrap(), "prompt").as_deref(), Some(prompt));
        let page = person.sign_in_at(&page, "user-1").await;
        assert_eq!(page.url, url, "{}", page.describe());
        is_heading(&page, "Connect Weather");
        assert_eq!(scene.audited(&scene.user("user-2"), AuditAction::InteractionRefused).await, 1);
    }
}

/// The switch leads back to our own pages and to nothing else.
#[tokio::test]
async fn switching_accounts_leads_to_our_own_pages_only() {
    let scene = Scene::new().await;
    let url = scene.link(scene.user("user-1")).await;
    for place in ["https://evil.example/", "//evil.example", "/login"] {
        let person = scene.person("user-2").await;
        let page = person.get(&url).await;
        let form = page.form_by_button("Switch account");
        let page = person.submit(&page, &form, None, &[("return", place)]).await;
        assert!(page.refresh().is_none_or(|to| to.starts_with(&scene.idp.issuer())), "{:?}", page.refresh());
        assert!(!page.html.contains("evil"), "{}", page.html);
    }
}

/// R-ID-03: an issuer that has no list of accounts says so, once; then the person gives name and password anew.
#[tokio::test]
async fn switching_accounts_needs_no_list_of_accounts_at_the_issuer() {
    for error in ["invalid_request", "account_selection_required"] {
        let scene = Scene::new().await;
        let url = scene.link(scene.user("user-1")).await;
        let person = scene.person("user-2").await;
        let page = person.get(&url).await;
        let form = page.form_by_button("Switch account");
        person.submit(&page, &form, None, &[]).await;
        scene.idp.set(|settings| settings.authorization_error = Some(error.to_owned()));
        let there = person.get("/login?switch").await;
        let back = person.at_issuer(&there, "user-1").await;
        let again = person.visit(http::Method::GET, &back).from_site(&scene.idp.issuer()).stay().send().await;
        assert_eq!(again.location(), Some("/login?switch=anew"), "{}", again.describe());

        // Where that does not help either, there is a page and no circle.
        let there = person.get("/login?switch=anew").await;
        assert_eq!(parameter(there.location().unwrap(), "prompt").as_deref(), Some("login"));
        is_heading(&person.sign_in_at(&there, "user-1").await, "You are not signed in");

        scene.idp.set(|settings| settings.authorization_error = None);
        let there = person.get("/login?switch=anew").await;
        let page = person.sign_in_at(&there, "user-1").await;
        assert_eq!(page.url, url, "{}", page.describe());
        is_heading(&page, "Connect Weather");
    }
}
