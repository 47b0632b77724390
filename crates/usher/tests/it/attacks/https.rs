//! Over https: cookies that other ports, other schemes and sibling domains can neither read nor set (R-SEC-06).

use std::{path::Path, sync::Arc};

use elicit::{ClientId, Principal, SystemRandom, UserId};
use tokio::net::TcpListener;
use usher::{
    clock::{Clock as _, SystemClock},
    commands::install_crypto_provider,
    config::Config,
    serve::{Running, start},
};
use usher_store::{AskReason, InteractionId, NewInteraction};
use usher_testkit::{idp::Idp, person::Person, provider::Api, tls::Front, upstream::Upstream};

use super::is_heading;
use crate::harness::{Folder, KEY, Setup, USHER, config_text};

/// A service behind TLS, whose people sign in at an issuer.
struct Secure {
    running: Running,
    front: Front,
    idp: Arc<Idp>,
    _folder: Folder,
    _upstream: Upstream,
    _api: Api,
}

impl Secure {
    async fn new() -> Self {
        install_crypto_provider();
        let (folder, upstream, api) = (Folder::new(), Upstream::start().await, Api::start("x-api-key", KEY).await);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let front = Front::start(format!("127.0.0.1:{port}")).await;
        let idp = Arc::new(Idp::start().await);
        let setup = Setup { issuer: Some(Arc::clone(&idp)), ..Setup::default() };
        let public = format!("public_url = \"http://127.0.0.1:{port}\"");
        let text = config_text(&setup, port, &upstream, &api)
            .replace(&public, &format!("public_url = \"{}\"", front.origin()));
        let path = folder.path().join("usher.toml");
        let config = Config::parse(&text, &path, &|_| None).unwrap_or_else(|faults| panic!("{faults}"));
        let clock = Arc::new(SystemClock);
        let running =
            start(config, Some(listener), clock, Arc::new(SystemRandom), Some(Path::new(USHER))).await.unwrap();
        Self { running, front, idp, _folder: folder, _upstream: upstream, _api: api }
    }

    fn stranger(&self) -> Person {
        Person::new(self.front.origin()).language("en").through(self.front.agent())
    }

    async fn person(&self) -> Person {
        let person = self.stranger();
        let page = person.get("/").await;
        is_heading(&person.sign_in_at(&page, "user-1").await, "Your connections");
        person
    }

    /// The link of a question for a key.
    async fn link(&self) -> String {
        let app = &self.running.app;
        let now = app.clock.now();
        let new = NewInteraction {
            id: InteractionId::new(&SystemRandom),
            principal: Principal {
                user: UserId::new(self.idp.issuer(), "user-1").unwrap(),
                client: ClientId::new("editor").unwrap(),
            },
            client_claim: None,
            provider: "weather".to_owned(),
            destination: app.config.upstreams[0].destination(),
            operation: None,
            asked_by: None,
            reason: AskReason::Missing,
            expires_at: now + std::time::Duration::from_mins(15),
        };
        let asked = app.store.ask(&[new], None, now).await.unwrap();
        app.config.public_url.join(&format!("/connect/{}", asked[0].id))
    }
}

/// R-SEC-06, R-URL-02: links are https; every cookie is `__Host-`, Secure, `HttpOnly`, `SameSite=Lax`, for the whole path and no
/// domain; and the whole way works with them.
#[tokio::test]
async fn over_https_every_cookie_is_of_this_host_alone() {
    let service = Secure::new().await;
    let url = service.link().await;
    assert!(url.starts_with("https://"), "{url}");
    let person = service.stranger();
    let page = person.get(&url).await;
    let page = person.sign_in_at(&page, "user-1").await;
    is_heading(&page, "Connect Weather");
    is_heading(&person.agree(&page, &[("api_key", KEY)]).await, "Connected");
    person.get("/?lang=zh-CN").await;
    let lines = person.set_cookie_lines();
    let ours: Vec<&String> = lines.iter().filter(|line| !line.starts_with("idp=")).collect();
    assert!(ours.len() >= 3, "{lines:?}");
    for line in ours {
        assert!(line.starts_with("__Host-usher"), "{line}");
        for part in ["; Secure", "; HttpOnly", "; SameSite=Lax", "; Path=/", "Max-Age="] {
            assert!(line.contains(part), "{line}");
        }
        assert!(!line.contains("Domain"), "{line}");
    }
}

/// R-SEC-06: what a neighbour can plant, which has no such prefix, is no cookie of ours, whatever its value; and a browser takes
/// no cookie with the prefix from plain http, for a domain, or for a part of the host.
#[tokio::test]
async fn what_a_neighbour_or_a_sibling_domain_plants_counts_for_nothing() {
    let service = Secure::new().await;
    let attacker = service.person().await;
    let token = attacker.cookies().into_iter().find(|cookie| cookie.name == "__Host-usher").unwrap().value;
    let victim = service.stranger();
    let port = service.front.address().port();
    let instance = service.running.app.store.instance();
    for name in ["usher", "Host-usher", "__Secure-usher", "__host-usher", "__Host-Usher"]
        .map(str::to_owned)
        .into_iter()
        .chain([format!("usher-{port}"), format!("usher-{port}-{instance}")])
    {
        let page =
            victim.visit(http::Method::GET, "/").header("cookie", &format!("{name}={token}")).stay().send().await;
        assert_eq!(page.status, 303, "{name}: {}", page.describe());
    }
    for line in [
        format!("__Host-usher={token}; Path=/"),
        format!("__Host-usher={token}; Path=/connect; Secure"),
        format!("__Host-usher={token}; Path=/; Secure; Domain=localhost"),
    ] {
        victim.plant_cookie(&line);
    }
    let planted = victim.cookies();
    assert!(planted.iter().all(|cookie| cookie.value != token), "{planted:?}");
    assert_eq!(victim.visit(http::Method::GET, "/").stay().send().await.status, 303);

    // Ours beside one that is planted: ours counts.
    let person = service.person().await;
    person.plant_cookie(&format!("usher-{port}-{instance}={token}; Path=/"));
    person.plant_cookie("usher=x; Path=/; Domain=localhost");
    is_heading(&person.get("/").await, "Your connections");
    // Of two that both look like ours, neither does: nobody can tell which is.
    let both = format!("__Host-usher={token}; __Host-usher={}", "A".repeat(43));
    let page = service.stranger().visit(http::Method::GET, "/").header("cookie", &both).stay().send().await;
    assert_eq!(page.status, 303, "{}", page.describe());
}
