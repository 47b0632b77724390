//! The person against a page of the kind that they will meet, and the API.

#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

use http::Method;
use usher_testkit::agent;
use usher_testkit::person::Person;
use usher_testkit::provider::{Api, Behaviour};
use usher_testkit::upstream::Gate;

/// A page that sets a cookie, asks for a key and redirects after the form; it stands in for ours.
mod pages {
    use axum::Router;
    use axum::extract::Request;
    use axum::http::HeaderMap;
    use axum::response::{IntoResponse, Redirect, Response};
    use axum::routing::get;
    use tokio::net::TcpListener;
    use tokio::task::JoinHandle;

    const FORM: &str = r#"<h1>Connect</h1><form method="post" action="/logout"><button>Sign out</button></form>
        <form method="post"><input type="hidden" name="csrf" value="c&amp;1">
        <label for="k">Key</label><input id="k" name="api_key" type="password">
        <button name="do" value="connect">Connect</button>
        <button name="do" value="decline">Decline</button></form>"#;

    async fn show() -> Response {
        let cookie = [("set-cookie", "usher-1=abc; Path=/; HttpOnly; SameSite=Lax")];
        let html = [("content-type", "text/html")];
        (cookie, html, FORM).into_response()
    }

    async fn submit(headers: HeaderMap, request: Request) -> Response {
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("-");
        let body = axum::body::to_bytes(request.into_body(), 1000).await.unwrap();
        let told = format!(
            "{}|{}|{}|{}",
            header("origin").starts_with("http://127.0.0.1:"),
            header("sec-fetch-site"),
            header("cookie"),
            String::from_utf8_lossy(&body)
        );
        Redirect::to(&format!("/done?{}", told.replace('%', "~"))).into_response()
    }

    pub(crate) async fn start() -> (String, JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let done = |request: Request| async move { request.uri().query().unwrap_or_default().to_owned() };
        let away = || async { Redirect::to("https://elsewhere.example/") };
        let router = Router::new()
            .route("/connect/1", get(show).post(submit))
            .route("/done", get(done))
            .route("/away", get(away));
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        (origin, task)
    }
}

#[tokio::test]
async fn a_person_connects_and_declines_like_a_browser() {
    let (origin, task) = pages::start().await;
    let person = Person::new(&origin);
    let done = person.connect("/connect/1", &[("api_key", "k 1")]).await;
    assert_eq!(done.html, "true|same-origin|usher-1=abc|csrf=c~261&api_key=k+1&do=connect");
    assert_eq!(done.hops.len(), 1);
    assert!(person.cookies()[0].http_only);
    let declined = person.decline(&format!("{origin}/connect/1")).await;
    assert!(declined.html.ends_with("csrf=c~261&api_key=&do=decline"));
    task.abort();
}

#[tokio::test]
async fn a_foreign_site_sends_no_lax_cookie_and_its_own_origin() {
    let (origin, task) = pages::start().await;
    let person = Person::new(&origin);
    let page = person.get("/connect/1").await;
    assert_eq!(page.heading().as_deref(), Some("Connect"));
    assert_eq!(page.form_by_button("connect").action, "");
    let attack = person.visit(Method::POST, "/connect/1").fields(&[("a", "b")]);
    let attack = attack.from_site("https://evil.example").send().await;
    assert_eq!(attack.html, "false|cross-site|-|a=b");
    let ridden = person.visit(Method::POST, "/connect/1").omit("sec-fetch-site").header("origin", "null");
    assert_eq!(ridden.send().await.html, "false|-|usher-1=abc|");
    let away = person.get("/away").await;
    assert_eq!((away.status.as_u16(), away.location()), (303, Some("https://elsewhere.example/")));
    task.abort();
}

#[tokio::test]
async fn the_api_checks_its_header_and_behaves_as_told() {
    let api = Api::start("Authorization", "Bearer k1").await;
    let ask = |key: &'static str| agent().get(api.url("/me")).header("authorization", key).send();
    assert_eq!(ask("Bearer k1").await.unwrap().status(), 200);
    assert_eq!(ask("Bearer k2").await.unwrap().status(), 401);
    api.accept(&["Bearer k2"]);
    assert_eq!(ask("Bearer k2").await.unwrap().status(), 200);
    api.behave(Behaviour::Redirect("https://elsewhere.example/".to_owned()));
    assert_eq!(ask("Bearer k2").await.unwrap().status(), 302);
    api.behave(Behaviour::Huge(100_000));
    assert_eq!(ask("Bearer k2").await.unwrap().bytes().await.unwrap().len(), 100_000);
    api.behave(Behaviour::Drop);
    assert!(ask("Bearer k2").await.is_err());
    let gate = Gate::new();
    api.behave(Behaviour::Wait(gate.clone()));
    let (answer, ()) = tokio::join!(ask("Bearer k2"), async {
        gate.reached(1).await;
        gate.open();
    });
    assert_eq!(answer.unwrap().status(), 200);
    assert_eq!(api.wait_for(7).await[0].header("authorization"), Some("Bearer k1"));
}
