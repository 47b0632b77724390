//! `[keys]`: the file with the master keys.

use super::file::{self, NamedFile};
use super::reader::{Node, Reader};

/// Reads the section; by default `usher.keys` beside the configuration file.
pub(super) fn read<'r>(node: Option<Node<'r>>, reader: &Reader<'_>) -> Option<NamedFile<'r>> {
    let default = || NamedFile::new("keys.file", reader.directory().join("usher.keys"), None);
    let Some(section) = node else {
        return Some(default());
    };
    let table = section.table("[keys]")?;
    let file = file::read(&table, "file");
    table.close();
    Some(match file.ok()? {
        Some((path, node)) => NamedFile::new("keys.file", path, Some(node)),
        None => default(),
    })
}
