//! `[[provider]]`, with its fields, its check, and what somebody else's page is asked.

use serde_json::{Value, json};

use super::{
    shapes::{boolean, choice, headers, name, path, tables, target, text},
    table,
};

pub(super) fn section() -> Value {
    let properties = json!({
        "name": name("Its name here; renaming it orphans the credentials stored under the old one."),
        "kind": choice(
            "secret: the user enters the credential on a page. external: they do something at somebody else's page. \
             approval: they approve each call on a page of ours.",
            &["secret", "external", "approval"],
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
    let mut section = table("What users connect, visit or approve.", &["name", "kind"], properties);
    section["allOf"] = json!([
        of_kind("secret", &["field"], &["url", "confirm", "per"]),
        of_kind("external", &["url", "about"], &["field", "check"]),
        of_kind("approval", &[], &["field", "check", "url", "confirm", "per"]),
    ]);
    section
}

/// What a provider of `kind` must have, and what it cannot have.
fn of_kind(kind: &str, required: &[&str], refused: &[&str]) -> Value {
    let refused: Vec<Value> = refused.iter().map(|key| json!({ "required": [key] })).collect();
    json!({
        "if": { "properties": { "kind": { "const": kind } } },
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
