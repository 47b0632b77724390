//! `[provider.account]` and `[provider.lookup]`: calls to the provider's API after connecting (kind 16).

use std::collections::BTreeMap;

use http::HeaderName;

use super::address::{self, Address};
use super::member::{self, Member};
use super::token::{self, Method};
use crate::config::header::{self, Request};
use crate::config::reader::{Node, Table};
use crate::config::template::Template;

/// A request to the provider's API with the new access token.
#[derive(Clone, Debug)]
pub struct Call {
    /// By which method.
    pub method: Method,
    /// Where. Fields of the reply may stand in it as well; one that does is looked at before it is requested (R-SEC-05).
    pub url: Address,
    /// Its headers; `Authorization = "Bearer {access_token}"` by default.
    pub headers: Vec<(HeaderName, Template)>,
    /// Its body, as JSON; none by default.
    pub body: Option<String>,
}

/// How to find out whose account it is.
#[derive(Clone, Debug)]
pub struct Account {
    /// The call; without one, the reply of the token endpoint says it.
    pub call: Option<Call>,
    /// The members that say it, of which the first that is there counts.
    pub members: Vec<Member>,
}

/// A call that says more about the connection.
#[derive(Clone, Debug)]
pub struct Lookup {
    /// The call.
    pub call: Call,
    /// What is kept of its answer.
    pub fields: BTreeMap<String, Member>,
}

/// Reads `[provider.account]`.
pub(super) fn read_account(node: &Node<'_>) -> Option<Account> {
    let table = node.table("[provider.account]")?;
    let call = read_call(&table, table.take("url"));
    let members = table.require("member", "member = \"login\"").map(|node| members(&node)).unwrap_or_default();
    table.close();
    Some(Account { call, members })
}

/// One member, or several.
fn members(node: &Node<'_>) -> Vec<Member> {
    if node.is_array() {
        node.array("[\"name\", \"login\"]").unwrap_or_default().iter().filter_map(member::read).collect()
    } else {
        member::read(node).into_iter().collect()
    }
}

/// Reads `[provider.lookup]`.
pub(super) fn read_lookup(node: &Node<'_>) -> Option<Lookup> {
    let table = node.table("[provider.lookup]")?;
    let url = table.require("url", "url = \"https://api.example/me\"");
    let call = read_call(&table, url);
    let fields = table.require("fields", "fields = { site = \"0.id\" }").map(|node| member::read_fields(&node));
    table.close();
    Some(Lookup { call: call?, fields: fields? })
}

fn read_call(table: &Table<'_>, url: Option<Node<'_>>) -> Option<Call> {
    let method = token::method(table, Method::Get);
    let headers = table.take("header").map(|node| header::read_all(&node, Request::Check));
    let body = table.take("body").and_then(|node| body(&node));
    let url = address::read(&url?, "\"https://api.example/me\"")?;
    let headers = headers.map_or_else(
        || vec![(http::header::AUTHORIZATION, Template::bearer())],
        |headers| headers.into_iter().map(|(name, template, _)| (name, template)).collect(),
    );
    Some(Call { method, url, headers, body })
}

fn body(node: &Node<'_>) -> Option<String> {
    const EXAMPLE: &str = "'{\"query\":\"{viewer{name}}\"}'";
    let text = node.string(EXAMPLE)?;
    if serde_json::from_str::<serde_json::Value>(text).is_err() {
        node.fault("is no JSON", format!("for example {EXAMPLE}"));
        return None;
    }
    Some(text.to_owned())
}
