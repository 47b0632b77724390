//! The issuer is asked about a token (RFC 7662).

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, atomic::Ordering},
    time::Duration,
};

use futures_util::{
    FutureExt as _,
    future::{BoxFuture, Shared, WeakShared},
};
use http::{StatusCode, header};
use secrecy::ExposeSecret as _;
use url::{Url, form_urlencoded};

use super::{
    Claims, FetchError, OpenIdProvider,
    jwt::{self, Expected, Invalid},
};
use crate::{
    config::{AccessTokens, Introspection},
    egress::{Answer, NoAnswer, answer},
};

/// The most bytes of an answer that are read.
const LIMIT: usize = 64 * 1024;

/// How many questions are under way at a time: a flood of tokens that nobody issued is not passed on whole.
pub(super) const AT_A_TIME: usize = 32;

/// How long a question waits for its turn (R-SEC-04).
const PATIENCE: Duration = Duration::from_secs(5);

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

/// A question that is under way, for all who wait for its answer.
type Question = Shared<Answering>;

type Answering = BoxFuture<'static, Result<Arc<Claims>, Silent>>;

/// The questions that are under way, by a hash of the token.
#[derive(Default)]
pub(super) struct Questions(Mutex<HashMap<[u8; 32], WeakShared<Answering>>>);

/// The issuer did not answer; it was logged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Silent;

/// One of those who wait for an answer. The last one to leave takes the question with it.
struct Asking<'q> {
    questions: &'q Questions,
    key: [u8; 32],
    question: Option<Question>,
}

impl Questions {
    /// Joins those who ask about this token, or asks.
    fn join(&self, key: [u8; 32], ask: impl FnOnce() -> Answering) -> Asking<'_> {
        let mut questions = self.lock();
        let question = questions.get(&key).and_then(WeakShared::upgrade).unwrap_or_else(|| {
            let question = ask().shared();
            if let Some(weak) = question.downgrade() {
                questions.insert(key, weak);
            }
            question
        });
        Asking { questions: self, key, question: Some(question) }
    }

    /// Whether nobody asks.
    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<[u8; 32], WeakShared<Answering>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        // Not under the lock: it drops what the question holds.
        drop(self.question.take());
        let mut questions = self.questions.lock();
        if questions.get(&self.key).is_some_and(|question| question.upgrade().is_none()) {
            questions.remove(&self.key);
        }
    }
}

impl OpenIdProvider {
    /// What the issuer says of a token, once it is known to be for us. It is asked once by all who wait at the same time, who
    /// give the same `key`.
    pub(super) async fn introspect(
        self: &Arc<Self>,
        key: [u8; 32],
        token: &str,
        expected: &Expected<'_>,
    ) -> Result<Claims, AskError> {
        let mut asking = self.questions.join(key, || {
            let (this, token) = (Arc::clone(self), token.to_owned());
            async move { this.asked(&token).await.map(Arc::new) }.boxed()
        });
        let question = asking.question.as_mut().ok_or(AskError::Unavailable)?;
        let said = question.await.map_err(|Silent| AskError::Unavailable)?;
        if !said.is_true("active") {
            return Err(AskError::Inactive);
        }
        jwt::introspected(&said, expected, self.clock.now()).map_err(AskError::Invalid)?;
        Ok(Claims::clone(&said))
    }

    /// Asks, and logs what keeps it from an answer: the first of a row of failures, and not too many of those, since anybody can
    /// present tokens.
    async fn asked(self: &Arc<Self>, token: &str) -> Result<Claims, Silent> {
        let issuer = self.config.issuer.as_str();
        let error = match self.ask(token).await {
            Ok(said) => {
                self.silent.store(false, Ordering::Relaxed);
                return Ok(said);
            }
            Err(error) => error,
        };
        if !self.silent.swap(true, Ordering::Relaxed) && self.may_tell() {
            tracing::warn!(issuer, %error, "the issuer cannot be asked about a token");
        } else {
            tracing::debug!(issuer, %error, "the issuer cannot be asked about a token, again");
        }
        Err(Silent)
    }

    async fn ask(self: &Arc<Self>, token: &str) -> Result<Claims, IntrospectionError> {
        let AccessTokens::Introspection(asked) = &self.config.tokens else {
            return Err(IntrospectionError::NoEndpoint);
        };
        let (client, endpoint) = if let Some(endpoint) = &asked.endpoint {
            // The operator wrote it.
            (self.egress.operator(), endpoint.clone())
        } else {
            let metadata = self.metadata().await.map_err(|_| IntrospectionError::NoMetadata)?;
            let endpoint = metadata.introspection_endpoint.clone().ok_or(IntrospectionError::NoEndpoint)?;
            (self.client(&endpoint).map_err(FetchError::from)?, endpoint)
        };
        let place =
            tokio::time::timeout(PATIENCE, self.asking.acquire()).await.map_err(|_| IntrospectionError::Busy)?;
        // Closed only when the service ends.
        let _place = place.map_err(|_| IntrospectionError::Busy)?;
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
    #[error("{AT_A_TIME} questions are under way, and none of them ended within {} s", PATIENCE.as_secs())]
    Busy,
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
