//! Every HTTP request that Usher itself sends: to addresses that the operator named, and to those that somebody else chose,
//! which are looked at first.
//!
//! No redirect is followed (a credential would travel with it), no proxy of the environment is used, and every
//! connection attempt has a deadline (R-SEC-04, R-SEC-05). Bodies are streamed: the caller bounds them.

mod address;
mod answer;
mod endpoint;
mod guard;

use std::{sync::Arc, time::Duration};

use url::Url;

pub use self::answer::NoAnswer;
use self::guard::Guard;
pub use self::{
    address::Network,
    guard::{Allowed, Blocked},
};
pub(crate) use self::{
    answer::{Answer, answer},
    endpoint::endpoint,
};

/// How long a TCP and TLS handshake may take.
const CONNECT_DEADLINE: Duration = Duration::from_secs(10);

/// The outbound HTTP clients. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Egress {
    operator: reqwest::Client,
    guarded: reqwest::Client,
    allowed: Arc<Allowed>,
}

impl Egress {
    /// Builds the clients; nothing is allowed beside the public internet. The process must have installed a rustls crypto
    /// provider before.
    pub fn new() -> Result<Self, reqwest::Error> {
        Self::allowing(Allowed::default())
    }

    /// The same with what the operator allows.
    pub fn allowing(allowed: Allowed) -> Result<Self, reqwest::Error> {
        let allowed = Arc::new(allowed);
        let guard = Guard::new(Arc::clone(&allowed), guard::system());
        Ok(Self { operator: client().build()?, guarded: client().dns_resolver(Arc::new(guard)).build()?, allowed })
    }

    /// The client for URLs that stand in the operator's own configuration, which may name private addresses.
    pub fn operator(&self) -> &reqwest::Client {
        &self.operator
    }

    /// The client for a URL that somebody else chose, if it may be requested at all (R-SEC-05).
    pub fn guarded(&self, url: &Url) -> Result<&reqwest::Client, Blocked> {
        self.allowed.check(url)?;
        Ok(&self.guarded)
    }
}

fn client() -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_DEADLINE)
        .pool_idle_timeout(Duration::from_secs(50))
        .tcp_nodelay(true)
        .user_agent(concat!("usher/", env!("CARGO_PKG_VERSION")))
}

/// The host and port of a URL, for the operator: no path or query, in which a key may stand.
pub(crate) fn place(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port_or_known_default().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Whether nothing listens there. Every other error says nothing of whether something does.
pub(crate) fn is_refused(error: &reqwest::Error) -> bool {
    let bottom = bottom(error).downcast_ref::<std::io::Error>();
    bottom.is_some_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused)
}

fn bottom(error: &reqwest::Error) -> &(dyn std::error::Error + 'static) {
    let mut cause: &(dyn std::error::Error + 'static) = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause
}

/// What is at the bottom of an error: what the operating system said of the name, the connection or TLS, most often.
pub(crate) fn reason(error: &reqwest::Error) -> String {
    let cause = bottom(error);
    match cause.downcast_ref::<std::io::Error>() {
        Some(_) if is_refused(error) => "connection refused".to_owned(),
        _ if cause.is::<reqwest::Error>() => "the HTTP request failed".to_owned(),
        _ => cause.to_string(),
    }
}
