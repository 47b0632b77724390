//! `[[upstream.needs]]`: what an upstream needs of its users, for what, and where a credential goes.

use std::fmt::Display;

use http::HeaderName;

use super::header::{self, Request};
use super::oauth;
use super::pattern::Pattern;
use super::provider::Providers;
use super::reader::{Node, Table};
use super::suggest;
use super::template::Template;
use super::upstream::Upstream;
use super::variable;

/// What an upstream needs of its users: a credential, or something that they do.
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
    /// The scopes that an account has to have for it, beside those of its provider.
    pub scopes: Vec<String>,
}

impl Need {
    /// Whether one of the patterns matches: see [`Pattern::matches`].
    pub fn asks(&self, method: &str, name_or_uri: &str) -> bool {
        self.on.iter().any(|pattern| pattern.matches(method, name_or_uri))
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

    fn noun(self) -> &'static str {
        match self {
            Self::Headers => "header",
            Self::Variables => "variable",
        }
    }

    fn example(self, account: bool) -> &'static str {
        match (self, account) {
            (Self::Headers, false) => "header = { X-Api-Key = \"{api_key}\" }",
            (Self::Headers, true) => "header = { Authorization = \"Bearer {access_token}\" }",
            (Self::Variables, false) => "env = { WEATHER_KEY = \"{api_key}\" }",
            (Self::Variables, true) => "env = { WEATHER_TOKEN = \"{access_token}\" }",
        }
    }
}

/// Reads the needs of an upstream. A provider stands once, and a header has one source, since requests
/// beside the patterns carry all credentials.
pub(super) fn read_all(node: &Node<'_>, providers: &Providers<'_>, takes: Takes, others: &[Upstream]) -> Vec<Need> {
    let mut needs: Vec<Need> = Vec::new();
    for table in node.tables("upstream.needs") {
        let Some(need) = read(table, providers, &needs, takes, others) else {
            continue;
        };
        needs.push(need);
    }
    needs
}

fn read(
    table: Table<'_>,
    providers: &Providers<'_>,
    before: &[Need],
    takes: Takes,
    others: &[Upstream],
) -> Option<Need> {
    let node = table.require("provider", "provider = \"weather\"");
    let provider = node.as_ref().and_then(|node| provider(node, providers, before));
    if let (Some(node), Some(provider)) = (&node, provider.filter(|name| providers.is_of_server(name))) {
        check_own_server(node, provider, takes, others);
    }
    let on = table.take("on").map_or_else(Pattern::all, |node| patterns(&node));
    let account = provider.is_some_and(|name| providers.is_account(name));
    let scopes = table.take("scopes").map(|node| scopes(&node, provider.filter(|_| !account))).unwrap_or_default();
    if let Some(provider) = provider.filter(|name| !providers.have_secrets(name)) {
        refuse_carriers(&table, provider);
        table.close();
        return Some(Need { provider: provider.to_owned(), on, headers: Vec::new(), env: Vec::new(), scopes });
    }
    let key = takes.key();
    if let Some(node) = table.take(takes.other().key()) {
        let other = takes.other();
        node.fault(
            format!("{} is for upstreams {}", other.key(), other.is_for()),
            format!("use {}", takes.example(account)),
        );
    }
    if account && takes == Takes::Headers && !table.has(key) {
        check_bearer(&table, before);
        // Asked for, and not there.
        table.take(key);
        table.close();
        return Some(Need {
            provider: provider?.to_owned(),
            on,
            headers: vec![(http::header::AUTHORIZATION, Template::bearer())],
            env: Vec::new(),
            scopes,
        });
    }
    let node = table.require(key, takes.example(account));
    table.close();
    let (headers, env) = match (&node, takes) {
        (Some(node), Takes::Headers) => (header::read_all(node, Request::Upstream), Vec::new()),
        (Some(node), Takes::Variables) => (Vec::new(), variable::read_all(node)),
        (None, _) => return None,
    };
    let (node, provider) = (node?, provider?);
    let fields = providers.fields(provider).unwrap_or_default();
    let source = |has: &dyn Fn(&Need) -> bool| before.iter().find(|need| has(need)).map(|need| need.provider.as_str());
    check_taken("header", &headers, |name| source(&|need| need.headers.iter().any(|(other, _)| other == name)));
    check_taken("variable", &env, |name| source(&|need| need.env.iter().any(|(other, _)| other == name)));
    check_used(&headers, takes, &node, provider, &fields);
    check_used(&env, takes, &node, provider, &fields);
    Some(Need {
        provider: provider.to_owned(),
        on,
        headers: headers.into_iter().map(|(name, template, _)| (name, template)).collect(),
        env: env.into_iter().map(|(name, template, _)| (name, template)).collect(),
        scopes,
    })
}

/// An account at an MCP server is for that server, which is at a URL: the tokens are made for it alone (R-OAUTH-05).
fn check_own_server(node: &Node<'_>, provider: &str, takes: Takes, others: &[Upstream]) {
    if takes == Takes::Variables {
        node.fault(
            format!("the provider {provider} is of kind mcp, which is for servers at a URL that demand it"),
            "give a command its credential by kind = \"secret\" or \"oauth\"",
        );
    }
    let needs = |other: &&Upstream| other.needs.iter().any(|need| need.provider == provider);
    if let Some(other) = others.iter().find(needs) {
        node.fault(
            format!("the provider {provider} is of kind mcp, and the server {} needs it already", other.name),
            "add a [[provider]] with kind = \"mcp\" for each server: a token is made for one of them",
        );
    }
}

/// An access token goes where RFC 6750 says, if nothing else is said: unless another credential goes there.
fn check_bearer(table: &Table<'_>, before: &[Need]) {
    let taken = |need: &&Need| need.headers.iter().any(|(name, _)| name == http::header::AUTHORIZATION);
    if let Some(other) = before.iter().find(taken) {
        table.fault(
            "header",
            format!("the header authorization is set from the provider {} already", other.provider),
            "send each credential in its own header: header = { X-Token = \"{access_token}\" }",
        );
    }
}

/// The scopes of a need. `other` is a provider that is no account.
fn scopes(node: &Node<'_>, other: Option<&str>) -> Vec<String> {
    if let Some(provider) = other {
        node.fault(
            format!("the provider {provider} has no scopes"),
            "remove it; scopes are for accounts at third parties",
        );
    }
    oauth::asked(node)
}

/// Leaves a fault where something is to carry a credential that there is not.
fn refuse_carriers(table: &Table<'_>, provider: &str) {
    for takes in [Takes::Headers, Takes::Variables] {
        if let Some(node) = table.take(takes.key()) {
            node.fault(format!("the provider {provider} has no credential to send"), "remove it");
        }
    }
}

/// Leaves a fault for each header or variable that has another source already.
fn check_taken<'b, N: Display>(
    what: &str,
    carriers: &[(N, Template, Node<'_>)],
    source: impl Fn(&N) -> Option<&'b str>,
) {
    for (name, _, node) in carriers {
        if let Some(source) = source(name) {
            node.fault(
                format!("the {what} {name} is set from the provider {source} already"),
                format!("send each credential in its own {what}"),
            );
        }
    }
}

/// Leaves a fault for each field that the provider does not have, and where none is used at all.
fn check_used<N>(carriers: &[(N, Template, Node<'_>)], takes: Takes, node: &Node<'_>, provider: &str, fields: &[&str]) {
    if carriers.is_empty() || fields.is_empty() {
        return;
    }
    check_fields(carriers, provider, fields);
    if carriers.iter().all(|(_, template, _)| template.fields().next().is_none()) {
        node.fault(
            format!("no {} carries a field of the provider: users would connect for nothing", takes.noun()),
            format!("use a field of {provider}: {{{}}}", fields.join("}, {")),
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
