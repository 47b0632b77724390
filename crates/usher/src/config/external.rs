//! A provider of kind `external`: something that happens at somebody else's page, a payment for example.

use std::collections::BTreeMap;

use http::{HeaderName, HeaderValue};
use secrecy::SecretString;

use super::header::{self, Request};
use super::link::{self, Link};
use super::reader::{Node, Table};
use super::secret::{self, Secret};
use super::template::{Template, TemplateError};

/// The keys that only this kind has.
pub(super) const KEYS: [&str; 3] = ["url", "confirm", "per"];

const SECRET: secret::Keys = secret::Keys { value: "secret", file: "secret_file", env: "secret_env" };

/// Somebody else's page.
#[derive(Clone, Debug)]
pub struct External {
    /// Where people go. Written by the operator.
    pub url: Link,
    /// How to find out whether it is done; without it, only the other side says so, through the API.
    pub confirm: Option<Confirm>,
    /// What one completed visit is good for.
    pub per: Per,
}

/// What one completed visit is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// The one call that it was made for.
    Call,
    /// Every call of that user, until they disconnect.
    User,
}

/// A GET whose answer is a JSON object, of which one member says whether it is done.
#[derive(Clone, Debug)]
pub struct Confirm {
    /// Where to ask. Written by the operator (R-SEC-05).
    pub get: Link,
    /// The headers by which we prove who asks.
    pub headers: Vec<(HeaderName, Template)>,
    /// What `{secret}` stands for in them.
    pub secret: Option<SecretString>,
    /// The member, at the top of the object: a string.
    pub field: String,
    /// What it is when it is done.
    pub equals: String,
}

impl Confirm {
    /// The headers of the request.
    pub fn header_values(&self) -> Result<Vec<(HeaderName, HeaderValue)>, TemplateError> {
        let secrets: BTreeMap<_, _> =
            self.secret.iter().map(|secret| (SECRET.value.to_owned(), secret.clone())).collect();
        let headers = self.headers.iter();
        headers.map(|(name, template)| Ok((name.clone(), template.header_value(&secrets)?))).collect()
    }
}

/// Reads the keys of this kind.
pub(super) fn read(table: &Table<'_>) -> Option<External> {
    const URL: &str = "url = \"https://pay.example/checkout?order={reference}&back={return_url}\"";
    let url = table.require("url", URL).and_then(|node| link::read_page(&node));
    let confirm = table.take("confirm").map(|node| confirm(&node));
    let per = table.take("per").map_or(Some(Per::Call), |node| per(&node));
    Some(External { url: url?, confirm: confirm.map_or(Some(None), |confirm| confirm.map(Some))?, per: per? })
}

fn per(node: &Node<'_>) -> Option<Per> {
    match node.string("\"call\"")? {
        "call" => Some(Per::Call),
        "user" => Some(Per::User),
        other => {
            node.fault(format!("there is no per = {other:?}"), "use \"call\" or \"user\"");
            None
        }
    }
}

fn confirm(node: &Node<'_>) -> Option<Confirm> {
    let table = node.table("[provider.confirm]")?;
    let get = table.require("get", "get = \"https://pay.example/api/orders/{reference}\"");
    let get = get.and_then(|node| link::read_request(&node));
    let headers = table.take("header").map(|node| header::read_all(&node, Request::Check)).unwrap_or_default();
    let secret = secret::read(&table, &SECRET);
    let text = |key, example: &str| table.require(key, example).and_then(|node| text(&node));
    let (field, equals) = (text("field", "field = \"status\""), text("equals", "equals = \"paid\""));
    table.close();
    let (secret, is_given) = match secret.ok()? {
        Secret::Absent => (None, false),
        Secret::Spared(_) => (None, true),
        Secret::Found((secret, _)) => (Some(secret), true),
    };
    check_secret(node, &headers, is_given);
    let headers: Vec<_> = headers.into_iter().map(|(name, template, _)| (name, template)).collect();
    let confirm = Confirm { get: get?, headers, secret, field: field?, equals: equals? };
    if confirm.secret.is_some() && matches!(confirm.header_values(), Err(TemplateError::HeaderValue)) {
        node.fault("the secret cannot stand in a header", "check it for line breaks and letters outside ASCII");
    }
    Some(confirm)
}

/// Leaves a fault where templates and secret do not fit together.
fn check_secret(node: &Node<'_>, headers: &[(HeaderName, Template, Node<'_>)], is_given: bool) {
    let mut used = false;
    for (_, template, node) in headers {
        used |= template.fields().any(|field| field == SECRET.value);
        if let Some(other) = template.fields().find(|field| *field != SECRET.value) {
            node.fault(format!("there is no field {other} here"), "the one field is {secret}");
        }
    }
    if used && !is_given {
        node.fault("a header uses {secret}, which is not given", "add secret_file = \"pay.secret\", or secret_env");
    } else if is_given && !used {
        node.fault("no header uses the secret", "add header = { Authorization = \"Bearer {secret}\" }");
    }
}

fn text(node: &Node<'_>) -> Option<String> {
    let text = node.string("\"paid\"")?;
    if text.is_empty() {
        node.fault("is empty", "name a member of the answer, and what it is when it is done");
        return None;
    }
    Some(text.to_owned())
}
