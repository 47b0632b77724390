//! `[store]`: where durable state is kept.

use std::path::{Path, PathBuf};
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use url::Url;

use super::duration;
use super::file::NamedFile;
use super::reader::{Node, Reader};
use super::secret::{self, Secret};

const KEYS: secret::Keys = secret::Keys { value: "url", file: "url_file", env: "url_env" };
const KEY: &str = "store.url";
const EXAMPLE: &str = "url = \"sqlite:usher.db\" or \"postgres://usher@db.example.com/usher\"";

/// The store's URL, and the database file where it is one.
pub(super) struct Store<'r> {
    pub(super) url: SecretString,
    pub(super) file: Option<NamedFile<'r>>,
    pub(super) wait: Duration,
}

/// How long a start waits for PostgreSQL by default.
pub(super) const WAIT: Duration = Duration::from_secs(10);

/// Reads the section; by default `usher.db` beside the configuration file.
pub(super) fn read<'r>(node: Option<Node<'r>>, reader: &Reader<'_>) -> Option<Store<'r>> {
    let Some(section) = node else {
        return default(reader);
    };
    let table = section.table("[store]")?;
    let found = secret::read(&table, &KEYS);
    let wait = table.take("wait").and_then(|node| duration::read(&node, 0..=600)).unwrap_or(WAIT);
    table.close();
    let (url, node) = match found.ok()? {
        Secret::Found(found) => found,
        Secret::Absent => return default(reader),
        // A URL that is given elsewhere is a server's, most likely; its password is what it is kept apart for.
        Secret::Spared(_) => return Some(Store { url: SecretString::default(), file: None, wait }),
    };
    // The URL may hold a password: no fault quotes it.
    let text = url.expose_secret();
    if let Some(path) = text.strip_prefix("sqlite:") {
        return match sqlite(path.strip_prefix("//").unwrap_or(path), reader.directory()) {
            Ok((url, path)) => Some(Store { url, file: Some(NamedFile::new(KEY, path, Some(node))), wait }),
            Err((message, fix)) => {
                node.fault(message, fix);
                None
            }
        };
    }
    let scheme = Url::parse(text).ok().map(|url| url.scheme().to_owned());
    if matches!(scheme.as_deref(), Some("postgres" | "postgresql")) {
        return Some(Store { url, file: None, wait });
    }
    node.fault(
        "is neither a sqlite: nor a postgres:// URL",
        format!("for example {EXAMPLE}; encode special characters of a password"),
    );
    None
}

fn default<'r>(reader: &Reader<'_>) -> Option<Store<'r>> {
    match sqlite("usher.db", reader.directory()) {
        Ok((url, path)) => Some(Store { url, file: Some(NamedFile::new(KEY, path, None)), wait: WAIT }),
        Err((message, fix)) => {
            reader.fault(KEY, 0, message, fix);
            None
        }
    }
}

/// The URL and the path of a database file.
fn sqlite(path: &str, directory: &Path) -> Result<(SecretString, PathBuf), (&'static str, &'static str)> {
    if path == ":memory:" {
        return Err(("an in-memory store forgets every credential at the end", "name a file: \"sqlite:usher.db\""));
    }
    if path.is_empty() || path.ends_with('/') {
        return Err(("names no file", "name a file: \"sqlite:usher.db\""));
    }
    if path.contains(['?', '#', '%']) {
        return Err((
            "a path with ?, # or % is not supported, and options of SQLite are set by the service",
            "use a plain path: \"sqlite:usher.db\"",
        ));
    }
    let file = directory.join(path);
    let Some(text) = file.to_str() else {
        return Err(("the folder's name is not UTF-8", "put the configuration into a folder whose name is"));
    };
    // The folder is not the operator's text: what has a meaning in a URL is encoded.
    let encoded = text.replace('%', "%25").replace('?', "%3F").replace('#', "%23");
    Ok((SecretString::from(format!("sqlite:{encoded}")), file))
}
