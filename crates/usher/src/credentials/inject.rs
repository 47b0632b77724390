//! A credential becomes headers of the upstream's request, or variables of its environment, exactly as the operator wrote them.

use http::{HeaderMap, HeaderName, HeaderValue};
use secrecy::SecretString;
use usher_store::Credential;

use crate::config::{Need, Provider, TemplateError};

/// A stored secret does not fit the configuration any more: a field is missing, or cannot stand in a header.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the stored credential for {provider} does not fit {carrier}: {reason}")]
pub struct InjectError {
    /// The provider whose credential it is.
    pub provider: String,
    /// The header or variable that could not be made.
    pub carrier: String,
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

/// The headers and variables to add, and whose they are. `Debug` shows names only.
#[derive(Default)]
pub struct Injection {
    headers: Vec<(HeaderName, HeaderValue)>,
    env: Vec<(String, SecretString)>,
    /// What people typed, of all that was added.
    secrets: Vec<SecretString>,
    used: Vec<Used>,
}

impl std::fmt::Debug for Injection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Injection").field("used", &self.used).finish_non_exhaustive()
    }
}

impl Injection {
    /// Adds the headers and variables of one need of `provider`. One that uses an optional field which was left empty is
    /// left out. After an error nothing is added.
    pub fn add(&mut self, need: &Need, provider: &Provider, credential: &Credential) -> Result<(), InjectError> {
        let misfit = |carrier: &str, reason: &TemplateError| InjectError {
            provider: need.provider.clone(),
            carrier: carrier.to_owned(),
            reason: reason.to_string(),
        };
        let header = |(name, template): &(HeaderName, _)| {
            let value =
                provider.header(template, &credential.secrets).map_err(|error| misfit(name.as_str(), &error))?;
            Ok(value.map(|value| (name.clone(), value)))
        };
        let variable = |(name, template): &(String, _)| {
            let value = provider.variable(template, &credential.secrets).map_err(|error| misfit(name, &error))?;
            Ok(value.map(|value| (name.clone(), value)))
        };
        let headers: Vec<_> = need.headers.iter().map(header).collect::<Result<_, _>>()?;
        let env: Vec<_> = need.env.iter().map(variable).collect::<Result<_, _>>()?;
        self.headers.extend(headers.into_iter().flatten());
        self.env.extend(env.into_iter().flatten());
        self.secrets.extend(credential.secrets.values().cloned());
        self.used.push(Used { provider: need.provider.clone(), version: credential.version });
        Ok(())
    }

    /// The variables of a process that gets these credentials.
    pub fn env(&self) -> &[(String, SecretString)] {
        &self.env
    }

    /// What people typed, to be kept out of what a process says.
    pub fn secrets(&self) -> &[SecretString] {
        &self.secrets
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
