//! `command` of an `[[upstream]]`: an MCP server that is started here, and spoken to over its standard streams.

use std::path::PathBuf;
use std::time::Duration;

use secrecy::SecretString;

use super::duration;
use super::identity::Mode;
use super::reader::{Node, Table};

/// A server that is a program of this machine.
#[derive(Clone, Debug)]
pub struct Command {
    /// The wrapper, where there is one, then the program and its arguments. Never empty; no shell reads it.
    pub argv: Vec<String>,
    /// Everything that stands in its environment, credentials of people aside.
    pub env: Vec<(String, SecretString)>,
    /// Where it is started; by default the folder of the configuration file.
    pub directory: PathBuf,
    /// After how long without a message it is stopped; 1 s to 24 h, 10 min by default.
    pub idle: Duration,
    /// Whether the operator says that it may run with the rights of the service, without a wrapper.
    pub trusted: bool,
}

/// Variables that pass from the service's own environment unless `pass` names others: without a path nothing is found.
const PASSED: [&str; 1] = ["PATH"];

const IDLE: Duration = Duration::from_mins(10);
const EXAMPLE: &str = "command = [\"npx\", \"-y\", \"weather-mcp\"]";

/// The keys that only a command has.
const KEYS: [&str; 6] = ["wrapper", "trusted", "env", "pass", "directory", "idle"];

impl Command {
    /// The command as text: arguments with anything but plain characters stand in single quotes, so that two commands
    /// never look alike.
    pub fn line(&self) -> String {
        let words: Vec<String> = self.argv.iter().map(|word| quote(word)).collect();
        words.join(" ")
    }
}

fn quote(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@,+%".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

/// Reads a command and what belongs to it.
pub(super) fn read(node: &Node<'_>, table: &Table<'_>, mode: Mode) -> Option<Command> {
    let argv = words(node, EXAMPLE);
    let wrapper = table.take("wrapper");
    let wrapper = wrapper.map(|node| words(&node, "wrapper = [\"bwrap\", \"--unshare-all\", \"--\"]"));
    let trusted = table.take("trusted").map(|node| node.boolean());
    if mode == Mode::Oidc && wrapper.is_none() && trusted.is_none_or(|trusted| trusted == Some(false)) {
        node.fault(
            "without a wrapper the program has the rights of the service: it could read the keys of everybody's credentials",
            "add wrapper = [\"bwrap\", …] (a sandbox, or another user of this machine), or trusted = true if you answer for it",
        );
    }
    let own = table.take("env").map_or_else(Vec::new, |node| environment(&node));
    let passed = table.take("pass").map(|node| names(&node));
    let directory = table.take("directory").map(|node| directory(&node));
    let idle = table.take("idle").map(|node| duration::read(&node, 1..=86_400));
    let reader = node.reader();
    let passed = passed.unwrap_or_else(|| PASSED.map(str::to_owned).into());
    let mut env: Vec<(String, SecretString)> = passed
        .into_iter()
        .filter(|name| own.iter().all(|(other, _)| other != name))
        .filter_map(|name| reader.env(&name).map(|value| (name, SecretString::from(value))))
        .collect();
    env.extend(own);
    let mut words = wrapper.unwrap_or_else(|| Some(Vec::new()))?;
    words.extend(argv?);
    Some(Command {
        argv: words,
        env,
        directory: directory.unwrap_or_else(|| Some(reader.directory().to_owned()))?,
        idle: idle.flatten().unwrap_or(IDLE),
        trusted: trusted.flatten().unwrap_or(false),
    })
}

/// Leaves a fault for each key of a command at an upstream that has a URL.
pub(super) fn refuse(table: &Table<'_>) {
    for key in KEYS {
        if let Some(node) = table.take(key) {
            node.fault(format!("{key} is for an upstream that is a command"), format!("remove it, or write {EXAMPLE}"));
        }
    }
}

/// The words of a command: none is empty in front, and none can hide another.
fn words(node: &Node<'_>, example: &str) -> Option<Vec<String>> {
    let nodes = node.array(example)?;
    let words: Vec<&str> = nodes.iter().filter_map(|node| node.string("\"npx\"")).collect();
    if words.len() < nodes.len() {
        return None;
    }
    let fault = match words.first() {
        None => "names no program",
        Some(program) if program.trim().is_empty() => "the program's name is empty",
        Some(_) if words.iter().any(|word| word.contains('\0')) => "contains a NUL character",
        Some(_) => return Some(words.into_iter().map(str::to_owned).collect()),
    };
    node.fault(fault, format!("for example {example}"));
    None
}

fn environment(node: &Node<'_>) -> Vec<(String, SecretString)> {
    let Some(table) = node.table("env = { LOG_LEVEL = \"info\" }") else { return Vec::new() };
    let entry = |(name, node): (&str, Node<'_>)| {
        let value = node.string("\"info\"")?;
        (is_variable(name, &node) & is_value(value, &node)).then(|| (name.to_owned(), SecretString::from(value)))
    };
    table.entries().into_iter().filter_map(entry).collect()
}

fn names(node: &Node<'_>) -> Vec<String> {
    let name = |node: &Node<'_>| {
        let name = node.string("\"HOME\"")?;
        is_variable(name, node).then(|| name.to_owned())
    };
    node.array("[\"PATH\", \"HOME\"]").unwrap_or_default().iter().filter_map(name).collect()
}

fn directory(node: &Node<'_>) -> Option<PathBuf> {
    let text = node.string("\"/srv/weather\"")?;
    if text.is_empty() || text.contains('\0') {
        node.fault("names no folder", "for example \"/srv/weather\"; a relative one starts at the folder of this file");
        return None;
    }
    Some(node.reader().directory().join(text))
}

/// Whether this can be the name of a variable; leaves a fault where not.
pub(super) fn is_variable(name: &str, node: &Node<'_>) -> bool {
    let mut bytes = name.bytes();
    let starts = bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_');
    if starts && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return true;
    }
    node.fault(format!("{name:?} is no name of a variable"), "use letters, digits and underscores: WEATHER_KEY");
    false
}

fn is_value(value: &str, node: &Node<'_>) -> bool {
    if value.contains('\0') {
        node.fault("contains a NUL character", "remove it: no variable can hold one");
        return false;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-GW-04: what a person reads on the page names one command and no other.
    #[test]
    fn two_commands_never_look_alike() {
        for (word, text) in [
            ("npx", "npx"),
            ("@scope/weather@1.2", "@scope/weather@1.2"),
            ("a b", "'a b'"),
            ("", "''"),
            ("it's", "'it'\\''s'"),
            ("$HOME", "'$HOME'"),
        ] {
            assert_eq!(quote(word), text);
        }
    }
}
