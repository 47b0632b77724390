use reqwest::redirect::Policy;

/// An HTTP client that follows no redirect, keeps no cookie and asks no proxy.
///
/// It has no time-out of its own: the callers put a deadline on each step, so that a
/// stream may stay open for as long as the test wants.
pub fn agent() -> reqwest::Client {
    builder().build().expect("an HTTP client without options that can fail")
}

pub(crate) fn builder() -> reqwest::ClientBuilder {
    // A second installation is refused; whoever was first chose the same provider.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    reqwest::Client::builder()
        .no_proxy()
        .redirect(Policy::none())
        // A kept connection that a test has cut would fail the next request by chance.
        .pool_max_idle_per_host(0)
}
