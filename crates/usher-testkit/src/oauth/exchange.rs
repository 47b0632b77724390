//! The token endpoint (RFC 6749, section 4.1.3; RFC 7636, section 4.6; RFC 8707, section 2.2).

use aws_lc_rs::digest::{SHA256, digest};
use axum::response::Response;

use super::endpoints::Place;
use super::error::{self, Fault};
use super::grant::{Challenge, Code};
use super::settings::{Pkce, RequestBody, ResourceParameter, Settings};
use super::{Client, Endpoint, Inner, client, refresh, reply};
use crate::Recorded;
use crate::fields::{Fields, has_kind};
use crate::idp::encoded;
use crate::record::lock;

pub(super) fn answer(inner: &Inner, place: &Place, request: &Recorded) -> Response {
    let answered = read(inner, place, request).and_then(|fields| {
        let client = client::prove(inner, request, &fields).map_err(|why| {
            inner.violation(format!("{:?}: {why}", place.endpoint));
            Fault::Stranger(why)
        })?;
        if place.endpoint == Endpoint::Refresh {
            return refresh::tokens(inner, place, &client, &fields);
        }
        inner.count(|counts| counts.exchanges_tried += 1);
        if fields.one("grant_type").as_deref() != Some("authorization_code") {
            return Err(Fault::Code("unsupported_grant_type", "no such grant".to_owned()));
        }
        let grant = by_code(inner, place, &client, &fields)?;
        inner.count(|counts| counts.exchanges += 1);
        reply::first(inner, grant, &fields)
    });
    match answered {
        Ok(document) => reply::send(inner, request, 200, &document),
        Err(fault) => error::answer(inner, request, fault),
    }
}

/// The fields of a request that is written as it should be.
fn read(inner: &Inner, place: &Place, request: &Recorded) -> Result<Fields, Fault> {
    let settings = lock(&inner.settings).clone();
    let wrong = |why: String| {
        inner.violation(format!("{}: {why}", request.method));
        Err(Fault::invalid(why))
    };
    let refreshing = place.endpoint == Endpoint::Refresh;
    let other = settings.refreshing.request.filter(|_| refreshing);
    let sent = other.unwrap_or(settings.tokens.request);
    if request.path.contains('?') && sent != RequestBody::Query {
        return wrong("a query at the token endpoint".to_owned());
    }
    let (fields, kind) = match sent {
        RequestBody::Form => (Fields::of_body(request), "application/x-www-form-urlencoded"),
        RequestBody::Json => (Fields::of_json(request), "application/json"),
        RequestBody::Query => (Fields::of_query(request), ""),
    };
    if sent == RequestBody::Query && !request.body.is_empty() {
        return wrong("a body".to_owned());
    }
    if sent != RequestBody::Query && !has_kind(request, kind) {
        return wrong(format!("the body is not {kind}"));
    }
    if let Some(name) = fields.twice() {
        return wrong(format!("{name} stands twice"));
    }
    for (name, value) in &settings.tokens.demanded {
        if fields.one(name).is_none_or(|told| !value.is_empty() && told != *value) {
            return wrong(format!("{name}={value} is missing"));
        }
    }
    match missing_header(&settings, request) {
        Some(name) => wrong(format!("the header {name} is missing")),
        None => Ok(fields),
    }
}

/// A header that is demanded, and is not there.
pub(super) fn missing_header(settings: &Settings, request: &Recorded) -> Option<&'static str> {
    let headers = settings.tokens.demanded_headers.iter();
    let missing =
        |(name, value): &&(&str, &str)| request.header(name).is_none_or(|told| !value.is_empty() && told != *value);
    headers.clone().find(missing).map(|(name, _)| *name)
}

/// The grant of a code, which is used up by it.
fn by_code(inner: &Inner, place: &Place, client: &Client, fields: &Fields) -> Result<usize, Fault> {
    let settings = lock(&inner.settings).clone();
    let now = inner.now();
    let told = fields.one(settings.tokens.code_parameter).ok_or_else(|| Fault::invalid("no code"))?;
    let mut vault = lock(&inner.vault);
    let code = vault.codes.get_mut(&told).ok_or_else(|| Fault::grant("the code is not known"))?;
    let (grant, again) = (code.grant, std::mem::replace(&mut code.used, true));
    let code = code.clone();
    if again {
        // RFC 6749, section 4.1.2: what came of it is revoked.
        vault.grants[grant].ended = true;
        drop(vault);
        inner.count(|counts| counts.codes_again += 1);
        return Err(Fault::grant("the code was used"));
    }
    let known = vault.grants[grant].clone();
    drop(vault);
    if known.client != client.id || known.tenant != place.tenant {
        return Err(Fault::grant("the code is another client's or tenant's"));
    }
    if code.expires_at <= now {
        return Err(Fault::grant("the code has expired"));
    }
    if fields.one("redirect_uri").as_ref() != Some(&code.redirect_uri) {
        return Err(Fault::grant("the redirect URI is another"));
    }
    verify(settings.authorization.pkce, &code, fields)?;
    resource(settings.authorization.resource, known.resource.as_deref(), fields)?;
    Ok(grant)
}

fn verify(rule: Pkce, code: &Code, fields: &Fields) -> Result<(), Fault> {
    let verifier = fields.one("code_verifier");
    let good = match (rule, &code.challenge, verifier) {
        (Pkce::Ignored, ..) | (_, None, None) => true,
        (Pkce::Refused, _, Some(_)) => return Err(Fault::invalid("unknown parameter: code_verifier")),
        (_, Some(Challenge::Plain(challenge)), Some(verifier)) => *challenge == verifier,
        (_, Some(Challenge::S256(challenge)), Some(verifier)) => {
            (43..=128).contains(&verifier.len()) && *challenge == encoded(digest(&SHA256, verifier.as_bytes()).as_ref())
        }
        _ => false,
    };
    good.then_some(()).ok_or_else(|| Fault::grant("the code verifier does not fit"))
}

/// Whether the resource of a token request is the one that was consented to.
pub(super) fn resource(rule: ResourceParameter, granted: Option<&str>, fields: &Fields) -> Result<(), Fault> {
    let target = |why: &str| Err(Fault::Code("invalid_target", why.to_owned()));
    match (rule, fields.one("resource")) {
        (ResourceParameter::Refused, _) if fields.has("resource") => target("no resource is known here"),
        (ResourceParameter::Refused | ResourceParameter::Ignored, _) | (ResourceParameter::Taken, None) => Ok(()),
        (_, told) if told.as_deref() == granted => Ok(()),
        _ => target("the resource is missing, or another"),
    }
}

/// How long the tokens are to last, where that must be asked for.
pub(super) fn lifetime(inner: &Inner, fields: &Fields) -> Result<Option<i64>, Fault> {
    let Some(parameter) = lock(&inner.settings).tokens.lifetime_parameter else { return Ok(None) };
    let Some(told) = fields.one(parameter) else { return Ok(None) };
    told.parse().map(Some).map_err(|_| Fault::invalid(format!("{parameter} is no number")))
}
