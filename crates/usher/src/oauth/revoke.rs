//! A grant is let go of: RFC 7009, or the provider's own way (kind 23).

use http::header;
use jiff::Timestamp;
use secrecy::{ExposeSecret as _, SecretString};

use super::document::{ANSWER_AT_MOST, Answered};
use super::error;
use super::request::{Outgoing, add};
use super::{Client, Held, Server, TokenError, refresh};
use crate::config::definition::{ACCESS_TOKEN, Format, Proof, Revocation, Revoked};
use crate::config::{Definition, Template};
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
    /// It does not know the access token, or not any more; what renews it may be good.
    #[error("the provider does not know the access token: {0}")]
    Unknown(String),
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
///
/// An access token that has expired, or that the provider does not know, says nothing of the refresh token beside it: where
/// the access token is what is sent, it is renewed first, once. What that brings is revoked and kept nowhere. `expires_at` is
/// when the access token does.
pub async fn revoke(
    egress: &Egress,
    server: &Server,
    client: &Client,
    held: &Held<'_>,
    expires_at: Option<Timestamp>,
    now: Timestamp,
) -> Result<(), RevokeError> {
    let definition = server.definition();
    let way = definition.revocation.as_ref().ok_or(RevokeError::Unsupported)?;
    let renewable = way.is_by_access_token() && held.refresh_token.is_some();
    if !(renewable && expires_at.is_some_and(|at| at <= now)) {
        match send(egress, server, client, held, way).await {
            Err(RevokeError::Unknown(_)) if renewable => {}
            Err(RevokeError::Unknown(code)) => return Err(RevokeError::Refused(code)),
            done => return done,
        }
    }
    let fresh = match refresh(egress, server, client, held, now).await {
        Ok(fresh) => fresh,
        Err(TokenError::Dead(code)) if is_dead(definition, &code) => return Ok(()),
        Err(error) => return Err(unrenewed(error)),
    };
    let held = Held { fields: &fresh.fields, refresh_token: fresh.refresh_token.as_ref(), ..*held };
    match send(egress, server, client, &held, way).await {
        // One that it has just given: then it is not the token that is wrong.
        Err(RevokeError::Unknown(code)) => Err(RevokeError::Refused(code)),
        done => done,
    }
}

/// Whether the provider says of a refresh token that it is dead. Much else is taken for that where a person can sign in again;
/// here nobody would look after it any more.
fn is_dead(definition: &Definition, code: &str) -> bool {
    code == "invalid_grant" || definition.errors.dead.iter().any(|dead| dead == code)
}

/// Why what could not be renewed could not be revoked.
fn unrenewed(error: TokenError) -> RevokeError {
    match error {
        TokenError::Blocked(blocked) => RevokeError::Blocked(blocked),
        TokenError::TooSlow => RevokeError::NoAnswer(NoAnswer::Slow),
        error if error.is_transient() => RevokeError::Unavailable(error.to_string()),
        error => RevokeError::Refused(error.to_string()),
    }
}

impl Revocation {
    /// Whether it takes a good access token.
    fn is_by_access_token(&self) -> bool {
        self.token == Revoked::AccessToken || self.proof == Proof::Bearer
    }
}

async fn send(
    egress: &Egress,
    server: &Server,
    client: &Client,
    held: &Held<'_>,
    way: &Revocation,
) -> Result<(), RevokeError> {
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
    let renewable = way.is_by_access_token() && held.refresh_token.is_some();
    said(&Answered::read(&answered, Format::Json), server.definition(), way.proof, renewable, &sent)
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

/// What the answer means. Errors may come with HTTP 200. A token that is not known is gone, unless it is the one of two that
/// lives shortly; a page that is not there says nothing of any token.
fn said(
    answered: &Answered,
    definition: &Definition,
    proof: Proof,
    renewable: bool,
    sent: &[&SecretString],
) -> Result<(), RevokeError> {
    let code = answered.document.as_ref().and_then(|document| error::code(definition, document));
    let gone = ["invalid_token", "invalid_grant", "token_revoked"];
    // Of the token alone where that alone proves us.
    let bearer = ["invalid_auth", "token_expired", "expired_access_token", "invalid_access_token"];
    let is_gone = |code: &str| {
        gone.contains(&code)
            || (proof == Proof::Bearer && bearer.contains(&code))
            || definition.errors.dead.iter().any(|dead| dead == code)
    };
    match (answered.status.as_u16(), code) {
        (200..=299, None) => Ok(()),
        (_, Some(code)) if is_gone(&code) && renewable => Err(RevokeError::Unknown(error::harmless(code, sent))),
        (_, Some(code)) if is_gone(&code) => Ok(()),
        (status @ (429 | 500..), _) => Err(RevokeError::Unavailable(format!("HTTP {status}"))),
        // Some say in no other way that they do not know it.
        (status @ (400 | 401 | 404 | 410 | 422), code) if renewable => {
            let code = code.unwrap_or_else(|| format!("HTTP {status}"));
            Err(RevokeError::Unknown(error::harmless(code, sent)))
        }
        (_, Some(code)) => Err(RevokeError::Refused(error::harmless(code, sent))),
        (status, None) => Err(RevokeError::Refused(format!("HTTP {status}"))),
    }
}
