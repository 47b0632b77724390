//! `[provider.token]`: the request with the code (kinds 4, 8 and 10).

use http::HeaderName;

use super::parameters::{self, Parameters, choice, name};
use crate::config::header::{self, Request};
use crate::config::reader::{Node, Table};
use crate::config::template::Template;

/// How the request to the token endpoint differs (RFC 6749, section 4.1.3). What holds here holds of a refresh as well.
#[derive(Clone, Debug)]
pub struct TokenRequest {
    /// How the parameters are sent (kind 4).
    pub request: Sent,
    /// The parameter with the code; `code` by default (kind 18).
    pub code_parameter: String,
    /// Whatever else it wants to be told (kind 8): a lifetime, where that must be asked for (kind 10).
    pub parameters: Parameters,
    /// Headers that it wants: a version of its API, for example. No field stands in them.
    pub headers: Vec<(HeaderName, Template)>,
}

impl Default for TokenRequest {
    fn default() -> Self {
        Self {
            request: Sent::Form,
            code_parameter: "code".to_owned(),
            parameters: Parameters::new(),
            headers: Vec::new(),
        }
    }
}

/// How parameters are sent (kind 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sent {
    /// As a form, which is the standard.
    #[default]
    Form,
    /// As a JSON object of strings.
    Json,
    /// In the URL, without a body.
    Query,
}

/// The method of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// The standard for everything at an authorization server.
    #[default]
    Post,
    /// Some refresh and revoke so.
    Get,
    /// Some revoke so.
    Delete,
}

/// Reads the section.
pub(super) fn read(node: &Node<'_>) -> TokenRequest {
    let Some(table) = node.table("[provider.token]") else { return TokenRequest::default() };
    let request = TokenRequest {
        request: sent(&table, Sent::Form),
        code_parameter: name(&table, "code_parameter", "code"),
        parameters: table
            .take("parameters")
            .map(|node| parameters::read(&node, "parameters = { expires_in = \"172800\" }"))
            .unwrap_or_default(),
        headers: headers(&table),
    };
    table.close();
    request
}

pub(super) fn sent(table: &Table<'_>, default: Sent) -> Sent {
    choice(table, "request", &[("form", Sent::Form), ("json", Sent::Json), ("query", Sent::Query)], default)
}

pub(super) fn method(table: &Table<'_>, default: Method) -> Method {
    choice(table, "method", &[("POST", Method::Post), ("GET", Method::Get), ("DELETE", Method::Delete)], default)
}

/// Headers in which no field stands.
pub(super) fn headers(table: &Table<'_>) -> Vec<(HeaderName, Template)> {
    let Some(node) = table.take("header") else { return Vec::new() };
    let mut headers = Vec::new();
    for (name, template, node) in header::read_all(&node, Request::Check) {
        if template.fields().next().is_some() {
            node.fault("no field is known at this point", "write the value itself");
        }
        headers.push((name, template));
    }
    headers
}
