//! A fake third-party API that knows one secret header.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::response::Response;
use bytes::Bytes;
use futures_util::{future, stream};
use http::{StatusCode, header};

use crate::door::{Door, Switch};
use crate::record::{Log, lock};
use crate::upstream::Gate;
use crate::{Era, Outcome, Recorded};

/// What the API does with a request.
#[derive(Clone, Debug)]
pub enum Behaviour {
    /// 200 for the right header, 401 for any other.
    Check,
    /// This status, whatever was sent.
    Status(u16),
    /// This status and this body.
    Body(u16, String),
    /// This status, and a body that repeats the header it got (it must not reach any page or log).
    Echo(u16),
    /// 302 to this address.
    Redirect(String),
    /// Like `Check`, once the gate is open.
    Wait(Gate),
    /// 200 and a body of this many bytes.
    Huge(usize),
    /// 200 and a body that never ends.
    Endless,
    /// Cuts the connection.
    Drop,
    /// Never answers.
    Silence,
}

/// The fake API. Dropping it closes every connection.
#[derive(Debug)]
pub struct Api {
    inner: Arc<Inner>,
    door: Door,
}

#[derive(Debug)]
struct Inner {
    header: String,
    accepted: Mutex<Vec<String>>,
    behaviour: Mutex<Behaviour>,
    log: Log,
}

impl Api {
    /// Opens it at a free port of 127.0.0.1; every path wants `header` to be `value`.
    pub async fn start(header: &str, value: &str) -> Self {
        let inner = Arc::new(Inner {
            header: header.to_owned(),
            accepted: Mutex::new(vec![value.to_owned()]),
            behaviour: Mutex::new(Behaviour::Check),
            log: Log::new(),
        });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&inner));
        Self { inner, door: Door::open("127.0.0.1:0", router).await }
    }

    /// The address of a path: `url("/me")`.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.door.address)
    }

    /// From now on these values of the header are right, and no others.
    pub fn accept(&self, values: &[&str]) {
        *lock(&self.inner.accepted) = values.iter().map(|&value| value.to_owned()).collect();
    }

    /// Behaves so from now on.
    pub fn behave(&self, behaviour: Behaviour) {
        *lock(&self.inner.behaviour) = behaviour;
    }

    /// All requests so far.
    pub fn requests(&self) -> Vec<Recorded> {
        self.inner.log.all()
    }

    /// Waits until `count` requests have come; returns them.
    pub async fn wait_for(&self, count: usize) -> Vec<Recorded> {
        let look = || {
            let found = self.requests();
            (found.len() >= count).then_some(found)
        };
        self.inner.log.until(&format!("{count} requests at the API"), look).await
    }
}

async fn answer(
    State(inner): State<Arc<Inner>>,
    ConnectInfo(switch): ConnectInfo<Switch>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let entry = inner.log.add(Recorded::new(head, body, Era::Legacy, String::new()));
    let got = entry.header(&inner.header).unwrap_or_default().to_owned();
    let right = || lock(&inner.accepted).contains(&got);
    let behaviour = lock(&inner.behaviour).clone();
    let response = play(behaviour, &switch, &got, || checked(right())).await;
    inner.log.settle(&entry, Outcome::Answered);
    response
}

/// Answers as told; `own` is what [`Behaviour::Check`] says, and `got` what [`Behaviour::Echo`] repeats.
pub(crate) async fn play(behaviour: Behaviour, switch: &Switch, got: &str, own: impl FnOnce() -> Response) -> Response {
    match behaviour {
        Behaviour::Check => own(),
        Behaviour::Status(status) => body_of(status, r#"{"message":"as configured"}"#.to_owned()),
        Behaviour::Body(status, body) => body_of(status, body),
        Behaviour::Echo(status) => body_of(status, format!("you sent {got}")),
        Behaviour::Redirect(to) => Response::builder()
            .status(StatusCode::FOUND)
            .header(header::LOCATION, to)
            .body(Body::empty())
            .expect("a location that is a header value"),
        Behaviour::Wait(gate) => {
            gate.pass().await;
            own()
        }
        Behaviour::Huge(size) => body_of(200, "x".repeat(size)),
        Behaviour::Endless => {
            let piece = || Ok::<_, std::convert::Infallible>(Bytes::from_static(&[b'x'; 1024]));
            Response::new(Body::from_stream(stream::repeat_with(piece)))
        }
        Behaviour::Drop => {
            switch.cut();
            future::pending().await
        }
        Behaviour::Silence => future::pending().await,
    }
}

fn checked(right: bool) -> Response {
    if right {
        body_of(200, r#"{"login":"octocat","name":"The Octocat"}"#.to_owned())
    } else {
        body_of(401, r#"{"message":"Bad credentials"}"#.to_owned())
    }
}

/// A JSON answer.
pub(crate) fn body_of(status: u16, text: String) -> Response {
    Response::builder()
        .status(StatusCode::from_u16(status).expect("an HTTP status"))
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(text))
        .expect("fixed headers")
}

/// A page.
pub(crate) fn html(status: u16, body: &str) -> Response {
    let mut response = body_of(status, format!("<!doctype html><title>Issuer</title>{body}"));
    let html = "text/html; charset=utf-8".parse().expect("a header value");
    response.headers_mut().insert(header::CONTENT_TYPE, html);
    response
}
