//! What a guarded upstream does: metadata, challenges (RFC 6750, section 3; RFC 9728, section 5.1), and looking at tokens.

use axum::response::Response;
use http::{Method, StatusCode, header};
use serde_json::json;

use super::Inner;
use super::guard::{ChallengeMetadata, Guard, Guarded};
use super::serve::plain;
use crate::Recorded;
use crate::idp::merge;
use crate::provider::Behaviour;
use crate::record::lock;

impl Inner {
    /// The metadata of the resource, where the request is for it, and what is to happen instead.
    pub(super) fn resource_metadata(&self, entry: &Recorded) -> Option<(Response, Behaviour)> {
        let guard = lock(&self.guard).clone()?;
        let path = entry.path.split('?').next().unwrap_or_default();
        if !guard.metadata.places.iter().any(|place| place.path() == path) {
            return None;
        }
        if entry.http_method != Method::GET {
            self.violation(format!("{} {path}: the metadata is had by GET", entry.http_method));
        }
        let mut document = json!({
            "resource": resource(&guard, entry),
            "authorization_servers": guard.metadata.authorization_servers,
            "bearer_methods_supported": ["header"],
        });
        merge(&mut document, &json!({ "scopes_supported": guard.metadata.scopes_supported }));
        merge(&mut document, &guard.metadata.document);
        Some((plain(StatusCode::OK, &document.to_string()), guard.metadata.behaviour))
    }

    /// Lets a request in, or says what is missing.
    pub(super) fn admit(&self, entry: &Recorded) -> Result<(), Box<Response>> {
        let Some(guard) = lock(&self.guard).clone() else { return Ok(()) };
        if entry.path.contains("access_token=") {
            self.violation(format!("{}: an access token in an address", entry.method));
        }
        if let Guarded::Methods(methods) = &guard.guarded
            && !methods.contains(&entry.method.as_str())
        {
            return Ok(());
        }
        let refuse =
            |status, error: &str, scopes: &[&str]| Err(Box::new(challenge(&guard, entry, status, error, scopes)));
        let Some(told) = entry.header("authorization").and_then(|value| value.strip_prefix("Bearer ")) else {
            return refuse(StatusCode::UNAUTHORIZED, "", &guard.scopes);
        };
        let known = guard.tokens.iter().find_map(|tokens| tokens.look_up(told)).filter(|_| !guard.refuses);
        let own = resource(&guard, entry);
        let good = known.filter(|token| !guard.audience || token.resource.as_ref() == Some(&own));
        let Some(token) = good else {
            return refuse(StatusCode::UNAUTHORIZED, "invalid_token", &guard.scopes);
        };
        let target = entry.method.contains('/').then(|| entry.target()).flatten().unwrap_or_default();
        let more = guard.scopes_of.get(target.as_str()).cloned().unwrap_or_default();
        let needed: Vec<&str> = guard.scopes.iter().chain(&more).copied().collect();
        if needed.iter().all(|needed| token.scopes.iter().any(|scope| scope == needed)) {
            return Ok(());
        }
        refuse(StatusCode::FORBIDDEN, "insufficient_scope", &needed)
    }
}

fn resource(guard: &Guard, entry: &Recorded) -> String {
    guard.metadata.resource.clone().unwrap_or_else(|| format!("{}/mcp", origin(entry)))
}

fn challenge(guard: &Guard, entry: &Recorded, status: StatusCode, error: &str, scopes: &[&str]) -> Response {
    let place = guard.metadata.places.first();
    let metadata = match &guard.metadata_in_challenge {
        ChallengeMetadata::Right => place.map(|place| format!("{}{}", origin(entry), place.path())),
        ChallengeMetadata::Says(text) => Some(text.clone()),
        ChallengeMetadata::Absent => None,
    };
    let scope = (guard.scope_in_challenge && !scopes.is_empty()).then(|| scopes.join(" "));
    let error = (!error.is_empty()).then(|| error.to_owned());
    let members = [("error", error), ("scope", scope), ("resource_metadata", metadata)];
    let members: Vec<String> =
        members.into_iter().filter_map(|(name, value)| Some(format!("{name}=\"{}\"", value?))).collect();
    let usual = format!("Bearer {}", members.join(", "));
    let challenge = guard.challenge.clone().unwrap_or_else(|| usual.trim_end().to_owned());
    let mut response = plain(status, r#"{"error":"refused by the fake upstream"}"#);
    if !challenge.is_empty() {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge.parse().expect("a header value"));
    }
    response
}

/// The origin that the request was sent to.
fn origin(entry: &Recorded) -> String {
    format!("http://{}", entry.header("host").unwrap_or_default())
}
