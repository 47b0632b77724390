//! The way there and back, when nothing goes wrong.

use std::collections::BTreeSet;

use usher_store::AuditAction;
use usher_testkit::idp::{Algorithm, CLIENT, Endpoint, Key, User, Who};

use super::{
    is_heading,
    scene::{Scene, changed, parameter, session},
};
use crate::harness::KEY;

/// R-ID-02, R-ID-03, R-OAUTH-02: a link leads over the issuer back to itself, and the person answers it.
#[tokio::test]
async fn a_link_leads_over_the_issuer_back_to_itself() {
    let scene = Scene::new().await;
    let url = scene.link(scene.user("user-1")).await;
    let person = scene.stranger();

    let page = person.get(&url).await;

    let there = page.location().unwrap().to_owned();
    assert!(there.starts_with(&scene.idp.url(Endpoint::Authorization)), "{there}");
    for (name, value) in [
        ("response_type", "code"),
        ("client_id", CLIENT),
        ("scope", "openid"),
        ("redirect_uri", &format!("{}/login/callback", scene.origin)),
        ("code_challenge_method", "S256"),
        ("ui_locales", "en"),
    ] {
        assert_eq!(parameter(&there, name).as_deref(), Some(value), "{name}");
    }
    let back = person.sign_in_at(&page, "user-1").await;
    assert_eq!(back.url, url);
    assert!(back.hops.iter().all(|(_, to)| *to == url[scene.origin.len()..]), "{:?}", back.hops);
    is_heading(&back, "Connect Weather");
    is_heading(&person.agree(&back, &[("api_key", KEY)]).await, "Connected");
    assert!(scene.is_connected("user-1").await);
    assert_eq!(scene.audited(&scene.user("user-1"), AuditAction::BrowserSignedIn).await, 1);
    assert_eq!(scene.exchanges(), 1);
}

/// R-URL-03, R-SEC-06: what goes to the issuer tells it nothing but the protocol, and what is kept in the browser nothing at
/// all; each sign-in has a state, a nonce and a challenge of its own.
#[tokio::test]
async fn nothing_leaks_on_the_way_there() {
    let scene = Scene::new().await;
    let url = scene.link(scene.user("user-1")).await;
    let id = url.rsplit('/').next().unwrap();
    let person = scene.stranger();
    let mut seen = BTreeSet::new();
    for _ in 0..3 {
        let page = person.get(&url).await;
        let there = page.location().unwrap();
        assert!(!there.contains(id), "{there}");
        assert!(there.len() < 1200, "{}: {there}", there.len());
        assert_eq!(page.header("referrer-policy"), Some("same-origin"));
        assert_eq!(page.header("cache-control"), Some("no-store"));
        let names: BTreeSet<String> =
            reqwest::Url::parse(there).unwrap().query_pairs().map(|(name, _)| name.into_owned()).collect();
        let known = ["client_id", "code_challenge", "code_challenge_method", "nonce", "redirect_uri", "response_type"];
        let known = known.into_iter().chain(["scope", "state", "ui_locales"]).map(str::to_owned).collect();
        assert_eq!(names, known);
        for name in ["state", "nonce", "code_challenge"] {
            assert!(seen.insert(parameter(there, name).unwrap()), "{name} is used twice");
        }
        for cookie in person.cookies() {
            assert!(!there.contains(&cookie.value) || cookie.name.ends_with("-language"), "{cookie:?}");
            assert!(cookie.http_only && cookie.same_site.as_deref() == Some("Lax") && cookie.path == "/", "{cookie:?}");
            assert!(cookie.domain.is_none() && cookie.max_age == Some(600), "{cookie:?}");
        }
    }
    let names: Vec<String> = person.cookies().into_iter().map(|cookie| cookie.name).collect();
    assert!(names.iter().any(|name| name.ends_with("-sign-in")), "{names:?}");
}

/// Pages that a browser opens at once lead each to its own place, in whatever order they come back.
#[tokio::test]
async fn two_tabs_can_sign_in_at_once() {
    let scene = Scene::new().await;
    let url = scene.link(scene.user("user-1")).await;
    let person = scene.stranger();
    let (first, second) = (person.get("/").await, person.get(&url).await);
    let one = person.at_issuer(&first, "user-1").await;
    let two = person.at_issuer(&second, "user-1").await;
    let back = person.come_back(&two).await;
    assert_eq!(back.url, url, "{}", back.describe());
    let late = person.come_back(&one).await;
    is_heading(&late, "Your connections");
    assert_eq!(scene.exchanges(), 2);
    let again = person.come_back(&two).await;
    assert_eq!(again.status, 410, "each once: {}", again.describe());
}

/// Whoever tries again in one tab, and has signed in in another meanwhile, comes to the first one's place.
#[tokio::test]
async fn a_tab_that_tries_again_goes_on_where_it_was_going() {
    let scene = Scene::new().await;
    let url = scene.link(scene.user("user-1")).await;
    let person = scene.stranger();
    let (first, second) = (person.get("/").await, person.get(&url).await);
    let (one, two) = (person.at_issuer(&first, "user-1").await, person.at_issuer(&second, "user-1").await);
    is_heading(&person.come_back(&one).await, "Your connections");
    let refused = changed(&two, &[("code", None), ("error", Some("access_denied"))]);
    super::is_refused(&person.come_back(&refused).await, 403, "did not sign you in");
    let there = person.get("/login").await;
    assert_eq!(there.url, url, "{}", there.describe());
    is_heading(&person.get("/login").await, "Your connections");
}

/// R-ID-01: the claim that the operator chose is the user; the scopes that bring it are asked for.
#[tokio::test]
async fn the_user_is_the_claim_that_the_operator_chose() {
    let scene = Scene::with("user_claim = \"oid\"\nsign_in_scopes = [\"openid\", \"profile\"]").await;
    let (person, page) = scene.begun().await;
    assert_eq!(parameter(page.location().unwrap(), "scope").as_deref(), Some("openid profile"));
    is_heading(&person.sign_in_at(&page, "user-1").await, "Your connections");
    assert_eq!(scene.audited(&scene.user("object-1"), AuditAction::BrowserSignedIn).await, 1);
    assert_eq!(scene.audited(&scene.user("user-1"), AuditAction::BrowserSignedIn).await, 0);
}

/// R-ID-01: an account that lacks the claim, or has something else there, is nobody.
#[tokio::test]
async fn an_account_without_the_claim_is_nobody() {
    let scene = Scene::with("user_claim = \"oid\"").await;
    scene.idp.set(|settings| settings.who = Who::Always("user-3".to_owned()));
    scene.idp.add_user(User::new("user-3").claim("email", "user-3@example.com"));
    for claim in [serde_json::Value::Null, "".into(), 7.into(), true.into(), vec!["a"].into(), "a\u{0}b".into()] {
        scene.idp.set(|settings| settings.id_claims = serde_json::json!({ "oid": claim }));
        let (person, page) = scene.begun().await;
        let page = person.sign_in_at(&page, "user-3").await;
        super::is_refused(&page, 403, "nothing by which Usher could tell you");
        assert!(session(&person).is_none(), "{:?}", person.cookies());
        assert!(person.get("/").await.location().is_some(), "{claim}: nobody is signed in");
    }
    scene.refused("an account without the user claim").await;
}

/// The keys of the issuer change while the service runs, and a sign-in is verified by the new one.
#[tokio::test]
async fn a_key_that_the_issuer_changes_is_found() {
    let scene = Scene::new().await;
    scene.person("user-1").await;
    scene.idp.withdraw("key-1");
    scene.idp.publish(Key::new(Algorithm::Es256, "key-2"));
    scene.forward(120);
    scene.person("user-2").await;
}

/// A client without a secret, and one whose issuer takes it in the body.
#[tokio::test]
async fn the_secret_goes_as_the_issuer_takes_it() {
    for methods in [vec!["client_secret_basic"], vec!["client_secret_post"]] {
        let scene = Scene::new().await;
        scene.idp.set(|settings| settings.auth_methods = methods);
        scene.person("user-1").await;
    }
}

/// A preview of the address, or anybody who sends a browser there, changes nothing: not even for somebody who is signed in.
#[tokio::test]
async fn beginning_changes_nothing() {
    let scene = Scene::new().await;
    let person = scene.person("user-1").await;
    for path in ["/login", "/login?switch", "/login?failed=refused", "/login?wait"] {
        is_heading(
            &person.visit(http::Method::GET, path).from_site("https://evil.example").send().await,
            "Your connections",
        );
    }
    let stranger = scene.stranger();
    for _ in 0..50 {
        stranger.clear_cookies();
        assert!(stranger.get("/login").await.location().is_some());
    }
    is_heading(&person.get("/").await, "Your connections");
    assert_eq!(stranger.visit(http::Method::POST, "/login").fields(&[("token", "x")]).send().await.status, 404);
    let database = scene.database();
    assert!(!database.contains("user-2"), "no row of those who began");
}
