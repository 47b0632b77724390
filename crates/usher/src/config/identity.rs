//! `[identity]`: how users and clients prove who they are.

use std::path::{Path, PathBuf};

use super::file::{self, NamedFile};
use super::oidc::{self, Oidc};
use super::reader::{Node, Table};

/// The way users and clients prove who they are.
#[derive(Clone, Debug)]
pub enum Identity {
    /// One person on this machine; everything is loopback (R-SEC-08).
    Local {
        /// The bearer tokens of MCP clients. Default `usher.tokens` beside the database, else beside the configuration.
        tokens_file: PathBuf,
    },
    /// Everybody whom an OpenID provider knows.
    Oidc(Box<Oidc>),
}

/// The mode of the section, as far as it is known before all of it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Local,
    Oidc,
}

/// What is read: a file that only one mode has is checked with all others.
pub(super) struct Section<'r> {
    pub(super) control: NamedFile<'r>,
    pub(super) kind: Kind<'r>,
}

/// What one mode has and the other has not.
pub(super) enum Kind<'r> {
    Local { tokens: NamedFile<'r> },
    Oidc(Box<Oidc>),
}

/// The keys of mode local alone.
const LOCAL: [&str; 1] = ["tokens_file"];

/// Which mode the section names. What is wrong with it is told by [`read`].
pub(super) fn mode(node: Option<&Node<'_>>) -> Mode {
    match node.and_then(|node| node.peek("mode")) {
        Some("oidc") => Mode::Oidc,
        _ => Mode::Local,
    }
}

/// Reads the section; files that it does not name stand in `folder`.
pub(super) fn read<'r>(node: Option<Node<'r>>, folder: &Path) -> Option<Section<'r>> {
    let Some(section) = node else {
        return Some(Section {
            control: NamedFile::new("identity.control_file", folder.join("usher.control"), None),
            kind: Kind::Local { tokens: NamedFile::new("identity.tokens_file", folder.join("usher.tokens"), None) },
        });
    };
    let mode = mode(Some(&section));
    let table = section.table("[identity]")?;
    if !table.take("mode").is_none_or(|node| is_mode(&node)) {
        // Faults of the keys of a mode that there is not would only follow from this one.
        return None;
    }
    let control = named(&table, "control_file", "identity.control_file", folder, "usher.control");
    let kind = match mode {
        Mode::Local => {
            oidc::refuse(&table);
            named(&table, "tokens_file", "identity.tokens_file", folder, "usher.tokens")
                .map(|tokens| Kind::Local { tokens })
        }
        Mode::Oidc => {
            refuse(&table, &LOCAL, "mode = \"local\"");
            oidc::read(&table).map(|oidc| Kind::Oidc(Box::new(oidc)))
        }
    };
    table.close();
    Some(Section { control: control?, kind: kind? })
}

/// Leaves a fault for each of the keys, which are of the other mode.
pub(super) fn refuse(table: &Table<'_>, keys: &[&'static str], of: &str) {
    for key in keys {
        if let Some(node) = table.take(key) {
            node.fault(format!("{key} is for {of}"), format!("remove it, or write {of}"));
        }
    }
}

fn is_mode(node: &Node<'_>) -> bool {
    match node.string("\"local\"") {
        Some("local" | "oidc") => true,
        Some(other) => {
            node.fault(format!("there is no mode {other:?}"), "use mode = \"local\" or mode = \"oidc\"");
            false
        }
        None => false,
    }
}

fn named<'r>(
    table: &Table<'r>,
    key: &'static str,
    path: &'static str,
    folder: &Path,
    default: &str,
) -> Option<NamedFile<'r>> {
    Some(match file::read(table, key).ok()? {
        Some((file, node)) => NamedFile::new(path, file, Some(node)),
        None => NamedFile::new(path, folder.join(default), None),
    })
}
