//! The code becomes an ID token (RFC 6749, section 4.1.3; OpenID Connect Core, section 3.1.3).

use std::fmt;

use http::StatusCode;
use oauth2::{
    AuthType, AuthUrl, AuthorizationCode, ClientId, ClientSecret, EndpointNotSet, EndpointSet, ExtraTokenFields,
    HttpRequest, HttpResponse, PkceCodeVerifier, RedirectUrl, RequestTokenError, StandardRevocableToken,
    StandardTokenResponse, TokenResponse as _, TokenUrl,
    basic::{
        BasicErrorResponse, BasicErrorResponseType, BasicRevocationErrorResponse, BasicTokenIntrospectionResponse,
        BasicTokenType,
    },
};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};

use super::{
    super::OpenIdProvider,
    CALLBACK,
    fault::{Fault, Unproven},
};
use crate::{
    app::App,
    claim,
    egress::{Blocked, NoAnswer, answer},
    identity::oidc::metadata::Metadata,
};

/// The longest answer of it that is read, in bytes.
const ANSWER_AT_MOST: usize = 256 * 1024;

/// What the code was exchanged for. What else came with it (a refresh token) is dropped.
pub(super) struct Exchanged {
    pub(super) id_token: SecretString,
    pub(super) access_token: SecretString,
}

/// What OpenID Connect adds to the answer of the token endpoint.
#[derive(Deserialize, Serialize)]
pub(super) struct IdToken {
    id_token: Option<String>,
}

impl ExtraTokenFields for IdToken {}

impl fmt::Debug for IdToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdToken").finish_non_exhaustive()
    }
}

/// Our client at the issuer.
pub(super) type Client = oauth2::Client<
    BasicErrorResponse,
    StandardTokenResponse<IdToken, BasicTokenType>,
    BasicTokenIntrospectionResponse,
    StandardRevocableToken,
    BasicRevocationErrorResponse,
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointSet,
>;

/// Our client, for the issuer as its metadata describe it.
pub(super) fn client(app: &App, issuer: &OpenIdProvider, metadata: &Metadata) -> Result<Client, Fault> {
    let config = &issuer.config;
    // Without a secret the id goes into the body anyway (RFC 6749, section 2.3.1).
    let method = if takes_basic(metadata) { AuthType::BasicAuth } else { AuthType::RequestBody };
    let callback = RedirectUrl::new(app.config.public_url.join(CALLBACK)).map_err(|_| Fault::Internal)?;
    let client = oauth2::Client::new(ClientId::new(config.client_id.clone()))
        .set_auth_type(method)
        .set_auth_uri(AuthUrl::from_url(metadata.authorization_endpoint.clone()))
        .set_token_uri(TokenUrl::from_url(metadata.token_endpoint.clone()))
        .set_redirect_uri(callback);
    Ok(match &config.client_secret {
        Some(secret) => client.set_client_secret(ClientSecret::new(secret.expose_secret().to_owned())),
        None => client,
    })
}

fn takes_basic(metadata: &Metadata) -> bool {
    metadata.token_endpoint_auth_methods.iter().any(|method| method == "client_secret_basic")
}

/// How our client proves who it is, by its name at registration (OpenID Connect Core, section 9).
fn method(issuer: &OpenIdProvider, metadata: &Metadata) -> &'static str {
    match (&issuer.config.client_secret, takes_basic(metadata)) {
        (None, _) => "none",
        (Some(_), true) => "client_secret_basic",
        (Some(_), false) => "client_secret_post",
    }
}

/// Sends the code to the token endpoint. No redirect is followed, and neither time nor size is the issuer's to choose.
pub(super) async fn exchange(
    app: &App,
    issuer: &OpenIdProvider,
    metadata: &Metadata,
    code: SecretString,
    verifier: &SecretString,
) -> Result<Exchanged, Fault> {
    let blocked = |error: Blocked| Fault::Unavailable(format!("the token endpoint: {error}"));
    let http = issuer.client(&metadata.token_endpoint).map_err(blocked)?;
    let send = |request| send(http.clone(), request);
    let answer = client(app, issuer, metadata)?
        .exchange_code(AuthorizationCode::new(code.expose_secret().to_owned()))
        .set_pkce_verifier(PkceCodeVerifier::new(verifier.expose_secret().to_owned()))
        .request_async(&send)
        .await
        .map_err(|error| fault(error, method(issuer, metadata)))?;
    let id_token = answer.extra_fields().id_token.clone();
    let id_token = id_token.ok_or(Fault::Unproven(Unproven::Missing))?;
    Ok(Exchanged {
        id_token: SecretString::from(id_token),
        access_token: SecretString::from(answer.access_token().secret().clone()),
    })
}

/// What kept the token endpoint from being asked.
#[derive(Debug, thiserror::Error)]
pub(super) enum Trouble {
    #[error("{0}")]
    NoAnswer(#[from] NoAnswer),
    #[error("it answered {0}")]
    Status(StatusCode),
    #[error("the request could not be made")]
    Request,
}

async fn send(http: reqwest::Client, request: HttpRequest) -> Result<HttpResponse, Trouble> {
    let request = reqwest::Request::try_from(request).map_err(|_| Trouble::Request)?;
    let answer = answer(reqwest::RequestBuilder::from_parts(http, request), ANSWER_AT_MOST).await?;
    // 400 and 401 are its own errors (RFC 6749, section 5.2).
    if !answer.status.is_success() && !answer.status.is_client_error() {
        return Err(Trouble::Status(answer.status));
    }
    let mut response = HttpResponse::new(answer.body.to_vec());
    *response.status_mut() = answer.status;
    *response.headers_mut() = answer.headers;
    Ok(response)
}

/// The body of what cannot be read is never shown: it may hold tokens.
fn fault(error: RequestTokenError<Trouble, BasicErrorResponse>, method: &str) -> Fault {
    match error {
        RequestTokenError::ServerResponse(error) => {
            let code = claim::clean(error.error().as_ref()).unwrap_or_default();
            match error.error() {
                BasicErrorResponseType::InvalidGrant => Fault::Exchange(code),
                _ => Fault::Unavailable(format!(
                    "the token endpoint answered {code}: look at client_id and client_secret, and whether the client is \
                     registered for {method}"
                )),
            }
        }
        RequestTokenError::Request(trouble) => Fault::Unavailable(format!("the token endpoint: {trouble}")),
        RequestTokenError::Parse(..) | RequestTokenError::Other(_) => {
            Fault::Unavailable("the token endpoint's answer cannot be read".to_owned())
        }
    }
}
