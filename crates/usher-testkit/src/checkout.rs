//! A fake payment page: it takes an order, says whether it is paid, and sends the browser back.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Path, RawForm, RawQuery, State};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::{get, post};
use futures_util::future;
use http::{StatusCode, header};

use crate::door::{Door, Switch};
use crate::record::lock;

/// How it answers who asks whether an order is paid.
#[derive(Clone, Debug)]
pub enum Confirming {
    /// `{"status":"paid"}` or `{"status":"open"}`, for the right bearer token; else 401.
    Honest,
    /// This status and body.
    Says(u16, String),
    /// 302 to this address.
    Redirect(String),
    /// 200 and a JSON object of this many bytes, in which the order is paid.
    Huge(usize),
    /// Cuts the connection.
    Drop,
    /// Never answers.
    Silence,
}

/// The fake payment page. Dropping it closes every connection.
#[derive(Debug)]
pub struct Checkout {
    inner: Arc<Inner>,
    door: Door,
}

#[derive(Debug)]
struct Inner {
    secret: String,
    paid: Mutex<BTreeSet<String>>,
    asked: Mutex<Vec<String>>,
    confirming: Mutex<Confirming>,
}

impl Checkout {
    /// Opens it at a free port of 127.0.0.1. Whoever asks about orders needs `secret` as their bearer token.
    pub async fn start(secret: &str) -> Self {
        let inner = Arc::new(Inner {
            secret: secret.to_owned(),
            paid: Mutex::default(),
            asked: Mutex::default(),
            confirming: Mutex::new(Confirming::Honest),
        });
        let router = Router::new()
            .route("/order", get(page))
            .route("/pay", post(pay))
            .route("/cancel", post(cancel))
            .route("/api/orders/{reference}", get(confirm))
            .with_state(Arc::clone(&inner));
        Self { inner, door: Door::open("127.0.0.1:0", router).await }
    }

    /// Its origin.
    pub fn origin(&self) -> String {
        format!("http://{}", self.door.address)
    }

    /// The address of its page, with placeholders.
    pub fn page(&self) -> String {
        format!("{}/order?id={{reference}}&back={{return_url}}", self.origin())
    }

    /// The address to ask, with a placeholder.
    pub fn question(&self) -> String {
        format!("{}/api/orders/{{reference}}", self.origin())
    }

    /// The orders that are paid.
    pub fn paid(&self) -> Vec<String> {
        lock(&self.inner.paid).iter().cloned().collect()
    }

    /// Takes a payment beside the page, as by a transfer that arrives later.
    pub fn receive(&self, reference: &str) {
        lock(&self.inner.paid).insert(reference.to_owned());
    }

    /// The orders that somebody asked about, each as often as they did.
    pub fn asked(&self) -> Vec<String> {
        lock(&self.inner.asked).clone()
    }

    /// Answers so from now on.
    pub fn behave(&self, confirming: Confirming) {
        *lock(&self.inner.confirming) = confirming;
    }
}

/// One field of a form or a query.
fn field(text: &str, name: &str) -> String {
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    let value = pairs.filter(|(key, _)| *key == name).map(|(_, value)| value).next().unwrap_or_default();
    let mut bytes = Vec::new();
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let hex: String = rest.by_ref().take(2).map(char::from).collect();
                u8::from_str_radix(&hex, 16).expect("a percent-encoded byte")
            }
            other => other,
        });
    }
    String::from_utf8(bytes).expect("a value in UTF-8")
}

async fn page(RawQuery(query): RawQuery) -> Response {
    let query = query.unwrap_or_default();
    let escape = |text: String| text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    let (id, back) = (escape(field(&query, "id")), escape(field(&query, "back")));
    let form = |path: &str, button: &str| {
        format!(
            "<form method=\"post\" action=\"{path}\"><input type=\"hidden\" name=\"id\" value=\"{id}\">\
             <input type=\"hidden\" name=\"back\" value=\"{back}\"><button>{button}</button></form>"
        )
    };
    let html =
        format!("<!doctype html><title>Pay</title><h1>Pay</h1>{}{}", form("/pay", "Pay"), form("/cancel", "Cancel"));
    answer(StatusCode::OK, "text/html", html)
}

async fn pay(State(inner): State<Arc<Inner>>, RawForm(form): RawForm) -> Response {
    let form = std::str::from_utf8(&form).expect("a form in UTF-8");
    lock(&inner.paid).insert(field(form, "id"));
    back(form)
}

/// Sends the browser back without a payment.
async fn cancel(RawForm(form): RawForm) -> Response {
    back(std::str::from_utf8(&form).expect("a form in UTF-8"))
}

fn back(form: &str) -> Response {
    redirect(StatusCode::SEE_OTHER, &field(form, "back"))
}

async fn confirm(
    State(inner): State<Arc<Inner>>,
    ConnectInfo(switch): ConnectInfo<Switch>,
    Path(reference): Path<String>,
    headers: HeaderMap,
) -> Response {
    lock(&inner.asked).push(reference.clone());
    let confirming = lock(&inner.confirming).clone();
    match confirming {
        Confirming::Honest => {
            let expected = format!("Bearer {}", inner.secret);
            if headers.get(header::AUTHORIZATION).is_none_or(|token| token.as_bytes() != expected.as_bytes()) {
                return answer(StatusCode::UNAUTHORIZED, "application/json", "{}".to_owned());
            }
            let status = if lock(&inner.paid).contains(&reference) { "paid" } else { "open" };
            answer(StatusCode::OK, "application/json", format!(r#"{{"order":"{reference}","status":"{status}"}}"#))
        }
        Confirming::Says(status, body) => {
            answer(StatusCode::from_u16(status).expect("an HTTP status"), "application/json", body)
        }
        Confirming::Redirect(to) => redirect(StatusCode::FOUND, &to),
        Confirming::Huge(size) => {
            let body = format!(r#"{{"status":"paid","pad":"{}"}}"#, "x".repeat(size));
            answer(StatusCode::OK, "application/json", body)
        }
        Confirming::Drop => {
            switch.cut();
            future::pending().await
        }
        Confirming::Silence => future::pending().await,
    }
}

fn redirect(status: StatusCode, to: &str) -> Response {
    Response::builder()
        .status(status)
        .header(header::LOCATION, to)
        .body(Body::empty())
        .expect("a location that is a header value")
}

fn answer(status: StatusCode, kind: &str, body: String) -> Response {
    Response::builder().status(status).header(header::CONTENT_TYPE, kind).body(Body::from(body)).expect("fixed headers")
}
