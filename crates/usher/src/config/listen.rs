//! `[listen]`: the address the service listens on, and whether it and `public_url` are one place.

use std::net::SocketAddr;

use super::identity::Mode;
use super::public_url::PublicUrl;
use super::reader::{Node, Reported, Table};

const EXAMPLE: &str = "address = \"127.0.0.1:8420\"";
const DEFAULT_PORT: u16 = 8420;

/// A value that was given, with the place that a fault about it points to.
type Given<'r, T> = Result<Option<(T, Node<'r>)>, Reported>;

/// Reads `listen.address`, with a port; in identity mode local loopback (R-SEC-08).
pub(super) fn read(node: Option<Node<'_>>, mode: Mode) -> Given<'_, SocketAddr> {
    let Some(section) = node else { return Ok(None) };
    let table = section.table(EXAMPLE).ok_or(Reported)?;
    let node = table.take("address");
    table.close();
    let Some(node) = node else { return Ok(None) };
    let text = node.string("\"127.0.0.1:8420\"").ok_or(Reported)?;
    let fault = |message: String, fix: &str| {
        node.fault(message, fix);
        Err(Reported)
    };
    let Ok(address) = text.parse::<SocketAddr>() else {
        return fault(
            format!("{text:?} is no address and port"),
            "write an IP address and a port: \"127.0.0.1:8420\" or \"[::1]:8420\"",
        );
    };
    if mode == Mode::Local && !address.ip().is_loopback() {
        return fault(
            format!("{} is not loopback: in identity mode local nobody else may reach the service", address.ip()),
            "use 127.0.0.1 or [::1], or mode = \"oidc\"",
        );
    }
    if address.port() == 0 {
        return fault("port 0 would be another one at each start".to_owned(), "name a port: \"127.0.0.1:8420\"");
    }
    Ok(Some((address, node)))
}

/// Both addresses, each following the other where only one is given. A service that is not on loopback stands behind
/// another one, which people reach: both addresses are given, and nothing holds them together.
pub(super) fn agree(
    public_url: Given<'_, PublicUrl>,
    listen: Given<'_, SocketAddr>,
    mode: Mode,
    root: &Table<'_>,
) -> Option<(PublicUrl, SocketAddr)> {
    let (public_url, listen) = (public_url.ok()?, listen.ok()?);
    if mode == Mode::Oidc && public_url.as_ref().is_none_or(|(url, _)| url.is_https()) {
        return behind(public_url, listen, root);
    }
    match (public_url, listen) {
        (None, None) => follow(SocketAddr::from(([127, 0, 0, 1], DEFAULT_PORT))),
        (None, Some((listen, _))) => follow(listen),
        (Some((url, _)), None) => {
            let listen = SocketAddr::new(url.loopback()?, url.port());
            Some((url, listen))
        }
        (Some((url, _)), Some((listen, node))) => {
            if url.port() != listen.port() {
                node.fault(
                    format!("port {} is not the port of public_url, {}", listen.port(), url.port()),
                    "give both the same port, or leave one of them out",
                );
                return None;
            }
            if let Some(address) = url.loopback()
                && address != listen.ip()
            {
                node.fault(
                    format!("{} is not the address of public_url, {address}", listen.ip()),
                    "give both the same address, or leave one of them out",
                );
                return None;
            }
            Some((url, listen))
        }
    }
}

/// The addresses of a service that is reached over https, by what stands before it.
fn behind(
    public_url: Option<(PublicUrl, Node<'_>)>,
    listen: Option<(SocketAddr, Node<'_>)>,
    root: &Table<'_>,
) -> Option<(PublicUrl, SocketAddr)> {
    let Some((url, _)) = public_url else {
        let fix = "add public_url = \"https://usher.example.com\", where people and clients reach it";
        root.fault("public_url", "is missing", fix);
        return None;
    };
    let usual = SocketAddr::from(([127, 0, 0, 1], DEFAULT_PORT));
    Some((url, listen.map_or(usual, |(address, _)| address)))
}

fn follow(listen: SocketAddr) -> Option<(PublicUrl, SocketAddr)> {
    let url = PublicUrl::parse(&format!("http://{listen}")).ok()?;
    Some((url, listen))
}
