use std::collections::HashSet;
use std::net::Ipv6Addr;

use url::Host;

use super::known::KnownDomains;
use super::{Reason, Verdict};

/// Why a name cannot become part of a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// Not a host: give the name or address alone, without scheme, port or path.
    #[error("not a host: give the name or address alone, without scheme, port or path")]
    NotAHost,
    /// The name is an address or a public suffix, so no one can have registered it.
    #[error("not a domain that someone can have registered")]
    NotRegistrable,
}

/// What a deployment, or a person, knows and allows.
///
/// It is costly to build beside a review: build it once.
#[derive(Clone, Debug)]
pub struct Profile {
    development: bool,
    known: KnownDomains,
    trusted: HashSet<String>,
}

impl Default for Profile {
    /// Only https, and http on loopback. Known domains: google.com, github.com, paypal.com,
    /// apple.com and microsoft.com.
    fn default() -> Self {
        let mut known = KnownDomains::default();
        for domain in ["google.com", "github.com", "paypal.com", "apple.com", "microsoft.com"] {
            known.add(domain, "com");
        }
        Self { development: false, known, trusted: HashSet::new() }
    }
}

impl Profile {
    /// For development: loopback is all right, with any port; http elsewhere, private, unique local
    /// and shared addresses and internal names are warned of rather than blocked. Link-local
    /// addresses and metadata endpoints stay blocked.
    pub fn dev() -> Self {
        Self { development: true, ..Self::default() }
    }

    /// The same profile, which also knows the registrable domain of `host`: what resembles it is
    /// found, and it is itself never taken for a lookalike. `host` is a name in ASCII or Unicode.
    pub fn with_known_domain(mut self, host: &str) -> Result<Self, ProfileError> {
        let Host::Domain(name) = parse(host)? else {
            return Err(ProfileError::NotRegistrable);
        };
        let parts = super::registrable::parts(&name);
        let domain = parts.registrable.and_then(|range| name.get(range)).ok_or(ProfileError::NotRegistrable)?;
        let suffix = name.get(parts.suffix).ok_or(ProfileError::NotRegistrable)?;
        self.known.add(domain, suffix);
        Ok(self)
    }

    /// The same profile, where `host` may be an internal name or a private address
    /// (`internal_name` and `private_ip` then inform only). That is all it lifts, and for no other
    /// host: neither for names under it, nor for the addresses that it leads to. It holds for every
    /// port, so `host` has none. Names compare by their ASCII form, without a dot at the end;
    /// addresses by their canonical form.
    pub fn with_trusted_host(mut self, host: &str) -> Result<Self, ProfileError> {
        let host = parse(host)?.to_string();
        self.trusted.insert(without_root(&host).to_owned());
        Ok(self)
    }

    pub(super) fn known(&self) -> &KnownDomains {
        &self.known
    }

    /// Whether `host`, as it is serialised, is a trusted one.
    pub(super) fn trusts(&self, host: &str) -> bool {
        !self.trusted.is_empty() && self.trusted.contains(without_root(host))
    }

    pub(super) fn is_development(&self) -> bool {
        self.development
    }

    /// How bad a finding is under this profile, about a host that it trusts or not.
    pub(super) fn verdict(&self, reason: &Reason, trusted: bool) -> Verdict {
        match reason {
            Reason::InternalName | Reason::PrivateIp if trusted => Verdict::Ok,
            Reason::Loopback | Reason::InsecureSchemeLoopback if self.development => Verdict::Ok,
            Reason::InsecureScheme
            | Reason::PrivateIp
            | Reason::UniqueLocal
            | Reason::SharedAddressSpace
            | Reason::InternalName
                if self.development =>
            {
                Verdict::Warn
            }
            _ => reason.verdict(),
        }
    }
}

fn without_root(host: &str) -> &str {
    host.strip_suffix('.').unwrap_or(host)
}

fn parse(host: &str) -> Result<Host, ProfileError> {
    if let Ok(address) = host.parse::<Ipv6Addr>() {
        return Ok(Host::Ipv6(address));
    }
    if host.contains('%') {
        return Err(ProfileError::NotAHost);
    }
    Host::parse(host).map_err(|_| ProfileError::NotAHost)
}
