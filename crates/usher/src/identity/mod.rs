//! Who it is: the clients of the MCP side, the people in the browser, and commands of this machine.

pub mod browser;
pub mod control;
pub mod oidc;
pub mod tokens;

use std::{sync::Arc, time::Duration};

use elicit::Principal;
use http::{HeaderMap, header};
use jiff::Timestamp;

use self::{
    oidc::OpenIdProvider,
    tokens::{Tokens, local_user},
};
use crate::config::{PublicUrl, Upstream};

/// Who may come in, by the mode of the configuration.
#[derive(Debug)]
pub enum Door {
    /// Clients of one person on this machine, by tokens of a file.
    Local(Tokens),
    /// Whoever has an access token of the issuer.
    Oidc(Arc<OpenIdProvider>),
}

/// A client that was let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Admitted {
    /// The client and its user.
    pub principal: Principal,
    /// Until when its token says so; none in mode local, where a token is good until it is changed.
    pub until: Option<Timestamp>,
}

impl Admitted {
    /// How long from now until its token ends, where that ends.
    pub fn lasts(&self, now: Timestamp) -> Option<Duration> {
        let left = self.until?.duration_since(now);
        Some(left.try_into().unwrap_or_default())
    }
}

/// Why a client is not let in. What it is told never says more than which of these it is (R-ID-05).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denied {
    /// It presents no token.
    NoToken,
    /// Its token is not valid here; what is wrong with it is for the log.
    BadToken(&'static str),
    /// The issuer says that its token is not, or no longer, valid.
    Inactive,
    /// Its token is its own: there is no person whom it could bring.
    Machine,
    /// Its token lacks a scope.
    Scope,
    /// The server is not for this person.
    NotAllowed(Box<Principal>),
    /// There is no such server, and so nothing that a token could be for.
    NoServer,
    /// Nobody can say at the moment: the issuer is away.
    Unavailable,
}

impl Door {
    /// The client and its user, verified by the bearer token alone (R-ID-02). `upstream` is the server that the request is
    /// for, where there is one of that name.
    pub async fn authenticate(
        &self,
        headers: &HeaderMap,
        upstream: Option<&Upstream>,
        public_url: &PublicUrl,
    ) -> Result<Admitted, Denied> {
        let token = bearer(headers).ok_or(Denied::NoToken);
        match self {
            Self::Local(tokens) => {
                let client = tokens.verify(token?).ok_or(Denied::BadToken("no client has it"))?;
                Ok(Admitted { principal: Principal { user: local_user(), client }, until: None })
            }
            Self::Oidc(provider) => {
                let upstream = upstream.ok_or(Denied::NoServer)?;
                provider.authenticate(token?, upstream, public_url).await
            }
        }
    }

    /// The issuer; none in mode local.
    pub fn openid(&self) -> Option<&Arc<OpenIdProvider>> {
        match self {
            Self::Local(_) => None,
            Self::Oidc(provider) => Some(provider),
        }
    }

    /// The tokens of clients on this machine; none in mode oidc.
    pub fn tokens(&self) -> Option<&Tokens> {
        match self {
            Self::Local(tokens) => Some(tokens),
            Self::Oidc(_) => None,
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
