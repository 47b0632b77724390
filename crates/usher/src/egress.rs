//! Every HTTP request that Usher itself sends: to upstreams and to check endpoints, all of them named by the operator.
//!
//! No redirect is followed (a credential would travel with it), no proxy of the environment is used, and every
//! connection attempt has a deadline (R-SEC-04, R-SEC-05). Bodies are streamed: the caller bounds them.

use std::time::Duration;

use url::Url;

/// How long a TCP and TLS handshake may take.
const CONNECT_DEADLINE: Duration = Duration::from_secs(10);

/// The outbound HTTP client. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Egress {
    client: reqwest::Client,
}

impl Egress {
    /// Builds the client. The process must have installed a rustls crypto provider before.
    pub fn new() -> Result<Self, reqwest::Error> {
        let client = reqwest::Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(CONNECT_DEADLINE)
            .pool_idle_timeout(Duration::from_secs(50))
            .tcp_nodelay(true)
            .user_agent(concat!("usher/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(Self { client })
    }

    /// The client for URLs that stand in the operator's own configuration, which may name private addresses.
    pub fn operator(&self) -> &reqwest::Client {
        &self.client
    }
}

/// The host and port of a URL, for the operator: no path or query, in which a key may stand.
pub(crate) fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port_or_known_default().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// What is at the bottom of an error: what the operating system said of the name, the connection or TLS, most often.
pub(crate) fn reason(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    match cause.downcast_ref::<std::io::Error>() {
        Some(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        _ if cause.is::<reqwest::Error>() => "the HTTP request failed".to_owned(),
        _ => cause.to_string(),
    }
}
