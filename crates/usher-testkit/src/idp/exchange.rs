//! The token endpoint (RFC 6749, sections 4.1.3 and 6; RFC 7636, section 4.6).

use aws_lc_rs::digest::{SHA256, digest};
use axum::response::Response;
use http::{StatusCode, header};
use serde_json::{Value, json};

use super::endpoints::oauth_error;
use super::key::{encoded, merge, random};
use super::people::Grant;
use super::{Client, Inner, Token};
use crate::Recorded;
use crate::fields::{Fields, basic};
use crate::provider::body_of;
use crate::record::lock;

pub(super) fn answer(inner: &Inner, request: &Recorded) -> Response {
    let form = Fields::of_body(request);
    let client = match client(inner, request, &form) {
        Ok(client) => client,
        Err(why) => return stranger(why),
    };
    let granted = match form.one("grant_type").as_deref() {
        Some("authorization_code") => by_code(inner, &client, &form),
        Some("refresh_token") => {
            let known = form.one("refresh_token").and_then(|token| lock(&inner.refresh).remove(&token));
            known.filter(|grant| grant.client == client.id).ok_or("the refresh token is not known")
        }
        _ => return oauth_error(StatusCode::BAD_REQUEST, "unsupported_grant_type", "no such grant"),
    };
    match granted {
        Ok(grant) => body_of(200, tokens(inner, grant).to_string()),
        Err(why) => oauth_error(StatusCode::BAD_REQUEST, "invalid_grant", why),
    }
}

/// The client that sent this, proved in one of the ways that the issuer takes (RFC 6749, section 2.3).
pub(super) fn client(inner: &Inner, request: &Recorded, form: &Fields) -> Result<Client, &'static str> {
    let basic = request.header("authorization").and_then(basic);
    let (method, id, secret) = match (basic, form.one("client_id"), form.one("client_secret")) {
        (Some((id, secret)), _, None) => ("client_secret_basic", id, Some(secret)),
        (None, Some(id), Some(secret)) => ("client_secret_post", id, Some(secret)),
        (None, Some(id), None) => ("none", id, None),
        (Some(_), _, Some(_)) => return Err("the client proves itself in two ways"),
        (None, None, _) => return Err("no client"),
    };
    if !lock(&inner.settings).auth_methods.contains(&method) {
        return Err("this way is not taken");
    }
    let known = inner.client(&id).filter(|client| client.secret == secret);
    known.ok_or("the client is not known by this secret")
}

/// What a client gets that is not known.
pub(super) fn stranger(why: &str) -> Response {
    let mut response = oauth_error(StatusCode::UNAUTHORIZED, "invalid_client", why);
    response.headers_mut().insert(header::WWW_AUTHENTICATE, "Basic".parse().expect("a header value"));
    response
}

fn by_code(inner: &Inner, client: &Client, form: &Fields) -> Result<Grant, &'static str> {
    let again = lock(&inner.settings).codes_again;
    let mut grants = lock(&inner.grants);
    let grant = form.one("code").and_then(|code| grants.get_mut(&code)).ok_or("the code is not known")?;
    if grant.used && !again {
        return Err("the code was used");
    }
    grant.used = true;
    if grant.client != client.id {
        return Err("the code is another client's");
    }
    if form.one("redirect_uri").as_ref() != Some(&grant.redirect_uri) {
        return Err("the redirect URI is another");
    }
    let verified = form.one("code_verifier").map(|verifier| encoded(digest(&SHA256, verifier.as_bytes()).as_ref()));
    if grant.challenge != verified {
        return Err("the code verifier does not fit");
    }
    if form.one("resource").is_some_and(|resource| grant.resource.as_ref() != Some(&resource)) {
        return Err("the resource is another");
    }
    Ok(grant.clone())
}

/// The answer (RFC 6749, section 5.1; OpenID Connect Core, section 3.1.3.3).
fn tokens(inner: &Inner, grant: Grant) -> Value {
    let settings = lock(&inner.settings).clone();
    let subject = grant.user.subject();
    let mut access = Token::access(inner, subject).client(&grant.client);
    access = access.audience(grant.resource.clone().unwrap_or_else(|| grant.client.clone()));
    access = access.claim("scope", grant.scope.clone());
    let scopes = grant.scope.clone().unwrap_or_default();
    let asked = |name: &str| scopes.split(' ').any(|scope| scope == name);
    let mut answer = json!({
        "access_token": access.mint(), "token_type": "Bearer", "expires_in": 300, "scope": scopes,
    });
    if asked("openid") {
        let token = Token::id(inner, subject)
            .claims(&grant.user.claims)
            .claim("aud", grant.client.clone())
            .claim("nonce", grant.nonce.clone())
            .claim("auth_time", grant.signed_in_at)
            .claim("at_hash", at_hash(answer["access_token"].as_str().unwrap_or_default()))
            .claims(&settings.id_claims)
            .headers(&settings.id_header)
            .signed(settings.id_signature);
        answer["id_token"] = token.mint().into();
    }
    if asked("offline_access") {
        let token = random();
        lock(&inner.refresh).insert(token.clone(), grant);
        answer["refresh_token"] = token.into();
    }
    merge(&mut answer, &settings.tokens);
    answer
}

/// OpenID Connect Core, section 3.1.3.6, for the algorithms with SHA-256.
fn at_hash(token: &str) -> String {
    encoded(&digest(&SHA256, token.as_bytes()).as_ref()[..16])
}
