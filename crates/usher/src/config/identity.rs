//! `[identity]`: how users and clients prove who they are.

use std::path::{Path, PathBuf};

use super::file::{self, NamedFile};
use super::reader::{Node, Table};

/// The way users and clients prove who they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// One person on this machine; everything is loopback (R-SEC-08).
    Local {
        /// The bearer tokens of MCP clients. Default `usher.tokens` beside the database, else beside the configuration.
        tokens_file: PathBuf,
        /// How commands reach the running service. Default `usher.control` likewise; rewritten at each start.
        control_file: PathBuf,
    },
}

/// The files of identity mode local.
pub(super) struct Local<'r> {
    pub(super) tokens: NamedFile<'r>,
    pub(super) control: NamedFile<'r>,
}

/// Reads the section; files that it does not name stand in `folder`.
pub(super) fn read<'r>(node: Option<Node<'r>>, folder: &Path) -> Option<Local<'r>> {
    let Some(section) = node else {
        return Some(Local {
            tokens: NamedFile::new("identity.tokens_file", folder.join("usher.tokens"), None),
            control: NamedFile::new("identity.control_file", folder.join("usher.control"), None),
        });
    };
    let table = section.table("[identity]")?;
    if let Some(node) = table.take("mode") {
        match node.string("\"local\"") {
            Some("local") | None => {}
            Some("oidc") => {
                node.fault("mode oidc is not available in this version", "use mode = \"local\"");
                // The keys of that mode would only be faults that follow from this one.
                return None;
            }
            Some(other) => node.fault(format!("there is no mode {other:?}"), "use mode = \"local\""),
        }
    }
    let read = |table: &Table<'r>, key, path, default| {
        Some(match file::read(table, key).ok()? {
            Some((file, node)) => NamedFile::new(path, file, Some(node)),
            None => NamedFile::new(path, folder.join(default), None),
        })
    };
    let tokens = read(&table, "tokens_file", "identity.tokens_file", "usher.tokens");
    let control = read(&table, "control_file", "identity.control_file", "usher.control");
    table.close();
    Some(Local { tokens: tokens?, control: control? })
}
