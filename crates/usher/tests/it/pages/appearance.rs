//! What every page has: who asks and for what, headers, cookies, language, and nothing that somebody else wrote as markup.

use http::Method;
use usher_testkit::{
    person::{Cookie, Page, Person},
    upstream::Upstream,
};

use super::{foreign_link, is_heading, link, sign_in_link, stranger};
use crate::harness::{CALLS, KEY, Setup, Stage};

/// R-OAUTH-03: the question names the verified client, the server, and where the key goes; what the app says of itself is
/// a claim.
#[tokio::test]
async fn the_question_names_who_asks_and_where_the_key_goes() {
    let stage = Stage::new().await;
    let page = stage.person().await.get(&link(&stage).await).await;
    let text = page.text();
    for said in
        ["default", "Weather", stage.upstream.origin(), "API key", "encrypted, for you only", "does not show it"]
    {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(text.contains("Not verified") && page.html.contains("<bdi>testkit</bdi>"), "{text}");
    let form = page.main_form();
    let names: Vec<&str> = form.buttons.iter().map(|button| button.text.as_str()).collect();
    assert_eq!(names, ["Connect", "Decline"], "Decline is always in reach");
    let key = form.input("api_key").unwrap();
    assert_eq!((key.kind.as_str(), key.label.as_deref()), ("password", Some("API key")));
    assert_eq!(key.attribute("autocomplete"), Some("off"));
}

/// Every page there is, by the way a person comes to it.
async fn every_page(stage: &Stage) -> Vec<(&'static str, Page)> {
    let person = stage.person().await;
    let url = link(stage).await;
    let mut pages = vec![
        ("need", stranger(stage).get("/login").await),
        ("sign in", stranger(stage).get(&sign_in_link(stage).await).await),
        ("used", person.post_form("/login", &[("token", "x")]).await),
        ("question", person.get(&url).await),
        ("other person", person.get(&foreign_link(stage).await).await),
        ("missing", person.get("/connect/nothing").await),
        ("nowhere", person.get("/nothing").await),
        ("refused", person.post_form(&url, &[("csrf", "x")]).await),
        ("waiting", person.get("/").await),
        ("method", person.visit(Method::PUT, "/").send().await),
        ("to sign in", stranger(stage).visit(Method::GET, &url).stay().send().await),
    ];
    let question = person.get(&url).await;
    pages.push(("wrong", person.agree(&question, &[("api_key", "")]).await));
    pages.push(("done", person.agree(&question, &[("api_key", KEY)]).await));
    pages.push(("portal", person.get("/").await));
    pages.push(("disconnect", person.get("/connections/weather/disconnect").await));
    pages.push(("clients", person.get("/clients").await));
    pages.push(("revoke", person.get("/clients/revoke?client=default").await));
    pages.push(("activity", person.get("/activity").await));
    pages.push(("sessions", person.get("/sessions").await));
    pages.push(("asset", person.get("/assets/usher.css").await));
    pages.push(("script", person.get("/assets/usher.js").await));
    pages.push(("no asset", person.get("/assets/nothing.css").await));
    pages
}

/// R-OAUTH-03: no page can be framed, loads anything foreign, is kept, or is sent with a foreign form.
#[tokio::test]
async fn every_page_and_asset_is_protected() {
    let stage = Stage::new().await;
    for (name, page) in every_page(&stage).await {
        let policy = page.header("content-security-policy").unwrap_or_else(|| panic!("{name}: no policy"));
        for part in ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"] {
            assert!(policy.contains(part), "{name}: {policy}");
        }
        assert!(!policy.contains("unsafe") && !policy.contains("http"), "{name}: {policy}");
        for (header, value) in [
            ("x-content-type-options", "nosniff"),
            ("x-frame-options", "DENY"),
            ("referrer-policy", "same-origin"),
            ("cross-origin-opener-policy", "same-origin"),
        ] {
            assert_eq!(page.header(header), Some(value), "{name}: {header}");
        }
        if !name.contains("asset") && name != "script" {
            assert_eq!(page.header("cache-control"), Some("no-store"), "{name}");
        }
        for foreign in ["style=", "<style", "onclick", "onload", "javascript:", "https://"] {
            assert!(name == "script" || !page.html.contains(foreign), "{name}: {foreign}");
        }
    }
}

/// Every page has a title, one heading, and the name of this installation to compare with the address bar.
#[tokio::test]
async fn every_page_has_a_title_one_heading_and_the_name_of_this_installation() {
    let stage = Stage::new().await;
    let host = stage.origin.trim_start_matches("http://").to_owned();
    for (name, page) in every_page(&stage).await {
        if ["method", "to sign in", "asset", "script", "no asset"].contains(&name) {
            continue;
        }
        assert_eq!(page.html.matches("<h1>").count(), 1, "{name}");
        assert_eq!(page.html.matches("<main").count(), 1, "{name}");
        assert!(page.title().is_some_and(|title| title.len() > 3), "{name}");
        assert!(page.html.contains("<html lang=\"en\">"), "{name}");
        assert!(page.text().contains(&host), "{name}: {}", page.text());
    }
}

/// R-SEC-06: cookies are ours alone: `HttpOnly`, `SameSite=Lax`, whole path, no domain; on http without Secure and named
/// after the port and the installation.
#[tokio::test]
async fn cookies_have_the_attributes_that_keep_them_ours() {
    let stage = Stage::new().await;
    let person = stranger(&stage);
    person.get(&link(&stage).await).await;
    person.get("/login?lang=zh-CN").await;
    person.sign_in(&sign_in_link(&stage).await).await;
    let lines = person.set_cookie_lines();
    assert!(lines.len() >= 3, "{lines:?}");
    let port = stage.origin.rsplit(':').next().unwrap();
    for line in &lines {
        for part in ["; HttpOnly", "; SameSite=Lax", "; Path=/", "Max-Age="] {
            assert!(line.contains(part), "{line}");
        }
        assert!(!line.contains("Domain") && !line.contains("Secure"), "{line}");
        let prefix = format!("usher-{port}-{}", stage.app().store.instance());
        assert!(line.starts_with(&prefix), "{line}");
    }
    let session = |person: &Person| {
        let is_session = |cookie: &Cookie| !cookie.name.ends_with("-place") && !cookie.name.ends_with("-language");
        person.cookies().into_iter().find(is_session).unwrap()
    };
    assert_eq!(session(&person).value.len(), 43, "a token and nothing else; the record is on our side");
    assert!(!person.cookies().iter().any(|cookie| cookie.name.ends_with("-place")), "the place is used up");
}

/// Pages are in English and in Chinese: by what the browser asks for, or by what the person chose.
#[tokio::test]
async fn pages_speak_the_persons_language() {
    let stage = Stage::new().await;
    let url = link(&stage).await;
    let chinese = Person::new(&stage.origin).language("zh-CN,zh;q=0.9,en;q=0.8");
    let back = chinese.get(&url).await;
    assert!(back.html.contains("<html lang=\"zh-CN\">"), "{}", back.describe());
    chinese.sign_in(&sign_in_link(&stage).await).await;
    is_heading(&chinese.get(&url).await, "连接 Weather");
    is_heading(&chinese.get("/").await, "您的连接");
    is_heading(&chinese.get("/?lang=en").await, "Your connections");
    is_heading(&chinese.get(&url).await, "Connect Weather");
    let declined = chinese.get(&format!("{url}?lang=zh-CN")).await;
    is_heading(&chinese.refuse(&declined).await, "已拒绝");
    let english = stage.person().await;
    is_heading(&english.get("/").await, "Your connections");
    is_heading(&english.get("/?lang=xx").await, "Your connections");
}

/// What somebody else wrote is text on our pages, wherever it stands.
#[tokio::test]
async fn hostile_names_are_text() {
    const HOSTILE: &str = "</title><script>alert(1)</script>\"'><img src=x onerror=alert(2)>";
    let setup = Setup { title: Some(HOSTILE), ..Setup::default() };
    let stage = Stage::with(setup, Upstream::start().await).await;
    let claim = format!(r#"{{"name":{},"version":"1"}}"#, usher_testkit::quote(HOSTILE));
    let client = stage.modern().client_info(Some(&claim));
    let url = client.call(CALLS[0].0, CALLS[0].1).await.url();
    let person = stage.person().await;
    let question = person.get(&url).await;
    assert!(question.text().contains("<script>alert(1)</script>"), "it is shown as text: {}", question.text());
    let typed = person.agree(&question, &[("api_key", "")]).await;
    let waiting = person.get("/").await;
    let done = person.agree(&question, &[("api_key", KEY)]).await;
    let portal = person.get("/").await;
    let clients = person.get("/clients").await;
    let activity = person.get("/activity").await;
    let ask = person.get("/connections/weather/disconnect").await;
    let gone = person.agree(&ask, &[]).await;
    let again = client.call(CALLS[2].0, CALLS[2].1).await.url();
    let declined = person.decline(&again).await;
    for page in [question, typed, waiting, done, portal, clients, activity, ask, gone, declined] {
        assert!(!page.html.contains("<script>alert") && !page.html.contains("<img"), "{}", page.html);
        assert!(!page.html.contains("\"'>"), "{}", page.html);
    }
    for query in ["?lang=\"><script>alert(1)</script>", "?disconnected=<script>alert(1)</script>"] {
        let page = person.get(&format!("/{}", query.replace(['<', '>', '"'], "%3C"))).await;
        assert!(!page.html.contains("<script>alert"));
    }
}

/// A claim cannot be made long, invisible or backwards.
#[tokio::test]
async fn a_claim_is_made_harmless_to_look_at() {
    let stage = Stage::new().await;
    let name = format!("Bank\u{202e}\u{200b} \u{2003} {}", "x".repeat(5_000));
    let claim = format!(r#"{{"name":{},"version":"1"}}"#, usher_testkit::quote(&name));
    let asked = stage.modern().client_info(Some(&claim)).call(CALLS[0].0, CALLS[0].1).await;
    let page = stage.person().await.get(&asked.url()).await;
    assert!(page.text().contains("Bank‹U+202E›‹U+200B› x"), "{}", page.text());
    assert!(!page.html.contains('\u{202e}') && !page.html.contains('\u{200b}'));
    assert!(page.html.len() < 20_000, "{}", page.html.len());
}
