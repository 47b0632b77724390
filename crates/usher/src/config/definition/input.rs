//! `[[provider.input]]`: a part of a provider's URLs that its user, or the operator, chooses (kind 15).

use regex::Regex;

use super::member::is_name;
use super::parameters::choice;
use crate::config::reader::{Node, Table};
use crate::config::text::{self, Text};

/// A value that placeholders of the same name stand for in URLs.
#[derive(Clone, Debug)]
pub struct Input {
    /// What placeholders call it.
    pub name: String,
    /// What the page calls it.
    pub label: Text,
    /// A line of help.
    pub description: Option<Text>,
    /// What a right one looks like.
    pub example: Option<String>,
    /// What the page shows behind it, and what is taken off where it was typed as well: `.myshop.example`.
    pub suffix: Option<String>,
    /// What is used where nothing is given.
    pub default: Option<String>,
    /// Who chooses it.
    pub chosen_by: ChosenBy,
    /// What it has to be, as a whole.
    pattern: Regex,
}

/// Who chooses the value of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChosenBy {
    /// Each user; unless the operator does, in `[provider.values]`.
    User,
    /// The operator alone: our client is registered at this one.
    Operator,
}

/// Why a value is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// Nothing was given.
    #[error("nothing is given")]
    Empty,
    /// It is not what the provider has.
    #[error("it is not of the form that this provider has")]
    Form,
}

/// The most characters of a value: what a host name has, and a port.
const LONGEST: usize = 260;

/// Without a pattern of its own it is a name of a host, or a part of one, with a port possibly.
const ANY: &str = "[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(:[0-9]{1,5})?";

impl Input {
    /// The value of what somebody typed: without the scheme of a URL, a slash at the end, the suffix; in lower case, but where
    /// only capitals fit the pattern.
    pub fn accept(&self, typed: &str) -> Result<String, InputError> {
        let lower = self.accept_as_it_is(&typed.to_ascii_lowercase());
        lower.or_else(|error| self.accept_as_it_is(typed).map_err(|_| error))
    }

    fn accept_as_it_is(&self, typed: &str) -> Result<String, InputError> {
        let text = typed.trim();
        let text = text.strip_prefix("https://").unwrap_or(text);
        let text = text.strip_suffix('/').unwrap_or(text);
        let text = self.suffix.as_deref().and_then(|suffix| text.strip_suffix(suffix)).unwrap_or(text);
        let value = match (text, &self.default) {
            ("", Some(default)) => default.as_str(),
            ("", None) => return Err(InputError::Empty),
            _ => text,
        };
        if value.len() <= LONGEST && any().is_some_and(|any| any.is_match(value)) && self.pattern.is_match(value) {
            Ok(value.to_owned())
        } else {
            Err(InputError::Form)
        }
    }
}

fn any() -> Option<Regex> {
    whole(ANY)
}

/// A pattern holds of the whole, however it is written.
fn whole(pattern: &str) -> Option<Regex> {
    regex::RegexBuilder::new(&format!(r"\A(?:{pattern})\z")).size_limit(1 << 18).build().ok()
}

/// Reads them.
pub(super) fn read_all(node: &Node<'_>) -> Vec<Input> {
    let mut inputs: Vec<Input> = Vec::new();
    for table in node.tables("provider.input") {
        let Some(input) = read(&table, &inputs) else {
            table.close();
            continue;
        };
        table.close();
        inputs.push(input);
    }
    inputs
}

fn read(table: &Table<'_>, before: &[Input]) -> Option<Input> {
    let name = table.require("name", "name = \"host\"");
    let name =
        name.and_then(|node| node.string("\"host\"").filter(|name| is_name(name, &node)).map(|name| (name, node)));
    let label = table.take("label").and_then(|node| text::read(&node));
    let description = table.take("description").and_then(|node| text::read(&node));
    let string = |key, example: &str| table.take(key).and_then(|node| Some(node.string(example)?.to_owned()));
    let example = string("example", "\"acme\"");
    let suffix = string("suffix", "\".myshop.example\"").map(|text| text.to_ascii_lowercase());
    let default = table.take("default").and_then(|node| Some((node.string("\"login.example\"")?.to_owned(), node)));
    let chosen_by =
        choice(table, "chosen_by", &[("user", ChosenBy::User), ("operator", ChosenBy::Operator)], ChosenBy::User);
    let pattern = table.take("pattern").map(|node| pattern(&node));
    let (name, node) = name?;
    if before.iter().any(|input| input.name == name) {
        node.fault(format!("the input {name} stands twice"), "give each its own name");
    }
    let input = Input {
        name: name.to_owned(),
        label: label.unwrap_or_else(|| Text::from(name)),
        description,
        example,
        suffix,
        default: None,
        chosen_by,
        pattern: pattern.unwrap_or_else(any)?,
    };
    if let Some((text, node)) = &default
        && input.accept(text).is_err()
    {
        node.fault("does not fit the pattern", "a default is a value like any other");
    }
    Some(Input { default: default.map(|(text, _)| text), ..input })
}

fn pattern(node: &Node<'_>) -> Option<Regex> {
    let text = node.string("\"[a-z0-9-]+\"")?;
    let pattern = whole(text);
    if pattern.is_none() {
        node.fault("is no regular expression", "for example \"[a-z0-9-]+\", which holds of the whole value");
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(pattern: &str, suffix: Option<&str>, default: Option<&str>) -> Input {
        Input {
            name: "host".to_owned(),
            label: Text::from("Host"),
            description: None,
            example: None,
            suffix: suffix.map(str::to_owned),
            default: default.map(str::to_owned),
            chosen_by: ChosenBy::User,
            pattern: whole(pattern).unwrap(),
        }
    }

    /// Kind 15
    #[test]
    fn kind_15_what_people_type_is_read_with_good_will() {
        let shop = input("[a-z0-9-]+", Some(".shop.example"), None);
        for typed in ["acme", " Acme ", "acme.shop.example", "https://ACME.shop.example/"] {
            assert_eq!(shop.accept(typed).as_deref(), Ok("acme"), "{typed}");
        }
        assert_eq!(input("[A-Z]{3}", None, None).accept("ACM").as_deref(), Ok("ACM"));
        assert_eq!(shop.accept("  "), Err(InputError::Empty));
        assert_eq!(input(ANY, None, Some("login.example")).accept("").as_deref(), Ok("login.example"));
    }

    /// Kind 15, R-SEC-05: a pattern holds of the whole value, and none of them lets anything through but a name and a port.
    #[test]
    fn kind_15_nothing_else_than_a_name_is_taken() {
        for pattern in [ANY, ".*", "acme|other"] {
            for typed in [
                "acme/..",
                "acme?x",
                "acme#x",
                "user@acme",
                "acme\nx",
                "acme x",
                "[::1]",
                "a%2fb",
                "acme:",
                ":80",
                "-a",
                ".",
                "..",
                "acme\\x",
                "ácme",
                "http://acme",
            ] {
                assert_eq!(input(pattern, None, None).accept(typed), Err(InputError::Form), "{pattern} {typed}");
            }
            assert!(input(pattern, None, None).accept(&"a".repeat(300)).is_err());
        }
        let one = input("acme|other", None, None);
        assert!(one.accept("acme").is_ok() && one.accept("xacme").is_err() && one.accept("acmex").is_err());
    }
}
