//! `allow` of an `[[upstream]]`: whom it is for, in mode oidc.

use super::identity::Mode;
use super::oidc;
use super::reader::Node;

/// Whom a server is for: people whose access token has one of these values in this claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allow {
    /// The claim: a string, an array of strings, or an object, whose members' names count.
    pub claim: String,
    /// The values, compared as text; one of them is enough.
    pub any: Vec<String>,
}

const EXAMPLE: &str = "allow = { claim = \"groups\", any = [\"engineering\"] }";

/// Reads the table.
pub(super) fn read(node: &Node<'_>, mode: Mode) -> Option<Allow> {
    if mode == Mode::Local {
        node.fault("allow is for mode = \"oidc\": in mode local there is one person", "remove it");
    }
    let table = node.table(EXAMPLE)?;
    let claim = table.require("claim", "claim = \"groups\"").and_then(|node| oidc::word(&node, "claim = \"groups\""));
    let any = table.require("any", "any = [\"engineering\"]").and_then(|node| values(&node));
    table.close();
    Some(Allow { claim: claim?, any: any? })
}

fn values(node: &Node<'_>) -> Option<Vec<String>> {
    let nodes = node.array("[\"engineering\"]")?;
    if nodes.is_empty() {
        node.fault("an empty list lets nobody in", "name at least one value, or remove allow to let everybody in");
        return None;
    }
    nodes.iter().map(|node| node.string("\"engineering\"").map(str::to_owned)).collect()
}
