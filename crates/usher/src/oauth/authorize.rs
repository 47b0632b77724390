//! The request through the browser (RFC 6749, section 4.1.1).

use oauth2::{PkceCodeChallenge, PkceCodeVerifier};
use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

use super::{Client, Server};
use crate::config::definition::{Pkce, ScopeEncoding};

/// What one flow asks for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    /// What comes back with the reply.
    pub state: &'r SecretString,
    /// What the code is exchanged with: 43 to 128 unreserved characters (RFC 7636, section 4.1).
    pub verifier: &'r SecretString,
    /// The scopes, each once.
    pub scopes: &'r [String],
    /// The language of the person's pages, a tag.
    pub language: &'r str,
}

/// Why nobody is sent there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AuthorizeError {
    /// The server is one that only refreshes and revokes.
    #[error("the server has no authorization endpoint")]
    NoEndpoint,
    /// A browser is sent to https alone, or to what the operator may have over http (R-SEC-05).
    #[error("the authorization endpoint is no https URL, and none that the operator allowed over http")]
    Scheme,
}

/// The URL that the browser goes to.
pub fn authorize(server: &Server, client: &Client, request: &Request<'_>) -> Result<Url, AuthorizeError> {
    let mut url = server.way_in()?.clone();
    let definition = server.definition();
    let differs = &definition.authorize;
    let mut pairs: Vec<(&str, String)> = vec![
        ("response_type", "code".to_owned()),
        (definition.client_id_parameter.as_str(), client.id.clone()),
        ("redirect_uri", client.redirect_uri.clone()),
        (definition.callback.state.as_str(), request.state.expose_secret().to_owned()),
    ];
    if differs.pkce == Pkce::S256 {
        let verifier = PkceCodeVerifier::new(request.verifier.expose_secret().to_owned());
        let challenge = PkceCodeChallenge::from_code_verifier_sha256(&verifier);
        pairs.push(("code_challenge", challenge.as_str().to_owned()));
        pairs.push(("code_challenge_method", challenge.method().to_string()));
    }
    pairs.extend(server.resource().map(|resource| ("resource", resource.to_owned())));
    // What protects the person, and says what is asked for, is ours to say, whatever stands in the endpoint's own query. Of the rest
    // that query counts.
    let scope = differs.scope_parameter.as_str();
    let ours: Vec<&str> = pairs.iter().map(|(name, _)| *name).chain([scope]).collect();
    let own: Vec<(String, &str)> = url.query().map(own).unwrap_or_default();
    let own: Vec<_> = own.into_iter().filter(|(name, _)| !ours.contains(&name.as_str())).collect();
    let mut query = own.iter().map(|(_, pair)| *pair).collect::<Vec<_>>().join("&");
    let said = differs.offline.iter().chain(&differs.parameters);
    pairs.extend(said.map(|(name, value)| (name.as_str(), value.clone())));
    pairs.extend(differs.language.iter().map(|name| (name.as_str(), request.language.to_owned())));
    let mut add = |name: &str, value: &str| {
        if !query.is_empty() {
            query.push('&');
        }
        query.push_str(&percent(name));
        query.push('=');
        query.push_str(value);
    };
    for (name, value) in pairs.iter().filter(|(name, _)| !own.iter().any(|(own, _)| own == name)) {
        add(name, &percent(value));
    }
    let scopes = scopes(server, request.scopes);
    if !scopes.is_empty() {
        add(&differs.scope_parameter, &scopes);
    }
    url.set_query(Some(&query));
    Ok(url)
}

/// The pairs of a query as they are written, each with its name.
fn own(query: &str) -> Vec<(String, &str)> {
    let name = |pair: &str| url::form_urlencoded::parse(pair.as_bytes()).next().map(|(name, _)| name.into_owned());
    query.split('&').filter_map(|pair| Some((name(pair)?, pair))).collect()
}

/// The scopes as they stand in the URL (kind 1).
fn scopes(server: &Server, asked: &[String]) -> String {
    let differs = &server.definition().authorize;
    let mut scopes: Vec<&str> = Vec::new();
    for scope in asked.iter().chain(&differs.offline_scopes) {
        if !scopes.contains(&scope.as_str()) {
            scopes.push(scope);
        }
    }
    let encode = match differs.scope_encoding {
        ScopeEncoding::Percent => percent,
        ScopeEncoding::Raw => raw,
    };
    let separator = match (differs.scope_separator, differs.scope_encoding) {
        ('+', ScopeEncoding::Raw) => "+",
        ('+', ScopeEncoding::Percent) => "%2B",
        (',', ScopeEncoding::Raw) => ",",
        (',', ScopeEncoding::Percent) => "%2C",
        _ => "%20",
    };
    scopes.iter().map(|scope| encode(scope)).collect::<Vec<_>>().join(separator)
}

/// As RFC 3986 has it. A space is `%20`, which is read alike by those who take a query for a form and those who do not.
fn percent(text: &str) -> String {
    encoded(text, |byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
}

/// The same with everything left as it is that a query can hold and that ends nothing in it (kind 1).
fn raw(text: &str) -> String {
    encoded(text, |byte| byte.is_ascii_alphanumeric() || b"-._~:/,;@!$*()?".contains(&byte))
}

fn encoded(text: &str, stays: impl Fn(u8) -> bool) -> String {
    use std::fmt::Write as _;
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if stays(byte) {
            encoded.push(byte.into());
        } else {
            // Writing into a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}
