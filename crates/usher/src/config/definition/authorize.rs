//! `[provider.authorize]`: the request through the browser (kinds 1, 6, 7 and 8).

use super::parameters::{self, Parameters, choice, name, words};
use crate::config::reader::{Node, Table};

/// How the request through the browser differs (RFC 6749, section 4.1.1).
#[derive(Clone, Debug)]
pub struct Authorize {
    /// What stands between two scopes; a space by default (kind 1).
    pub scope_separator: char,
    /// How scopes are written into the URL (kind 1).
    pub scope_encoding: ScopeEncoding,
    /// The parameter with the scopes; `scope` by default (kind 1).
    pub scope_parameter: String,
    /// Whether the flow is bound to a verifier (kind 6).
    pub pkce: Pkce,
    /// The parameters by which a refresh token is asked for (kind 7).
    pub offline: Parameters,
    /// The scopes by which a refresh token is asked for (kind 7).
    pub offline_scopes: Vec<String>,
    /// Whatever else it wants to be told (kind 8).
    pub parameters: Parameters,
    /// The parameter with the language of its page (`ui_locales` in OpenID Connect); none by default.
    pub language: Option<String>,
}

impl Default for Authorize {
    fn default() -> Self {
        Self {
            scope_separator: ' ',
            scope_encoding: ScopeEncoding::Percent,
            scope_parameter: "scope".to_owned(),
            pkce: Pkce::S256,
            offline: Parameters::new(),
            offline_scopes: Vec::new(),
            parameters: Parameters::new(),
            language: None,
        }
    }
}

/// How scopes are written into the URL (kind 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScopeEncoding {
    /// As everything else.
    Percent,
    /// As they are, as far as a URL can hold them: `:`, `/` and `,` stay.
    Raw,
}

/// Whether the flow is bound to a verifier (RFC 7636; kind 6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pkce {
    /// By its SHA-256 (R-OAUTH-02).
    S256,
    /// It is not: the provider does not know it, or refuses its parameters.
    Off,
}

/// Reads the section.
pub(super) fn read(node: &Node<'_>) -> Authorize {
    let Some(table) = node.table("[provider.authorize]") else { return Authorize::default() };
    let authorize = Authorize {
        scope_separator: separator(&table, ' '),
        scope_encoding: choice(
            &table,
            "scope_encoding",
            &[("percent", ScopeEncoding::Percent), ("raw", ScopeEncoding::Raw)],
            ScopeEncoding::Percent,
        ),
        scope_parameter: name(&table, "scope_parameter", "scope"),
        pkce: choice(&table, "pkce", &[("S256", Pkce::S256), ("off", Pkce::Off)], Pkce::S256),
        offline: read_parameters(&table, "offline", "offline = { access_type = \"offline\" }"),
        offline_scopes: words(&table, "offline_scopes", "\"offline_access\""),
        parameters: read_parameters(&table, "parameters", "parameters = { audience = \"api.example\" }"),
        language: table.take("language").and_then(|node| Some(node.string("\"ui_locales\"")?.to_owned())),
    };
    table.close();
    authorize
}

fn read_parameters(table: &Table<'_>, key: &'static str, example: &str) -> Parameters {
    table.take(key).map(|node| parameters::read(&node, example)).unwrap_or_default()
}

/// What stands between two scopes.
pub(super) fn separator(table: &Table<'_>, default: char) -> char {
    choice(table, "scope_separator", &[(" ", ' '), (",", ','), ("+", '+')], default)
}
