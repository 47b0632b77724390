//! Parameters that a request has beside those of the standard.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::config::duration;
use crate::config::reader::{Node, Table};

/// Names and values, in the order of the file.
pub type Parameters = Vec<(String, String)>;

/// What the flow itself says in a request. A file that said it too would break it, or open it.
const OWN: [&str; 13] = [
    "response_type",
    "client_id",
    "client_secret",
    "redirect_uri",
    "state",
    "code",
    "code_challenge",
    "code_challenge_method",
    "code_verifier",
    "grant_type",
    "refresh_token",
    "resource",
    "response_mode",
];

/// Reads a table of parameters.
pub(super) fn read(node: &Node<'_>, example: &str) -> Parameters {
    let mut parameters = Parameters::new();
    let Some(table) = node.table(example) else { return parameters };
    for (name, node) in table.entries() {
        if OWN.contains(&name) {
            node.fault(format!("the flow sets {name} itself"), "remove it; what differs there has a key of its own");
            continue;
        }
        if name == "scope" {
            node.fault("scopes are not written here", "scopes = [\"…\"] in [[provider]]");
            continue;
        }
        if let Some(text) = node.string("\"offline\"") {
            parameters.push((name.to_owned(), text.to_owned()));
        }
    }
    parameters
}

/// A word out of a list; the default where it is not there, or wrong.
pub(in crate::config) fn choice<T: Copy>(table: &Table<'_>, key: &'static str, words: &[(&str, T)], default: T) -> T {
    let Some(node) = table.take(key) else { return default };
    let all = || words.iter().map(|(word, _)| format!("{word:?}")).collect::<Vec<_>>().join(", ");
    let Some(text) = node.string(&format!("{:?}", words[0].0)) else { return default };
    let found = words.iter().find(|(word, _)| *word == text);
    if found.is_none() {
        node.fault(format!("there is no {key} {text:?}"), format!("one of {}", all()));
    }
    found.map_or(default, |(_, value)| *value)
}

/// A name of a parameter.
pub(super) fn name(table: &Table<'_>, key: &'static str, default: &str) -> String {
    let word = |node: Node<'_>| {
        let text = node.string(&format!("{default:?}"))?;
        if text.is_empty() || text.len() > 64 || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            node.fault("is no name of a parameter", format!("visible ASCII characters, for example {default:?}"));
            return None;
        }
        Some(text.to_owned())
    };
    table.take(key).and_then(word).unwrap_or_else(|| default.to_owned())
}

/// A duration that may be left out.
pub(super) fn duration(table: &Table<'_>, key: &'static str, seconds: RangeInclusive<u64>) -> Option<Duration> {
    table.take(key).and_then(|node| duration::read(&node, seconds))
}

/// A list of words.
pub(super) fn words(table: &Table<'_>, key: &'static str, example: &str) -> Vec<String> {
    let node = table.take(key);
    let nodes = node.and_then(|node| node.array(&format!("[{example}]"))).unwrap_or_default();
    nodes.iter().filter_map(|node| node.string(example)).map(str::to_owned).collect()
}
