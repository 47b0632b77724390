//! Every HTTP request that Usher itself sends: to upstreams and to check endpoints, all of them named by the operator.
//!
//! No redirect is followed (a credential would travel with it), no proxy of the environment is used, and every
//! connection attempt has a deadline (R-SEC-04, R-SEC-05). Bodies are streamed: the caller bounds them.

use std::time::Duration;

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
