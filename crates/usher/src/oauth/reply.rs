//! The reply through the browser (RFC 6749, section 4.1.2; RFC 9207).

use std::collections::BTreeMap;

use secrecy::SecretString;

use super::Server;
use crate::claim;
use crate::config::Definition;
use crate::config::definition::Iss;

/// The longest value of the reply that is taken.
const LONGEST: usize = 4096;

/// The query of a redirect URI. Whoever sends the browser there has written it.
#[derive(Clone, Copy, Debug)]
pub struct Reply<'q> {
    query: &'q [(String, String)],
}

/// A code that may be exchanged, once.
#[derive(Clone, Debug)]
pub struct Code {
    /// The code.
    pub code: SecretString,
    /// What came with it that belongs to the connection (kind 17), by the names of the definition. No secrets.
    pub values: BTreeMap<String, String>,
}

/// What keeps a reply from being followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplyFault {
    /// It is none: neither code nor error, both, or something twice.
    #[error("the reply is none")]
    NoReply,
    /// It names another issuer than the one that was asked, or none where that one always names itself (RFC 9207).
    #[error("the reply is of another issuer")]
    OtherIssuer,
    /// The person said no.
    #[error("the person declined at the provider")]
    Declined,
    /// Our request, or our client, is not what the provider wants: the operator's to mend.
    #[error("the provider refuses our request: {code}")]
    Misconfigured {
        /// Its code, made harmless.
        code: String,
        /// Its words, made harmless, if it has any.
        description: Option<String>,
    },
    /// It cannot now.
    #[error("the provider cannot at the moment: {code}")]
    Unavailable {
        /// Its code, made harmless.
        code: String,
    },
    /// It lacks a parameter that belongs to the connection (kind 17).
    #[error("the reply has no {0}")]
    Missing(String),
}

impl<'q> Reply<'q> {
    /// A query, decoded.
    pub fn of(query: &'q [(String, String)]) -> Self {
        Self { query }
    }

    /// The state, by which the flow is found (kind 18). `None` where it stands twice, or not at all.
    pub fn state(&self, definition: &Definition) -> Option<&'q str> {
        self.one(&definition.callback.state).ok().flatten()
    }

    /// The same by its usual name, where no definition is known.
    pub fn standard_state(&self) -> Option<&'q str> {
        self.one("state").ok().flatten()
    }

    /// The code, or why there is none. The issuer is looked at first, of an error as well (R-OAUTH-05).
    pub fn read(&self, server: &Server) -> Result<Code, ReplyFault> {
        let callback = &server.definition().callback;
        self.one(&callback.state)?;
        self.is_from(server)?;
        let code = self.one(&callback.code)?.filter(|code| !code.is_empty());
        let error = self.one(&callback.error)?.filter(|error| !error.is_empty());
        match (code, error) {
            (Some(code), None) => Ok(Code { code: SecretString::from(code), values: self.values(server)? }),
            (None, Some(error)) => Err(self.refusal(server, error)),
            _ => Err(ReplyFault::NoReply),
        }
    }

    /// Identical wherever it stands; there wherever it is promised (RFC 9207, section 2.4).
    fn is_from(&self, server: &Server) -> Result<(), ReplyFault> {
        let rule = server.definition().iss;
        let iss = self.one("iss")?;
        match (&server.issuer, iss) {
            _ if rule == Iss::Ignored => Ok(()),
            (Some(issuer), Some(iss)) if iss == issuer => Ok(()),
            (_, None) if rule == Iss::Optional => Ok(()),
            _ => Err(ReplyFault::OtherIssuer),
        }
    }

    fn values(&self, server: &Server) -> Result<BTreeMap<String, String>, ReplyFault> {
        let mut values = BTreeMap::new();
        for (name, parameter) in &server.definition().callback.fields {
            let value = self.one(parameter)?.filter(|value| is_value(value));
            let value = value.ok_or_else(|| ReplyFault::Missing(name.clone()))?;
            values.insert(name.clone(), value.to_owned());
        }
        Ok(values)
    }

    fn refusal(&self, server: &Server, error: &str) -> ReplyFault {
        let callback = &server.definition().callback;
        // What counts as "no" beside the standard's word: pages at which people give up.
        let declined = ["access_denied", "user_cancelled_authorize", "user_cancelled_login", "consent_required"];
        if declined.contains(&error) || callback.declined.iter().any(|code| code == error) {
            return ReplyFault::Declined;
        }
        let code = claim::clean(error).unwrap_or_else(|| "?".to_owned());
        if matches!(error, "server_error" | "temporarily_unavailable") {
            return ReplyFault::Unavailable { code };
        }
        let description = self.one(&callback.error_description).ok().flatten().and_then(claim::clean);
        ReplyFault::Misconfigured { code, description }
    }

    /// The value of a parameter; a fault where it stands twice, or is far too long.
    fn one(&self, name: &str) -> Result<Option<&'q str>, ReplyFault> {
        let mut values = self.query.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let value = values.next();
        if values.next().is_some() || value.is_some_and(|value| value.len() > LONGEST) {
            return Err(ReplyFault::NoReply);
        }
        Ok(value)
    }
}

/// What may be kept of a parameter: it comes to stand in headers and URLs.
fn is_value(value: &str) -> bool {
    (1..=255).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_graphic())
}
