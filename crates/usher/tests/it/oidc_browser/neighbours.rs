//! Other servers on the same host, whose cookies the browser sends along (R-SEC-06). Over https `__Host-` keeps them out;
//! over http on loopback nothing does.

use super::{is_heading, is_refused, scene::Scene};

/// A cookie of our name for another path stands beside ours: nobody can tell which is ours, so there is none. It can keep
/// somebody from signing in, and cannot sign them in as somebody else.
#[tokio::test]
async fn a_second_cookie_of_our_name_signs_nobody_in() {
    let scene = Scene::new().await;
    let (attacker, theirs) = scene.answered("user-2").await;
    let planted = attacker.cookies().into_iter().find(|cookie| cookie.name.ends_with("-sign-in")).unwrap();
    let (victim, own) = scene.answered("user-1").await;
    victim.plant_cookie(&format!("{}={}; Path=/login", planted.name, planted.value));
    is_refused(&victim.come_back(&theirs).await, 400, "not begun in this browser");
    is_refused(&victim.come_back(&own).await, 400, "not begun in this browser");
    assert_eq!(scene.exchanges(), 0);
}

/// What is planted before is no token of ours: it is replaced. What has the form of one is taken over, and binds only what is
/// begun with it.
#[tokio::test]
async fn a_planted_cookie_does_not_open_what_was_begun_with_another() {
    let scene = Scene::new().await;
    let (person, page) = scene.begun().await;
    let name = person.cookies().into_iter().find(|cookie| cookie.name.ends_with("-sign-in")).unwrap().name;
    let url = person.at_issuer(&page, "user-1").await;
    for value in ["A".repeat(43), "short".to_owned(), String::new(), "\"".to_owned()] {
        person.plant_cookie(&format!("{name}={value}; Path=/"));
        is_refused(&person.come_back(&url).await, 400, "not begun in this browser");
    }
    person.plant_cookie(&format!("{name}=nothing-of-ours; Path=/"));
    let page = person.get("/").await;
    is_heading(&person.sign_in_at(&page, "user-1").await, "Your connections");
}
