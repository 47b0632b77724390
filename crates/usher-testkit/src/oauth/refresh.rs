//! Refreshing (RFC 6749, section 6; RFC 9700, section 4.14).

use serde_json::Value;

use super::endpoints::Place;
use super::error::Fault;
use super::grant::Presented;
use super::settings::{RefreshBy, Rotation};
use super::{Client, Inner, exchange, reply};
use crate::fields::Fields;
use crate::record::lock;

/// The answer to a refresh of this client.
pub(super) fn tokens(inner: &Inner, place: &Place, client: &Client, fields: &Fields) -> Result<Value, Fault> {
    inner.count(|counts| counts.refreshes_tried += 1);
    let settings = lock(&inner.settings).clone();
    let (grant_type, parameter) = match settings.refreshing.by {
        RefreshBy::RefreshToken => ("refresh_token", "refresh_token"),
        RefreshBy::AccessToken { grant_type, parameter } => (grant_type, parameter),
    };
    if fields.one("grant_type").as_deref() != Some(grant_type) {
        return Err(Fault::Code("unsupported_grant_type", "no such grant".to_owned()));
    }
    let told = fields.one(parameter).ok_or_else(|| Fault::invalid(format!("no {parameter}")))?;
    if let Some(name) = settings.refreshing.demanded.iter().find(|name| !fields.has(name)) {
        return Err(Fault::invalid(format!("no {name}")));
    }
    narrower(inner, &told, fields)?;
    if settings.refreshing.by != RefreshBy::RefreshToken {
        let grant = by_access_token(inner, place, client, &told)?;
        exchange_resource(inner, grant, fields)?;
        inner.count(|counts| counts.refreshes += 1);
        return reply::again(inner, grant, None, fields);
    }
    // What is wrong with the request is looked at first: it must not use up a token.
    let known = lock(&inner.vault).refresh.get(&told).map(|refresh| refresh.grant);
    if let Some(grant) = known {
        exchange_resource(inner, grant, fields)?;
    }
    let rules = (settings.refreshing.rotation, settings.refreshing.reuse);
    let now = inner.now();
    let presented = lock(&inner.vault).present(&told, &client.id, rules, now);
    let grant = match presented {
        Presented::Good(grant) if lock(&inner.vault).grants[grant].tenant == place.tenant => grant,
        Presented::Again => {
            inner.count(|counts| counts.refresh_tokens_again += 1);
            return Err(Fault::Dead("the refresh token was replaced"));
        }
        Presented::Good(_) | Presented::Dead => {
            inner.count(|counts| counts.refresh_tokens_dead += 1);
            return Err(Fault::Dead("the refresh token is not known"));
        }
    };
    if settings.refreshing.ends_access {
        lock(&inner.vault).end_access_of(grant);
    }
    inner.count(|counts| counts.refreshes += 1);
    let kept = matches!(rules.0, Rotation::Kept | Rotation::Omitted).then_some(told);
    reply::again(inner, grant, kept, fields)
}

/// Scopes of a refresh are those of the grant, or fewer.
fn narrower(inner: &Inner, told: &str, fields: &Fields) -> Result<(), Fault> {
    let separator = lock(&inner.settings).authorization.separator.text();
    let vault = lock(&inner.vault);
    let (Some(scopes), Some(refresh)) = (fields.one("scope"), vault.refresh.get(told)) else { return Ok(()) };
    let granted = &vault.grants[refresh.grant].scopes;
    let more = scopes.split(separator).any(|scope| !granted.iter().any(|known| known == scope));
    if more { Err(Fault::Code("invalid_scope", "more than was granted".to_owned())) } else { Ok(()) }
}

fn exchange_resource(inner: &Inner, grant: usize, fields: &Fields) -> Result<(), Fault> {
    let rule = lock(&inner.settings).authorization.resource;
    let granted = lock(&inner.vault).grants[grant].resource.clone();
    exchange::resource(rule, granted.as_deref(), fields)
}

/// The grant of an access token that is good; it ends by that.
fn by_access_token(inner: &Inner, place: &Place, client: &Client, told: &str) -> Result<usize, Fault> {
    let (now, ends_access) = (inner.now(), lock(&inner.settings).refreshing.ends_access);
    let mut vault = lock(&inner.vault);
    let found = vault.good_access(told, now).map(|(access, grant)| (access.grant, grant.clone()));
    let grant = found.filter(|(_, grant)| grant.client == client.id && grant.tenant == place.tenant);
    let Some((grant, _)) = grant else {
        drop(vault);
        inner.count(|counts| counts.refresh_tokens_dead += 1);
        return Err(Fault::Dead("the access token is not good any more"));
    };
    if ends_access {
        vault.end_access_of(grant);
    }
    Ok(grant)
}
