//! What the token endpoint answers (RFC 6749, section 5.1), in the shapes of real providers.

use axum::response::Response;
use serde_json::{Map, Value, json};

use super::error::{Fault, of_kind};
use super::settings::{ApiHost, Expiry, RefreshBy, ReplyBody, Rotation, Settings};
use super::{Endpoint, Inner, exchange};
use crate::Recorded;
use crate::fields::Fields;
use crate::idp::merge;
use crate::provider::body_of;
use crate::record::lock;

/// What a token request wanted to be told.
struct Wanted {
    /// How long the tokens are to last, where that must be asked for.
    lifetime: Option<i64>,
    /// No scopes.
    nothing: bool,
}

/// The answer to a code.
pub(super) fn first(inner: &Inner, grant: usize, fields: &Fields) -> Result<Value, Fault> {
    let settings = lock(&inner.settings).clone();
    let wanted = Wanted { lifetime: exchange::lifetime(inner, fields)?, nothing: false };
    let asked = settings.tokens.lifetime_parameter.is_none() || wanted.lifetime.is_some();
    let offline = lock(&inner.vault).grants[grant].offline;
    let by_token = settings.refreshing.by == RefreshBy::RefreshToken;
    let refresh = (offline && asked && by_token).then(|| new_refresh(inner, &settings, grant));
    let members = tokens(inner, &settings, grant, refresh, &wanted);
    let mut document = placed(members, settings.tokens.nested);
    merge(&mut document, &settings.tokens.members);
    Ok(document)
}

/// The answer to a refresh; `kept` is the refresh token that stays.
pub(super) fn again(inner: &Inner, grant: usize, kept: Option<String>, fields: &Fields) -> Result<Value, Fault> {
    let settings = lock(&inner.settings).clone();
    let wanted = Wanted {
        lifetime: exchange::lifetime(inner, fields)?,
        nothing: settings.refreshing.scope && !fields.has("scope"),
    };
    let refresh = match (settings.refreshing.by, settings.refreshing.rotation) {
        (RefreshBy::AccessToken { .. }, _) | (_, Rotation::Omitted) => None,
        (_, Rotation::Kept) => kept,
        (_, Rotation::AtOnce | Rotation::Grace(_)) => Some(new_refresh(inner, &settings, grant)),
    };
    let members = tokens(inner, &settings, grant, refresh, &wanted);
    let mut document = placed(members, settings.refreshing.nested);
    merge(&mut document, &settings.refreshing.members);
    Ok(document)
}

fn new_refresh(inner: &Inner, settings: &Settings, grant: usize) -> String {
    let expires_at = settings.refreshing.lifetime.map(|lasts| inner.now() + lasts);
    lock(&inner.vault).refresh_token(grant, expires_at)
}

fn tokens(
    inner: &Inner,
    settings: &Settings,
    grant: usize,
    refresh: Option<String>,
    wanted: &Wanted,
) -> Map<String, Value> {
    let rules = &settings.tokens;
    let lasts = match (rules.expiry, rules.lifetime_parameter) {
        (Expiry::Never, _) => None,
        (_, Some(_)) => wanted.lifetime,
        (_, None) => Some(rules.lifetime),
    };
    let now = inner.now();
    let (access, known) = {
        let mut vault = lock(&inner.vault);
        let mut known = vault.grants[grant].clone();
        if wanted.nothing {
            known.scopes.clear();
        }
        let access = vault.access_token(grant, &known.scopes, lasts.map(|lasts| now + lasts));
        (access, known)
    };
    let mut members = Map::new();
    members.insert(rules.access_member.to_owned(), access.into());
    members.insert("token_type".to_owned(), "Bearer".into());
    if let Some(refresh) = refresh {
        members.insert(rules.refresh_member.to_owned(), refresh.into());
    }
    let separator = rules.scope_separator.unwrap_or(settings.authorization.separator);
    let joined = known.scopes.join(&separator.text().to_string());
    let scopes = if rules.scope_array { Value::from(known.scopes.clone()) } else { joined.into() };
    members.insert(rules.scope_member.to_owned(), scopes);
    if let Some((name, value)) = lasts.and_then(|lasts| expiry(rules.expiry, lasts, now)) {
        members.insert(rules.expiry_member.unwrap_or(name).to_owned(), value);
    }
    if let ApiHost::InReply(member) = settings.server.api_host {
        let url = inner.url(Endpoint::Account, &known.tenant);
        members.insert(member.to_owned(), url.trim_end_matches("/api/me").into());
    }
    members
}

fn expiry(shape: Expiry, lasts: i64, now: i64) -> Option<(&'static str, Value)> {
    let at = now + lasts;
    Some(match shape {
        Expiry::In => ("expires_in", lasts.into()),
        Expiry::InText => ("expires_in", lasts.to_string().into()),
        Expiry::InMilliseconds => ("expires_in", (lasts * 1_000).into()),
        Expiry::At => ("expires_at", at.into()),
        Expiry::AtText => ("expires_at", at.to_string().into()),
        Expiry::AtMilliseconds => ("expires_at", (at * 1_000).into()),
        Expiry::AtDate => ("expires_at", date(at).into()),
        Expiry::Unsaid | Expiry::Never => return None,
    })
}

/// RFC 3339, of seconds since 1970.
fn date(seconds: i64) -> String {
    let (day, time) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Days of 400 years that begin on 1 March: leap days come last.
    let shifted = day + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let of_years = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * of_years + of_years / 4 - of_years / 100);
    let from_march = (5 * of_year + 2) / 153;
    let (date, month) = (of_year - (153 * from_march + 2) / 5 + 1, (from_march + 2) % 12 + 1);
    let year = of_years + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{date:02}T{:02}:{:02}:{:02}Z", time / 3_600, time / 60 % 60, time % 60)
}

/// The members where they belong: `a.b` stands for two objects within each other.
fn placed(members: Map<String, Value>, path: Option<&str>) -> Value {
    let nested = |inside: Value, name: &str| json!({ name: inside });
    path.into_iter().flat_map(|path| path.rsplit('.')).fold(Value::Object(members), nested)
}

/// A document as JSON, or as a form.
pub(super) fn send(inner: &Inner, request: &Recorded, status: u16, document: &Value) -> Response {
    let accepts = request.header("accept").is_some_and(|value| value.contains("application/json"));
    let form = match lock(&inner.settings).tokens.reply {
        ReplyBody::FormUnlessAsked if !accepts => Some("application/x-www-form-urlencoded"),
        ReplyBody::FormUnsaid => Some("text/html"),
        ReplyBody::Json | ReplyBody::FormUnlessAsked => None,
    };
    let mut response = if let Some(kind) = form {
        let mut url = reqwest::Url::parse("http://form.example/").expect("an address");
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let pairs = document.as_object().into_iter().flatten().map(|(name, value)| (name, text(value)));
        url.query_pairs_mut().extend_pairs(pairs);
        of_kind(status, kind, url.query().unwrap_or_default().to_owned())
    } else {
        body_of(status, document.to_string())
    };
    let never = "no-store".parse().expect("a header value");
    response.headers_mut().insert(http::header::CACHE_CONTROL, never);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_825_600, "2000-02-29T12:00:00Z"),
            (1_796_083_200, "2026-12-01T00:00:00Z"),
        ] {
            assert_eq!(date(seconds), text);
        }
    }

    #[test]
    fn members_stand_where_a_path_says() {
        let members = || Map::from_iter([("x".to_owned(), Value::from(1))]);
        assert_eq!(placed(members(), None), json!({ "x": 1 }));
        assert_eq!(placed(members(), Some("a.b")), json!({ "a": { "b": { "x": 1 } } }));
    }
}
