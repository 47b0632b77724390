//! Sessions of browsers that signed in at an issuer.

use http::Method;

use super::{
    is_heading,
    scene::{Scene, session},
};

const HOUR: i64 = 3600;

/// R-ID-03 (session fixation): signing in makes a new session, and ends the one that the browser had, whosever it was.
#[tokio::test]
async fn a_new_sign_in_is_a_new_session() {
    let scene = Scene::new().await;
    let person = scene.person("user-1").await;
    let planted = session(&person).unwrap();
    // Somebody else's browser, into which the session was planted, begins before it does.
    let victim = scene.stranger();
    let page = victim.get("/").await;
    victim.plant_cookie(&format!("{}={}; Path=/", planted.name, planted.value));
    is_heading(&victim.sign_in_at(&page, "user-2").await, "Your connections");
    assert_ne!(session(&victim).unwrap().value, planted.value);
    assert!(person.get("/").await.location().is_some(), "the planted session is over");
    let planted = format!("{}={}", planted.name, planted.value);
    let page = victim.visit(Method::GET, "/").header("cookie", &planted).stay().send().await;
    assert_eq!(page.status, 303);
}

/// R-SEC-04: a session ends by itself when nobody uses it, and at the latest after a day.
#[tokio::test]
async fn a_session_ends_when_it_is_idle_or_old() {
    let scene = Scene::new().await;
    let person = scene.person("user-1").await;
    assert_eq!(session(&person).unwrap().max_age, Some(24 * HOUR));
    for _ in 0..3 {
        scene.forward(7 * HOUR);
        is_heading(&person.get("/").await, "Your connections");
    }
    scene.forward(3 * HOUR);
    assert!(person.get("/").await.location().is_some(), "24 hours have passed");
    let person = scene.person("user-1").await;
    scene.forward(8 * HOUR);
    assert!(person.get("/").await.location().is_some(), "idle for 8 hours");
}

/// However short it is: whoever goes on working is not thrown out.
#[tokio::test]
async fn an_active_person_stays_signed_in() {
    let scene = Scene::with("session_idle = \"1m\"").await;
    let person = scene.person("user-1").await;
    for _ in 0..4 {
        scene.forward(40);
        is_heading(&person.get("/").await, "Your connections");
    }
    scene.forward(61);
    assert!(person.get("/").await.location().is_some());
}

/// R-SEC-04: the operator says how long, and what is made shorter counts for those who are signed in.
#[tokio::test]
async fn the_operator_says_how_long_a_session_lasts() {
    let mut scene = Scene::new().await;
    let person = scene.person("user-1").await;
    let section = Scene::section(&scene.idp.issuer(), "session_idle = \"10m\"\nsession_lifetime = \"30m\"");
    scene.again(&section).await;
    for _ in 0..3 {
        scene.forward(9 * 60);
        is_heading(&person.get("/").await, "Your connections");
    }
    scene.forward(4 * 60);
    assert!(person.get("/").await.location().is_some());
    let person = scene.person("user-1").await;
    scene.forward(10 * 60);
    assert!(person.get("/").await.location().is_some());
}

/// R-OAUTH-03: a form needs the token of its session, as in mode local.
#[tokio::test]
async fn forms_of_others_are_refused() {
    let scene = Scene::new().await;
    let url = scene.link(scene.user("user-1")).await;
    let person = scene.person("user-1").await;
    let other = scene.person("user-1").await;
    let page = other.get(&url).await;
    let csrf = page.main_form().input("csrf").unwrap().value.clone();
    let sent = person.post_form(&url, &[("csrf", &csrf), ("action", "decline")]).await;
    assert_eq!(sent.status, 403, "{}", sent.describe());
    let sent =
        person.visit(Method::POST, &url).fields(&[("csrf", &csrf)]).from_site("https://evil.example").send().await;
    assert_eq!(sent.status, 403, "{}", sent.describe());
    let sent = person.visit(Method::POST, "/logout").from_site("https://evil.example").send().await;
    assert_eq!(sent.status, 403, "{}", sent.describe());
    is_heading(&person.get("/").await, "Your connections");
}
