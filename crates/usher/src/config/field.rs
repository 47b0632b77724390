//! `[[provider.field]]`: one input of a provider's page.

use url::Url;

use super::reader::{Node, Table};
use super::target::is_loopback;
use super::text::{self, Text};

/// One value that a user enters for a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// What templates call it: lower-case letters, digits and `_`.
    pub name: String,
    /// What the page calls it; the name by default.
    pub label: Text,
    /// A line of help on the page.
    pub description: Option<Text>,
    /// Where the user finds the value.
    pub help_url: Option<Url>,
    /// Whether the input hides what is typed (key `secret`); by default it does.
    pub masked: bool,
    /// Whether it may not be left empty; by default it may not.
    pub required: bool,
}

/// Whether this is the name of a field: a lower-case letter, then up to 63 of `a-z`, `0-9` and `_`.
pub(super) fn is_field_name(text: &str) -> bool {
    text.len() <= 64
        && text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Names of inputs that the page has of its own.
const RESERVED: [&str; 3] = ["action", "csrf", "lang"];

/// Reads the fields of a provider.
pub(super) fn read_all(node: &Node<'_>) -> Vec<Field> {
    if node.is_empty_array() {
        node.fault("the page would ask for nothing", "add a table [[provider.field]]");
    }
    let mut fields: Vec<Field> = Vec::new();
    for table in node.tables("provider.field") {
        let name = name(&table, &fields);
        let label = table.take("label").map(|node| text::read(&node));
        let description = table.take("description").and_then(|node| text::read(&node));
        let help_url = table.take("help_url").and_then(|node| help_url(&node));
        let masked = table.take("secret").and_then(|node| node.boolean());
        let required = table.take("required").and_then(|node| node.boolean());
        table.close();
        if let Some(name) = name {
            fields.push(Field {
                label: label.flatten().unwrap_or_else(|| Text::from(name)),
                name: name.to_owned(),
                description,
                help_url,
                masked: masked.unwrap_or(true),
                required: required.unwrap_or(true),
            });
        }
    }
    fields
}

fn name<'r>(table: &Table<'r>, before: &[Field]) -> Option<&'r str> {
    let node = table.require("name", "name = \"api_key\"")?;
    let name = node.string("\"api_key\"")?;
    if !is_field_name(name) {
        node.fault(
            format!("{name:?} is no field name"),
            "start with a lower-case letter, then lower-case letters, digits and _",
        );
        return None;
    }
    if RESERVED.contains(&name) {
        node.fault(format!("the page uses {name} for itself"), "call the field something else");
        return None;
    }
    if before.iter().any(|field| field.name == name) {
        node.fault(format!("the field {name} stands twice"), "give each its own name");
    }
    Some(name)
}

/// Whether a person may be sent there: https, or http on loopback (R-URL-02), and no user name in it.
pub(super) fn is_link(url: &Url) -> bool {
    let bare = url.username().is_empty() && url.password().is_none();
    let scheme = match url.scheme() {
        "https" => true,
        "http" => is_loopback(url),
        _ => false,
    };
    bare && url.host().is_some() && scheme
}

/// A link on the page.
fn help_url(node: &Node<'_>) -> Option<Url> {
    let text = node.string("\"https://weather.example/keys\"")?;
    let url = Url::parse(text).ok().filter(is_link);
    if url.is_none() {
        node.fault("is no https URL", "write it in full, for example \"https://weather.example/keys\"");
    }
    url
}
