//! Addresses that somebody else wrote: none of them leads a person elsewhere, and none brings a header along.

use http::Method;
use usher_testkit::person::Page;

use crate::{
    harness::{CALLS, Setup, Stage},
    raw::{address, exchange, request},
};

const NO_ID: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// What an open redirect may be called.
const NAMES: [&str; 16] = [
    "next",
    "return",
    "return_to",
    "return_url",
    "redirect",
    "redirect_uri",
    "url",
    "to",
    "go",
    "back",
    "continue",
    "place",
    "target",
    "lang",
    "ended",
    "post_logout_redirect_uri",
];

/// Where it might lead, percent-encoded.
const ELSEWHERE: [&str; 9] = [
    "https://evil.example/",
    "//evil.example/",
    "/%5Cevil.example/",
    "%5C%5Cevil.example",
    "/%09/evil.example/",
    "javascript:alert(1)",
    "/connect/%2e%2e//evil.example",
    "%0d%0aLocation:%20https://evil.example/",
    "/%0d%0aX-Evil:%201",
];

/// The answer leads nowhere but to ourselves or to one of `known`.
fn stays(page: &Page, origin: &str, known: &[String], what: &str) {
    let hops = page.hops.iter().map(|(_, to)| to.as_str());
    for to in hops.chain(page.location()).chain(page.refresh()) {
        let path = to.strip_prefix(origin).unwrap_or(to);
        let ours = path.starts_with('/') && !path.starts_with("//") && !path.contains('\\');
        assert!(ours || known.iter().any(|known| to.starts_with(known.as_str())), "{what}: {to}");
        assert!(!ours || !to.contains("evil"), "{what}: {to}");
    }
    assert!(page.header("x-evil").is_none(), "{what}");
    for (to, _) in page.links() {
        assert!(!to.contains("evil") && !to.starts_with("javascript"), "{what}: {to}");
    }
    for form in page.forms() {
        assert!(!form.action.contains("evil"), "{what}: {}", form.action);
    }
}

/// R-URL-03: whatever an address of ours says of another place, to somebody signed in or not, in either mode of identity, it
/// leads nobody there.
#[tokio::test]
async fn no_address_of_ours_leads_elsewhere() {
    for oidc in [false, true] {
        let stage = if oidc { Stage::oidc(Setup::default()).await } else { Stage::new().await };
        let url = stage.modern().call(CALLS[0].0, CALLS[0].1).await.url();
        let known = stage.idp.iter().map(|idp| format!("{}/", idp.issuer())).collect::<Vec<_>>();
        let person = stage.person().await;
        let stranger = usher_testkit::person::Person::new(&stage.origin).language("en");
        let paths = [
            "/",
            &url,
            "/login",
            "/login/callback",
            "/logout",
            "/clients",
            "/clients/revoke",
            "/activity",
            "/sessions",
            "/connections/weather/disconnect",
            "/return/pay",
            "/nowhere",
            &format!("/connect/{NO_ID}"),
        ];
        for path in paths {
            for elsewhere in ELSEWHERE {
                let query: Vec<String> = NAMES.iter().map(|name| format!("{name}={elsewhere}")).collect();
                for visitor in [&person, &stranger] {
                    let what = format!("{path}?…={elsewhere}");
                    let page = visitor.visit(Method::GET, &format!("{path}?{}", query.join("&"))).stay().send().await;
                    stays(&page, &stage.origin, &known, &what);
                }
            }
        }
    }
}

/// R-SEC-08: no path and no parameter ends a header of the answer and begins another, at any route.
#[tokio::test]
async fn no_address_brings_a_header_along() {
    let stage = Stage::new().await;
    let person = stage.connected().await;
    let cookies: Vec<String> =
        person.cookies().iter().map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect();
    let cookies = cookies.join("; ");
    let bearer = format!("Bearer {}", stage.token);
    let host = address(&stage.origin);
    for end in ["%0d%0a", "%0a", "%0d", "%E5%98%8A%E5%98%8D", "%00%0d%0a"] {
        let evil = format!("x{end}X-Evil:%201{end}{end}<b>evil");
        for path in [
            format!("/{evil}"),
            format!("/connect/{evil}"),
            format!("/connections/{evil}/disconnect"),
            format!("/connections/{evil}/reconnect"),
            format!("/declined/{evil}/release"),
            format!("/sessions/{evil}/end"),
            format!("/sessions?ended={evil}"),
            format!("/?disconnected={evil}&lang={evil}"),
            format!("/clients?revoked={evil}"),
            format!("/clients/revoke?client={evil}"),
            format!("/activity?before={evil}"),
            format!("/return/{evil}?token={evil}"),
            format!("/login?token={evil}&failed={evil}"),
            format!("/login/callback?state={evil}&error={evil}"),
            format!("/assets/{evil}"),
            format!("/mcp/{evil}"),
            format!("/.well-known/oauth-protected-resource/mcp/{evil}"),
            format!("/api/v1/interactions/{evil}"),
        ] {
            for method in ["GET", "POST"] {
                let headers = [
                    ("Host", host.as_str()),
                    ("Cookie", &cookies),
                    ("Authorization", &bearer),
                    ("Origin", &stage.origin),
                    ("Content-Type", "application/x-www-form-urlencoded"),
                ];
                let answer = exchange(&stage.origin, request(&format!("{method} {path}"), &headers, "csrf=x")).await;
                assert!(answer.status != 0, "{method} {path}");
                assert!(answer.header("x-evil").is_none() && answer.count() == 1, "{method} {path}: {}", answer.text);
                assert!(answer.status < 500, "{method} {path}: {}", answer.text);
            }
        }
    }
}
