//! Bodies that are too large or never end, at every route that takes one; from people who are signed in, too.

use std::time::Duration;

use futures_util::future::join_all;
use secrecy::ExposeSecret as _;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use usher_store::{ApiScope, NewApiKey};
use usher_testkit::{person::Person, upstream::Upstream, within};

use crate::{
    harness::{CALLS, SECOND, Setup, Stage},
    raw::address,
};

const NO_ID: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// Every route that is posted to: its path, the header that lets in, and the type of its body.
async fn routes(stage: &Stage, person: &Person) -> Vec<(String, String, &'static str)> {
    let url = stage.modern().token(SECOND).call(CALLS[0].0, CALLS[0].1).await.url();
    let new = NewApiKey {
        server: "weather".to_owned(),
        name: String::new(),
        scopes: ApiScope::ALL.iter().copied().collect(),
        expires_at: None,
    };
    let (_, key) = stage.app().store.create_api_key(new, usher::clock::Clock::now(&*stage.clock)).await.unwrap();
    let cookies: Vec<String> =
        person.cookies().iter().map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect();
    let cookie = format!("Cookie: {}", cookies.join("; "));
    let bearer = |token: &str| format!("Authorization: Bearer {token}");
    let form = "application/x-www-form-urlencoded";
    let mut routes: Vec<(String, String, &'static str)> = [
        url.strip_prefix(&stage.origin).unwrap(),
        "/login",
        "/logout",
        "/connections/weather/disconnect",
        "/connections/weather/reconnect",
        &format!("/declined/{NO_ID}/release"),
        "/clients/revoke?client=default",
        "/sessions/others/end",
        &format!("/sessions/{NO_ID}/end"),
    ]
    .map(|path| (path.to_owned(), cookie.clone(), form))
    .into();
    for path in ["", &format!("/{NO_ID}/cancel"), &format!("/{NO_ID}/complete")] {
        routes.push((format!("/api/v1/interactions{path}"), bearer(key.expose_secret()), "application/json"));
    }
    routes.push(("/mcp/weather".to_owned(), bearer(&stage.token), "application/json"));
    for path in ["/login/links", "/control/reread"] {
        routes.push((path.to_owned(), bearer("no-control-token"), "application/json"));
    }
    // These take no body, and wait for none.
    routes.push(("/return/pay?token=x".to_owned(), cookie.clone(), form));
    routes.push(("/login/callback".to_owned(), cookie, form));
    routes.push(("/nowhere".to_owned(), String::new(), form));
    routes
}

/// One client is connected already, and the other has a question.
async fn two_clients() -> Stage {
    Stage::with(Setup { second: true, ..Setup::default() }, Upstream::start().await).await
}

fn head(stage: &Stage, path: &str, lets_in: &str, kind: &str, length: usize) -> String {
    let lets_in = if lets_in.is_empty() { String::new() } else { format!("{lets_in}\r\n") };
    format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\nOrigin: {}\r\n{lets_in}Content-Type: {kind}\r\nAccept: application/json, \
         text/event-stream\r\nContent-Length: {length}\r\n\r\n",
        address(&stage.origin),
        stage.origin
    )
}

/// Sends the head and this much of the body, and no more; what comes, and after how long.
async fn begin(stage: &Stage, head: &str, body: &[u8]) -> (u16, Duration) {
    let started = tokio::time::Instant::now();
    let mut stream = TcpStream::connect(address(&stage.origin)).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    // Whoever refuses at once may not take the rest.
    let _ = stream.write_all(body).await;
    let mut text = Vec::new();
    let mut piece = [0; 1024];
    while !text.windows(4).any(|end| end == b"\r\n\r\n") {
        match within(Duration::from_secs(40), "no end of it", stream.read(&mut piece)).await {
            Ok(length @ 1..) => text.extend_from_slice(&piece[..length]),
            _ => break,
        }
    }
    let status = String::from_utf8_lossy(&text).split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or_default(), started.elapsed())
}

/// R-SEC-04: a body over every limit is refused everywhere, and nothing of what it might have said happens.
#[tokio::test]
async fn a_huge_body_is_refused_at_every_route() {
    let stage = two_clients().await;
    let person = stage.connected().await;
    let huge = "x".repeat(20 * 1024 * 1024);
    for (path, lets_in, kind) in routes(&stage, &person).await {
        let (status, _) = begin(&stage, &head(&stage, &path, &lets_in, kind, huge.len()), huge.as_bytes()).await;
        assert!((400..500).contains(&status) || status == 0, "{path}: {status}");
    }
    assert!(stage.credential().await.is_some(), "still connected");
    assert_eq!(person.get("/").await.heading().as_deref(), Some("Your connections"), "still signed in");
}

/// R-SEC-04: half a body is waited for, 30 seconds and no longer, at every route and for whomever; others are served meanwhile.
#[tokio::test]
async fn a_body_that_never_ends_is_given_up_at_every_route() {
    let stage = two_clients().await;
    let person = stage.connected().await;
    let routes = routes(&stage, &person).await;
    let slow = routes.iter().map(async |(path, lets_in, kind)| {
        let begun = begin(&stage, &head(&stage, path, lets_in, kind, 1000), b"csrf=").await;
        (path.clone(), begun)
    });
    let meanwhile = async {
        let page = person.get("/").await;
        assert_eq!(page.heading().as_deref(), Some("Your connections"), "{}", page.describe());
    };
    let (ended, ()) = futures_util::future::join(join_all(slow), meanwhile).await;
    for (path, (status, after)) in ended {
        assert!(!(200..300).contains(&status), "{path}: {status}");
        assert!(after < Duration::from_secs(38), "{path}: {status} after {after:?}");
    }
    assert!(stage.credential().await.is_some());
    assert_eq!(person.get("/").await.heading().as_deref(), Some("Your connections"), "still signed in");
}
