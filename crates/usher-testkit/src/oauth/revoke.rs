//! Revocation (RFC 7009, and the ways of those who know it not), and introspection (RFC 7662).

use axum::response::Response;
use serde_json::json;

use super::endpoints::Place;
use super::error::{self, Fault};
use super::settings::{ClientAuth, Revocation};
use super::{Inner, account, client, exchange};
use crate::Recorded;
use crate::fields::{Fields, basic};
use crate::provider::body_of;
use crate::record::lock;

pub(super) fn answer(inner: &Inner, place: &Place, request: &Recorded) -> Response {
    let settings = lock(&inner.settings).clone();
    if let Some(name) = exchange::missing_header(&settings, request) {
        let fault = Fault::invalid(format!("the header {name} is missing"));
        return error::answer(inner, request, fault);
    }
    let answered = match settings.server.revocation {
        Revocation::Standard => standard(inner, request),
        Revocation::Json => json(inner, request),
        Revocation::Query => of_query(inner, request),
        Revocation::Delete => delete(inner, place, request),
        Revocation::Bearer => match account::bearer(inner, place, request) {
            Ok(_) => {
                let told = request.header("authorization").unwrap_or_default();
                end_grant(inner, told.trim_start_matches("Bearer "));
                Ok(body_of(200, r#"{"ok":true,"revoked":true}"#.to_owned()))
            }
            Err(refusal) => return *refusal,
        },
        Revocation::None => return body_of(404, "{}".to_owned()),
    };
    answered.unwrap_or_else(|fault| error::answer(inner, request, fault))
}

fn standard(inner: &Inner, request: &Recorded) -> Result<Response, Fault> {
    let fields = Fields::of_body(request);
    let client = client::prove(inner, request, &fields).map_err(|why| {
        inner.violation(format!("Revocation: {why}"));
        Fault::Stranger(why)
    })?;
    let told = fields.one("token").ok_or_else(|| Fault::invalid("no token"))?;
    let mut vault = lock(&inner.vault);
    let vault = &mut *vault;
    let access = vault.access.get_mut(&told).filter(|access| vault.grants[access.grant].client == client.id);
    let refresh = vault.refresh.get(&told).filter(|refresh| vault.grants[refresh.grant].client == client.id);
    let done = access.is_some() || refresh.is_some();
    if let Some(refresh) = refresh {
        vault.grants[refresh.grant].ended = true;
    } else if let Some(access) = access {
        access.ended = true;
    }
    if done {
        inner.count(|counts| counts.revocations += 1);
    }
    // RFC 7009, section 2.2: also for a token that is not known.
    Ok(body_of(200, String::new()))
}

fn of_query(inner: &Inner, request: &Recorded) -> Result<Response, Fault> {
    let (query, form) = (Fields::of_query(request), Fields::of_body(request));
    let told = query.one("token").or(form.one("token")).ok_or_else(|| Fault::invalid("no token"))?;
    if end_grant(inner, &told) {
        Ok(body_of(200, "{}".to_owned()))
    } else {
        Err(Fault::Code("invalid_token", "the token is not known".to_owned()))
    }
}

fn json(inner: &Inner, request: &Recorded) -> Result<Response, Fault> {
    client::prove(inner, request, &Fields::default()).map_err(Fault::Stranger)?;
    let told = Fields::of_json(request).one("token").ok_or_else(|| Fault::invalid("no token"))?;
    if end_grant(inner, &told) {
        Ok(body_of(200, "{}".to_owned()))
    } else {
        Err(Fault::invalid("the token is not known"))
    }
}

fn delete(inner: &Inner, place: &Place, request: &Recorded) -> Result<Response, Fault> {
    let stranger = || Fault::Stranger("the client is not known by this secret".to_owned());
    let (id, secret) = request.header("authorization").and_then(basic).ok_or_else(stranger)?;
    let client = inner.client(&id).filter(|client| client.secret.as_ref() == Some(&secret));
    if client.is_none() || place.rest != id || client.is_some_and(|client| client.way == Some(ClientAuth::None)) {
        return Err(stranger());
    }
    let told = Fields::of_json(request).one("access_token").ok_or_else(|| Fault::invalid("no access token"))?;
    if end_grant(inner, &told) {
        Ok(body_of(204, String::new()))
    } else {
        Ok(body_of(404, r#"{"message":"Not Found"}"#.to_owned()))
    }
}

/// Ends the grant of a token; whether there was one.
fn end_grant(inner: &Inner, token: &str) -> bool {
    let mut vault = lock(&inner.vault);
    let of_access = vault.access.get(token).filter(|access| !access.ended).map(|access| access.grant);
    let grant = of_access.or_else(|| vault.refresh.get(token).map(|refresh| refresh.grant));
    let Some(grant) = grant.filter(|grant| !vault.grants[*grant].ended) else { return false };
    vault.grants[grant].ended = true;
    drop(vault);
    inner.count(|counts| counts.revocations += 1);
    true
}

pub(super) fn introspection(inner: &Inner, request: &Recorded) -> Response {
    let fields = Fields::of_body(request);
    if let Err(why) = client::prove(inner, request, &fields) {
        return error::answer(inner, request, Fault::Stranger(why));
    }
    let (now, told) = (inner.now(), fields.one("token").unwrap_or_default());
    let vault = lock(&inner.vault);
    let Some((access, grant)) = vault.good_access(&told, now) else {
        return body_of(200, r#"{"active":false}"#.to_owned());
    };
    let mut document = json!({
        "active": true, "scope": access.scopes.join(" "), "client_id": grant.client, "sub": grant.subject,
        "token_type": "Bearer",
    });
    if let Some(at) = access.expires_at {
        document["exp"] = at.into();
    }
    body_of(200, document.to_string())
}
