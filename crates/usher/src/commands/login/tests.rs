//! The command against a service of the test's own.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use elicit::SystemRandom;
use tokio::net::TcpListener;

use super::*;
use crate::config::PublicUrl;
use crate::config::folder::Folder;
use crate::identity::control::ControlToken;

/// A folder with a configuration and a control file that leads to `url`.
fn folder(url: &PublicUrl) -> (Folder, ControlToken) {
    crate::commands::install_crypto_provider();
    let folder = Folder::new();
    let text = "[[upstream]]\nname = \"a\"\nurl = \"https://a.example\"\n";
    std::fs::write(folder.path("usher.toml"), text).unwrap();
    let address = url.authority().parse().unwrap();
    let token = ControlToken::issue(&folder.path("usher.control"), url, address, &SystemRandom).unwrap();
    (folder, token)
}

fn args(folder: &Folder, no_browser: bool) -> Args {
    Args { config: ConfigArgs { config: folder.path("usher.toml") }, no_browser }
}

async fn listener() -> (TcpListener, PublicUrl) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = PublicUrl::parse(&format!("http://{}", listener.local_addr().unwrap())).unwrap();
    (listener, url)
}

/// A service that knows the token and answers with this status and body; `{url}` stands for its own address.
async fn service(status: u16, body: &'static str) -> (Folder, PublicUrl) {
    let (listener, url) = listener().await;
    let (folder, token) = folder(&url);
    let body = body.replace("{url}", url.origin());
    let token = Arc::new(token);
    let answer = move |headers: HeaderMap| {
        let presented = headers.get("authorization").and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        let status = if presented.is_some_and(|presented| token.verify(presented)) { status } else { 418 };
        std::future::ready((StatusCode::from_u16(status).unwrap(), body.clone()))
    };
    // The service ends with the test's runtime.
    let router = Router::new().route("/login/links", post(answer));
    tokio::spawn(async move { axum::serve(listener, router).await });
    (folder, url)
}

const LINK: &str = r#"{"url":"{url}/login?token=secret","expires_in":600}"#;

fn no_screen(_: &Path) -> bool {
    false
}

/// The link leads through a page on disk, and shows neither on the terminal nor in a process list.
#[tokio::test]
async fn the_browser_is_opened_through_a_page() {
    let (folder, url) = service(201, LINK).await;
    let shown: Mutex<Option<PathBuf>> = Mutex::default();
    let show = |page: &Path| {
        *shown.lock().unwrap() = Some(page.to_owned());
        true
    };
    let text = login(&args(&folder, false), &show).await.unwrap();
    assert!(!text.contains("secret"), "{text}");
    let page = shown.into_inner().unwrap().unwrap();
    let html = std::fs::read_to_string(page).unwrap();
    assert!(html.contains(&format!("url={}/login?token=secret\"", url.origin())), "{html}");
}

#[tokio::test]
async fn without_a_browser_the_link_is_printed_and_no_page_is_left() {
    for no_browser in [true, false] {
        let (folder, url) = service(201, LINK).await;
        let text = login(&args(&folder, no_browser), &no_screen).await.unwrap();
        assert!(text.contains(&format!("  {}/login?token=secret\n", url.origin())), "{text}");
        assert!(text.contains("once, within 10 minutes"), "{text}");
        assert!(!folder.path("usher.login.html").exists());
    }
}

#[tokio::test]
async fn a_service_that_is_not_running_is_told_apart() {
    let (listener, url) = listener().await;
    let (folder, token) = folder(&url);
    drop(listener);
    let error = login(&args(&folder, true), &no_screen).await.unwrap_err();
    assert!(matches!(&error, LoginError::NotRunning(at) if at == url.origin()), "{error}");
    assert!(error.to_string().ends_with("start it with usher serve"));

    token.withdraw();
    let error = login(&args(&folder, true), &no_screen).await.unwrap_err();
    assert!(matches!(error, LoginError::Control(ControlError::Missing { .. })), "{error}");
    assert!(error.to_string().ends_with("start it with usher serve"));

    std::fs::write(folder.path("usher.toml"), "").unwrap();
    let error = login(&args(&folder, true), &no_screen).await.unwrap_err();
    assert!(error.to_string().contains("usher.toml:1:1: upstream: is missing"), "{error}");

    std::fs::remove_file(folder.path("usher.toml")).unwrap();
    let error = login(&args(&folder, true), &no_screen).await.unwrap_err().to_string();
    assert!(error.contains("run it in the folder of the running service's usher.toml, or name it with"), "{error}");
    std::fs::create_dir(folder.path("usher.toml")).unwrap();
    let error = login(&args(&folder, true), &no_screen).await.unwrap_err().to_string();
    assert!(error.contains("usher.toml: is a folder\n  fix: name the file"), "{error}");
}

/// The store's secret is the service's: the command does without.
#[tokio::test]
async fn a_variable_of_the_service_that_is_not_set_here_does_not_matter() {
    let (folder, url) = service(201, LINK).await;
    let text =
        "[store]\nurl_env = \"USHER_TEST_NO_SUCH_URL\"\n[[upstream]]\nname = \"a\"\nurl = \"https://a.example\"\n";
    std::fs::write(folder.path("usher.toml"), text).unwrap();
    let text = login(&args(&folder, true), &no_screen).await.unwrap();
    assert!(text.contains(&format!("  {}/login?token=secret\n", url.origin())), "{text}");
}

#[tokio::test]
async fn other_answers_are_told_apart() {
    for (status, body, expected) in [
        (401, "", "does not accept this control file"),
        (503, "", "cannot make a link"),
        (
            409,
            "",
            "has its people sign in by an OpenID provider (identity mode oidc), so there is no link to make: open http",
        ),
        (404, "", "is not this service (HTTP 404)"),
        (302, "", "is not this service (HTTP 302)"),
        (201, "hello", "its answer is no link"),
        (201, r#"{"url":"http://evil.example/login","expires_in":600}"#, "its link leads elsewhere"),
        (201, r#"{"url":"{url}.evil.example/login","expires_in":600}"#, "its link leads elsewhere"),
    ] {
        let (folder, _) = service(status, body).await;
        let error = login(&args(&folder, true), &no_screen).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{status} {body}: {error}");
    }
}
