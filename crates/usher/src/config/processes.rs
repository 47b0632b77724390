//! `[processes]`: how many servers of the kind `command` may run.

use super::reader::Node;

/// How many programs may run at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processes {
    /// For one user; 1 to 1000, 16 by default.
    pub per_user: u32,
    /// In all, on this replica; 1 to 10000, 64 by default.
    pub total: u32,
}

impl Default for Processes {
    fn default() -> Self {
        Self { per_user: 16, total: 64 }
    }
}

/// Reads the section.
pub(super) fn read(node: Option<Node<'_>>) -> Option<Processes> {
    let mut read = Processes::default();
    let Some(section) = node else { return Some(read) };
    let table = section.table("[processes]")?;
    for (key, most, limit) in [("per_user", 1000, &mut read.per_user), ("total", 10_000, &mut read.total)] {
        *limit = table.take(key).and_then(|node| node.count(1..=most)).unwrap_or(*limit);
    }
    table.close();
    Some(read)
}
