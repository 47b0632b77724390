//! Is the key good? Asks the provider, before anything is stored, with the request that the operator configured.

use std::{collections::BTreeMap, time::Duration};

use http::StatusCode;
use secrecy::SecretString;

use crate::{
    config::{Check, Provider},
    egress::Egress,
};

/// How long the provider may take to answer (R-SEC-04).
pub const CHECK_DEADLINE: Duration = Duration::from_secs(10);

/// What kept a key from being found good. No variant carries any of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// The provider knows the key and refuses it, or does not know it: 401 or 403.
    #[error("the provider refused the key ({0})")]
    Refused(StatusCode),
    /// The provider answered neither yes nor no. The person may try again.
    #[error("the provider answered {0}")]
    Answered(StatusCode),
    /// No connection, or it broke.
    #[error("the provider could not be reached")]
    Unreachable,
    /// No answer within [`CHECK_DEADLINE`].
    #[error("the provider did not answer in time")]
    TooSlow,
    /// What was typed cannot stand in a header.
    #[error("the value cannot be sent in a header")]
    Unsendable,
}

/// Sends the check request of `provider`. Its answer's status is all that counts; the body is not read, a redirect not
/// followed.
pub async fn check(
    egress: &Egress,
    provider: &Provider,
    check: &Check,
    secrets: &BTreeMap<String, SecretString>,
) -> Result<(), CheckError> {
    let mut request = egress.operator().get(check.get.clone());
    for (name, template) in &check.headers {
        if let Some(value) = provider.header(template, secrets).map_err(|_| CheckError::Unsendable)? {
            request = request.header(name, value);
        }
    }
    let answer = tokio::time::timeout(CHECK_DEADLINE, request.send()).await;
    let status = match answer {
        Err(_) => return Err(CheckError::TooSlow),
        Ok(Err(error)) if error.is_timeout() => return Err(CheckError::TooSlow),
        Ok(Err(_)) => return Err(CheckError::Unreachable),
        Ok(Ok(answer)) => answer.status(),
    };
    match status {
        good if good.is_success() => Ok(()),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(CheckError::Refused(status)),
        other => Err(CheckError::Answered(other)),
    }
}
