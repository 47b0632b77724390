//! How errors of the endpoints without a page look.

use axum::response::Response;
use http::header;
use serde_json::json;

use super::Inner;
use super::reply::send;
use super::settings::{DeadToken, ErrorReply};
use crate::Recorded;
use crate::provider::body_of;
use crate::record::lock;

/// What went wrong with a token request.
pub(super) enum Fault {
    /// An error code of RFC 6749, section 5.2, and why.
    Code(&'static str, String),
    /// The client is not known, or did not prove it.
    Stranger(String),
    /// The refresh token is dead.
    Dead(&'static str),
}

impl Fault {
    pub(super) fn invalid(why: impl Into<String>) -> Self {
        Self::Code("invalid_request", why.into())
    }

    pub(super) fn grant(why: &str) -> Self {
        Self::Code("invalid_grant", why.to_owned())
    }
}

/// The answer to a request that failed.
pub(super) fn answer(inner: &Inner, request: &Recorded, fault: Fault) -> Response {
    let dead = lock(&inner.settings).refreshing.dead.clone();
    let (status, code, why) = match fault {
        Fault::Stranger(why) => (401, "invalid_client", why),
        Fault::Code(code, why) => (400, code, why),
        Fault::Dead(why) => match dead {
            DeadToken::InvalidGrant => (400, "invalid_grant", why.to_owned()),
            DeadToken::Code(code) => (400, code, why.to_owned()),
            DeadToken::Says(status, kind, text) => return of_kind(status, kind, text.to_owned()),
        },
    };
    let mut response = shaped(inner, request, status, code, &why);
    if status == 401 {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, "Basic".parse().expect("a header value"));
    }
    response
}

fn shaped(inner: &Inner, request: &Recorded, status: u16, code: &str, why: &str) -> Response {
    let settings = lock(&inner.settings).clone();
    let code = settings.error_codes.iter().find(|(standard, _)| *standard == code).map_or(code, |(_, own)| *own);
    let document = json!({ "error": code, "error_description": why });
    let send = |status, document| send(inner, request, status, document);
    match settings.errors {
        ErrorReply::Json => send(status, &document),
        ErrorReply::Ok => send(200, &document),
        ErrorReply::NotOk => send(200, &json!({ "ok": false, "error": code })),
        ErrorReply::Nested => send(status, &json!({ "error": { "type": code, "message": why } })),
        ErrorReply::Text => of_kind(status, "text/plain", format!("Sorry, {code}: {why}.")),
        ErrorReply::Html => {
            of_kind(status, "text/html", format!("<!doctype html><h1>Error {status}</h1><p>{code}</p>"))
        }
        ErrorReply::Empty => of_kind(status, "text/plain", String::new()),
    }
}

/// A body of another kind than JSON.
pub(super) fn of_kind(status: u16, kind: &'static str, text: String) -> Response {
    let mut response = body_of(status, text);
    response.headers_mut().insert(header::CONTENT_TYPE, kind.parse().expect("a header value"));
    response
}
