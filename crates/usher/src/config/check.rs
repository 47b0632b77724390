//! `[provider.check]`: a request that tells whether a credential is good.

use http::HeaderName;
use url::Url;

use super::field::Field;
use super::header::{self, Request};
use super::need::check_fields;
use super::reader::Node;
use super::target;
use super::template::Template;

/// A GET that succeeds (2xx) with a good credential and is refused (401, 403) with a bad one.
#[derive(Clone, Debug)]
pub struct Check {
    /// Where to ask. Written by the operator (R-SEC-05).
    pub get: Url,
    /// The headers that carry the credential.
    pub headers: Vec<(HeaderName, Template)>,
}

/// Reads the section. Where the fields of the provider are not known, there is a fault about that already.
pub(super) fn read(node: &Node<'_>, provider: &str, fields: Option<&[Field]>) -> Option<Check> {
    let table = node.table("[provider.check]")?;
    let get = table.require("get", "get = \"https://api.weather.example/me\"").and_then(|node| target::read(&node));
    let headers = table
        .require("header", "header = { Authorization = \"Bearer {api_key}\" }")
        .map(|node| header::read_all(&node, Request::Check));
    table.close();
    let headers = headers?;
    if let Some(fields) = fields {
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        check_fields(&headers, provider, &names);
    }
    Some(Check { get: get?, headers: headers.into_iter().map(|(name, template, _)| (name, template)).collect() })
}
