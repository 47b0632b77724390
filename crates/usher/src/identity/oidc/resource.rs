//! What a server behind us is called as a protected resource (RFC 8707, 9728), and what a client is told that may not use it.

use std::fmt::Write as _;

use http::HeaderValue;
use serde_json::{Value, json};

use crate::config::{Oidc, PublicUrl, Upstream};

/// The canonical URI of a server's endpoint: the audience of its tokens (R-ID-04).
pub fn uri(public_url: &PublicUrl, upstream: &str) -> String {
    public_url.join(&format!("/mcp/{upstream}"))
}

/// Where its metadata is (RFC 9728, section 3.1).
pub fn metadata_url(public_url: &PublicUrl, upstream: &str) -> String {
    public_url.join(&format!("/.well-known/oauth-protected-resource/mcp/{upstream}"))
}

/// The metadata (RFC 9728, section 2).
pub fn metadata(public_url: &PublicUrl, config: &Oidc, upstream: &Upstream) -> Value {
    let mut metadata = json!({
        "resource": uri(public_url, &upstream.name),
        "authorization_servers": [config.issuer.as_str()],
        "bearer_methods_supported": ["header"],
        "resource_name": upstream.title.get("en"),
    });
    if !config.scopes_supported.is_empty() {
        metadata["scopes_supported"] = json!(config.scopes_supported);
    }
    metadata
}

/// The challenge to a client: where to learn who gives tokens, what they must have, and what is wrong with the one that it
/// presented, if it did (RFC 6750, section 3; RFC 9728, section 5.1).
pub fn challenge(public_url: &PublicUrl, config: &Oidc, upstream: &str, error: Option<&str>) -> Option<HeaderValue> {
    let mut challenge = format!("Bearer resource_metadata=\"{}\"", metadata_url(public_url, upstream));
    let scope = (!config.scopes_supported.is_empty()).then(|| config.scopes_supported.join(" "));
    for (name, value) in [("scope", scope.as_deref()), ("error", error)] {
        if let Some(value) = value {
            // Writing into a string cannot fail.
            let _ = write!(challenge, ", {name}=\"{value}\"");
        }
    }
    HeaderValue::from_str(&challenge).ok()
}
