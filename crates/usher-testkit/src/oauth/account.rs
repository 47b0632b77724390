//! The API behind the tokens: who somebody is, and where their resources are.

use axum::response::Response;
use http::header;
use serde_json::json;

use super::endpoints::Place;
use super::settings::ApiHost;
use super::{Endpoint, Inner, Token};
use crate::Recorded;
use crate::provider::body_of;
use crate::record::lock;

/// Who the account of the access token is.
pub(super) fn answer(inner: &Inner, place: &Place, request: &Recorded) -> Response {
    let token = match bearer(inner, place, request) {
        Ok(token) => token,
        Err(refusal) => return *refusal,
    };
    let needed = lock(&inner.settings).server.account_scope;
    if needed.is_some_and(|needed| !token.scopes.iter().any(|scope| scope == needed)) {
        return body_of(403, r#"{"message":"this scope is missing"}"#.to_owned());
    }
    match inner.account(&token.subject) {
        Some(account) => body_of(200, account.document.to_string()),
        None => body_of(404, r#"{"message":"no such account"}"#.to_owned()),
    }
}

/// Which APIs the access token is good for.
pub(super) fn resources(inner: &Inner, place: &Place, request: &Recorded) -> Response {
    if lock(&inner.settings).server.api_host != ApiHost::ByCall {
        return body_of(404, "{}".to_owned());
    }
    match bearer(inner, place, request) {
        Ok(token) => {
            let url = inner.url(Endpoint::Account, &token.tenant);
            let url = url.trim_end_matches("/api/me");
            body_of(200, json!([{ "id": "cloud-1", "url": url, "scopes": token.scopes }]).to_string())
        }
        Err(refusal) => *refusal,
    }
}

/// The access token of a request (RFC 6750, section 2.1), or the refusal.
pub(super) fn bearer(inner: &Inner, place: &Place, request: &Recorded) -> Result<Token, Box<Response>> {
    if request.path.contains("access_token=") {
        inner.violation(format!("{:?}: an access token in an address", place.endpoint));
    }
    let api_header = lock(&inner.settings).server.api_header;
    let told = match api_header {
        Some(header) => request.header(header),
        None => request.header("authorization").and_then(|value| value.strip_prefix("Bearer ")),
    };
    let told = told.unwrap_or_default();
    let good = inner.token(told).filter(|token| token.tenant == place.tenant);
    good.ok_or_else(|| {
        let mut response = body_of(401, r#"{"message":"Bad credentials"}"#.to_owned());
        let challenge = r#"Bearer error="invalid_token""#.parse().expect("a header value");
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        Box::new(response)
    })
}
