//! The issuer is asked about a token (RFC 7662).

use std::sync::Arc;

use http::{StatusCode, header};
use secrecy::ExposeSecret as _;
use url::{Url, form_urlencoded};

use super::{
    Claims, FetchError, OpenIdProvider,
    jwt::{self, Expected, Invalid},
};
use crate::{
    config::Introspection,
    egress::{Answer, NoAnswer, answer},
};

/// The most bytes of an answer that are read.
const LIMIT: usize = 64 * 1024;

/// How many questions are under way at a time: a flood of tokens that nobody issued is not passed on whole.
pub(super) const AT_A_TIME: usize = 32;

/// Why nothing is known of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AskError {
    /// The issuer does not know it, or no longer.
    Inactive,
    /// It is not what it is taken for.
    Invalid(Invalid),
    /// Nobody can say. It was logged.
    Unavailable,
}

impl OpenIdProvider {
    /// What the issuer says of a token, once it is known to be for us.
    pub(super) async fn introspect(
        self: &Arc<Self>,
        asked: &Introspection,
        token: &str,
        expected: &Expected<'_>,
    ) -> Result<Claims, AskError> {
        let said = self.ask(asked, token).await.map_err(|error| {
            tracing::warn!(issuer = self.config.issuer.as_str(), %error, "the issuer cannot be asked about a token");
            AskError::Unavailable
        })?;
        if !said.is_true("active") {
            return Err(AskError::Inactive);
        }
        jwt::introspected(&said, expected, self.clock.now()).map_err(AskError::Invalid)?;
        Ok(said)
    }

    async fn ask(self: &Arc<Self>, asked: &Introspection, token: &str) -> Result<Claims, IntrospectionError> {
        let (client, endpoint) = if let Some(endpoint) = &asked.endpoint {
            // The operator wrote it.
            (self.egress.operator(), endpoint.clone())
        } else {
            let metadata = self.metadata().await.map_err(|_| IntrospectionError::NoMetadata)?;
            let endpoint = metadata.introspection_endpoint.clone().ok_or(IntrospectionError::NoEndpoint)?;
            (self.client(&endpoint).map_err(FetchError::from)?, endpoint)
        };
        // Closed only when the service ends.
        let _place = self.asking.acquire().await.map_err(|_| IntrospectionError::NoMetadata)?;
        let Answer { status, body, .. } = answer(request(client, endpoint, asked, token), LIMIT).await?;
        match status {
            StatusCode::OK => Claims::parse(&body).ok_or(IntrospectionError::NotJson),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(IntrospectionError::Stranger(status)),
            other => Err(FetchError::Status(other).into()),
        }
    }
}

/// Why the issuer did not answer. No variant holds anything of the token.
#[derive(Debug, thiserror::Error)]
enum IntrospectionError {
    #[error("its metadata cannot be had")]
    NoMetadata,
    #[error(
        "its metadata names no introspection_endpoint; name one as identity.introspection.url, or use tokens = \"jwt\""
    )]
    NoEndpoint,
    #[error("it refuses our client (HTTP {0}); look at client_id and client_secret of identity.introspection")]
    Stranger(StatusCode),
    #[error("its answer is no JSON object")]
    NotJson,
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error(transparent)]
    NoAnswer(#[from] NoAnswer),
}

/// Section 2.1, with the client's credentials as RFC 6749, section 2.3.1, has them in `Basic`.
fn request(client: &reqwest::Client, endpoint: Url, asked: &Introspection, token: &str) -> reqwest::RequestBuilder {
    let encoded = |text: &str| form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let form = form_urlencoded::Serializer::new(String::new())
        .append_pair("token", token)
        .append_pair("token_type_hint", "access_token")
        .finish();
    client
        .post(endpoint)
        .basic_auth(encoded(&asked.client_id), Some(encoded(asked.client_secret.expose_secret())))
        .header(header::ACCEPT, "application/json")
        .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
        .body(form)
}
