//! What may be requested where others choose the URLs (R-SEC-05).

use http::{StatusCode, header};
use url::{Origin, Url};

use crate::{
    config::Issuer,
    egress::{self, Blocked, Egress, NoAnswer, answer},
};

/// The most bytes of a document that are read.
const LIMIT: usize = 256 * 1024;

/// The way to URLs that a server names. Those of the origins that the operator wrote down are the operator's choice, and may be
/// private; everything else is somebody else's, and guarded.
#[derive(Debug, Clone)]
pub struct Reach<'e> {
    egress: &'e Egress,
    origins: Vec<Origin>,
}

/// Why there is no document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// Its address may not be requested.
    #[error("{0}")]
    Blocked(#[from] Blocked),
    /// No answer, or too long a one.
    #[error("{0}")]
    NoAnswer(#[from] NoAnswer),
    /// An answer that may be another one later: 408, 429 or 5xx.
    #[error("HTTP {0}")]
    Later(StatusCode),
    /// Another status than 200: there is nothing.
    #[error("HTTP {0}")]
    Absent(StatusCode),
}

impl FetchError {
    /// Whether it may go better later.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::NoAnswer(error) => !matches!(error, NoAnswer::TooLarge(_)),
            Self::Later(_) => true,
            Self::Blocked(_) | Self::Absent(_) => false,
        }
    }
}

impl<'e> Reach<'e> {
    /// The way for what the operator configured: the server, and the issuer if one is written down.
    pub fn of(egress: &'e Egress, upstream: &Url, issuer: Option<&Issuer>) -> Self {
        let issuer = issuer.map(|issuer| issuer.url().origin());
        Self { egress, origins: std::iter::once(upstream.origin()).chain(issuer).collect() }
    }

    /// The origins that the operator wrote down.
    pub fn chosen(&self) -> Vec<Origin> {
        self.origins.clone()
    }

    /// The client for a URL, if it may be requested at all.
    pub fn client(&self, url: &Url) -> Result<&'e reqwest::Client, Blocked> {
        if self.is_of_operator(url) { Ok(self.egress.operator()) } else { self.egress.guarded(url) }
    }

    /// Whether a URL is of an origin that the operator wrote down.
    pub fn is_of_operator(&self, url: &Url) -> bool {
        self.origins.contains(&url.origin())
    }

    /// Reads an endpoint: https, or http where the operator wrote down or allowed it.
    pub(crate) fn endpoint(&self, text: &str) -> Option<Url> {
        egress::endpoint(text, |url| self.client(url).is_ok())
    }

    /// Reads an issuer identifier: an endpoint without a query (RFC 8414, section 2).
    pub(super) fn issuer(&self, text: &str) -> Option<Issuer> {
        let url = self.endpoint(text).filter(|url| url.query().is_none() && text.len() <= 2048)?;
        Some(Issuer::of(text, url))
    }

    /// Fetches a document, without following anything.
    pub(super) async fn document(&self, url: &Url) -> Result<bytes::Bytes, FetchError> {
        let request = self.client(url)?.get(url.clone()).header(header::ACCEPT, "application/json");
        let answer = answer(request, LIMIT).await?;
        match answer.status {
            StatusCode::OK => Ok(answer.body),
            status @ (StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS) => Err(FetchError::Later(status)),
            status if status.is_server_error() => Err(FetchError::Later(status)),
            status => Err(FetchError::Absent(status)),
        }
    }
}
