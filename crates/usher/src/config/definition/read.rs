//! The keys of a definition, in a `[[provider]]` or in a file of the catalogue.

use std::collections::BTreeMap;

use url::Url;

use super::address::{self, Address};
use super::parameters::{choice, name};
use super::{ClientAuthentication, Definition, Iss, Registration, TokenReply};
use super::{authorize, call, callback, errors, input, refresh, reply, revocation, token};
use crate::config::field::is_link;
use crate::config::reader::{Node, Table};
use crate::config::suggest;
use crate::config::text::{self, Text};

/// The keys that only a definition has.
pub(in crate::config) const KEYS: [&str; 23] = [
    "documentation",
    "read",
    "register_at",
    "iss",
    "input",
    "authorization_endpoint",
    "token_endpoint",
    "introspection_endpoint",
    "client_id_parameter",
    "client_authentication",
    "public_clients",
    "registration_endpoint",
    "resource",
    "authorize",
    "callback",
    "token",
    "reply",
    "refresh",
    "errors",
    "revocation",
    "account",
    "lookup",
    "scope_text",
];

/// Reads the keys of a definition. The caller closes the table.
pub(in crate::config) fn read(table: &Table<'_>) -> Option<Definition> {
    let text = |key| table.take(key).and_then(|node| text::read(&node));
    let (title, about) = (text("title"), text("about"));
    let address = |key, example: &str| table.take(key).and_then(|node| address::read(&node, example));
    let required = |key, example: &str| {
        let node = table.require(key, &format!("{key} = {example}"));
        node.and_then(|node| address::read(&node, example))
    };
    let documentation = table.take("documentation").map(|node| links(&node)).unwrap_or_default();
    let read = table.take("read").and_then(|node| date(&node));
    let register_at = table.take("register_at").and_then(|node| link(&node));
    let issuer = address("issuer", "\"https://id.example\"");
    let iss = iss(table, issuer.is_some());
    let inputs = table.take("input").map(|node| input::read_all(&node)).unwrap_or_default();
    let authorization_endpoint = required("authorization_endpoint", "\"https://id.example/authorize\"");
    let token_endpoint = required("token_endpoint", "\"https://id.example/token\"");
    let introspection_endpoint = address("introspection_endpoint", "\"https://id.example/introspect\"");
    let registration_endpoint = address("registration_endpoint", "\"https://id.example/register\"");
    let registration = registration(table, registration_endpoint.is_some());
    let client_id_parameter = name(table, "client_id_parameter", "client_id");
    let client_authentication = client_authentication(table);
    let public_clients = table.take("public_clients").and_then(|node| node.boolean()).unwrap_or(false);
    let resource = table.take("resource").and_then(|node| resource(&node));
    let authorize = table.take("authorize").map(|node| authorize::read(&node)).unwrap_or_default();
    let callback = table.take("callback").map(|node| callback::read(&node)).unwrap_or_default();
    let token = table.take("token").map(|node| token::read(&node)).unwrap_or_default();
    let standard = TokenReply { scope_separator: authorize.scope_separator, ..TokenReply::default() };
    let reply = match table.take("reply") {
        Some(node) => reply::read(&node, &standard, "[provider.reply]"),
        None => standard,
    };
    let refresh = match table.take("refresh") {
        Some(node) => refresh::read(&node, &reply, token.request),
        None => super::Refresh { reply: reply.clone(), request: token.request, ..super::Refresh::default() },
    };
    let errors = table.take("errors").map(|node| errors::read(&node)).unwrap_or_default();
    let revocation = table.take("revocation").and_then(|node| revocation::read(&node));
    let account = table.take("account").and_then(|node| call::read_account(&node));
    let lookup = table.take("lookup").and_then(|node| call::read_lookup(&node));
    let scope_text = table.take("scope_text").map(|node| scope_text(&node)).unwrap_or_default();
    let definition = Definition {
        title,
        about,
        documentation,
        read,
        register_at,
        issuer,
        iss,
        inputs,
        authorization_endpoint: authorization_endpoint?,
        token_endpoint: token_endpoint?,
        introspection_endpoint,
        client_id_parameter,
        client_authentication,
        public_clients,
        registration,
        registration_endpoint,
        resource,
        authorize,
        callback,
        token,
        reply,
        refresh,
        errors,
        revocation,
        account,
        lookup,
        scope_text,
    };
    check_placeholders(table, &definition);
    check_hosts(table, &definition);
    check_names(table, &definition);
    check_registered(table, &definition);
    Some(definition)
}

fn iss(table: &Table<'_>, has_issuer: bool) -> Iss {
    let words = [("required", Iss::Required), ("optional", Iss::Optional), ("ignored", Iss::Ignored)];
    let iss = choice(table, "iss", &words, if has_issuer { Iss::Optional } else { Iss::Ignored });
    if iss != Iss::Ignored && !has_issuer {
        table.fault("issuer", "is missing, and iss is compared with it", "add issuer = \"https://id.example\"");
    }
    iss
}

fn registration(table: &Table<'_>, has_endpoint: bool) -> Registration {
    let words = [
        ("static", Registration::Static),
        ("dynamic", Registration::Dynamic),
        ("metadata_document", Registration::MetadataDocument),
    ];
    let registration = choice(table, "registration", &words, Registration::Static);
    if registration == Registration::Dynamic && !has_endpoint {
        let fix = "add registration_endpoint = \"https://id.example/register\"";
        table.fault("registration_endpoint", "is missing", fix);
    }
    registration
}

fn client_authentication(table: &Table<'_>) -> ClientAuthentication {
    let words = ClientAuthentication::ALL.map(|method| (method.as_str(), method));
    choice(table, "client_authentication", &words, ClientAuthentication::Basic)
}

/// An absolute URI without a fragment (RFC 8707, section 2).
fn resource(node: &Node<'_>) -> Option<String> {
    let text = node.string("\"https://api.example\"")?;
    if Url::parse(text).is_ok_and(|url| url.fragment().is_none()) {
        return Some(text.to_owned());
    }
    node.fault("is no absolute URI without a fragment", "for example \"https://api.example\"");
    None
}

fn links(node: &Node<'_>) -> Vec<Url> {
    node.array("[\"https://docs.example/oauth\"]").unwrap_or_default().iter().filter_map(link).collect()
}

fn link(node: &Node<'_>) -> Option<Url> {
    const EXAMPLE: &str = "\"https://docs.example/oauth\"";
    let url = Url::parse(node.string(EXAMPLE)?).ok().filter(is_link);
    if url.is_none() {
        node.fault("is no https URL", format!("write it in full, for example {EXAMPLE}"));
    }
    url
}

fn date(node: &Node<'_>) -> Option<String> {
    let text = node.string("\"2026-11-30\"")?;
    if text.parse::<jiff::civil::Date>().is_err() || text.len() != 10 {
        node.fault(format!("{text:?} is no date"), "for example \"2026-11-30\"");
        return None;
    }
    Some(text.to_owned())
}

fn scope_text(node: &Node<'_>) -> BTreeMap<String, Text> {
    let mut texts = BTreeMap::new();
    let Some(table) = node.table("[provider.scope_text]") else { return texts };
    for (scope, node) in table.entries() {
        if let Some(text) = text::read(&node) {
            texts.insert(scope.to_owned(), text);
        }
    }
    texts
}

/// Leaves a fault for each name that is filled from two places: who chose what stands in a URL decides how it is requested
/// (R-SEC-05), and of two nobody could say who did.
fn check_names(table: &Table<'_>, definition: &Definition) {
    let mut names = definition.fields();
    names.sort_unstable();
    for pair in names.windows(2).filter(|pair| pair[0] == pair[1]) {
        let name = pair[0];
        let key = if definition.inputs.iter().any(|input| input.name == name) { "input" } else { "reply" };
        let message = format!("{{{name}}} is filled from two places: inputs, reply, callback and lookup");
        table.fault(key, message, "give each its own name");
    }
}

/// Leaves a fault where a user could choose a whole host that our client's secret would then be sent to.
fn check_hosts(table: &Table<'_>, definition: &Definition) {
    let keeps = definition.registration != Registration::Static;
    if keeps || definition.client_authentication == ClientAuthentication::None {
        return;
    }
    let revocation = definition.revocation.as_ref().map(|revocation| &revocation.endpoint);
    let addresses = [
        ("token_endpoint", Some(&definition.token_endpoint)),
        ("introspection_endpoint", definition.introspection_endpoint.as_ref()),
        ("refresh.endpoint", definition.refresh.endpoint.as_ref()),
        ("revocation.endpoint", revocation),
    ];
    for input in definition.inputs.iter().filter(|input| input.chosen_by == super::ChosenBy::User) {
        let whole = |address: &&Address| address.is_led_by(&input.name);
        if let Some((key, _)) = addresses.iter().find(|(_, address)| address.as_ref().is_some_and(whole)) {
            table.fault(
                key,
                format!(
                    "its host is whatever a user writes for {{{}}}, and the client's secret goes there",
                    input.name
                ),
                "add chosen_by = \"operator\" to that input; or end the host in a domain of the provider's, as in \
                 \"https://{shop}.myshop.example/token\"",
            );
        }
    }
}

/// Leaves a fault where a user could choose an endpoint without choosing the issuer that our registration there belongs to: what one
/// user's choice registered would be everybody's (R-OAUTH-05).
fn check_registered(table: &Table<'_>, definition: &Definition) {
    if definition.registration != Registration::Dynamic {
        return;
    }
    let holds = |address: Option<&Address>, name: &str| {
        address.is_some_and(|address| address.placeholders().any(|placeholder| placeholder == name))
    };
    let revocation = definition.revocation.as_ref().map(|revocation| &revocation.endpoint);
    let addresses = [
        ("registration_endpoint", definition.registration_endpoint.as_ref()),
        ("authorization_endpoint", Some(&definition.authorization_endpoint)),
        ("token_endpoint", Some(&definition.token_endpoint)),
        ("introspection_endpoint", definition.introspection_endpoint.as_ref()),
        ("refresh.endpoint", definition.refresh.endpoint.as_ref()),
        ("revocation.endpoint", revocation),
    ];
    for input in definition.inputs.iter().filter(|input| input.chosen_by == super::ChosenBy::User) {
        let name = &input.name;
        if holds(definition.issuer.as_ref(), name) {
            continue;
        }
        if let Some((key, _)) = addresses.iter().find(|(_, address)| holds(*address, name)) {
            table.fault(
                key,
                format!("holds {{{name}}}, which a user writes, and issuer does not: the client that registers itself is an issuer's"),
                format!("write {{{name}}} into issuer, too; or add chosen_by = \"operator\" to that input"),
            );
        }
    }
}

/// Leaves a fault for each placeholder that nothing fills, and each input that nothing uses.
fn check_placeholders(table: &Table<'_>, definition: &Definition) {
    let inputs: Vec<&str> = definition.inputs.iter().map(|input| input.name.as_str()).collect();
    let fields = definition.fields();
    let mut used: Vec<&str> = Vec::new();
    let check = |key: &str, address: Option<&'_ Address>, known: &[&str]| {
        let Some(address) = address else { return };
        for name in address.placeholders() {
            if known.contains(&name) {
                continue;
            }
            let fix = suggest::closest(name, known.iter().copied()).map_or_else(
                || format!("add a table [[provider.input]] with name = {name:?}"),
                |close| format!("did you mean {{{close}}}?"),
            );
            table.fault(key, format!("nothing fills {{{name}}}"), fix);
        }
    };
    let revocation = definition.revocation.as_ref();
    let account = definition.account.as_ref().and_then(|account| account.call.as_ref());
    let of_reply: Vec<&str> = fields.iter().copied().filter(|field| *field != super::ACCESS_TOKEN).collect();
    let with_client: Vec<&str> = inputs.iter().copied().chain(["client_id"]).collect();
    let places: [(&str, Option<&Address>, &[&str]); 9] = [
        ("issuer", definition.issuer.as_ref(), &inputs),
        ("authorization_endpoint", Some(&definition.authorization_endpoint), &inputs),
        ("token_endpoint", Some(&definition.token_endpoint), &inputs),
        ("introspection_endpoint", definition.introspection_endpoint.as_ref(), &inputs),
        ("registration_endpoint", definition.registration_endpoint.as_ref(), &inputs),
        ("refresh.endpoint", definition.refresh.endpoint.as_ref(), &inputs),
        ("revocation.endpoint", revocation.map(|revocation| &revocation.endpoint), &with_client),
        ("account.url", account.map(|call| &call.url), &of_reply),
        ("lookup.url", definition.lookup.as_ref().map(|lookup| &lookup.call.url), &of_reply),
    ];
    for (key, address, known) in places {
        check(key, address, known);
        used.extend(address.into_iter().flat_map(Address::placeholders));
    }
    for name in inputs.iter().filter(|name| !used.contains(name)) {
        table.fault("input", format!("nothing uses {{{name}}}"), "write it into a URL, or remove the input");
    }
}
