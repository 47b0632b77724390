//! Clients that register themselves (RFC 7591; OpenID Connect Registration 1.0, section 2), and leave again (RFC 7592).

use axum::response::Response;
use http::Method;
use serde_json::{Value, json};

use super::endpoints::Place;
use super::settings::{ClientAuth, RegisteredSecret, Registration};
use super::{Client, Endpoint, Inner};
use crate::Recorded;
use crate::fields::has_kind;
use crate::idp::{merge, random};
use crate::provider::body_of;
use crate::record::lock;

type Refusal = (&'static str, String);

pub(super) fn answer(inner: &Inner, place: &Place, request: &Recorded) -> Response {
    if !place.rest.is_empty() {
        return manage(inner, &place.rest, request);
    }
    let refused = |status, error: &str, why: &str| {
        body_of(status, json!({ "error": error, "error_description": why }).to_string())
    };
    let registration = lock(&inner.settings).registry.registration;
    match registration {
        Registration::Missing => body_of(404, "{}".to_owned()),
        Registration::Refused(status, error) => refused(status, error, "as configured"),
        Registration::Open => match register(inner, request) {
            Ok(document) => body_of(201, document.to_string()),
            Err((error, why)) => {
                inner.violation(format!("registration: {error}: {why}"));
                refused(400, error, &why)
            }
        },
    }
}

fn register(inner: &Inner, request: &Recorded) -> Result<Value, Refusal> {
    let settings = lock(&inner.settings).clone();
    let wrong = |why: &str| ("invalid_client_metadata", why.to_owned());
    if !has_kind(request, "application/json") {
        return Err(wrong("the body is not application/json"));
    }
    let told: Value = serde_json::from_slice(&request.body).map_err(|_| wrong("no JSON"))?;
    let texts = |name: &str| {
        let all = told[name].as_array().map(|all| all.iter().filter_map(Value::as_str).map(str::to_owned).collect());
        all.unwrap_or_default()
    };
    let redirect_uris: Vec<String> = texts("redirect_uris");
    if redirect_uris.is_empty() {
        return Err(("invalid_redirect_uri", "none".to_owned()));
    }
    let Some(kind) = told["application_type"].as_str() else { return Err(wrong("no application_type")) };
    let fits = redirect_uris.iter().all(|uri| fits(kind, uri));
    if settings.registry.types_checked && !fits {
        return Err(("invalid_redirect_uri", format!("{redirect_uris:?} is not for {kind}")));
    }
    let way = told["token_endpoint_auth_method"].as_str().unwrap_or("client_secret_basic");
    let way = settings.tokens.client_auth.iter().find(|known| known.name() == way).copied();
    let way = way.ok_or_else(|| wrong("this token_endpoint_auth_method is not taken"))?;
    let grants: Vec<String> = texts("grant_types");
    let allowed = |grant: &str| grants.iter().any(|told| told == grant);
    if !grants.is_empty() && !allowed("authorization_code") {
        return Err(wrong("grant_types without authorization_code"));
    }
    let id = format!("client-{}", random());
    let secret = match (settings.registry.secret, way) {
        (RegisteredSecret::AsAsked, ClientAuth::None) => None,
        _ => Some(format!("registered-{}", random())),
    };
    let now = inner.now();
    let expires_at = settings.registry.lasts.map(|lasts| now + lasts);
    let name = told["client_name"].as_str().unwrap_or(&id).to_owned();
    let refreshes = allowed("refresh_token");
    let client =
        Client { id: id.clone(), secret: secret.clone(), redirect_uris, way: Some(way), expires_at, refreshes, name };
    inner.put_client(client);
    inner.count(|counts| counts.registrations += 1);
    let mut document = told.clone();
    let expiry = secret.is_some() || expires_at.is_some();
    merge(
        &mut document,
        &json!({
            "client_id": id,
            "client_id_issued_at": now,
            "client_secret": secret,
            "client_secret_expires_at": expiry.then_some(expires_at.unwrap_or(0)),
            "token_endpoint_auth_method": way.name(),
            "registration_client_uri": format!("{}/{id}", inner.url(Endpoint::Registration, "")),
            "registration_access_token": management_token(&id),
        }),
    );
    Ok(document)
}

/// Whether a kind of application may have this address.
fn fits(kind: &str, uri: &str) -> bool {
    let host = uri.split("://").nth(1).unwrap_or_default().split(['/', '?']).next().unwrap_or_default();
    let local =
        ["localhost", "127.0.0.1", "[::1]"].iter().any(|name| host == *name || host.starts_with(&format!("{name}:")));
    match kind {
        "native" => !uri.starts_with("https:") && (!uri.starts_with("http:") || local),
        "web" => uri.starts_with("https:") && !local,
        _ => false,
    }
}

fn management_token(id: &str) -> String {
    format!("managing-{id}")
}

fn manage(inner: &Inner, id: &str, request: &Recorded) -> Response {
    let wanted = format!("Bearer {}", management_token(id));
    if request.header("authorization") != Some(&wanted) || inner.client(id).is_none() {
        return body_of(401, "{}".to_owned());
    }
    if request.http_method == Method::DELETE {
        lock(&inner.clients).retain(|client| client.id != id);
        return body_of(204, String::new());
    }
    body_of(200, json!({ "client_id": id }).to_string())
}
