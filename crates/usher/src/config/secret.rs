//! A secret of the operator: as a value, in a file, or in an environment variable.

use secrecy::SecretString;

use super::private_file::{self, ReadError, Readers};
use super::reader::{Node, Reported, Table};

/// The three keys that may hold a secret; `value`, `value_file`, `value_env`.
pub(super) struct Keys {
    pub(super) value: &'static str,
    pub(super) file: &'static str,
    pub(super) env: &'static str,
}

/// A secret and the key that a fault about it points to.
pub(super) type Found<'r> = (SecretString, Node<'r>);

/// Reads a secret; `None` if none of the keys is there.
pub(super) fn read<'r>(table: &Table<'r>, keys: &Keys) -> Result<Option<Found<'r>>, Reported> {
    // All three first: each is a known key, whichever is used.
    let value = table.take(keys.value);
    let file = table.take(keys.file);
    let env = table.take(keys.env);
    let given: Vec<&Node<'r>> = [&value, &file, &env].into_iter().flatten().collect();
    if let [_, second, ..] = given[..] {
        second.fault(
            "the same secret is given twice",
            format!("keep one of {}, {} and {}", keys.value, keys.file, keys.env),
        );
        return Err(Reported);
    }
    let found = if let Some(node) = value {
        node.string("\"…\"").map(|text| (SecretString::from(text), node))
    } else if let Some(node) = file {
        from_file(&node).map(|secret| (secret, node))
    } else if let Some(node) = env {
        from_env(&node).map(|secret| (secret, node))
    } else {
        return Ok(None);
    };
    found.map(Some).ok_or(Reported)
}

fn from_file(node: &Node<'_>) -> Option<SecretString> {
    let name = node.string("\"secret.txt\"")?;
    let path = node.reader().directory().join(name);
    let shown = path.display();
    match private_file::read(&path, Readers::Group) {
        // Editors end a file with a line break that is no part of the secret.
        Ok(text) => match text.trim_end_matches(['\r', '\n']) {
            "" => node.fault(format!("{shown} is empty"), "write the secret into it"),
            secret => return Some(SecretString::from(secret)),
        },
        Err(error @ ReadError::Exposed { .. }) => {
            node.fault(format!("{shown} {error}"), format!("chmod 600 {shown}"));
        }
        Err(error) => node.fault(
            format!("{shown} {error}"),
            "name a file with the secret as its only text; a relative path starts at the folder of this file",
        ),
    }
    None
}

fn from_env(node: &Node<'_>) -> Option<SecretString> {
    let name = node.string("\"USHER_STORE_URL\"")?;
    let value = node.reader().env(name).filter(|value| !value.is_empty());
    if value.is_none() {
        node.fault(
            format!("the environment variable {name} is not set"),
            "set it for the service, or give the secret in a file",
        );
    }
    value.map(SecretString::from)
}
