//! Who it is: the clients of the MCP side, the people in the browser, and commands of this machine.

pub mod browser;
pub mod control;
pub mod tokens;

use elicit::Principal;
use http::{HeaderMap, header};

use self::tokens::{Tokens, local_user};
use crate::config::Upstream;

/// Who may come in, by the mode of the configuration.
#[derive(Debug)]
pub enum Door {
    /// Clients of one person on this machine, by tokens of a file.
    Local(Tokens),
    /// Whoever has an access token of the issuer.
    Oidc,
}

/// Why a client is not let in. What it is told never says more than this (R-ID-05).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denied {
    /// It presents no token.
    NoToken,
    /// Its token is not valid here.
    BadToken,
}

impl Door {
    /// The client and its user, verified by the bearer token alone (R-ID-02). `upstream` is the server that the request is
    /// for, where there is one of that name.
    pub async fn authenticate(&self, headers: &HeaderMap, upstream: Option<&Upstream>) -> Result<Principal, Denied> {
        let _ = upstream;
        let token = bearer(headers).ok_or(Denied::NoToken)?;
        match self {
            Self::Local(tokens) => {
                let client = tokens.verify(token).ok_or(Denied::BadToken)?;
                Ok(Principal { user: local_user(), client })
            }
            Self::Oidc => Err(Denied::BadToken),
        }
    }

    /// The tokens of clients on this machine; none in mode oidc.
    pub fn tokens(&self) -> Option<&Tokens> {
        match self {
            Self::Local(tokens) => Some(tokens),
            Self::Oidc => None,
        }
    }
}

/// The token of the one `Authorization` header (RFC 6750, section 2.1).
pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let (value, None) = (values.next()?, values.next()) else { return None };
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
