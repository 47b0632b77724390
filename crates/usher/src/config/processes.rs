//! `[processes]`: how many servers of the kind `command` may run.

use super::reader::{Node, Table};

/// How many programs may run at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Processes {
    /// For one user; 1 to 1000, 16 by default.
    pub per_user: usize,
    /// In all, on this replica; 1 to 10000, 64 by default.
    pub total: usize,
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
    read.per_user = count(&table, "per_user", 1000, read.per_user);
    read.total = count(&table, "total", 10_000, read.total);
    table.close();
    Some(read)
}

fn count(table: &Table<'_>, key: &'static str, most: usize, default: usize) -> usize {
    let Some(node) = table.take(key) else { return default };
    match node.integer("16").map(usize::try_from) {
        Some(Ok(count)) if (1..=most).contains(&count) => count,
        Some(_) => {
            node.fault("is out of range", format!("choose between 1 and {most}"));
            default
        }
        None => default,
    }
}
