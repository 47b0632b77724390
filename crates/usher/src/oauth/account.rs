//! Whose account it is: "connected as …".

use std::collections::BTreeMap;

use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use super::document::{ANSWER_AT_MOST, Answered};
use super::request::Outgoing;
use super::{Server, Tokens};
use crate::claim;
use crate::config::definition::{ACCESS_TOKEN, Call, Format, Sent};
use crate::egress::{Egress, NoAnswer, answer};

/// Why a call of the definition's brought nothing. No variant holds anything of the token, or of an answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The provider refuses the new token: 401 or 403.
    #[error("the provider refuses the token (HTTP {0})")]
    Refused(u16),
    /// It answered with something else than 2xx.
    #[error("the provider answered HTTP {0}")]
    Answered(u16),
    /// No connection, or no answer in time.
    #[error("{0}")]
    NoAnswer(NoAnswer),
    /// The answer is no JSON, or lacks what is looked for.
    #[error("the answer does not say it")]
    Garbage,
    /// The request could not be made, or may not.
    #[error("the request cannot be made: {0}")]
    Request(String),
}

/// Whose account it is, made harmless to look at. `None` where the definition has no way to tell. A failure is no reason to
/// refuse the connection.
pub async fn account(egress: &Egress, server: &Server, tokens: &Tokens) -> Result<Option<String>, CallError> {
    let Some(account) = &server.definition().account else { return Ok(None) };
    let Some(request) = &account.call else {
        return Ok(tokens.account.as_deref().and_then(claim::clean));
    };
    let document = call(egress, server, request, &tokens.fields).await?;
    let found = account.members.iter().find_map(|member| member.text_of(&document)).ok_or(CallError::Garbage)?;
    Ok(claim::clean(&found))
}

/// Makes a call of the definition's with what is known of the connection.
pub(super) async fn call(
    egress: &Egress,
    server: &Server,
    call: &Call,
    fields: &BTreeMap<String, SecretString>,
) -> Result<Value, CallError> {
    let values: BTreeMap<String, String> = fields
        .iter()
        .filter(|(name, _)| name.as_str() != ACCESS_TOKEN)
        .map(|(name, value)| (name.clone(), value.expose_secret().to_owned()))
        .collect();
    let url = call.url.fill(&values).ok_or_else(|| CallError::Request("its URL does not come out right".to_owned()))?;
    let http = server.http_filled(egress, &call.url, &url).map_err(|error| CallError::Request(error.to_string()))?;
    let mut headers = Vec::with_capacity(call.headers.len());
    for (name, template) in &call.headers {
        let value = template.header_value(fields).map_err(|error| CallError::Request(error.to_string()))?;
        headers.push((name.clone(), value));
    }
    let outgoing = Outgoing { method: call.method, url, sent: Sent::Query, parameters: Vec::new(), headers };
    let mut request = outgoing.build(http);
    if let Some(body) = &call.body {
        request = request.header(http::header::CONTENT_TYPE, "application/json").body(body.clone());
    }
    let answered = answer(request, ANSWER_AT_MOST).await.map_err(CallError::NoAnswer)?;
    let status = answered.status;
    match Answered::read(&answered, Format::Json).document {
        _ if matches!(status.as_u16(), 401 | 403) => Err(CallError::Refused(status.as_u16())),
        _ if !status.is_success() => Err(CallError::Answered(status.as_u16())),
        Some(document) => Ok(document),
        // A list of accounts is no object.
        None => serde_json::from_slice(&answered.body).map_err(|_| CallError::Garbage),
    }
}
