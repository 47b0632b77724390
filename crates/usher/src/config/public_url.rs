//! The address by which browsers and clients know the service.

use std::net::IpAddr;

use url::{Host, Url};

use super::identity::Mode;
use super::reader::{Node, Reported};

/// The origin of the service: scheme, host and port, nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublicUrl {
    origin: String,
    scheme_length: usize,
    port: u16,
    loopback: Option<IpAddr>,
}

/// Why a text is no public URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PublicUrlError {
    /// Not a URL, or neither http nor https.
    #[error("is no http or https URL")]
    NotHttp,
    /// It names a user, a path, a query or a fragment.
    #[error("has more than scheme, host and port")]
    NotAnOrigin,
}

impl PublicUrl {
    /// Reads an origin. Whether it may be used in an identity mode is decided by the configuration.
    pub fn parse(text: &str) -> Result<Self, PublicUrlError> {
        let url = Url::parse(text).map_err(|_| PublicUrlError::NotHttp)?;
        let (Some(host), Some(port)) = (url.host(), url.port_or_known_default()) else {
            return Err(PublicUrlError::NotHttp);
        };
        if !matches!(url.scheme(), "http" | "https") {
            return Err(PublicUrlError::NotHttp);
        }
        let bare = url.username().is_empty()
            && url.password().is_none()
            && url.path() == "/"
            && url.query().is_none()
            && url.fragment().is_none();
        if !bare {
            return Err(PublicUrlError::NotAnOrigin);
        }
        let address: Option<IpAddr> = match host {
            Host::Domain(_) => None,
            Host::Ipv4(address) => Some(address.into()),
            Host::Ipv6(address) => Some(address.into()),
        };
        Ok(Self {
            origin: url.origin().ascii_serialization(),
            scheme_length: url.scheme().len(),
            port,
            loopback: address.filter(IpAddr::is_loopback),
        })
    }

    /// `http://127.0.0.1:8420`, without a slash at the end; a default port is left out, as in an `Origin` header.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// `127.0.0.1:8420`, as in a `Host` header (R-SEC-08 compares it exactly).
    pub fn authority(&self) -> &str {
        &self.origin[self.scheme_length + "://".len()..]
    }

    /// Whether the scheme is https.
    pub fn is_https(&self) -> bool {
        self.scheme_length == "https".len()
    }

    /// The absolute URL of a path of ours, which starts with a slash.
    pub fn join(&self, path: &str) -> String {
        let slash = if path.starts_with('/') { "" } else { "/" };
        format!("{}{slash}{path}", self.origin)
    }

    /// The port, explicit or the scheme's own.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The loopback address that the host is. A name is none: see [`read`].
    pub(super) fn loopback(&self) -> Option<IpAddr> {
        self.loopback
    }

    /// Whether the host is `localhost`, or a name below it.
    fn is_localhost(&self) -> bool {
        let host = self.authority().split(':').next().unwrap_or_default();
        host == "localhost" || host.ends_with(".localhost")
    }
}

/// Reads `public_url`: https, or http on loopback (R-URL-02); the latter alone in identity mode local (R-SEC-08). `None` if
/// it is not given.
///
/// `localhost` stands for two addresses, `127.0.0.1` and `::1`, and we listen on one of them. Another user of the machine can
/// listen on the other, and would get the keys and the cookies of each browser that tries it first.
pub(super) fn read(node: Option<Node<'_>>, mode: Mode) -> Result<Option<(PublicUrl, Node<'_>)>, Reported> {
    const EXAMPLE: &str = "\"http://127.0.0.1:8420\"";
    let Some(node) = node else { return Ok(None) };
    let text = node.string(EXAMPLE).ok_or(Reported)?;
    let fault = |message: &str, fix: &str| {
        node.fault(message, fix);
        Err(Reported)
    };
    let url = match PublicUrl::parse(text) {
        Ok(url) => url,
        Err(error) => return fault(&error.to_string(), &format!("write an origin, for example {EXAMPLE}")),
    };
    let public = mode == Mode::Oidc && url.is_https();
    if url.is_localhost() && !public {
        return fault(
            "localhost is two addresses, 127.0.0.1 and [::1]; Usher listens on one of them, and another user of this \
             machine could take the other and with it what people type",
            &format!("use {EXAMPLE}"),
        );
    }
    if mode == Mode::Local && (url.loopback().is_none() || url.is_https()) {
        return fault(
            "identity mode local serves one person on this machine, over http on loopback; \
             https and public hosts need mode oidc",
            &format!("use {EXAMPLE}, or mode = \"oidc\" in [identity]"),
        );
    }
    if url.loopback().is_none() && !public {
        return fault("http would carry cookies and keys in the open", "use https; http is for loopback alone");
    }
    if url.port() == 0 {
        return fault("port 0 is no address to be reached at", &format!("name a port: {EXAMPLE}"));
    }
    Ok(Some((url, node)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_normalised_as_browsers_write_it() {
        let url = PublicUrl::parse("http://LOCALHOST:8420/").unwrap();
        assert_eq!(url.origin(), "http://localhost:8420");
        assert_eq!(url.authority(), "localhost:8420");
        assert_eq!(url.join("/connect/x"), "http://localhost:8420/connect/x");
        assert_eq!(url.join("login"), "http://localhost:8420/login");
        assert!(!url.is_https());

        let url = PublicUrl::parse("https://usher.example.com:443").unwrap();
        assert_eq!((url.origin(), url.port()), ("https://usher.example.com", 443));
        assert_eq!(url.authority(), "usher.example.com");
        assert!(url.is_https());

        let url = PublicUrl::parse("http://[::1]:9000").unwrap();
        assert_eq!(url.authority(), "[::1]:9000");
        assert_eq!(PublicUrl::parse("http://127.0.0.1").unwrap().port(), 80);
    }

    /// R-URL-02, R-SEC-08: only loopback addresses count as loopback; a name may lead to several places.
    #[test]
    fn loopback_is_an_address_of_this_machine() {
        let loopback = |text| PublicUrl::parse(text).unwrap().loopback().is_some();
        assert!(loopback("http://127.0.0.1:1"));
        assert!(loopback("http://127.9.9.9:1"));
        assert!(loopback("http://[::1]:1"));
        assert!(!loopback("http://localhost:1"));
        assert!(!loopback("http://localhost.example.com:1"));
        assert!(!loopback("http://127.0.0.1.example.com:1"));
        assert!(!loopback("http://0.0.0.0:1"));
        assert!(!loopback("http://192.168.0.1:1"));
    }

    #[test]
    fn what_is_more_or_less_than_an_origin_is_refused() {
        use PublicUrlError::{NotAnOrigin, NotHttp};
        for (text, error) in [
            ("", NotHttp),
            ("127.0.0.1:8420", NotHttp),
            ("ftp://127.0.0.1", NotHttp),
            ("http://", NotHttp),
            ("http://127.0.0.1/usher", NotAnOrigin),
            ("http://127.0.0.1/?a", NotAnOrigin),
            ("http://127.0.0.1/#a", NotAnOrigin),
            ("http://me@127.0.0.1", NotAnOrigin),
            ("http://:pw@127.0.0.1", NotAnOrigin),
        ] {
            assert_eq!(PublicUrl::parse(text), Err(error), "{text}");
        }
    }
}
