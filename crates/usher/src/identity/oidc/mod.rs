//! The OpenID provider of identity mode oidc: what it says of itself, its keys, and the tokens that it signs.
//!
//! Nothing is fetched at start: the service comes up while the issuer is away. What was fetched is kept, so that tokens are
//! verified while it is away later.

mod admit;
mod algorithm;
mod bearer;
mod claims;
mod introspect;
pub mod jwt;
pub mod keys;
pub mod metadata;
pub mod resource;
pub mod sign_in;
pub(crate) mod sign_out;
mod told;

use std::sync::{Arc, atomic::AtomicBool};

use http::StatusCode;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Semaphore;
use url::Url;

pub use self::{algorithm::Algorithm, claims::Claims};
use self::{
    jwt::{Expected, Invalid},
    keys::KeySet,
    metadata::Metadata,
};
use crate::{
    clock::Clock,
    config::{Issuer, Oidc},
    egress::{Answer, Blocked, Egress, NoAnswer, answer},
    kept::{Kept, Terms, Turn},
};

/// The document is read daily, and does without the issuer for a week.
const METADATA: Terms = Terms {
    fresh: SignedDuration::from_hours(24),
    usable: SignedDuration::from_hours(7 * 24),
    pause: SignedDuration::from_mins(1),
};

/// Keys are read every quarter of an hour, so that one that the issuer withdrew does not open for long, and do without the
/// issuer for a day. A token that none of them verifies has them read at most once a minute, whoever sends how many.
const KEYS: Terms = Terms {
    fresh: SignedDuration::from_mins(15),
    usable: SignedDuration::from_hours(24),
    pause: SignedDuration::from_mins(1),
};

/// The issuer, as this service sees it. Shared by the MCP side and the sign-in of browsers.
pub struct OpenIdProvider {
    /// What the operator says of it.
    pub config: Oidc,
    egress: Egress,
    clock: Arc<dyn Clock>,
    metadata: Kept<Metadata>,
    keys: Kept<KeySet>,
    verdicts: bearer::Verdicts,
    asking: Semaphore,
    questions: introspect::Questions,
    /// Whether the last question about a token had no answer.
    silent: AtomicBool,
    told: told::Told,
}

impl std::fmt::Debug for OpenIdProvider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenIdProvider").field("issuer", &self.config.issuer).finish_non_exhaustive()
    }
}

/// Why the issuer's own word cannot be had at the moment. It was logged when it happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the issuer cannot be reached, or answers what it must not; usher doctor says more")]
pub struct Unavailable;

/// Why a token was not verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// It is not what it is taken for.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// Nobody can say: there are no keys to verify it with.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}

/// Why something could not be fetched from the issuer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// No answer.
    #[error("{0}")]
    NoAnswer(String),
    /// Another status than 200.
    #[error("HTTP {0}")]
    Status(StatusCode),
    /// An address that the issuer names, and that may not be requested.
    #[error("{0}")]
    Blocked(#[from] Blocked),
    /// A document that is none.
    #[error("{0}")]
    Metadata(#[from] metadata::MetadataError),
    /// Keys that are none.
    #[error("{0}")]
    Keys(#[from] keys::KeysError),
}

impl From<NoAnswer> for FetchError {
    fn from(error: NoAnswer) -> Self {
        Self::NoAnswer(error.to_string())
    }
}

/// The client for an endpoint of an issuer. Its own origin is the operator's choice, and may be private; what it names
/// elsewhere is somebody else's (R-SEC-05).
pub fn client<'e>(egress: &'e Egress, issuer: &Issuer, endpoint: &Url) -> Result<&'e reqwest::Client, Blocked> {
    if endpoint.origin() == issuer.url().origin() { Ok(egress.operator()) } else { egress.guarded(endpoint) }
}

/// Fetches the issuer's document.
pub async fn fetch_metadata(egress: &Egress, issuer: &Issuer) -> Result<Metadata, FetchError> {
    Ok(Metadata::parse(&fetch_document(egress, issuer).await?.body, issuer)?)
}

/// The same as it came, unread.
pub(crate) async fn fetch_document(egress: &Egress, issuer: &Issuer) -> Result<Answer, FetchError> {
    fetch(egress, issuer, &metadata::location(issuer), metadata::LIMIT).await
}

/// Fetches the issuer's keys.
pub async fn fetch_keys(egress: &Egress, issuer: &Issuer, metadata: &Metadata) -> Result<KeySet, FetchError> {
    Ok(KeySet::parse(&fetch(egress, issuer, &metadata.jwks_uri, keys::LIMIT).await?.body)?)
}

async fn fetch(egress: &Egress, issuer: &Issuer, url: &Url, at_most: usize) -> Result<Answer, FetchError> {
    let request = client(egress, issuer, url)?.get(url.clone()).header(http::header::ACCEPT, "application/json");
    let answer = answer(request, at_most).await?;
    if answer.status == StatusCode::OK { Ok(answer) } else { Err(FetchError::Status(answer.status)) }
}

impl OpenIdProvider {
    /// Nothing is fetched yet.
    pub fn new(config: Oidc, egress: Egress, clock: Arc<dyn Clock>) -> Self {
        Self {
            config,
            egress,
            clock,
            metadata: Kept::new(METADATA),
            keys: Kept::new(KEYS),
            verdicts: bearer::verdicts(),
            asking: Semaphore::new(introspect::AT_A_TIME),
            questions: introspect::Questions::default(),
            silent: AtomicBool::new(false),
            told: told::Told::default(),
        }
    }

    /// The client for an endpoint that the metadata names.
    pub fn client(&self, endpoint: &Url) -> Result<&reqwest::Client, Blocked> {
        client(&self.egress, &self.config.issuer, endpoint)
    }

    /// Whether one more line about somebody else's doing goes into the log; a few a minute do.
    pub(crate) fn may_tell(&self) -> bool {
        self.told.one_more(self.clock.now())
    }

    /// What the issuer says of itself; fetched at the first use, and daily.
    pub async fn metadata(self: &Arc<Self>) -> Result<Arc<Metadata>, Unavailable> {
        let fetch = |turn| Arc::clone(self).fetch_metadata(turn);
        self.metadata.current(&*self.clock, fetch).await.ok_or(Unavailable)
    }

    /// Verifies a token by the issuer's keys. If they do not fit, they are looked up anew, at most once a minute.
    pub async fn verify(self: &Arc<Self>, token: &str, expected: &Expected<'_>) -> Result<Claims, VerifyError> {
        let fetch = |turn| Arc::clone(self).fetch_keys(turn);
        let keys = self.keys.current(&*self.clock, fetch).await.ok_or(Unavailable)?;
        let refused = match jwt::verify(token, &keys, expected, self.clock.now()) {
            Err(refused @ (Invalid::UnknownKey | Invalid::Signature)) => refused,
            verified => return Ok(verified?),
        };
        let newer = self.keys.renewed(&*self.clock, fetch).await;
        match newer.filter(|newer| !Arc::ptr_eq(newer, &keys)) {
            Some(newer) => Ok(jwt::verify(token, &newer, expected, self.clock.now())?),
            None if refused == Invalid::UnknownKey && self.may_be_of_newer_keys(token) => Err(Unavailable.into()),
            None => Err(refused.into()),
        }
    }

    /// Whether a token says that it was made after the keys were fetched that are here: its key may be among those that cannot
    /// be fetched yet. Nobody gains by a lie: the token is refused either way, and a client with an old one still hears that it
    /// is no longer valid, however many others have the keys fetched meanwhile.
    fn may_be_of_newer_keys(&self, token: &str) -> bool {
        let fetched = self.keys.fetched_at().map_or(i64::MIN, Timestamp::as_second);
        jwt::unverified_iat(token).is_some_and(|made| made > fetched.saturating_sub(jwt::SKEW))
    }

    async fn fetch_metadata(self: Arc<Self>, _turn: Turn) {
        let now = self.clock.now();
        let fetched = fetch_metadata(&self.egress, &self.config.issuer).await;
        self.settle(&self.metadata, fetched, now, "metadata");
    }

    async fn fetch_keys(self: Arc<Self>, _turn: Turn) {
        let now = self.clock.now();
        let Ok(metadata) = self.metadata().await else {
            // Which was logged.
            self.keys.failed(self.clock.now());
            return;
        };
        let fetched = fetch_keys(&self.egress, &self.config.issuer, &metadata).await;
        self.settle(&self.keys, fetched, now, "keys");
    }

    /// Keeps what was fetched by the attempt of `now`, or counts the failure.
    fn settle<T>(&self, kept: &Kept<T>, fetched: Result<T, FetchError>, now: Timestamp, what: &'static str) {
        let issuer = self.config.issuer.as_str();
        match fetched {
            Ok(value) => {
                tracing::debug!(issuer, what, "fetched from the issuer");
                kept.fetched(Arc::new(value), now);
            }
            Err(error) if kept.failed(self.clock.now()) => {
                tracing::warn!(issuer, what, %error, "the issuer cannot be asked");
            }
            Err(error) => tracing::debug!(issuer, what, %error, "the issuer cannot be asked again"),
        }
    }
}

#[cfg(test)]
mod tests;
