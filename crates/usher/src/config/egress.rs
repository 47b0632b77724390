//! `[egress]`: where requests may go whose URL somebody else chose (R-SEC-05).

use super::reader::Node;
use crate::egress::{Allowed, Network};

/// Reads the section.
pub(super) fn read(node: Option<Node<'_>>) -> Option<Allowed> {
    let Some(section) = node else { return Some(Allowed::default()) };
    let table = section.table("[egress]")?;
    let allow = table.take("allow");
    table.close();
    allow.map_or_else(|| Some(Allowed::default()), |node| allowed(&node))
}

fn allowed(node: &Node<'_>) -> Option<Allowed> {
    const EXAMPLE: &str = "[\"10.1.0.0/16\", \"id.internal\"]";
    let mut allowed = Allowed::default();
    for node in node.array(EXAMPLE)? {
        let text = node.string("\"id.internal\"")?;
        if let Some(network) = Network::parse(text) {
            allowed.networks.push(network);
        } else if is_host(text) {
            allowed.hosts.push(text.to_ascii_lowercase());
        } else {
            node.fault(
                format!("{text:?} is no address, no range of addresses and no host name"),
                format!("for example {EXAMPLE}"),
            );
            return None;
        }
    }
    Some(allowed)
}

/// Whether a text is a host name of letters, digits and hyphens. Not what only looks like an address.
fn is_host(text: &str) -> bool {
    let is_label =
        |label: &str| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let last = text.rsplit('.').next().unwrap_or_default();
    text.len() <= 253 && text.split('.').all(is_label) && last.bytes().any(|byte| byte.is_ascii_alphabetic())
}
