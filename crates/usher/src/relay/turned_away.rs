//! What a client gets that is not let in (R-ID-05): a status and a challenge, and never why. The reason is for the log.

use std::sync::Arc;

use axum::{
    extract::{Path, State},
    response::Response,
};
use elicit::codes;
use http::{HeaderValue, StatusCode, header};
use usher_store::AuditAction;

use super::reply;
use crate::{
    app::App,
    identity::{Denied, oidc::resource},
};

/// How long a client waits before it tries again, in seconds, while the issuer is away.
const LATER: u64 = 5;

/// The answer to a client that was denied; audited not each time.
pub(super) fn answer(app: &App, denied: &Denied, upstream: &str) -> Response {
    let (status, error, text, why) = match denied {
        Denied::NoServer => return no_server(),
        Denied::Unavailable => {
            tracing::debug!(upstream, "a token cannot be verified while the issuer is away");
            let text = "tokens cannot be verified at the moment";
            return reply::later(StatusCode::SERVICE_UNAVAILABLE, None, text, LATER);
        }
        Denied::NoToken => (StatusCode::UNAUTHORIZED, None, "a bearer token is needed", "it presents no token"),
        Denied::BadToken(why) => {
            (StatusCode::UNAUTHORIZED, Some("invalid_token"), "the bearer token is not valid here", *why)
        }
        Denied::Inactive => (
            StatusCode::UNAUTHORIZED,
            Some("invalid_token"),
            "the bearer token is not valid here",
            "the issuer says that its token is not active",
        ),
        Denied::Scope => {
            let text = "the bearer token lacks a scope";
            (StatusCode::FORBIDDEN, Some("insufficient_scope"), text, "its token lacks a scope of identity.scopes")
        }
        Denied::Machine => {
            let text = "this service is for people: the bearer token is a client's own";
            (StatusCode::FORBIDDEN, None, text, "its token is its own, and names no person")
        }
        Denied::NotAllowed(_) => {
            let text = "this server is not for this user";
            (StatusCode::FORBIDDEN, None, text, "the server is not for this user")
        }
    };
    match denied {
        Denied::NotAllowed(principal) => {
            app.broker.turned_away(AuditAction::TokenRefused, Some(principal), Some(upstream));
        }
        _ => app.broker.stranger_turned_away(AuditAction::TokenRefused, why),
    }
    let mut response = reply::error(status, None, codes::INVALID_REQUEST, &hint(app, status, text));
    let challenged = status == StatusCode::UNAUTHORIZED || *denied == Denied::Scope;
    let challenge = match app.identity.openid() {
        _ if !challenged => None,
        None => Some(HeaderValue::from_static("Bearer realm=\"usher\"")),
        Some(provider) => resource::challenge(&app.config.public_url, &provider.config, upstream, error),
    };
    if let Some(challenge) = challenge {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    }
    response
}

/// The words for a client, with where a person finds the token in mode local.
fn hint(app: &App, status: StatusCode, text: &str) -> String {
    if app.identity.tokens().is_some() && status == StatusCode::UNAUTHORIZED {
        return "a bearer token of this Usher is needed: see the host configuration that `usher serve` prints"
            .to_owned();
    }
    text.to_owned()
}

/// The path names none of the servers here.
pub(super) fn no_server() -> Response {
    let text = "there is no server of this name here";
    reply::error(StatusCode::NOT_FOUND, None, codes::INVALID_REQUEST, text)
}

/// `GET /.well-known/oauth-protected-resource/mcp/{upstream}`: who gives tokens for it (RFC 9728).
pub async fn protected_resource(State(app): State<Arc<App>>, Path(name): Path<String>) -> Response {
    match (app.identity.openid(), app.config.upstream(&name)) {
        (Some(provider), Some(upstream)) => {
            let metadata = resource::metadata(&app.config.public_url, &provider.config, upstream);
            reply::json(StatusCode::OK, metadata.to_string())
        }
        _ => no_server(),
    }
}
