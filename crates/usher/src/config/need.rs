//! `[[upstream.needs]]`: which credential an upstream needs, for what, and where it goes.

use std::fmt::Display;

use http::HeaderName;

use super::header::{self, Request};
use super::pattern::Pattern;
use super::provider::Providers;
use super::reader::{Node, Table};
use super::suggest;
use super::template::Template;
use super::variable;

/// A credential that an upstream needs.
#[derive(Clone, Debug)]
pub struct Need {
    /// The provider's name, which is one of the configuration's.
    pub provider: String,
    /// The calls that ask for it when it is missing; other requests carry it if it is there. Never empty.
    pub on: Vec<Pattern>,
    /// The headers that carry it to a server at a URL.
    pub headers: Vec<(HeaderName, Template)>,
    /// The variables that carry it to a server that is a command.
    pub env: Vec<(String, Template)>,
}

impl Need {
    /// Whether one of the patterns matches: see [`Pattern::matches`].
    pub fn asks(&self, method: &str, name_or_uri: &str) -> bool {
        self.on.iter().any(|pattern| pattern.matches(method, name_or_uri))
    }

    fn has_header(&self, name: &HeaderName) -> bool {
        self.headers.iter().any(|(other, _)| other == name)
    }

    fn has_variable(&self, name: &str) -> bool {
        self.env.iter().any(|(other, _)| other == name)
    }
}

/// How a server takes credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// At a URL: in headers.
    Headers,
    /// As a command: in its environment.
    Variables,
}

impl Takes {
    fn key(self) -> &'static str {
        match self {
            Self::Headers => "header",
            Self::Variables => "env",
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Headers => Self::Variables,
            Self::Variables => Self::Headers,
        }
    }

    fn is_for(self) -> &'static str {
        match self {
            Self::Headers => "that have a url",
            Self::Variables => "that are commands",
        }
    }

    fn example(self) -> &'static str {
        match self {
            Self::Headers => "header = { X-Api-Key = \"{api_key}\" }",
            Self::Variables => "env = { WEATHER_KEY = \"{api_key}\" }",
        }
    }
}

/// Reads the needs of an upstream. A provider stands once, and a header has one source, since requests
/// beside the patterns carry all credentials.
pub(super) fn read_all(node: &Node<'_>, providers: &Providers<'_>, takes: Takes) -> Vec<Need> {
    let mut needs: Vec<Need> = Vec::new();
    for table in node.tables("upstream.needs") {
        let Some(need) = read(table, providers, &needs, takes) else {
            continue;
        };
        needs.push(need);
    }
    needs
}

fn read(table: Table<'_>, providers: &Providers<'_>, before: &[Need], takes: Takes) -> Option<Need> {
    let provider =
        table.require("provider", "provider = \"weather\"").and_then(|node| provider(&node, providers, before));
    let on = table.take("on").map_or_else(Pattern::all, |node| patterns(&node));
    let key = takes.key();
    if let Some(node) = table.take(takes.other().key()) {
        let other = takes.other();
        node.fault(format!("{} is for upstreams {}", other.key(), other.is_for()), format!("use {}", takes.example()));
    }
    let node = table.require(key, takes.example());
    table.close();
    let (node, provider) = (node?, provider?);
    let mut need = Need { provider: provider.to_owned(), on, headers: Vec::new(), env: Vec::new() };
    let fields = providers.fields(provider);
    match takes {
        Takes::Headers => {
            let read = header::read_all(&node, Request::Upstream);
            check("header", &read, &node, &need, fields.as_deref(), |name| {
                before.iter().find(|need| need.has_header(name))
            });
            need.headers = read.into_iter().map(|(name, template, _)| (name, template)).collect();
        }
        Takes::Variables => {
            let read = variable::read_all(&node);
            check("variable", &read, &node, &need, fields.as_deref(), |name| {
                before.iter().find(|need| need.has_variable(name))
            });
            need.env = read.into_iter().map(|(name, template, _)| (name, template)).collect();
        }
    }
    Some(need)
}

/// Leaves a fault for a header or variable that has another source already, for fields that the provider does not have, and
/// where no field is used at all.
fn check<'b, N: Display>(
    what: &str,
    carriers: &[(N, Template, Node<'_>)],
    node: &Node<'_>,
    need: &Need,
    fields: Option<&[&str]>,
    taken: impl Fn(&N) -> Option<&'b Need>,
) {
    for (name, _, node) in carriers {
        if let Some(taken) = taken(name) {
            node.fault(
                format!("the {what} {name} is set from the provider {} already", taken.provider),
                format!("send each credential in its own {what}"),
            );
        }
    }
    let Some(fields) = fields else { return };
    check_fields(carriers, &need.provider, fields);
    let used = carriers.iter().any(|(_, template, _)| template.fields().next().is_some());
    if !used && !carriers.is_empty() {
        node.fault(
            format!("no {what} carries a field of the provider: users would connect for nothing"),
            format!("use a field of {}: {{{}}}", need.provider, fields.join("}, {")),
        );
    }
}

fn provider<'r>(node: &Node<'r>, providers: &Providers<'_>, before: &[Need]) -> Option<&'r str> {
    let name = node.string("\"weather\"")?;
    if !providers.names().any(|known| known == name) {
        let fix = suggest::closest(name, providers.names()).map_or_else(
            || format!("add a [[provider]] with name = {name:?}"),
            |close| format!("did you mean {close}?"),
        );
        node.fault(format!("there is no provider {name:?}"), fix);
        return None;
    }
    if before.iter().any(|need| need.provider == name) {
        node.fault(
            format!("the provider {name} is needed twice"),
            "put all patterns and headers into one [[upstream.needs]]",
        );
        return None;
    }
    Some(name)
}

fn patterns(node: &Node<'_>) -> Vec<Pattern> {
    const EXAMPLE: &str = "[\"tools/get_*\", \"resources/*\"]";
    if node.is_empty_array() {
        node.fault("an empty list matches nothing", format!("remove it to ask for every call, or write {EXAMPLE}"));
    }
    let pattern = |node: &Node<'_>| {
        let text = node.string("\"tools/get_*\"")?;
        match Pattern::parse(text) {
            Ok(pattern) => Some(pattern),
            Err(error) => {
                node.fault(format!("{text:?} {error}"), format!("for example {EXAMPLE}"));
                None
            }
        }
    };
    node.array(EXAMPLE).unwrap_or_default().iter().filter_map(pattern).collect()
}

/// Leaves a fault for each field of the templates that the provider does not have.
pub(super) fn check_fields<N>(carriers: &[(N, Template, Node<'_>)], provider: &str, fields: &[&str]) {
    for (_, template, node) in carriers {
        for field in template.fields().filter(|field| !fields.contains(field)) {
            let fix = suggest::closest(field, fields.iter().copied()).map_or_else(
                || format!("fields of {provider}: {}", fields.join(", ")),
                |close| format!("did you mean {{{close}}}?"),
            );
            node.fault(format!("the provider {provider} has no field {field}"), fix);
        }
    }
}
