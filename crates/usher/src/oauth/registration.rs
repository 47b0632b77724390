//! A client registers itself at an authorization server (RFC 7591; OpenID Connect Dynamic Client Registration 1.0).

use http::{StatusCode, header};
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use url::Url;

use super::discovery::server::ServerMetadata;
use crate::{
    claim,
    egress::{self, Blocked, NoAnswer, answer},
};

/// The most bytes of a reply that are read.
const LIMIT: usize = 64 * 1024;

/// The longest client id or secret that is taken, in bytes.
const LONGEST: usize = 4096;

/// What we can do at a token endpoint, best first: a secret makes stolen codes and refresh tokens worthless elsewhere.
pub const METHODS: [&str; 3] = ["client_secret_basic", "client_secret_post", "none"];

/// A client that an authorization server made for us.
#[derive(Debug, Clone)]
pub struct Registered {
    /// Its id.
    pub id: String,
    /// Its secret; none where it proves itself by nothing.
    pub secret: Option<SecretString>,
    /// How it proves itself: one of [`METHODS`].
    pub method: String,
    /// When the secret ends; `None` if it does not.
    pub expires_at: Option<Timestamp>,
    /// Where the registration is managed (RFC 7592), and the token for that.
    pub management: Option<(Url, SecretString)>,
}

/// Why there is no client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RegistrationError {
    /// None registers itself there.
    #[error(
        "the authorization server registers no clients by itself; register one with the redirect URI {redirect_uri} and \
         configure issuer and client_id"
    )]
    NoEndpoint {
        /// The redirect URI that it must have.
        redirect_uri: String,
    },
    /// It takes none of the ways in which we can prove ourselves.
    #[error(
        "the authorization server takes none of client_secret_basic, client_secret_post and none at its token endpoint"
    )]
    NoMethod,
    /// The endpoint may not be requested.
    #[error("the registration endpoint: {0}")]
    Blocked(#[from] Blocked),
    /// No answer.
    #[error("the registration endpoint: {0}")]
    NoAnswer(#[from] NoAnswer),
    /// The server refused.
    #[error(
        "the authorization server refused to register a client ({status} {code}); register one there with the redirect URI \
         {redirect_uri} and configure issuer and client_id"
    )]
    Refused {
        /// Its status.
        status: StatusCode,
        /// Its error code, cleaned; empty where it has none.
        code: String,
        /// The redirect URI that was asked for.
        redirect_uri: String,
    },
    /// An answer that may be another one later.
    #[error("the registration endpoint answered {0}")]
    Later(StatusCode),
    /// A reply that is none.
    #[error("the registration endpoint's reply cannot be used: {0}")]
    Reply(&'static str),
}

/// The best of our ways to prove ourselves that a server takes.
pub fn method_at(server: &ServerMetadata) -> Result<&'static str, RegistrationError> {
    METHODS.into_iter().find(|method| server.takes_method(method)).ok_or(RegistrationError::NoMethod)
}

impl RegistrationError {
    /// Whether it may go better later, without anybody's doing.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::NoAnswer(error) => !matches!(error, NoAnswer::TooLarge(_)),
            Self::Later(_) => true,
            _ => false,
        }
    }
}

#[derive(Serialize)]
struct Request<'a> {
    application_type: &'static str,
    redirect_uris: [&'a str; 1],
    grant_types: &'static [&'static str],
    response_types: [&'static str; 1],
    token_endpoint_auth_method: &'static str,
    client_name: &'a str,
    client_uri: &'a str,
}

#[derive(Deserialize)]
struct Reply {
    client_id: String,
    client_secret: Option<String>,
    #[serde(default)]
    client_secret_expires_at: Option<serde_json::Number>,
    token_endpoint_auth_method: Option<String>,
    redirect_uris: Option<Vec<String>>,
    registration_client_uri: Option<String>,
    registration_access_token: Option<String>,
}

#[derive(Deserialize)]
struct ErrorReply {
    error: String,
}

/// What is registered.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The one redirect URI that it has.
    pub redirect_uri: &'a str,
    /// What people see at the authorization server.
    pub name: &'a str,
    /// Where we are.
    pub origin: &'a str,
    /// How it is to prove itself: one of [`METHODS`].
    pub method: &'static str,
    /// Whether there are refresh tokens to ask for.
    pub refreshes: bool,
}

/// Has a client made, at an endpoint that `http` may request.
pub async fn register(
    http: &reqwest::Client,
    endpoint: &Url,
    wanted: &Wanted<'_>,
) -> Result<Registered, RegistrationError> {
    let request = Request {
        application_type: application_type(wanted.redirect_uri),
        redirect_uris: [wanted.redirect_uri],
        grant_types: if wanted.refreshes { &["authorization_code", "refresh_token"] } else { &["authorization_code"] },
        response_types: ["code"],
        token_endpoint_auth_method: wanted.method,
        client_name: wanted.name,
        client_uri: wanted.origin,
    };
    let body =
        serde_json::to_vec(&request).map_err(|_| RegistrationError::Reply("the request could not be written"))?;
    let request = http
        .post(endpoint.clone())
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json")
        .body(body);
    let answer = answer(request, LIMIT).await?;
    match answer.status {
        StatusCode::OK | StatusCode::CREATED => registered(&answer.body, wanted),
        status @ (StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS) => Err(RegistrationError::Later(status)),
        status if status.is_server_error() => Err(RegistrationError::Later(status)),
        status => {
            let error = serde_json::from_slice::<ErrorReply>(&answer.body).ok();
            let code = error.and_then(|reply| claim::clean(&reply.error)).unwrap_or_default();
            Err(RegistrationError::Refused { status, code, redirect_uri: wanted.redirect_uri.to_owned() })
        }
    }
}

/// What a client is whose redirect URI this is (OpenID Connect Registration, section 2): one at http on loopback is native.
fn application_type(redirect_uri: &str) -> &'static str {
    if redirect_uri.starts_with("https:") { "web" } else { "native" }
}

/// What the reply says counts, whatever was asked for (RFC 7591, section 3.2.1).
fn registered(reply: &[u8], wanted: &Wanted<'_>) -> Result<Registered, RegistrationError> {
    let fault = RegistrationError::Reply;
    // The text of the error could hold the secret.
    let reply: Reply = serde_json::from_slice(reply).map_err(|_| fault("it is no registration"))?;
    if reply.client_id.is_empty() || reply.client_id.len() > LONGEST {
        return Err(fault("it has no client_id, or too long a one"));
    }
    if reply.redirect_uris.is_some_and(|uris| !uris.iter().any(|uri| uri == wanted.redirect_uri)) {
        return Err(fault("it is for another redirect URI"));
    }
    let secret = reply.client_secret.filter(|secret| !secret.is_empty()).map(SecretString::from);
    let method = match (reply.token_endpoint_auth_method.as_deref(), &secret) {
        (Some(method), _) => method,
        // Some say nothing of the method, and give a secret or none.
        (None, None) => "none",
        (None, Some(_)) if wanted.method == "none" => "client_secret_basic",
        (None, Some(_)) => wanted.method,
    };
    let method = METHODS.into_iter().find(|known| *known == method).ok_or(fault("its method is none that we know"))?;
    // Some give a secret to a client that must not use it.
    let secret = if method == "none" { None } else { Some(secret.ok_or(fault("it has no secret"))?) };
    if secret.as_ref().is_some_and(|secret| secret.expose_secret().len() > LONGEST) {
        return Err(fault("its secret is too long"));
    }
    let expires_at = match &secret {
        Some(_) => reply.client_secret_expires_at.and_then(|seconds| expiry(&seconds)),
        None => None,
    };
    let management = reply
        .registration_client_uri
        .and_then(|uri| egress::endpoint(&uri, |_| false))
        .zip(reply.registration_access_token.map(SecretString::from));
    Ok(Registered { id: reply.client_id, secret, method: method.to_owned(), expires_at, management })
}

/// Zero means never.
fn expiry(seconds: &serde_json::Number) -> Option<Timestamp> {
    let seconds = seconds.as_i64().filter(|seconds| *seconds != 0)?;
    Timestamp::from_second(seconds).ok()
}

#[cfg(test)]
mod tests;
