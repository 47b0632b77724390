//! A credential becomes headers of the upstream's request, exactly as the operator wrote them.

use http::{HeaderMap, HeaderName, HeaderValue};
use usher_store::Credential;

use crate::config::{Need, Provider};

/// A stored secret does not fit the configuration any more: a field is missing, or cannot stand in a header.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the stored credential for {provider} does not fit header {header}: {reason}")]
pub struct InjectError {
    /// The provider whose credential it is.
    pub provider: String,
    /// The header that could not be made.
    pub header: String,
    /// Why, without any part of the secret.
    pub reason: String,
}

/// A credential that a call was sent with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Used {
    /// Its provider.
    pub provider: String,
    /// Its version, so that only this one is marked when the upstream rejects it.
    pub version: i64,
}

/// The headers to add, and whose they are. `Debug` shows names only.
#[derive(Default)]
pub struct Injection {
    headers: Vec<(HeaderName, HeaderValue)>,
    used: Vec<Used>,
}

impl std::fmt::Debug for Injection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Injection").field("used", &self.used).finish_non_exhaustive()
    }
}

impl Injection {
    /// Adds the headers of one need of `provider`. One that uses an optional field which was left empty is left out. After
    /// an error nothing is added.
    pub fn add(&mut self, need: &Need, provider: &Provider, credential: &Credential) -> Result<(), InjectError> {
        let before = self.headers.len();
        let added = need.headers.iter().try_for_each(|(name, template)| {
            let value = provider.header(template, &credential.secrets).map_err(|error| InjectError {
                provider: need.provider.clone(),
                header: name.as_str().to_owned(),
                reason: error.to_string(),
            })?;
            self.headers.extend(value.map(|value| (name.clone(), value)));
            Ok(())
        });
        match added {
            Ok(()) => self.used.push(Used { provider: need.provider.clone(), version: credential.version }),
            Err(_) => self.headers.truncate(before),
        }
        added
    }

    /// Puts the headers into a request, in place of any of the same name.
    pub fn apply(&self, request: &mut HeaderMap) {
        for (name, value) in &self.headers {
            request.insert(name.clone(), value.clone());
        }
    }

    /// The credentials it was made of.
    pub fn used(&self) -> &[Used] {
        &self.used
    }
}
