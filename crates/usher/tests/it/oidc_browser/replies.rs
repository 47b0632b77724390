//! What comes back through the browser, as anybody could write it.

use usher_store::AuditAction;
use usher_testkit::idp::ReplyIssuer;

use super::{
    is_heading, is_refused,
    scene::{Scene, changed, parameter},
};

/// R-OAUTH-02: a state is one browser's, was made here, and expires; nothing else is taken, and no code goes anywhere.
#[tokio::test]
async fn a_state_that_is_not_this_browsers_is_refused() {
    let scene = Scene::new().await;
    let (_, theirs) = scene.answered("user-2").await;
    let theirs = parameter(&theirs, "state").unwrap();
    let guess = "A".repeat(theirs.len());
    let (person, url) = scene.answered("user-1").await;
    let state = parameter(&url, "state").unwrap();
    let last = if state.ends_with('A') { "B" } else { "A" };
    let edited = format!("{}{last}", &state[..state.len() - 1]);
    let middle = format!("{}{}{}", &state[..100], if &state[100..101] == "A" { "B" } else { "A" }, &state[101..]);
    for wrong in [theirs.as_str(), &guess, &edited, &middle, &state[..40], "", "x", &"A".repeat(20_000)] {
        let page = person.come_back(&changed(&url, &[("state", Some(wrong))])).await;
        is_refused(&page, 400, "not begun in this browser");
    }
    for url in [
        changed(&url, &[("state", None)]),
        changed(&url, &[("code", None)]),
        format!("{url}&state={state}"),
        format!("{url}&code=other"),
        format!("{url}&error=access_denied"),
        format!("{}/login/callback", scene.origin),
    ] {
        is_refused(&person.come_back(&url).await, 400, "not begun in this browser");
    }
    assert_eq!(scene.exchanges(), 0);
    scene.forward(601);
    is_refused(&person.come_back(&url).await, 400, "longer than ten minutes");
    assert_eq!(scene.exchanges(), 0);
    for detail in ["a state that was not made here", "a sign-in of another browser", "a reply that is none"] {
        scene.refused(detail).await;
    }
}

/// R-OAUTH-02, RFC 9207: a reply of another issuer, or of none where this one always names itself; for errors too.
#[tokio::test]
async fn a_reply_of_another_issuer_is_refused() {
    let scene = Scene::new().await;
    for (issuer, error) in [
        (ReplyIssuer::Other("https://evil.example".to_owned()), None),
        (ReplyIssuer::Other(format!("{}/", scene.idp.issuer())), None),
        (ReplyIssuer::Missing, None),
        (ReplyIssuer::Missing, Some("access_denied".to_owned())),
    ] {
        scene.idp.set(|settings| {
            settings.reply_issuer = issuer.clone();
            settings.authorization_error = error;
        });
        let (person, url) = scene.answered("user-1").await;
        is_refused(&person.come_back(&url).await, 502, "does not prove who you are");
    }
    assert_eq!(scene.exchanges(), 0);
}

/// RFC 9207: an issuer that does not say that it names itself need not, but what it says must be right.
#[tokio::test]
async fn an_issuer_need_not_name_itself_where_it_never_does() {
    let scene = Scene::new().await;
    scene.idp.set(|settings| {
        settings.metadata = serde_json::json!({ "authorization_response_iss_parameter_supported": null });
        settings.reply_issuer = ReplyIssuer::Missing;
    });
    scene.person("user-1").await;
    scene.idp.set(|settings| settings.reply_issuer = ReplyIssuer::Other("https://evil.example".to_owned()));
    let (person, url) = scene.answered("user-1").await;
    is_refused(&person.come_back(&url).await, 502, "does not prove who you are");
}

/// R-OAUTH-02: one sign-in is one session and one exchange: when the reply comes twice, one after the other or at once.
#[tokio::test]
async fn a_reply_counts_once() {
    let scene = Scene::new().await;
    let (person, url) = scene.answered("user-1").await;
    let cookies = person.cookies();
    let cookies: Vec<String> = cookies.iter().map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect();
    let cookies = cookies.join("; ");
    let visit = || person.visit(http::Method::GET, &url).header("cookie", &cookies).stay().send();
    let pages = tokio::join!(visit(), visit(), visit(), visit());
    let mut statuses = [&pages.0, &pages.1, &pages.2, &pages.3].map(|page| page.status.as_u16());
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 410, 410, 410]);
    is_refused(&visit().await, 410, "completed already");
    scene.idp.set(|settings| settings.codes_again = true);
    is_refused(&visit().await, 410, "completed already");
    assert_eq!(scene.exchanges(), 1);
    assert_eq!(scene.audited(&scene.user("user-1"), AuditAction::BrowserSignedIn).await, 1);
    // Neither by what the browser itself holds since.
    is_refused(&person.come_back(&url).await, 410, "completed already");
}

/// R-OAUTH-02: neither does the store take one twice, should the memory of this replica be gone, and the issuer not care.
#[tokio::test]
async fn a_reply_counts_once_on_all_replicas() {
    let mut scene = Scene::new().await;
    scene.idp.set(|settings| settings.codes_again = true);
    let (person, url) = scene.answered("user-1").await;
    let cookies = person.cookies();
    let cookies: Vec<String> = cookies.iter().map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect();
    let cookies = cookies.join("; ");
    is_heading(&person.come_back(&url).await, "Your connections");
    let section = Scene::section(&scene.idp.issuer(), "");
    scene.again(&section).await;
    let page = person.visit(http::Method::GET, &url).header("cookie", &cookies).stay().send().await;
    is_refused(&page, 410, "completed already");
    assert_eq!(scene.audited(&scene.user("user-1"), AuditAction::BrowserSignedIn).await, 1);
}

/// R-SEC-02, R-SEC-04: the issuer's refusal is a page with a way on; its words are cleaned, and only where this browser asked.
#[tokio::test]
async fn a_refusal_of_the_issuer_is_told_harmlessly() {
    let scene = Scene::new().await;
    let link = scene.link(scene.user("user-1")).await;
    let person = scene.stranger();
    let page = person.get(&link).await;
    scene.idp.set(|settings| settings.authorization_error = Some("access_denied".to_owned()));
    let url = person.at_issuer(&page, "user-1").await;
    let page = person.come_back(&url).await;
    is_refused(&page, 403, "did not sign you in");
    assert!(page.text().contains("as configured <b>here</b> (access_denied)"), "{}", page.text());
    assert!(!page.html.contains("<b>here"), "{}", page.html);
    // Again, and to the same place.
    scene.idp.set(|settings| settings.authorization_error = None);
    let (again, _) = page.links().into_iter().find(|(_, text)| text == "Sign in again").unwrap();
    let page = person.get(&again).await;
    assert_eq!(person.sign_in_at(&page, "user-1").await.url, link);

    let hostile = "x\u{202e}\u{0}\n<script>alert(1)</script>https://evil.example/".repeat(50);
    let (person, url) = scene.answered("user-1").await;
    let reply = |error: &str, text: &str| {
        changed(&url, &[("code", None), ("error", Some(error)), ("error_description", Some(text))])
    };
    let page = person.come_back(&reply("login_required", &hostile)).await;
    is_refused(&page, 403, "did not sign you in");
    assert!(!page.html.contains("<script>alert") && !page.html.contains('\u{202e}'), "{}", page.html);
    assert!(page.text().len() < 1500 && page.links().iter().all(|(to, _)| !to.contains("evil")), "{}", page.text());
    let page = scene.stranger().come_back(&reply("access_denied", "Call 555-1234 at once")).await;
    is_refused(&page, 400, "not begun in this browser");
    assert!(!page.html.contains("555"), "{}", page.html);
}

/// The address of a page that failed holds no code: the language switch leaves it behind.
#[tokio::test]
async fn a_failure_can_be_read_in_another_language() {
    let scene = Scene::new().await;
    let (person, url) = scene.answered("user-1").await;
    let page = person.come_back(&changed(&url, &[("code", None), ("error", Some("access_denied"))])).await;
    let (to, _) = page.links().into_iter().find(|(_, text)| text == "中文").unwrap();
    assert_eq!(to, "/login?failed=refused&lang=zh-CN");
    let page = person.get(&to).await;
    assert_eq!(page.status, 403);
    is_heading(&page, "您尚未登录");
}

/// R-URL-03: signing in leads to a page of ours and nowhere else, whoever wrote the cookie or the address.
#[tokio::test]
async fn signing_in_leads_nowhere_but_to_our_own_pages() {
    let scene = Scene::new().await;
    let name = {
        let (person, _) = scene.begun().await;
        person.cookies().into_iter().find(|cookie| cookie.name.ends_with("-place")).unwrap().name
    };
    for place in
        ["https://evil.example/", "//evil.example", "/\\evil.example", "/login", "/logout", "/connect/x", "%2F%2Fevil"]
    {
        let person = scene.stranger();
        person.plant_cookie(&format!("{name}={place}; Path=/"));
        let page = person.get(&format!("/login?return={place}&next={place}")).await;
        let page = person.sign_in_at(&page, "user-1").await;
        assert_eq!(page.url, format!("{}/", scene.origin), "{place}: {}", page.describe());
        assert!(page.hops.iter().all(|(_, to)| to == "/"), "{place}: {:?}", page.hops);
    }
}

/// R-OAUTH-03, R-SEC-06: none of these pages can be framed, kept, or sends a form elsewhere; they say what installation it is, and
/// nothing about terminals that people here do not have.
#[tokio::test]
async fn every_page_of_the_sign_in_is_protected() {
    let scene = Scene::new().await;
    let (person, url) = scene.answered("user-1").await;
    let mut pages = vec![
        scene.stranger().get("/login").await,
        scene.stranger().get("/login?wait").await,
        scene.stranger().get("/logout").await,
        scene.stranger().come_back(&url).await,
        person.come_back(&changed(&url, &[("code", None), ("error", Some("access_denied"))])).await,
    ];
    for failure in ["stale", "used", "refused", "unavailable", "unproven", "account"] {
        pages.push(scene.stranger().get(&format!("/login?failed={failure}")).await);
    }
    for page in pages {
        let policy = page.header("content-security-policy").unwrap_or_else(|| panic!("{}", page.describe()));
        for part in ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"] {
            assert!(policy.contains(part), "{policy}");
        }
        assert_eq!(page.header("x-frame-options"), Some("DENY"));
        assert_eq!(page.header("cache-control"), Some("no-store"));
        assert_eq!(page.header("referrer-policy"), Some("same-origin"));
        if !page.status.is_redirection() {
            assert_eq!(page.html.matches("<h1>").count(), 1, "{}", page.describe());
            assert!(page.text().contains(scene.origin.trim_start_matches("http://")), "{}", page.text());
            assert!(!page.text().contains("terminal") && !page.html.contains("code="), "{}", page.html);
        }
    }
}
