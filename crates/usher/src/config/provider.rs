//! `[[provider]]`: a service whose credentials users connect.

use std::collections::BTreeMap;

use http::HeaderValue;
use secrecy::SecretString;

use super::check::{self, Check};
use super::field::{self, Field};
use super::name;
use super::reader::{Node, Table};
use super::template::{Template, TemplateError};
use super::text::{self, Text};

/// A third-party service whose credential is kept for each user.
#[derive(Clone, Debug)]
pub struct Provider {
    /// Its name in the configuration, in rows and in log lines.
    pub name: String,
    /// What people know it by; the name by default.
    pub title: Text,
    /// What the connection is for.
    pub about: Option<Text>,
    /// How a credential is obtained.
    pub kind: ProviderKind,
}

/// How a credential is obtained.
#[derive(Clone, Debug)]
pub enum ProviderKind {
    /// The user enters it on a page.
    Secret {
        /// What is asked for; at least one.
        fields: Vec<Field>,
        /// How to tell whether it is good.
        check: Option<Check>,
    },
}

impl Provider {
    /// What the page asks for.
    pub fn fields(&self) -> &[Field] {
        match &self.kind {
            ProviderKind::Secret { fields, .. } => fields,
        }
    }

    /// The header that `template` makes of `secrets`. `None` where it uses an optional field that was left empty: such a
    /// header is left out, in the check and in each call alike.
    pub fn header(
        &self,
        template: &Template,
        secrets: &BTreeMap<String, SecretString>,
    ) -> Result<Option<HeaderValue>, TemplateError> {
        self.unless_left_empty(template.header_value(secrets))
    }

    /// The same as the value of a variable.
    pub fn variable(
        &self,
        template: &Template,
        secrets: &BTreeMap<String, SecretString>,
    ) -> Result<Option<SecretString>, TemplateError> {
        self.unless_left_empty(template.variable_value(secrets))
    }

    fn unless_left_empty<T>(&self, made: Result<T, TemplateError>) -> Result<Option<T>, TemplateError> {
        match made {
            Ok(value) => Ok(Some(value)),
            Err(TemplateError::MissingField(name)) if !self.requires(&name) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether `secrets` has each field that may not be left empty.
    pub fn is_complete(&self, secrets: &BTreeMap<String, SecretString>) -> bool {
        self.fields().iter().all(|field| !field.required || secrets.contains_key(&field.name))
    }

    fn requires(&self, name: &str) -> bool {
        self.fields().iter().any(|field| field.name == name && field.required)
    }

    /// How to tell whether a credential is good.
    pub fn check(&self) -> Option<&Check> {
        match &self.kind {
            ProviderKind::Secret { check, .. } => check.as_ref(),
        }
    }
}

/// The providers of the file, those with faults too: a need may name them without another fault.
pub(super) struct Providers<'r> {
    named: Vec<(&'r str, Option<Provider>)>,
}

impl<'r> Providers<'r> {
    pub(super) fn names(&self) -> impl Iterator<Item = &'r str> {
        self.named.iter().map(|(name, _)| *name)
    }

    /// The fields of a provider, where they are known.
    pub(super) fn fields(&self, name: &str) -> Option<Vec<&str>> {
        let (_, provider) = self.named.iter().find(|(other, _)| *other == name)?;
        let fields = provider.as_ref()?.fields();
        Some(fields.iter().map(|field| field.name.as_str()).collect())
    }

    pub(super) fn into_complete(self) -> Vec<Provider> {
        self.named.into_iter().filter_map(|(_, provider)| provider).collect()
    }
}

/// Reads all providers; there may be none.
pub(super) fn read_all(node: Option<Node<'_>>) -> Providers<'_> {
    let mut named: Vec<(&str, Option<Provider>)> = Vec::new();
    for table in node.map(|node| node.tables("provider")).unwrap_or_default() {
        let before: Vec<&str> = named.iter().map(|(name, _)| *name).collect();
        let name = name::read(&table, &before);
        let provider = read(table, name.unwrap_or_default());
        if let Some(name) = name {
            named.push((name, provider));
        }
    }
    Providers { named }
}

fn read(table: Table<'_>, name: &str) -> Option<Provider> {
    let title = table.take("title").map(|node| text::read(&node));
    let about = table.take("about").and_then(|node| text::read(&node));
    let kind = kind(&table);
    let field = if kind == Kind::Unavailable {
        table.take("field")
    } else {
        table.require("field", "a table [[provider.field]] with name = \"api_key\"")
    };
    let fields = field.map(|node| field::read_all(&node));
    let check = table.take("check").map(|node| check::read(&node, name, fields.as_deref()));
    // The keys of a kind that is not there yet would be faults that only follow from that one.
    if kind == Kind::Secret {
        table.close();
    }
    Some(Provider {
        name: name.to_owned(),
        title: title.flatten().unwrap_or_else(|| Text::from(name)),
        about,
        kind: ProviderKind::Secret { fields: fields?, check: check.flatten() },
    })
}

/// What was given as the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The one there is; or none that anybody knows, and then most likely this one was meant.
    Secret,
    /// One that this version does not have. A fault says so already.
    Unavailable,
}

/// The kind, of which there is one.
fn kind(table: &Table<'_>) -> Kind {
    let node = table.require("kind", "kind = \"secret\"");
    if let Some(node) = node
        && let Some(kind) = node.string("\"secret\"")
    {
        match kind {
            "secret" => {}
            "oauth" | "mcp" | "external" | "approval" => {
                node.fault(
                    format!("kind {kind} is not available in this version"),
                    "use kind = \"secret\", a page with fields",
                );
                return Kind::Unavailable;
            }
            other => node.fault(format!("there is no kind {other:?}"), "use kind = \"secret\""),
        }
    }
    Kind::Secret
}
