//! Files that the configuration names, each of which has one purpose.

use std::path::{Path, PathBuf};

use super::reader::{Node, Reader, Reported, Table};

/// A file, and the key that names it.
pub(super) struct NamedFile<'r> {
    pub(super) path: PathBuf,
    key: &'static str,
    node: Option<Node<'r>>,
}

impl<'r> NamedFile<'r> {
    /// A file that `key` stands for; `node` is its value if it was given.
    pub(super) fn new(key: &'static str, path: PathBuf, node: Option<Node<'r>>) -> Self {
        Self { path, key, node }
    }
}

/// Reads the path of a file, relative to the folder of the configuration; `None` if it is not given.
pub(super) fn read<'r>(table: &Table<'r>, key: &'static str) -> Result<Option<(PathBuf, Node<'r>)>, Reported> {
    let Some(node) = table.take(key) else {
        return Ok(None);
    };
    let text = node.string("\"usher.keys\"").ok_or(Reported)?;
    if text.is_empty() || text.ends_with('/') || text.contains('\0') {
        node.fault("names no file", "for example \"usher.keys\"");
        return Err(Reported);
    }
    Ok(Some((node.reader().directory().join(text), node)))
}

/// Leaves a fault where one file serves two purposes: some are overwritten at each start.
pub(super) fn check_distinct(files: &[NamedFile<'_>], reader: &Reader<'_>) {
    for (index, file) in files.iter().enumerate() {
        let earlier = files[..index].iter().find(|earlier| is_same(&earlier.path, &file.path));
        if let Some(earlier) = earlier
            && let Some((node, other)) = at(file, earlier)
        {
            node.fault(format!("is the file of {other} too"), "give each its own file");
        }
        if is_same(&file.path, &reader.path())
            && let Some(node) = &file.node
        {
            node.fault("is this very file", "give it its own file");
        }
    }
}

/// Whether two paths lead to one file: their folders may be written in several ways, with `..` or over a link.
fn is_same(one: &Path, other: &Path) -> bool {
    let folder = |path: &Path| path.parent().and_then(|folder| folder.canonicalize().ok());
    one == other || (one.file_name() == other.file_name() && folder(one).is_some_and(|one| folder(other) == Some(one)))
}

/// Where to leave the fault: at the key that was given. Two defaults are never the same file.
fn at<'f, 'r>(file: &'f NamedFile<'r>, earlier: &'f NamedFile<'r>) -> Option<(&'f Node<'r>, &'static str)> {
    let here = file.node.as_ref().map(|node| (node, earlier.key));
    here.or_else(|| earlier.node.as_ref().map(|node| (node, file.key)))
}

/// The folder of a file, else this one.
pub(super) fn folder_or<'p>(file: Option<&'p NamedFile<'_>>, default: &'p Path) -> &'p Path {
    file.and_then(|file| file.path.parent()).unwrap_or(default)
}
