//! Which request goes where, and the endpoints that only tell.

use std::sync::Arc;

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{ConnectInfo, Request, State};
use axum::response::Response;
use http::{Method, StatusCode, header};
use serde_json::{Value, json};

use super::key::merge;
use super::{Endpoint, Inner, authorize, exchange};
use crate::door::Switch;
use crate::fields::Fields;
use crate::provider::{Behaviour, body_of, html, play};
use crate::record::lock;
use crate::{Era, Outcome, Recorded};

pub(super) fn router(inner: &Arc<Inner>) -> Router {
    Router::new().fallback(answer).with_state(Arc::clone(inner))
}

async fn answer(
    State(inner): State<Arc<Inner>>,
    ConnectInfo(switch): ConnectInfo<Switch>,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let body = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let endpoint = Endpoint::ALL.into_iter().find(|endpoint| endpoint.path(&inner.base) == head.uri.path());
    let method = endpoint.map(|endpoint| format!("{endpoint:?}")).unwrap_or_default();
    let entry = inner.log.add(Recorded::new(head, body, Era::Legacy, method));
    let response = match endpoint {
        Some(endpoint) => {
            let behaviour = lock(&inner.behaviours).get(&endpoint).cloned().unwrap_or(Behaviour::Check);
            play(behaviour, &switch, "", || own(&inner, endpoint, &entry)).await
        }
        None => body_of(404, "{}".to_owned()),
    };
    inner.log.settle(&entry, Outcome::Answered);
    response
}

fn own(inner: &Inner, endpoint: Endpoint, request: &Recorded) -> Response {
    let wanted: &[Method] = match endpoint {
        Endpoint::Token | Endpoint::Introspection => &[Method::POST],
        Endpoint::Authorization | Endpoint::EndSession => &[Method::GET, Method::POST],
        _ => &[Method::GET],
    };
    if !wanted.contains(&request.http_method) {
        return body_of(405, "{}".to_owned());
    }
    match endpoint {
        Endpoint::Discovery | Endpoint::OauthDiscovery => body_of(200, metadata(inner).to_string()),
        Endpoint::Jwks => body_of(200, keys(inner).to_string()),
        Endpoint::Authorization => authorize::answer(inner, request),
        Endpoint::Token => exchange::answer(inner, request),
        Endpoint::Introspection => introspection(inner, request),
        Endpoint::Userinfo => userinfo(inner, request),
        Endpoint::EndSession => end_session(request),
    }
}

/// OpenID Connect Discovery 1.0, section 3; RFC 8414, section 2.
fn metadata(inner: &Inner) -> Value {
    let settings = lock(&inner.settings).clone();
    let mut document = json!({
        "issuer": settings.issuer,
        "authorization_endpoint": inner.url(Endpoint::Authorization),
        "token_endpoint": inner.url(Endpoint::Token),
        "jwks_uri": inner.url(Endpoint::Jwks),
        "introspection_endpoint": inner.url(Endpoint::Introspection),
        "userinfo_endpoint": inner.url(Endpoint::Userinfo),
        "end_session_endpoint": inner.url(Endpoint::EndSession),
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256", "RS256"],
        "token_endpoint_auth_methods_supported": settings.auth_methods,
        "code_challenge_methods_supported": ["S256"],
        "scopes_supported": ["openid", "profile", "email", "offline_access"],
        "authorization_response_iss_parameter_supported": true,
    });
    merge(&mut document, &settings.metadata);
    document
}

fn keys(inner: &Inner) -> Value {
    let instead = lock(&inner.settings).jwks.clone();
    instead.unwrap_or_else(|| {
        let keys: Vec<Value> = lock(&inner.keys).iter().map(super::Key::jwk).collect();
        json!({ "keys": keys })
    })
}

/// RFC 7662.
fn introspection(inner: &Inner, request: &Recorded) -> Response {
    let form = Fields::of_body(request);
    if let Err(why) = exchange::client(inner, request, &form) {
        return exchange::stranger(why);
    }
    let known = form.one("token").and_then(|token| lock(&inner.issued).get(&token).cloned());
    let fresh = known.filter(|claims| claims["exp"].as_i64().is_none_or(|exp| exp > inner.now()));
    let Some(mut claims) = fresh else { return body_of(200, r#"{"active":false}"#.to_owned()) };
    claims["active"] = true.into();
    claims["token_type"] = "Bearer".into();
    merge(&mut claims, &lock(&inner.settings).introspection.clone());
    body_of(200, claims.to_string())
}

fn userinfo(inner: &Inner, request: &Recorded) -> Response {
    let token = request.header("authorization").and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    let claims = lock(&inner.issued).get(token).cloned();
    let user = claims.and_then(|claims| inner.user(claims["sub"].as_str().unwrap_or_default()));
    user.map_or_else(|| body_of(401, "{}".to_owned()), |user| body_of(200, user.claims.to_string()))
}

/// OpenID Connect RP-Initiated Logout 1.0.
fn end_session(request: &Recorded) -> Response {
    let fields = if request.http_method == Method::GET { Fields::of_query(request) } else { Fields::of_body(request) };
    let mut response = match fields.one("post_logout_redirect_uri") {
        Some(uri) => {
            let state = fields.one("state").map(|state| ("state", state));
            authorize::redirect(&uri, &state.into_iter().collect::<Vec<_>>())
        }
        None => html(200, "<h1>You are signed out</h1>"),
    };
    let gone = "idp=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax".parse().expect("a header value");
    response.headers_mut().insert(header::SET_COOKIE, gone);
    response
}

/// The error of an OAuth endpoint (RFC 6749, section 5.2).
pub(super) fn oauth_error(status: StatusCode, error: &str, why: &str) -> Response {
    body_of(status.as_u16(), json!({ "error": error, "error_description": why }).to_string())
}
