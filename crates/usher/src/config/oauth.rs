//! Providers of the kinds `oauth` and `mcp`: people connect an account at a third party, there.

use std::collections::BTreeMap;
use std::sync::Arc;

use secrecy::SecretString;

use super::definition::parameters::choice;
use super::definition::{self, ACCESS_TOKEN, ClientAuthentication, Definition, Registration, catalogue};
use super::definition::{ChosenBy, Input};
use super::oidc::{Issuer, scopes, word};
use super::reader::{Node, Table};
use super::secret::{self, Secret};
use super::{suggest, target};

/// The keys that the kinds `oauth` and `mcp` both have.
pub(super) const KEYS: [&str; 7] =
    ["client_id", "client_secret", "client_secret_file", "client_secret_env", "scopes", "issuer", "registration"];

/// The keys that kind `oauth` has beside these and those of a definition.
pub(super) const OWN_KEYS: [&str; 2] = ["catalogue", "values"];

/// An account at a third party, by OAuth.
#[derive(Clone, Debug)]
pub struct OAuth {
    /// How its OAuth works: a file of the catalogue, or what stands in the configuration.
    pub definition: Arc<Definition>,
    /// The name of that file, if it is one.
    pub catalogue: Option<String>,
    /// Our client there. `None` only where the definition says that it registers itself.
    pub client_id: Option<String>,
    /// Its secret; none where it is a public client.
    pub client_secret: Option<SecretString>,
    /// Why it has one that cannot be had here, where a command does without.
    pub spared: Option<String>,
    /// The scopes that every user is asked for; those of a need come on top of them.
    pub scopes: Vec<String>,
    /// What the operator chose of the definition's inputs. Its users choose the others.
    pub values: BTreeMap<String, String>,
}

/// An account at an MCP server that demands its own sign-in (MCP authorization): its authorization server is discovered.
#[derive(Clone, Debug)]
pub struct McpAuthorization {
    /// Our client there, where the operator registered one.
    pub client_id: Option<String>,
    /// Its secret.
    pub client_secret: Option<SecretString>,
    /// Why it has one that cannot be had here, where a command does without.
    pub spared: Option<String>,
    /// The one issuer that is taken, where the operator says so (R-OAUTH-05).
    pub issuer: Option<Issuer>,
    /// The scopes that every user is asked for; those that the server names, where there are none.
    pub scopes: Vec<String>,
    /// How our client comes to be known there.
    pub registration: Registration,
}

impl OAuth {
    /// The inputs that are left to users.
    pub fn inputs(&self) -> impl Iterator<Item = &Input> {
        let left = |input: &&Input| input.chosen_by == ChosenBy::User && !self.values.contains_key(&input.name);
        self.definition.inputs.iter().filter(left)
    }
}

/// What templates may use of a connection of kind `mcp`.
pub(super) const MCP_FIELDS: [&str; 1] = [ACCESS_TOKEN];

/// Our client, as both kinds have it.
struct Client {
    id: Option<String>,
    secret: Option<SecretString>,
    spared: Option<String>,
    has_secret: bool,
}

fn client(table: &Table<'_>, needed: bool) -> Option<Client> {
    const EXAMPLE: &str = "client_id = \"…\", which the provider gave when you registered Usher there";
    let node = if needed { table.require("client_id", EXAMPLE) } else { table.take("client_id") };
    let id = node.and_then(|node| word(&node, "client_id = \"usher\""));
    let (secret, spared, has_secret) = match secret::read(table, &secret::CLIENT).ok()? {
        Secret::Found((secret, _)) => (Some(secret), None, true),
        Secret::Spared(why) => (None, Some(why), true),
        Secret::Absent => (None, None, false),
    };
    Some(Client { id, secret, spared, has_secret })
}

/// Reads the keys of kind `oauth`. `name` is the provider's, which may be in the catalogue.
pub(super) fn read(table: &Table<'_>, name: &str) -> Option<OAuth> {
    let (definition, catalogue) = definition(table, name);
    let registered = definition.as_ref().is_none_or(|definition| definition.registration == Registration::Static);
    let client = client(table, registered);
    let scopes = table.take("scopes").map(|node| asked(&node)).unwrap_or_default();
    let values = table.take("values");
    let (definition, client) = (definition?, client?);
    let mut values = values.map(|node| read_values(&node, &definition)).unwrap_or_default();
    complete(table, &definition, &mut values);
    if registered {
        check_secret(table, &definition, &client);
    }
    let Client { id, secret, spared, .. } = client;
    Some(OAuth { definition, catalogue, client_id: id, client_secret: secret, spared, scopes, values })
}

/// Reads the keys of kind `mcp`.
pub(super) fn read_mcp(table: &Table<'_>) -> Option<McpAuthorization> {
    let words = [
        ("automatic", Registration::Automatic),
        ("static", Registration::Static),
        ("dynamic", Registration::Dynamic),
        ("metadata_document", Registration::MetadataDocument),
    ];
    let registration = choice(table, "registration", &words, Registration::Automatic);
    let client = client(table, registration == Registration::Static)?;
    if client.id.is_none() && client.has_secret {
        table.fault(
            "client_id",
            "is missing, and a client_secret is given",
            "add client_id = \"…\", or remove the secret",
        );
    }
    let node = table.take("issuer");
    if client.id.is_some() && node.is_none() {
        table.fault(
            "issuer",
            "is missing, and a client_id is given, which is good at one authorization server alone",
            "add issuer = \"https://…\", exactly as the server's metadata name it",
        );
    }
    let issuer = node.and_then(|node| issuer(&node));
    let scopes = table.take("scopes").map(|node| asked(&node)).unwrap_or_default();
    let Client { id, secret, spared, .. } = client;
    Some(McpAuthorization { client_id: id, client_secret: secret, spared, issuer, scopes, registration })
}

fn issuer(node: &Node<'_>) -> Option<Issuer> {
    let url = target::read(node)?;
    let text = node.string("\"https://id.example\"")?;
    if url.query().is_some() {
        node.fault("contains a query, which no issuer identifier has", "remove the ? and what follows");
        return None;
    }
    Some(Issuer::of(text, url))
}

/// Scopes, of which people often write a string.
pub(super) fn asked(node: &Node<'_>) -> Vec<String> {
    if let Some(text) = node.text() {
        let list: Vec<String> =
            text.split([' ', ',']).filter(|scope| !scope.is_empty()).map(|scope| format!("{scope:?}")).collect();
        node.fault("expected an array, found a string", format!("write each scope by itself: [{}]", list.join(", ")));
        return Vec::new();
    }
    scopes(node).unwrap_or_default()
}

/// The definition that a provider uses, and its name in the catalogue.
fn definition(table: &Table<'_>, name: &str) -> (Option<Arc<Definition>>, Option<String>) {
    let own = ["authorization_endpoint", "token_endpoint"].iter().any(|key| table.has(key));
    let node = table.take("catalogue");
    let named = node.as_ref().map(|node| node.string("\"github\""));
    if let Some(node) = node.as_ref().filter(|_| own) {
        node.fault("the provider has endpoints of its own as well", "keep the catalogue's, or your own");
    }
    let found = match named {
        Some(None) => return (None, None),
        Some(Some(wanted)) => wanted,
        None if own || !catalogue::has(name) => {
            return (definition::read(table).map(Arc::new), None);
        }
        None => name,
    };
    // What stands in the catalogue's file is not to be said twice.
    super::provider::refuse_definition(table);
    match catalogue::find(found) {
        Some(Ok(definition)) => (Some(definition), Some(found.to_owned())),
        Some(Err(faults)) => {
            table.fault("catalogue", format!("the catalogue's file has faults: {faults}"), "report it");
            (None, None)
        }
        None => {
            if let Some(node) = node {
                let fix = suggest::closest(found, catalogue::names()).map_or_else(
                    || format!("in the catalogue: {}", catalogue::names().collect::<Vec<_>>().join(", ")),
                    |close| format!("did you mean {close}?"),
                );
                node.fault(format!("there is no {found:?} in the catalogue"), fix);
            }
            (None, None)
        }
    }
}

/// A confidential client has a secret, and a public one has none.
fn check_secret(table: &Table<'_>, definition: &Definition, client: &Client) {
    let public = definition.client_authentication == ClientAuthentication::None;
    if public && client.has_secret {
        let fix = "remove it, or choose another client_authentication";
        table.fault("client_secret", "the provider takes no secret: client_authentication is none", fix);
    } else if !public && !client.has_secret && !definition.public_clients {
        let fix = "add client_secret_file = \"…\" or client_secret_env; where your client has none, as a public one has, \
                   client_authentication = \"none\"";
        table.fault("client_secret", "is missing", fix);
    }
}

/// What only the operator chooses is chosen, or has a default.
fn complete(table: &Table<'_>, definition: &Definition, values: &mut BTreeMap<String, String>) {
    for input in definition.inputs.iter().filter(|input| input.chosen_by == ChosenBy::Operator) {
        if values.contains_key(&input.name) {
            continue;
        }
        if let Ok(value) = input.accept("") {
            values.insert(input.name.clone(), value);
            continue;
        }
        let example = input.example.as_deref().unwrap_or("…");
        let fix = format!("add values = {{ {} = {example:?} }}: {}", input.name, input.label.get("en"));
        table.fault("values", format!("the provider wants to know its {}", input.name), fix);
    }
}

fn read_values(node: &Node<'_>, definition: &Definition) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    let Some(table) = node.table("[provider.values]") else { return values };
    for (name, node) in table.entries() {
        let Some(input) = definition.inputs.iter().find(|input| input.name == name) else {
            let names: Vec<&str> = definition.inputs.iter().map(|input| input.name.as_str()).collect();
            let known =
                if names.is_empty() { "it has none".to_owned() } else { format!("its inputs: {}", names.join(", ")) };
            node.fault(format!("the provider has no input {name}"), known);
            continue;
        };
        let Some(text) = node.string("\"acme\"") else { continue };
        match input.accept(text) {
            Ok(value) => drop(values.insert(name.to_owned(), value)),
            Err(error) => {
                let example =
                    input.example.as_deref().map_or(String::new(), |example| format!(", for example {example:?}"));
                node.fault(error.to_string(), format!("write {}{example}", input.label.get("en")));
            }
        }
    }
    values
}
