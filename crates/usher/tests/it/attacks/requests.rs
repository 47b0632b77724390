//! Requests that somebody else would have us make: to addresses that an issuer's metadata name (R-SEC-05).

use std::{io::ErrorKind, net::TcpListener, sync::Arc};

use serde_json::json;
use usher_testkit::{idp::Idp, person::Person, upstream::Upstream};

use crate::harness::{Setup, Stage};

/// A place on a private address at which nobody must ever knock.
struct Trap(TcpListener);

impl Trap {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        Self(listener)
    }

    /// Its addresses, as somebody may write them who wants them not to be recognised.
    fn addresses(&self, path: &str) -> Vec<String> {
        let port = self.0.local_addr().unwrap().port();
        let hosts = [
            "http://127.0.0.1",
            "https://127.0.0.1",
            "https://localhost",
            "https://2130706433",
            "https://[::ffff:7f00:1]",
        ];
        hosts.iter().map(|host| format!("{host}:{port}{path}")).collect()
    }

    /// Whoever connected waits in the listener's queue, whether or not anything was sent.
    fn is_untouched(&self, what: &str) {
        let came = self.0.accept().map(|(_, from)| from);
        assert!(came.as_ref().is_err_and(|fault| fault.kind() == ErrorKind::WouldBlock), "{what}: {came:?}");
    }
}

/// A service whose issuer says this of itself, and which asks it about tokens where `asks`.
async fn stage(member: &str, place: &str, asks: bool) -> Stage {
    let idp = Idp::start().await;
    idp.set(|settings| settings.metadata = json!({ member: place }));
    let identity = if asks { "tokens = \"introspection\"" } else { "" }.to_owned();
    let setup = Setup { free: true, issuer: Some(Arc::new(idp)), identity, ..Setup::default() };
    Stage::with(setup, Upstream::start().await).await
}

/// The trap notices whoever knocks.
#[test]
#[should_panic(expected = "a knock")]
fn a_knock_at_the_trap_is_noticed() {
    let trap = Trap::new();
    let _guest = std::net::TcpStream::connect(trap.0.local_addr().unwrap()).unwrap();
    trap.is_untouched("a knock");
}

/// R-SEC-05: keys, token and introspection endpoints at addresses of this machine are not asked, however they are written, and
/// neither are those of other schemes and of clouds; so no secret and no token of anybody goes there.
#[tokio::test]
async fn no_endpoint_of_an_issuer_has_us_ask_a_private_address() {
    let trap = Trap::new();
    let mut places = trap.addresses("/x?y=");
    places.extend(
        [
            "https://169.254.169.254/latest/meta-data",
            "file:///etc/passwd",
            "gopher://127.0.0.1:1/",
            "https://u:p@127.0.0.1/",
        ]
        .map(str::to_owned),
    );
    for place in places {
        for (member, asks) in [("jwks_uri", false), ("introspection_endpoint", true)] {
            let stage = stage(member, &place, asks).await;
            let reply = stage.modern().call("tools/list", "{}").await;
            assert!([401, 503].contains(&reply.status.as_u16()), "{member} {place}: {}", reply.text());
            assert!(stage.upstream.requests().is_empty(), "{member} {place}");
            trap.is_untouched(&format!("{member} {place}"));
        }
        let stage = stage("token_endpoint", &place, false).await;
        let person = Person::new(&stage.origin).language("en");
        let page = person.get("/").await;
        // Where the whole document is refused for it, nobody is sent to the issuer at all.
        if page.location().is_some() {
            let page = person.sign_in_at(&page, "user-1").await;
            assert_eq!(page.heading().as_deref(), Some("You are not signed in"), "{place}: {}", page.describe());
        } else {
            assert_eq!(page.heading().as_deref(), Some("You are not signed in"), "{place}: {}", page.describe());
        }
        trap.is_untouched(&format!("token_endpoint {place}"));
    }
}

/// R-SEC-05: nobody's browser is sent where the scheme is not that of a web page, or where others on the way read along; to sign
/// in or to sign out.
#[tokio::test]
async fn no_browser_is_sent_to_an_address_that_is_no_web_page() {
    for place in [
        "javascript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "file:///etc/passwd",
        "vbscript:x",
        "http://issuer.example/authorize",
        "//evil.example/",
        "x\r\nSet-Cookie: a=b",
    ] {
        for member in ["authorization_endpoint", "end_session_endpoint"] {
            let stage = stage(member, place, false).await;
            let person = Person::new(&stage.origin).language("en");
            let mut page = person.get("/").await;
            if member == "end_session_endpoint" && page.location().is_some() {
                let portal = person.sign_in_at(&page, "user-1").await;
                let form = portal.form_by_action("/logout");
                page = person.submit(&portal, &form, None, &[]).await;
            }
            let onward = [page.location(), page.refresh()].into_iter().flatten();
            let start = &place[..place.len().min(9)];
            for to in onward {
                assert!(!to.contains(start) && !to.contains("issuer.example"), "{member} {place}: {to}");
            }
            assert!(!page.html.contains(start), "{member} {place}: {}", page.html);
            assert!(page.header("set-cookie").is_none_or(|cookie| !cookie.starts_with("a=")), "{member} {place}");
        }
    }
}
