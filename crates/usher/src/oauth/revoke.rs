//! A grant is let go of: RFC 7009, or the provider's own way (kind 23).

use http::header;
use secrecy::{ExposeSecret as _, SecretString};

use super::document::{ANSWER_AT_MOST, Answered};
use super::error;
use super::request::{Outgoing, add};
use super::{Client, Held, Server};
use crate::config::Template;
use crate::config::definition::{ACCESS_TOKEN, Format, Proof, Revoked};
use crate::egress::{Blocked, Egress, NoAnswer, answer};

/// Why a grant may live on at the provider. No variant holds anything of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RevokeError {
    /// The provider has no way that is known. The person can remove the app in their account there.
    #[error("the provider has no way to revoke it")]
    Unsupported,
    /// The provider refuses: our client, most often.
    #[error("the provider refuses: {0}")]
    Refused(String),
    /// It cannot now.
    #[error("the provider cannot at the moment: {0}")]
    Unavailable(String),
    /// No connection, or no answer in time.
    #[error("{0}")]
    NoAnswer(NoAnswer),
    /// Its address is not one that may be requested (R-SEC-05).
    #[error("the provider is not asked: {0}")]
    Blocked(Blocked),
}

impl RevokeError {
    /// Whether it may pass by itself.
    pub fn is_transient(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::NoAnswer(_))
    }
}

/// Tells the provider that the grant is not used any more. One that it does not know is revoked (RFC 7009, section 2.2).
pub async fn revoke(egress: &Egress, server: &Server, client: &Client, held: &Held<'_>) -> Result<(), RevokeError> {
    let definition = server.definition();
    let way = definition.revocation.as_ref().ok_or(RevokeError::Unsupported)?;
    let access_token = held.fields.get(ACCESS_TOKEN);
    let (token, hint) = match (way.token, held.refresh_token) {
        (Revoked::RefreshToken, Some(token)) => (Some(token), "refresh_token"),
        _ => (access_token, "access_token"),
    };
    // What was never there is gone.
    let Some(token) = token else { return Ok(()) };
    let url = server.revocation_endpoint(&client.id).ok_or(RevokeError::Unsupported)?;
    let http = server.http(egress, &url).map_err(RevokeError::Blocked)?;
    let mut parameters = Vec::new();
    let standard = way.parameter == "token" && way.proof == Proof::Client;
    if !way.parameter.is_empty() {
        parameters.push((way.parameter.clone(), token.expose_secret().to_owned()));
    }
    if standard {
        parameters.push(("token_type_hint".to_owned(), hint.to_owned()));
    }
    add(&mut parameters, &way.parameters);
    let outgoing = Outgoing { method: way.method, url, sent: way.request, parameters, headers: Vec::new() }
        .with_headers(&way.headers);
    let request = proved(outgoing, server, way.proof, client, access_token)?.build(http);
    let answered = answer(request, ANSWER_AT_MOST).await.map_err(RevokeError::NoAnswer)?;
    let sent: Vec<&SecretString> =
        held.fields.values().chain(held.refresh_token).chain(client.secret.as_ref()).collect();
    said(&Answered::read(&answered, Format::Json), definition, &sent)
}

fn proved(
    mut outgoing: Outgoing,
    server: &Server,
    proof: Proof,
    client: &Client,
    access_token: Option<&SecretString>,
) -> Result<Outgoing, RevokeError> {
    let unmade = || RevokeError::Refused("the request could not be made".to_owned());
    match proof {
        Proof::Client => return Ok(outgoing.with_client(client, &server.definition().client_id_parameter)),
        Proof::Off => {}
        Proof::ClientBasic => {
            let value = client.basic_anyway().ok_or_else(unmade)?;
            outgoing.headers.push((header::AUTHORIZATION, value));
        }
        Proof::Bearer => {
            let fields = access_token.map(|token| (ACCESS_TOKEN.to_owned(), token.clone())).into_iter().collect();
            let value = Template::bearer().header_value(&fields).map_err(|_| unmade())?;
            outgoing.headers.push((header::AUTHORIZATION, value));
        }
    }
    Ok(outgoing)
}

/// What the answer means. Errors may come with HTTP 200; a token that is not known is gone.
fn said(
    answered: &Answered,
    definition: &crate::config::Definition,
    sent: &[&SecretString],
) -> Result<(), RevokeError> {
    let code = answered.document.as_ref().and_then(|document| error::code(definition, document));
    let gone = ["invalid_token", "invalid_grant", "token_revoked", "not_authed", "invalid_auth"];
    match (answered.status.as_u16(), code) {
        (200..=299, None) | (404 | 410, _) => Ok(()),
        (_, Some(code)) if gone.contains(&code.as_str()) || definition.errors.dead.contains(&code) => Ok(()),
        (status @ (429 | 500..), _) => Err(RevokeError::Unavailable(format!("HTTP {status}"))),
        (_, Some(code)) => Err(RevokeError::Refused(error::harmless(code, sent))),
        (status, None) => Err(RevokeError::Refused(format!("HTTP {status}"))),
    }
}
