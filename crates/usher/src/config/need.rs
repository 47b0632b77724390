//! `[[upstream.needs]]`: which credential an upstream needs, for what, and where it goes.

use http::HeaderName;

use super::header::{self, Request};
use super::pattern::Pattern;
use super::provider::Providers;
use super::reader::{Node, Table};
use super::suggest;
use super::template::Template;

/// A credential that an upstream needs.
#[derive(Clone, Debug)]
pub struct Need {
    /// The provider's name, which is one of the configuration's.
    pub provider: String,
    /// The calls that ask for it when it is missing; other requests carry it if it is there. Never empty.
    pub on: Vec<Pattern>,
    /// The headers that carry it.
    pub headers: Vec<(HeaderName, Template)>,
}

impl Need {
    /// Whether one of the patterns matches: see [`Pattern::matches`].
    pub fn asks(&self, method: &str, name_or_uri: &str) -> bool {
        self.on.iter().any(|pattern| pattern.matches(method, name_or_uri))
    }
}

/// Reads the needs of an upstream. A provider stands once, and a header has one source, since requests
/// beside the patterns carry all credentials.
pub(super) fn read_all(node: &Node<'_>, providers: &Providers<'_>) -> Vec<Need> {
    let mut needs: Vec<Need> = Vec::new();
    for table in node.tables("upstream.needs") {
        let Some(need) = read(table, providers, &needs) else {
            continue;
        };
        needs.push(need);
    }
    needs
}

fn read(table: Table<'_>, providers: &Providers<'_>, before: &[Need]) -> Option<Need> {
    let provider =
        table.require("provider", "provider = \"weather\"").and_then(|node| provider(&node, providers, before));
    let on = table.take("on").map_or_else(Pattern::all, |node| patterns(&node));
    if let Some(node) = table.take("env") {
        node.fault(
            "env is for upstreams that are commands, which are not available in this version",
            "use header = { X-Api-Key = \"{api_key}\" }",
        );
    }
    let headers = table
        .require("header", "header = { X-Api-Key = \"{api_key}\" }")
        .map(|node| (header::read_all(&node, Request::Upstream), node));
    table.close();
    let ((headers, node), provider) = (headers?, provider?);
    for (name, _, node) in &headers {
        let taken = before.iter().find(|need| need.headers.iter().any(|(other, _)| other == name));
        if let Some(taken) = taken {
            node.fault(
                format!("the header {name} is set from the provider {} already", taken.provider),
                "send each credential in its own header",
            );
        }
    }
    if let Some(fields) = providers.fields(provider) {
        check_fields(&headers, provider, &fields);
        let used = headers.iter().any(|(_, template, _)| template.fields().next().is_some());
        if !used && !headers.is_empty() {
            node.fault(
                "no header carries a field of the provider: users would connect for nothing",
                format!("use a field of {provider}: {{{}}}", fields.join("}, {")),
            );
        }
    }
    Some(Need {
        provider: provider.to_owned(),
        on,
        headers: headers.into_iter().map(|(name, template, _)| (name, template)).collect(),
    })
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
pub(super) fn check_fields(headers: &[(HeaderName, Template, Node<'_>)], provider: &str, fields: &[&str]) {
    for (_, template, node) in headers {
        for field in template.fields().filter(|field| !fields.contains(field)) {
            let fix = suggest::closest(field, fields.iter().copied()).map_or_else(
                || format!("fields of {provider}: {}", fields.join(", ")),
                |close| format!("did you mean {{{close}}}?"),
            );
            node.fault(format!("the provider {provider} has no field {field}"), fix);
        }
    }
}
