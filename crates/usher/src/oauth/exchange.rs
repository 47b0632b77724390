//! A code becomes tokens (RFC 6749, section 4.1.3).

use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};

use super::document::{ANSWER_AT_MOST, Answered};
use super::error::Asked;
use super::request::{Outgoing, add};
use super::{Client, Code, Server, TokenError, Tokens, introspect, lookup, tokens};
use crate::config::definition::{Method, Pkce};
use crate::egress::{Egress, answer};

/// Sends the code to the token endpoint, once. No redirect is followed; neither time nor size is the provider's to choose. What
/// else belongs to the connection is asked for by [`complete`].
///
/// # Errors
/// [`TokenError::Refused`] where the code is not taken, [`TokenError::Client`] where our client is not. A code must not be
/// sent a second time, whatever the error is.
pub async fn exchange(
    egress: &Egress,
    server: &Server,
    client: &Client,
    code: &Code,
    verifier: &SecretString,
    now: Timestamp,
) -> Result<Tokens, TokenError> {
    let definition = server.definition();
    let mut parameters = vec![
        ("grant_type".to_owned(), "authorization_code".to_owned()),
        (definition.token.code_parameter.clone(), code.code.expose_secret().to_owned()),
        ("redirect_uri".to_owned(), client.redirect_uri.clone()),
    ];
    if definition.authorize.pkce == Pkce::S256 {
        parameters.push(("code_verifier".to_owned(), verifier.expose_secret().to_owned()));
    }
    parameters.extend(server.resource().map(|resource| ("resource".to_owned(), resource.to_owned())));
    add(&mut parameters, &definition.token.parameters);
    let url = server.token_endpoint.clone();
    let http = server.http(egress, &url)?;
    let request =
        Outgoing { method: Method::Post, url, sent: definition.token.request, parameters, headers: Vec::new() }
            .with_client(client, &definition.client_id_parameter)
            .with_headers(&definition.token.headers)
            .build(http);
    let answered = Answered::read(&answer(request, ANSWER_AT_MOST).await?, definition.reply.format);
    let sent: Vec<&SecretString> = [&code.code, verifier].into_iter().chain(client.proof()).collect();
    let mut tokens = tokens::read(definition, &definition.reply, &answered, Asked::Exchange, now)
        .map_err(|error| error.without(&sent))?;
    tokens.values = server.values.clone();
    tokens.values.extend(code.values.clone());
    for (name, value) in &tokens.values {
        tokens.fields.entry(name.clone()).or_insert_with(|| SecretString::from(value.as_str()));
    }
    Ok(tokens)
}

/// Asks what else the definition says belongs to the connection. Where that fails, the tokens are there all the same, and good at
/// the provider: whoever cannot use them ends them.
///
/// # Errors
/// Those of a call after connecting, and [`TokenError::Garbage`] where a field of the definition is missing at the end.
pub async fn complete(
    egress: &Egress,
    server: &Server,
    client: &Client,
    tokens: &mut Tokens,
    now: Timestamp,
) -> Result<(), TokenError> {
    introspect::complete(egress, server, client, tokens, now).await;
    lookup::complete(egress, server, tokens).await?;
    match server.definition().fields().into_iter().find(|name| !tokens.fields.contains_key(*name)) {
        Some(_) => Err(TokenError::Garbage("it lacks a field of the definition")),
        None => Ok(()),
    }
}
