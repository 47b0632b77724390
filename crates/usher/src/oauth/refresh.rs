//! A token is refreshed (RFC 6749, section 6; kinds 12, 13 and 14).

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};

use super::document::{ANSWER_AT_MOST, Answered};
use super::error::Asked;
use super::request::{Outgoing, add};
use super::{Client, Server, TokenError, Tokens, introspect, tokens};
use crate::config::definition::{ACCESS_TOKEN, RefreshBy};
use crate::egress::{Egress, answer};

/// What is held of a grant.
#[derive(Clone, Copy, Debug)]
pub struct Held<'g> {
    /// The access token and the other fields.
    pub fields: &'g BTreeMap<String, SecretString>,
    /// The refresh token, if there is one.
    pub refresh_token: Option<&'g SecretString>,
    /// The granted scopes.
    pub scopes: &'g BTreeSet<String>,
    /// What else belongs to the connection.
    pub values: &'g BTreeMap<String, String>,
}

/// Sends what refreshes the token. What comes back is whole: what the reply does not say is as before.
///
/// # Errors
/// [`TokenError::Dead`] where only a new consent helps; see [`TokenError::is_transient`] for what may be tried again.
pub async fn refresh(
    egress: &Egress,
    server: &Server,
    client: &Client,
    held: &Held<'_>,
    now: Timestamp,
) -> Result<Tokens, TokenError> {
    let definition = server.definition();
    let differs = &definition.refresh;
    let token = match differs.by {
        RefreshBy::RefreshToken => held.refresh_token,
        RefreshBy::AccessToken => held.fields.get(ACCESS_TOKEN),
    };
    let token = token.ok_or_else(|| TokenError::Dead("there is no refresh token".to_owned()))?;
    let mut parameters = vec![
        ("grant_type".to_owned(), differs.grant_type.clone()),
        (differs.parameter.clone(), token.expose_secret().to_owned()),
    ];
    if differs.scope && !held.scopes.is_empty() {
        let scopes: Vec<&str> = held.scopes.iter().map(String::as_str).collect();
        parameters.push(("scope".to_owned(), scopes.join(&definition.authorize.scope_separator.to_string())));
    }
    if differs.redirect_uri {
        parameters.push(("redirect_uri".to_owned(), client.redirect_uri.clone()));
    }
    parameters.extend(server.resource().map(|resource| ("resource".to_owned(), resource.to_owned())));
    add(&mut parameters, &differs.parameters);
    let url = server.refresh_endpoint.clone();
    let http = server.http(egress, &url)?;
    let request = Outgoing { method: differs.method, url, sent: differs.request, parameters, headers: Vec::new() }
        .with_client(client, &definition.client_id_parameter)
        .with_headers(&definition.token.headers)
        .build(http);
    let answered = Answered::read(&answer(request, ANSWER_AT_MOST).await?, differs.reply.format);
    let sent: Vec<&SecretString> = held.fields.values().chain(held.refresh_token).chain(client.proof()).collect();
    let mut fresh = tokens::read(definition, &differs.reply, &answered, Asked::Refresh, now)
        .map_err(|error| error.without(&sent))?;
    introspect::complete(egress, server, client, &mut fresh, now).await;
    Ok(whole(fresh, held, &differs.keeps))
}

/// What the reply does not say is as before; and what a refresh never changes, whatever it says (kind 14).
fn whole(fresh: Tokens, held: &Held<'_>, keeps: &[String]) -> Tokens {
    let kept = |name: &str| keeps.iter().any(|keep| keep == name);
    let mut fields = held.fields.clone();
    for (name, value) in fresh.fields {
        if !kept(&name) || !fields.contains_key(&name) {
            fields.insert(name, value);
        }
    }
    Tokens {
        fields,
        // Omitted: the old one stays good (kind 13).
        refresh_token: fresh.refresh_token.or_else(|| held.refresh_token.cloned()),
        expires_at: fresh.expires_at,
        scopes: fresh.scopes.filter(|_| !kept("scope")),
        values: held.values.clone(),
        account: None,
    }
}
