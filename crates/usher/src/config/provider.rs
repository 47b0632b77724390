//! `[[provider]]`: a service whose credentials users connect.

use std::collections::BTreeMap;

use http::HeaderValue;
use secrecy::SecretString;

use super::check::{self, Check};
use super::definition::RefreshBy;
use super::external::{self, External, Per};
use super::field::{self, Field};
use super::oauth::{self, McpAuthorization, OAuth};
use super::reader::{Node, Table};
use super::template::{Template, TemplateError};
use super::text::{self, Text};
use super::{definition, name, suggest};

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
    /// They connect an account at a third party, by OAuth.
    OAuth(Box<OAuth>),
    /// They connect an account at the MCP server itself, which demands it.
    Mcp(Box<McpAuthorization>),
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
            ProviderKind::OAuth(_) | ProviderKind::Mcp(_) | ProviderKind::External(_) | ProviderKind::Approval => &[],
        }
    }

    /// What templates may use of a connection.
    pub fn kept_fields(&self) -> Vec<&str> {
        match &self.kind {
            ProviderKind::Secret { fields, .. } => fields.iter().map(|field| field.name.as_str()).collect(),
            ProviderKind::OAuth(oauth) => oauth.definition.fields(),
            ProviderKind::Mcp(_) => oauth::MCP_FIELDS.to_vec(),
            ProviderKind::External(_) | ProviderKind::Approval => Vec::new(),
        }
    }

    /// Whether the user types the credential into a page of ours.
    pub fn is_typed(&self) -> bool {
        matches!(self.kind, ProviderKind::Secret { .. })
    }

    /// Whether the user connects an account at a third party, there.
    pub fn is_account(&self) -> bool {
        matches!(self.kind, ProviderKind::OAuth(_) | ProviderKind::Mcp(_))
    }

    /// Whether what the user does is good for one call alone, so that each call needs it anew.
    pub fn is_per_call(&self) -> bool {
        match &self.kind {
            ProviderKind::Secret { .. } | ProviderKind::OAuth(_) | ProviderKind::Mcp(_) => false,
            ProviderKind::External(external) => external.per == Per::Call,
            ProviderKind::Approval => true,
        }
    }

    /// Whether a credential comes of it that goes upstream.
    pub fn has_secrets(&self) -> bool {
        match self.kind {
            ProviderKind::Secret { .. } | ProviderKind::OAuth(_) | ProviderKind::Mcp(_) => true,
            ProviderKind::External(_) | ProviderKind::Approval => false,
        }
    }

    /// Somebody else's page, if it is one.
    pub fn external(&self) -> Option<&External> {
        match &self.kind {
            ProviderKind::External(external) => Some(external),
            ProviderKind::Secret { .. } | ProviderKind::OAuth(_) | ProviderKind::Mcp(_) | ProviderKind::Approval => {
                None
            }
        }
    }

    /// Whether another access token can be had where this one ends: by a refresh token, or, at few providers, by the access token
    /// itself while it is good.
    pub fn renews(&self, has_refresh_token: bool) -> bool {
        match &self.kind {
            ProviderKind::OAuth(oauth) => has_refresh_token || oauth.definition.refresh.by == RefreshBy::AccessToken,
            ProviderKind::Mcp(_) => has_refresh_token,
            ProviderKind::Secret { .. } | ProviderKind::External(_) | ProviderKind::Approval => false,
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
        if self.is_account() {
            return secrets.contains_key(definition::ACCESS_TOKEN);
        }
        self.fields().iter().all(|field| !field.required || secrets.contains_key(&field.name))
    }

    fn requires(&self, name: &str) -> bool {
        // What came with a token is there, or the connection does not fit the configuration any more.
        self.is_account() || self.fields().iter().any(|field| field.name == name && field.required)
    }

    /// How to tell whether a credential is good.
    pub fn check(&self) -> Option<&Check> {
        match &self.kind {
            ProviderKind::Secret { check, .. } => check.as_ref(),
            ProviderKind::OAuth(_) | ProviderKind::Mcp(_) | ProviderKind::External(_) | ProviderKind::Approval => None,
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
        Some(self.find(name)?.provider.as_ref()?.kept_fields())
    }

    /// Whether a credential comes of a provider, as far as its kind is known.
    pub(super) fn have_secrets(&self, name: &str) -> bool {
        self.find(name).is_none_or(|named| !matches!(named.kind, Kind::External | Kind::Approval))
    }

    /// Whether a provider is an account at a third party, whose credential is an access token.
    pub(super) fn is_account(&self, name: &str) -> bool {
        self.find(name).is_some_and(|named| matches!(named.kind, Kind::OAuth | Kind::Mcp))
    }

    /// Whether a provider is an account at the MCP server itself.
    pub(super) fn is_of_server(&self, name: &str) -> bool {
        self.find(name).is_some_and(|named| named.kind == Kind::Mcp)
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
    let named = kind(&table, name);
    let kind = match named {
        Kind::Secret => {
            refuse(&table, &external::KEYS, "external");
            refuse_accounts(&table);
            secret(&table, name)
        }
        Kind::OAuth => {
            refuse(&table, &KEYS, "secret");
            refuse(&table, &external::KEYS, "external");
            oauth::read(&table, name).map(|oauth| ProviderKind::OAuth(Box::new(oauth)))
        }
        Kind::Mcp => {
            refuse(&table, &KEYS, "secret");
            refuse(&table, &external::KEYS, "external");
            refuse(&table, &oauth::OWN_KEYS, "oauth");
            refuse_definition(&table);
            oauth::read_mcp(&table).map(|mcp| ProviderKind::Mcp(Box::new(mcp)))
        }
        Kind::External => {
            refuse(&table, &KEYS, "secret");
            refuse_accounts(&table);
            if about.is_none() {
                table.fault("about", "is missing", "add about = \"…\": what happens there, and what it costs");
            }
            external::read(&table).map(ProviderKind::External)
        }
        Kind::Approval => {
            refuse(&table, &KEYS, "secret");
            refuse(&table, &external::KEYS, "external");
            refuse_accounts(&table);
            Some(ProviderKind::Approval)
        }
        Kind::Unknown => None,
    };
    // The keys of a kind that nobody knows would be faults that only follow from that one.
    if named != Kind::Unknown {
        table.close();
    }
    let known = match &kind {
        Some(ProviderKind::OAuth(oauth)) => Some(&oauth.definition),
        _ => None,
    };
    let known_title = known.and_then(|definition| definition.title.clone());
    let known_about = known.and_then(|definition| definition.about.clone());
    let provider = kind.map(|kind| Provider {
        name: name.to_owned(),
        title: title.flatten().or(known_title).unwrap_or_else(|| Text::from(name)),
        about: about.flatten().or(known_about),
        kind,
    });
    (named, provider)
}

/// The keys that only kind secret has.
const KEYS: [&str; 2] = ["field", "check"];

fn secret(table: &Table<'_>, name: &str) -> Option<ProviderKind> {
    let field = table.require("field", "a table [[provider.field]] with name = \"api_key\"");
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

/// The same for what accounts at third parties have.
fn refuse_accounts(table: &Table<'_>) {
    refuse(table, &oauth::KEYS, "oauth or mcp");
    refuse(table, &oauth::OWN_KEYS, "oauth");
    refuse_definition(table);
}

/// The same for what a definition has.
pub(super) fn refuse_definition(table: &Table<'_>) {
    for key in definition::KEYS {
        if let Some(node) = table.take(key) {
            node.fault(format!("{key} is for a provider of kind oauth with endpoints of its own"), "remove it");
        }
    }
}

/// What was given as the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Fields on a page; or none that anybody knows, and then most likely this one was meant.
    Secret,
    /// An account at a third party.
    OAuth,
    /// An account at the MCP server itself.
    Mcp,
    /// Somebody else's page.
    External,
    /// Each call on a page of ours.
    Approval,
    /// One that cannot be guessed. A fault says so already.
    Unknown,
}

const KINDS: &str = "use kind = \"secret\" (a page with fields), \"oauth\" (an account at a third party), \"mcp\" (an account \
                     at the MCP server itself), \"external\" (somebody else's page) or \"approval\" (each call on our page)";

/// The kind. Without one, a name of the catalogue says it.
fn kind(table: &Table<'_>, name: &str) -> Kind {
    let Some(node) = table.take("kind") else {
        if table.has("catalogue") || definition::catalogue::has(name) {
            return Kind::OAuth;
        }
        if ["authorization_endpoint", "token_endpoint"].iter().any(|key| table.has(key)) {
            table.fault("kind", "is missing", "add kind = \"oauth\": the provider has endpoints of its own");
            return Kind::OAuth;
        }
        let fix = match suggest::closest(name, definition::catalogue::names()) {
            Some(close) => format!("add kind = \"secret\", or another; or did you mean {close}, of the catalogue?"),
            None => "add kind = \"secret\"".to_owned(),
        };
        table.fault("kind", "is missing", fix);
        if table.has("client_id") && !table.has("field") {
            return Kind::Unknown;
        }
        return Kind::Secret;
    };
    match node.string("\"secret\"") {
        Some("secret") | None => Kind::Secret,
        Some("oauth") => Kind::OAuth,
        Some("mcp") => Kind::Mcp,
        Some("external") => Kind::External,
        Some("approval") => Kind::Approval,
        Some(other) => {
            node.fault(format!("there is no kind {other:?}"), KINDS);
            Kind::Secret
        }
    }
}
