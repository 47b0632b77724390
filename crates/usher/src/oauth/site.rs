//! A site of somebody else, for tests: it answers what it is told to, and remembers what it was asked.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex},
};

use axum::{
    Router,
    extract::{Request, State},
    response::{IntoResponse as _, Response},
};
use http::{HeaderName, HeaderValue, StatusCode};
use serde_json::Value;
use url::Url;

use crate::egress::{Allowed, Egress, Network};

/// A way out for which the operator allows this machine.
pub(crate) fn egress() -> Egress {
    static EGRESS: LazyLock<Egress> = LazyLock::new(|| {
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let networks = vec![Network::parse("127.0.0.1").unwrap()];
        Egress::allowing(Allowed { networks, hosts: Vec::new() }).unwrap()
    });
    EGRESS.clone()
}

/// One for which nothing is allowed.
pub(crate) fn strict_egress() -> Egress {
    static EGRESS: LazyLock<Egress> = LazyLock::new(|| {
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        Egress::new().unwrap()
    });
    EGRESS.clone()
}

/// One request that came.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) headers: http::HeaderMap,
    pub(crate) body: String,
}

/// Status, headers and body.
type Says = (u16, Vec<(&'static str, String)>, String);

#[derive(Default)]
struct Known {
    answers: Mutex<HashMap<String, Says>>,
    asked: Mutex<Vec<Asked>>,
}

/// A site on a port of its own; what it does not know is 404.
pub(crate) struct Site {
    pub(crate) origin: String,
    known: Arc<Known>,
}

impl Site {
    pub(crate) async fn start() -> Self {
        let known = Arc::new(Known::default());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(serve).with_state(Arc::clone(&known));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { origin, known }
    }

    pub(crate) fn url(&self, path: &str) -> Url {
        Url::parse(&format!("{}{path}", self.origin)).unwrap()
    }

    /// Answers a path so from now on.
    pub(crate) fn says(&self, path: &str, status: u16, body: &str) {
        self.answers(path, status, Vec::new(), body);
    }

    /// The same with a document.
    pub(crate) fn has(&self, path: &str, document: &Value) {
        self.says(path, 200, &document.to_string());
    }

    /// The same with headers.
    pub(crate) fn answers(&self, path: &str, status: u16, headers: Vec<(&'static str, String)>, body: &str) {
        self.known.answers.lock().unwrap().insert(path.to_owned(), (status, headers, body.to_owned()));
    }

    /// All that came.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.known.asked.lock().unwrap().clone()
    }

    /// The paths that were asked for.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.asked().into_iter().map(|asked| asked.path).collect()
    }
}

async fn serve(State(known): State<Arc<Known>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let path = parts.uri.path_and_query().unwrap().as_str().to_owned();
    known.asked.lock().unwrap().push(Asked {
        path: path.clone(),
        headers: parts.headers,
        body: String::from_utf8(body.to_vec()).unwrap(),
    });
    let answer = known.answers.lock().unwrap().get(&path).cloned();
    let (status, headers, body) = answer.unwrap_or((404, Vec::new(), "<html>nothing here".to_owned()));
    let mut response = (StatusCode::from_u16(status).unwrap(), body).into_response();
    for (name, value) in headers {
        response.headers_mut().append(HeaderName::from_static(name), HeaderValue::from_str(&value).unwrap());
    }
    response
}
