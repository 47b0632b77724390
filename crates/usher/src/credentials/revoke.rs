//! Ending what a user granted, at the provider where they granted it: by RFC 7009, or its own way.

use std::{fmt, time::Duration};

use jiff::Timestamp;
use usher_store::{AtProvider, Leaving};

use crate::{
    config::{Config, ProviderKind},
    egress::Egress,
    oauth::{self, RevokeError},
};

/// How long a provider may take to end an access (R-SEC-04).
pub const REVOKE_DEADLINE: Duration = Duration::from_secs(10);

/// What became of an access at its provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revocation {
    /// Nothing was granted there: the person entered it, or was at a page.
    Nothing,
    /// It has ended there.
    Ended {
        /// The provider's host.
        host: String,
    },
    /// It may still be listed there, and good: its owner has to remove it themselves.
    StillListed {
        /// The provider's host, as far as it is known.
        host: Option<String>,
        /// Why.
        why: StillListed,
    },
}

/// Why an access may still be listed at its provider. Only what it says of itself is shown: no variant carries a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StillListed {
    /// The provider stands no longer in the configuration.
    NotConfigured,
    /// What is stored cannot be read, so nobody knows what to end.
    Unreadable,
    /// The provider has no way to end it but its own pages.
    NoWay,
    /// The provider did not answer, or not in time.
    Unheard,
    /// The provider answered something else than that it has ended.
    Refused,
    /// Nobody was told: the operator wanted it so, or time had run out.
    NotTried,
}

impl Revocation {
    /// What could not be told.
    pub fn untold(config: &Config, leaving: &Leaving, why: StillListed) -> Self {
        match what(config, leaving) {
            What::Nothing => Self::Nothing,
            What::Unknown(instead) => Self::StillListed { host: host(leaving), why: instead },
            What::Grant(..) => Self::StillListed { host: host(leaving), why },
        }
    }

    /// The same for the audit log.
    pub fn told(&self) -> AtProvider {
        match self {
            Self::Nothing => AtProvider::Nothing,
            Self::Ended { .. } => AtProvider::Ended,
            Self::StillListed { why, .. } => AtProvider::StillListed(why.as_str()),
        }
    }

    /// Whether the provider did not answer.
    pub fn is_unheard(&self) -> bool {
        matches!(self, Self::StillListed { why: StillListed::Unheard, .. })
    }
}

impl StillListed {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::NotConfigured, Self::Unreadable, Self::NoWay, Self::Unheard, Self::Refused, Self::NotTried];

    /// The name in the audit log and in what commands print as JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotConfigured => "provider-not-configured",
            Self::Unreadable => "unreadable",
            Self::NoWay => "no-revocation",
            Self::Unheard => "provider-unreachable",
            Self::Refused => "provider-refused",
            Self::NotTried => "not-tried",
        }
    }
}

impl fmt::Display for StillListed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NotConfigured => "the provider is not in the configuration any more",
            Self::Unreadable => "what is stored cannot be read",
            Self::NoWay => "the provider offers no way to end it",
            Self::Unheard => "the provider could not be reached",
            Self::Refused => "the provider did not end it",
            Self::NotTried => "the provider was not told",
        })
    }
}
