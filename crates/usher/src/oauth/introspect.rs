//! A token is asked about whose reply did not say how long it lives (RFC 7662; kind 9).

use jiff::Timestamp;
use secrecy::ExposeSecret as _;
use serde_json::Value;

use super::document::{ANSWER_AT_MOST, Answered};
use super::request::Outgoing;
use super::{Client, Server, Tokens, lifetime};
use crate::config::definition::{ACCESS_TOKEN, Expires, Format, Method, Sent};
use crate::egress::{Egress, answer};

/// Fills in the end of the access token where it is not known and can be asked for. What is not said stays unknown: the token
/// is good all the same.
pub(super) async fn complete(egress: &Egress, server: &Server, client: &Client, tokens: &mut Tokens, now: Timestamp) {
    if tokens.expires_at.is_some() {
        return;
    }
    let document = match ask(egress, server, client, tokens).await {
        Some(Ok(document)) => document,
        Some(Err(error)) => {
            tracing::info!(issuer = server.issuer(), error, "a token could not be asked about");
            return;
        }
        None => return,
    };
    if document.get("active") == Some(&Value::Bool(true)) {
        tokens.expires_at = document.get("exp").and_then(|exp| lifetime::at(exp, Expires::Unix, now));
    }
}

async fn ask(egress: &Egress, server: &Server, client: &Client, tokens: &Tokens) -> Option<Result<Value, String>> {
    let url = server.introspection_endpoint.clone()?;
    let token = tokens.fields.get(ACCESS_TOKEN)?;
    let http = match server.http(egress, &url) {
        Ok(http) => http,
        Err(error) => return Some(Err(error.to_string())),
    };
    let parameters = vec![
        ("token".to_owned(), token.expose_secret().to_owned()),
        ("token_type_hint".to_owned(), "access_token".to_owned()),
    ];
    let request = Outgoing { method: Method::Post, url, sent: Sent::Form, parameters, headers: Vec::new() };
    let request = request.with_client(client, &server.definition().client_id_parameter).build(http);
    Some(match answer(request, ANSWER_AT_MOST).await {
        Ok(answer) => match Answered::read(&answer, Format::Json) {
            Answered { status, document: Some(document), .. } if status.is_success() => Ok(document),
            Answered { status, .. } => Err(format!("HTTP {}", status.as_u16())),
        },
        Err(error) => Err(error.to_string()),
    })
}
