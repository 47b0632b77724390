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

/// The secret of a client at an OpenID provider.
pub(super) const CLIENT: Keys = Keys { value: "client_secret", file: "client_secret_file", env: "client_secret_env" };

/// A secret and the key that a fault about it points to.
pub(super) type Found<'r> = (SecretString, Node<'r>);

/// What became of the keys.
pub(super) enum Secret<'r> {
    /// None of them is there.
    Absent,
    /// It stands elsewhere and cannot be had, which does not matter now: [`Secrets::Spared`](super::reader::Secrets).
    /// Says why.
    Spared(String),
    /// Here it is.
    Found(Found<'r>),
}

/// Reads a secret.
pub(super) fn read<'r>(table: &Table<'r>, keys: &Keys) -> Result<Secret<'r>, Reported> {
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
        node.string("\"…\"").map(|text| Secret::Found((SecretString::from(text), node)))
    } else if let Some(node) = file {
        elsewhere(from_file(&node), node)
    } else if let Some(node) = env {
        elsewhere(from_env(&node), node)
    } else {
        return Ok(Secret::Absent);
    };
    found.ok_or(Reported)
}

/// Why a secret that stands elsewhere cannot be had: the message and the fix. `None` where a fault is left already.
type Unavailable = Option<(String, String)>;

fn elsewhere(secret: Result<SecretString, Unavailable>, node: Node<'_>) -> Option<Secret<'_>> {
    match secret {
        Ok(secret) => Some(Secret::Found((secret, node))),
        Err(Some((why, _))) if node.reader().spares_secrets() => Some(Secret::Spared(why)),
        Err(why) => {
            if let Some((message, fix)) = why {
                node.fault(message, fix);
            }
            None
        }
    }
}

fn from_file(node: &Node<'_>) -> Result<SecretString, Unavailable> {
    let name = node.string("\"secret.txt\"").ok_or(None)?;
    let path = node.reader().directory().join(name);
    let shown = path.display();
    match private_file::read(&path, Readers::Group) {
        // Editors end a file with a line break that is no part of the secret.
        Ok(text) => match text.trim_end_matches(['\r', '\n']) {
            "" => Err(Some((format!("{shown} is empty"), "write the secret into it".to_owned()))),
            secret => Ok(SecretString::from(secret)),
        },
        Err(error @ ReadError::Exposed { .. }) => Err(Some((format!("{shown} {error}"), format!("chmod 600 {shown}")))),
        Err(error) => Err(Some((
            format!("{shown} {error}"),
            "name a file with the secret as its only text; a relative path starts at the folder of this file"
                .to_owned(),
        ))),
    }
}

fn from_env(node: &Node<'_>) -> Result<SecretString, Unavailable> {
    let name = node.string("\"USHER_STORE_URL\"").ok_or(None)?;
    let value = node.reader().env(name).filter(|value| !value.is_empty());
    value.map(SecretString::from).ok_or_else(|| {
        Some((
            format!("the environment variable {name} is not set"),
            "set it for the service, or give the secret in a file".to_owned(),
        ))
    })
}
