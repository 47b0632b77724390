//! URLs of servers that the operator names: upstreams and checks.

use std::net::{Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

use super::reader::Node;

/// Reads the URL of a server: https, or http where the traffic stays on this machine or a private network.
/// The operator wrote it, which is the permission that R-SEC-05 asks for.
pub(super) fn read(node: &Node<'_>) -> Option<Url> {
    check(node, node.string("\"https://weather-mcp.example/mcp\"")?)
}

/// The same of a text that `node` gives.
pub(super) fn check(node: &Node<'_>, text: &str) -> Option<Url> {
    let fault = |message: &str, fix: &str| {
        node.fault(message, fix);
        None
    };
    let url = match Url::parse(text) {
        Ok(url) => url,
        Err(error) => {
            return fault(
                &format!("is no URL: {error}"),
                "write it in full, for example \"https://weather-mcp.example/mcp\"",
            );
        }
    };
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return fault("is no http or https URL", "for example \"https://weather-mcp.example/mcp\"");
    }
    let has_user = !url.username().is_empty() || url.password().is_some();
    let faults = [
        (has_user, "contains a user name or password", "remove it; credentials are sent in headers"),
        (url.fragment().is_some(), "contains a fragment, which is never sent", "remove the # and what follows"),
        (url.port() == Some(0), "port 0 cannot be reached", "name the server's port"),
        (
            url.scheme() == "http" && !is_private(&url),
            "http would carry credentials in the open",
            "use https; http is for loopback and private addresses only",
        ),
    ];
    let mut right = true;
    for (_, message, fix) in faults.into_iter().filter(|(wrong, ..)| *wrong) {
        node.fault(message, fix);
        right = false;
    }
    right.then_some(url)
}

/// Whether the host of a URL is this machine or on a private network, by its text alone.
pub(crate) fn is_private(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => private_v4(address),
        Some(Host::Ipv6(address)) => private_v6(address),
        Some(Host::Domain(name)) => private_name(name.trim_end_matches('.')),
        None => false,
    }
}

/// Whether a host is loopback: an address of it, or the name `localhost` (R-URL-02).
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

fn private_v4(address: Ipv4Addr) -> bool {
    address.is_loopback() || address.is_private()
}

fn private_v6(address: Ipv6Addr) -> bool {
    match address.to_ipv4_mapped() {
        Some(address) => private_v4(address),
        None => address.is_loopback() || address.is_unique_local(),
    }
}

/// Names that exist on private networks only: one label (a container, a host of the local domain), `localhost`,
/// `.local` (RFC 6762), `.internal` (reserved by ICANN), `.home.arpa` (RFC 8375).
fn private_name(name: &str) -> bool {
    !name.contains('.')
        || [".localhost", ".local", ".internal", ".home.arpa"].iter().any(|suffix| name.ends_with(suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-SEC-05
    #[test]
    fn http_is_for_this_machine_and_private_networks() {
        for (url, private) in [
            ("http://127.0.0.1:3000/mcp", true),
            ("http://[::1]/mcp", true),
            ("http://[::ffff:10.0.0.1]/mcp", true),
            ("http://localhost/mcp", true),
            ("http://10.1.2.3/mcp", true),
            ("http://172.16.0.1/mcp", true),
            ("http://192.168.1.1/mcp", true),
            ("http://[fd00::1]/mcp", true),
            ("http://weather:8080/mcp", true),
            ("http://weather.internal/mcp", true),
            ("http://weather.local./mcp", true),
            ("http://172.32.0.1/mcp", false),
            ("http://169.254.169.254/mcp", false),
            ("http://[fe80::1]/mcp", false),
            ("http://0.0.0.0/mcp", false),
            ("http://8.8.8.8/mcp", false),
            ("http://[::ffff:8.8.8.8]/mcp", false),
            ("http://weather.example/mcp", false),
            ("http://localhost.example/mcp", false),
            ("http://evillocal.example.com/mcp", false),
        ] {
            assert_eq!(is_private(&Url::parse(url).unwrap()), private, "{url}");
        }
    }
}
