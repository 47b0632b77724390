//! `[[provider]]`, with its fields, its check, and what somebody else's page is asked.

use serde_json::{Value, json};

use super::{
    definition,
    shapes::{boolean, choice, headers, name, path, tables, target, text, word},
    table,
};

pub(super) fn section() -> Value {
    let mut properties = json!({
        "name": name("Its name here; renaming it orphans the credentials stored under the old one."),
        "kind": choice(
            "secret: the user enters the credential on a page. oauth: they connect an account at a third party. mcp: they \
             connect an account at the MCP server itself. external: they do something at somebody else's page. approval: \
             they approve each call on a page of ours. Not needed where the name, or catalogue, is in the catalogue.",
            &["secret", "oauth", "mcp", "external", "approval"],
            None,
        ),
        "title": text("What people know it by; the name by default."),
        "about": text("What the connection is for; for kind external, where it is required, what happens there."),
        "field": tables(&field(), 1),
        "check": check(),
        "url": {
            "type": "string",
            "description": "For kind external: the page, with {reference} and {return_url}. https, or http on loopback.",
            "pattern": "^[Hh][Tt][Tt][Pp][Ss]?:.*\\{reference\\}",
        },
        "confirm": confirm(),
        "per": choice(
            "For kind external: whether a completed visit is good for one call or for all calls of its user.",
            &["call", "user"],
            Some("call"),
        ),
    });
    let definition = definition::keys();
    if let (Value::Object(properties), Value::Object(accounts)) = (&mut properties, accounts()) {
        properties.extend(accounts);
        properties.extend(definition.clone());
    }
    let definition: Vec<&str> = definition.keys().map(String::as_str).collect();
    let refused =
        |more: &[&[&'static str]]| [&more.concat(), &ACCOUNT[..], &["catalogue", "values"], &definition].concat();
    let (typed, visit): (&[_], &[_]) = (&["field", "check"], &["url", "confirm", "per"]);
    let mut section = table("What users connect, visit or approve.", &["name"], properties);
    section["allOf"] = json!([
        of_kind("secret", &["field"], &refused(&[visit])),
        of_kind("oauth", &[], &[typed, visit].concat()),
        of_kind("mcp", &[], &[&[typed, visit].concat()[..], &["catalogue", "values"], &definition].concat()),
        of_kind("external", &["url", "about"], &refused(&[typed])),
        of_kind("approval", &[], &refused(&[typed, visit])),
    ]);
    section
}

/// The keys of the kinds oauth and mcp.
const ACCOUNT: [&str; 7] =
    ["client_id", "client_secret", "client_secret_file", "client_secret_env", "scopes", "issuer", "registration"];

fn accounts() -> Value {
    json!({
        "client_id": word("For the kinds oauth and mcp: Usher's client at the provider."),
        "client_secret": {
            "type": "string",
            "description": "For the kinds oauth and mcp: its secret. Or client_secret_file, or client_secret_env; none for a \
                            public client.",
        },
        "client_secret_file": path("For the kinds oauth and mcp: a file with the secret as its only text.", None),
        "client_secret_env": {
            "type": "string",
            "description": "For the kinds oauth and mcp: the environment variable with the secret.",
        },
        "scopes": scopes("For the kinds oauth and mcp: the scopes that every user is asked for."),
        "issuer": {
            "type": "string",
            "description": "For kind oauth: the issuer identifier (RFC 8414), with placeholders of inputs. For kind mcp: the one \
                            issuer that is taken.",
            "pattern": "^[Hh][Tt][Tt][Pp][Ss]?:",
        },
        "registration": choice(
            "For the kinds oauth and mcp: how Usher's client comes to be known there. static, the default of kind oauth: the \
             operator registers it. automatic, the default of kind mcp: by client_id, by its metadata document, or by \
             registration, whichever can be.",
            &["automatic", "static", "dynamic", "metadata_document"],
            None,
        ),
        "catalogue": name("For kind oauth: the definition of the catalogue that is meant; that of its own name by default."),
        "values": {
            "type": "object",
            "description": "For kind oauth: what the operator chooses of the provider's inputs, by name. Users choose the others.",
            "additionalProperties": { "type": "string" },
        },
    })
}

/// Scopes, a word each.
pub(super) fn scopes(description: &str) -> Value {
    json!({
        "type": "array",
        "description": description,
        "items": { "type": "string", "pattern": "^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$" },
    })
}

/// What a provider of `kind` must have, and what it cannot have. One without a kind is of the catalogue.
fn of_kind(kind: &str, required: &[&str], refused: &[&str]) -> Value {
    let refused: Vec<Value> = refused.iter().map(|key| json!({ "required": [key] })).collect();
    json!({
        "if": { "properties": { "kind": { "const": kind } }, "required": ["kind"] },
        "then": { "required": required, "not": { "anyOf": refused } },
    })
}

fn confirm() -> Value {
    let filled = |description: &str| json!({ "type": "string", "description": description, "minLength": 1 });
    let properties = json!({
        "get": {
            "type": "string",
            "description": "The URL to ask, by GET, with {reference}. https; or http on loopback and in private networks.",
            "pattern": "^[Hh][Tt][Tt][Pp][Ss]?:.*\\{reference\\}",
        },
        "header": headers("Headers by which Usher proves who asks; the one field is {secret}."),
        "secret": filled("What {secret} stands for."),
        "secret_file": path("A file that holds it, readable for its owner and group alone.", None),
        "secret_env": filled("An environment variable that holds it."),
        "field": filled("The member of the answer, a JSON object, that says whether it is done: a string at its top."),
        "equals": filled("What that member is when it is done."),
    });
    table(
        "For kind external: a request that tells whether the visit is completed.",
        &["get", "field", "equals"],
        properties,
    )
}

fn field() -> Value {
    let properties = json!({
        "name": {
            "type": "string",
            "description": "What templates call it.",
            "pattern": "^[a-z][a-z0-9_]{0,63}$",
            "not": { "enum": ["action", "csrf", "lang"] },
        },
        "label": text("What the page calls it; the name by default."),
        "description": text("A line of help."),
        "help_url": {
            "type": "string",
            "description": "Where the user finds the value: https, or http on loopback.",
            "format": "uri",
            "pattern": "^[Hh][Tt][Tt][Pp][Ss]?:",
        },
        "secret": boolean("Whether what is typed is hidden.", true),
        "required": boolean(
            "Whether it may not be left empty. Where an optional one is left empty, headers that use it are left out.",
            true,
        ),
    });
    table("One input of the page.", &["name"], properties)
}

fn check() -> Value {
    let properties = json!({
        "get": target("The URL to ask, by GET."),
        "header": headers("Headers that carry the credential."),
    });
    table("A request that tells whether the credential is good.", &["get", "header"], properties)
}
