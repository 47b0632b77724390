//! Names of providers and upstreams, which stand in paths, rows and log lines.

use super::reader::{Node, Table};

/// Whether this is a name: 1 to 64 of `a-z`, `0-9` and `-`.
pub(crate) fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// The name of a table, which must be one and the first of its kind. A name that was used before is
/// returned all the same, so that the rest of the table is read.
pub(super) fn read<'r>(table: &Table<'r>, before: &[&str]) -> Option<&'r str> {
    let node = table.require("name", "name = \"weather\"")?;
    let name = string(&node)?;
    if before.contains(&name) {
        node.fault(format!("the name {name} is used twice"), "give each its own name");
    }
    Some(name)
}

/// A name anywhere.
pub(super) fn string<'r>(node: &Node<'r>) -> Option<&'r str> {
    let name = node.string("\"weather\"")?;
    if is_name(name) {
        return Some(name);
    }
    node.fault(format!("{name:?} is no name"), "use 1 to 64 lower-case letters, digits and hyphens");
    None
}
