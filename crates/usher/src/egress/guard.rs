//! Requests to URLs that somebody else chose: to the public internet, and to what the operator allowed (R-SEC-05).
//!
//! The addresses that a name leads to are looked at where the connection is made, so that a name which leads elsewhere a
//! moment later leads nowhere (DNS rebinding).

use std::{net::SocketAddr, sync::Arc};

use futures_util::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use super::address::{Network, is_public};

/// What the operator allows beside the public internet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Addresses. Plain http is allowed to these, too.
    pub networks: Vec<Network>,
    /// Host names, in lower case, wherever they lead.
    pub hosts: Vec<String>,
}

/// Why a URL is not requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Blocked {
    /// Neither https, nor http to an allowed host.
    #[error("it is not https")]
    Scheme,
    /// It names a user, whose password would be sent along.
    #[error("it names a user")]
    User,
    /// Its address is not on the public internet, and not allowed.
    #[error("its address is not public; an operator can allow it in [egress]")]
    Address,
}

impl Allowed {
    /// Whether a URL may be requested, as far as its text tells. What its name leads to is looked at when it is.
    pub fn check(&self, url: &Url) -> Result<(), Blocked> {
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Blocked::User);
        }
        let (open, allowed) = match url.host() {
            Some(Host::Ipv4(address)) => self.of(address.into()),
            Some(Host::Ipv6(address)) => self.of(address.into()),
            Some(Host::Domain(name)) => (true, self.names(name)),
            None => (false, false),
        };
        match url.scheme() {
            "https" if open || allowed => Ok(()),
            "http" if allowed => Ok(()),
            "https" => Err(Blocked::Address),
            _ => Err(Blocked::Scheme),
        }
    }

    /// Whether an address is open to all, and whether the operator allowed it.
    fn of(&self, address: std::net::IpAddr) -> (bool, bool) {
        // One that carries an IPv4 address is allowed with that one, which is where it leads.
        let plain = match address {
            std::net::IpAddr::V6(inner) => inner.to_ipv4_mapped().map_or(address, Into::into),
            std::net::IpAddr::V4(_) => address,
        };
        (is_public(address), self.networks.iter().any(|network| network.contains(plain)))
    }

    fn names(&self, name: &str) -> bool {
        self.hosts.iter().any(|host| host == name.trim_end_matches('.'))
    }

    fn allows(&self, name: &str, address: SocketAddr) -> bool {
        let (open, allowed) = self.of(address.ip());
        open || allowed || self.names(name)
    }
}

/// Looks a name up. The system's own way, but in tests.
pub(super) type Lookup = Arc<dyn Fn(String) -> BoxFuture<'static, std::io::Result<Vec<SocketAddr>>> + Send + Sync>;

/// Resolves names to addresses that may be connected to.
#[derive(Clone)]
pub(super) struct Guard {
    allowed: Arc<Allowed>,
    lookup: Lookup,
}

impl Guard {
    pub(super) fn new(allowed: Arc<Allowed>, lookup: Lookup) -> Self {
        Self { allowed, lookup }
    }
}

/// The look-up of the system.
pub(super) fn system() -> Lookup {
    Arc::new(|name| Box::pin(async move { Ok(tokio::net::lookup_host((name, 0)).await?.collect()) }))
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let Self { allowed, lookup } = self.clone();
        Box::pin(async move {
            let name = name.as_str().to_ascii_lowercase();
            let found = lookup(name.clone()).await?;
            let open: Vec<SocketAddr> = found.into_iter().filter(|address| allowed.allows(&name, *address)).collect();
            if open.is_empty() {
                tracing::warn!(name, "a name leads to no address that may be connected to");
                return Err(Blocked::Address.into());
            }
            Ok(Box::new(open.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed() -> Allowed {
        Allowed { networks: vec![Network::parse("10.1.0.0/16").unwrap()], hosts: vec!["id.internal".to_owned()] }
    }

    /// R-SEC-05
    #[test]
    fn urls_of_others_lead_to_the_public_internet() {
        for (url, verdict) in [
            ("https://id.example/token", Ok(())),
            ("https://8.8.8.8/token", Ok(())),
            ("https://10.1.2.3/token", Ok(())),
            ("http://10.1.2.3/token", Ok(())),
            ("http://id.internal/token", Ok(())),
            ("http://ID.INTERNAL./token", Ok(())),
            ("http://id.example/token", Err(Blocked::Scheme)),
            ("http://8.8.8.8/token", Err(Blocked::Scheme)),
            ("ftp://id.example/token", Err(Blocked::Scheme)),
            ("file:///etc/passwd", Err(Blocked::Scheme)),
            ("data:text/plain,x", Err(Blocked::Scheme)),
            ("https://user@id.example/", Err(Blocked::User)),
            ("https://127.0.0.1/token", Err(Blocked::Address)),
            ("https://2130706433/token", Err(Blocked::Address)),
            ("https://0x7f.1/token", Err(Blocked::Address)),
            ("https://[::1]/token", Err(Blocked::Address)),
            ("https://[::ffff:10.2.0.1]/token", Err(Blocked::Address)),
            ("https://[::ffff:10.1.0.1]/token", Ok(())),
            ("https://169.254.169.254/latest/meta-data", Err(Blocked::Address)),
        ] {
            assert_eq!(allowed().check(&Url::parse(url).unwrap()), verdict, "{url}");
        }
    }

    async fn resolved(name: &str, to: &'static [&'static str]) -> Result<Vec<SocketAddr>, String> {
        let lookup: Lookup = Arc::new(move |_| {
            Box::pin(async move { Ok(to.iter().map(|text| SocketAddr::new(text.parse().unwrap(), 0)).collect()) })
        });
        let guard = Guard::new(Arc::new(allowed()), lookup);
        guard.resolve(name.parse().unwrap()).await.map(Iterator::collect).map_err(|error| error.to_string())
    }

    /// R-SEC-05: what a name leads to counts, at the moment of the connection.
    #[tokio::test]
    async fn a_name_leads_to_public_addresses_only() {
        let addresses = resolved("id.example", &["127.0.0.1", "8.8.8.8", "::1", "169.254.169.254"]).await.unwrap();
        assert_eq!(addresses, ["8.8.8.8:0".parse().unwrap()]);
        let error = resolved("id.example", &["127.0.0.1", "fd00::1"]).await.unwrap_err();
        assert_eq!(error, Blocked::Address.to_string());
        assert_eq!(resolved("id.example", &["10.1.0.9"]).await.unwrap().len(), 1);
        assert_eq!(resolved("ID.internal", &["127.0.0.1"]).await.unwrap().len(), 1);
    }
}
