//! Everything HTTP, at one glance.

use std::{fmt::Write, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{Request, State},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{any, get, post},
};
use http::{HeaderMap, StatusCode, header};
use serde_json::json;
use usher_store::StoreError;

use crate::{
    api,
    app::App,
    config::Identity,
    control, pages,
    relay::{inbound, turned_away},
};

/// All routes of the service.
pub fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/mcp/{upstream}", any(inbound::endpoint))
        .route("/.well-known/oauth-protected-resource/mcp/{upstream}", get(turned_away::protected_resource))
        .route("/.well-known/usher-client/{provider}/{document}", get(pages::client_document::of_issuer))
        .route("/.well-known/usher-client/{document}", get(pages::client_document::of_provider))
        .route("/login/links", post(control::login_link))
        .route("/control/reread", post(control::reread))
        .route("/healthz", get(|| async { "ok\n" }))
        .route("/readyz", get(ready))
        .merge(api::router())
        .merge(pages::router())
        .fallback(pages::not_found)
        .layer(from_fn_with_state(Arc::clone(&app), guard))
        .with_state(app)
}

/// Stands before every route (R-SEC-08): the request is for this very host, came to us directly, and from no foreign page.
async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    match refusal(&app, request.headers(), request.uri().authority().map(http::uri::Authority::as_str)) {
        None => next.run(request).await,
        Some((status, text)) => {
            let path = request.uri().path();
            tracing::warn!(path, text, "request refused at the door");
            let misdirected = status == StatusCode::MISDIRECTED_REQUEST;
            if misdirected && !path.starts_with("/mcp") && pages::elsewhere::wants_page(request.headers()) {
                return pages::elsewhere::page(request.headers(), app.config.public_url.origin());
            }
            if path.starts_with("/api/") {
                return api::at_the_door(status, text);
            }
            let mut body = String::new();
            let error =
                json!({ "jsonrpc": "2.0", "error": { "code": elicit::codes::INVALID_REQUEST, "message": text } });
            // Writing into a string cannot fail.
            let _ = writeln!(body, "{error}");
            (status, [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")], body)
                .into_response()
        }
    }
}

fn refusal(app: &App, headers: &HeaderMap, target: Option<&str>) -> Option<(StatusCode, String)> {
    let authority = app.config.public_url.authority();
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = (hosts.next(), hosts.next());
    let right = matches!(host, (Some(host), None) if host.as_bytes().eq_ignore_ascii_case(authority.as_bytes()));
    if !right || target.is_some_and(|target| !target.eq_ignore_ascii_case(authority)) {
        return Some((
            StatusCode::MISDIRECTED_REQUEST,
            format!("this service answers at {} only", app.config.public_url.origin()),
        ));
    }
    if let Identity::Oidc(_) = app.config.identity {
        return foreign(app, headers);
    }
    let forwarded = |name: &str| name == "forwarded" || name.starts_with("x-forwarded-");
    if headers.keys().any(|name| forwarded(name.as_str())) {
        let text =
            "this service is for one person on this machine and takes no requests from a proxy (identity mode local)";
        return Some((StatusCode::FORBIDDEN, text.to_owned()));
    }
    foreign(app, headers)
}

/// Pages of other origins send no requests here.
fn foreign(app: &App, headers: &HeaderMap) -> Option<(StatusCode, String)> {
    let foreign = headers
        .get_all(header::ORIGIN)
        .iter()
        .any(|origin| origin.as_bytes() != app.config.public_url.origin().as_bytes());
    foreign.then(|| (StatusCode::FORBIDDEN, "requests from pages of another origin are refused".to_owned()))
}

/// How long the store may take to be called ready.
const READY: Duration = Duration::from_secs(2);

async fn ready(State(app): State<Arc<App>>) -> Response {
    let answered = tokio::time::timeout(READY, app.store.ping()).await;
    match answered.unwrap_or_else(|_| Err(StoreError::Unavailable(format!("no answer within {} s", READY.as_secs())))) {
        Ok(()) => "ready\n".into_response(),
        Err(error) => {
            tracing::warn!(%error, "the store does not answer");
            (StatusCode::SERVICE_UNAVAILABLE, "the store does not answer\n").into_response()
        }
    }
}
