//! `[[provider]]`: a service whose credentials users connect.

use std::collections::BTreeMap;

use http::HeaderValue;
use secrecy::SecretString;

use super::check::{self, Check};
use super::external::{self, External, Per};
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
    /// What the user does for it.
    pub kind: ProviderKind,
}

/// What the user does for it.
#[derive(Clone, Debug)]
pub enum ProviderKind {
    /// They enter a credential on a page.
    Secret {
        /// What is asked for; at least one.
        fields: Vec<Field>,
        /// How to tell whether it is good.
        check: Option<Check>,
    },
    /// They go to somebody else's page. No credential comes of it.
    External(External),
    /// They approve each call on a page of ours. No credential comes of it.
    Approval,
}

impl Provider {
    /// What the page asks for.
    pub fn fields(&self) -> &[Field] {
        match &self.kind {
            ProviderKind::Secret { fields, .. } => fields,
            ProviderKind::External(_) | ProviderKind::Approval => &[],
        }
    }

    /// Whether what the user does is good for one call alone, so that each call needs it anew.
    pub fn is_per_call(&self) -> bool {
        match &self.kind {
            ProviderKind::Secret { .. } => false,
            ProviderKind::External(external) => external.per == Per::Call,
            ProviderKind::Approval => true,
        }
    }

    /// Whether a credential comes of it that goes upstream.
    pub fn has_secrets(&self) -> bool {
        matches!(self.kind, ProviderKind::Secret { .. })
    }

    /// Somebody else's page, if it is one.
    pub fn external(&self) -> Option<&External> {
        match &self.kind {
            ProviderKind::External(external) => Some(external),
            ProviderKind::Secret { .. } | ProviderKind::Approval => None,
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
            ProviderKind::External(_) | ProviderKind::Approval => None,
        }
    }
}

/// The providers of the file, those with faults too: a need may name them without another fault.
pub(super) struct Providers<'r> {
    named: Vec<Named<'r>>,
}

struct Named<'r> {
    name: &'r str,
    kind: Kind,
    provider: Option<Provider>,
}

impl<'r> Providers<'r> {
    pub(super) fn names(&self) -> impl Iterator<Item = &'r str> {
        self.named.iter().map(|named| named.name)
    }

    /// The fields of a provider, where they are known.
    pub(super) fn fields(&self, name: &str) -> Option<Vec<&str>> {
        let fields = self.find(name)?.provider.as_ref()?.fields();
        Some(fields.iter().map(|field| field.name.as_str()).collect())
    }

    /// Whether a credential comes of a provider, as far as its kind is known.
    pub(super) fn have_secrets(&self, name: &str) -> bool {
        self.find(name).is_none_or(|named| matches!(named.kind, Kind::Secret | Kind::Unavailable))
    }

    fn find(&self, name: &str) -> Option<&Named<'r>> {
        self.named.iter().find(|named| named.name == name)
    }

    pub(super) fn into_complete(self) -> Vec<Provider> {
        self.named.into_iter().filter_map(|named| named.provider).collect()
    }
}

/// Reads all providers; there may be none.
pub(super) fn read_all(node: Option<Node<'_>>) -> Providers<'_> {
    let mut named: Vec<Named<'_>> = Vec::new();
    for table in node.map(|node| node.tables("provider")).unwrap_or_default() {
        let before: Vec<&str> = named.iter().map(|named| named.name).collect();
        let name = name::read(&table, &before);
        let (kind, provider) = read(table, name.unwrap_or_default());
        if let Some(name) = name {
            named.push(Named { name, kind, provider });
        }
    }
    Providers { named }
}

fn read(table: Table<'_>, name: &str) -> (Kind, Option<Provider>) {
    let title = table.take("title").map(|node| text::read(&node));
    let about = table.take("about").map(|node| text::read(&node));
    let named = kind(&table);
    let kind = match named {
        Kind::Secret => {
            refuse(&table, &external::KEYS, "external");
            secret(&table, name, true)
        }
        Kind::External => {
            refuse(&table, &KEYS, "secret");
            if about.is_none() {
                table.fault("about", "is missing", "add about = \"…\": what happens there, and what it costs");
            }
            external::read(&table).map(ProviderKind::External)
        }
        Kind::Approval => {
            refuse(&table, &KEYS, "secret");
            refuse(&table, &external::KEYS, "external");
            Some(ProviderKind::Approval)
        }
        Kind::Unavailable => secret(&table, name, false),
    };
    // The keys of a kind that is not there yet would be faults that only follow from that one.
    if named != Kind::Unavailable {
        table.close();
    }
    let provider = kind.map(|kind| Provider {
        name: name.to_owned(),
        title: title.flatten().unwrap_or_else(|| Text::from(name)),
        about: about.flatten(),
        kind,
    });
    (named, provider)
}

/// The keys that only kind secret has.
const KEYS: [&str; 2] = ["field", "check"];

fn secret(table: &Table<'_>, name: &str, required: bool) -> Option<ProviderKind> {
    let field = if required {
        table.require("field", "a table [[provider.field]] with name = \"api_key\"")
    } else {
        table.take("field")
    };
    let fields = field.map(|node| field::read_all(&node));
    let check = table.take("check").map(|node| check::read(&node, name, fields.as_deref()));
    Some(ProviderKind::Secret { fields: fields?, check: check.flatten() })
}

/// Leaves a fault for each of `keys`, which are those of another kind.
fn refuse(table: &Table<'_>, keys: &[&'static str], kind: &str) {
    for key in keys {
        if let Some(node) = table.take(key) {
            node.fault(format!("{key} is for a provider of kind {kind}"), "remove it");
        }
    }
}

/// What was given as the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Fields on a page; or none that anybody knows, and then most likely this one was meant.
    Secret,
    /// Somebody else's page.
    External,
    /// Each call on a page of ours.
    Approval,
    /// One that this version does not have. A fault says so already.
    Unavailable,
}

const KINDS: &str = "use kind = \"secret\" (a page with fields), \"external\" (somebody else's page) or \"approval\" (each call on our page)";

fn kind(table: &Table<'_>) -> Kind {
    let node = table.require("kind", "kind = \"secret\"");
    if let Some(node) = node
        && let Some(kind) = node.string("\"secret\"")
    {
        match kind {
            "secret" => {}
            "external" => return Kind::External,
            "approval" => return Kind::Approval,
            "oauth" | "mcp" => {
                node.fault(format!("kind {kind} is not available in this version"), KINDS);
                return Kind::Unavailable;
            }
            other => node.fault(format!("there is no kind {other:?}"), KINDS),
        }
    }
    Kind::Secret
}
