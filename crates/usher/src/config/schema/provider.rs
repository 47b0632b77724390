//! `[[provider]]`, with its fields and its check.

use serde_json::{Value, json};

use super::{
    shapes::{boolean, choice, headers, name, tables, target, text},
    table,
};

pub(super) fn section() -> Value {
    let properties = json!({
        "name": name("Its name here; renaming it orphans the credentials stored under the old one."),
        "kind": choice("secret: the user enters the credential on a page.", &["secret"], None),
        "title": text("What people know it by; the name by default."),
        "about": text("What the connection is for."),
        "field": tables(&field(), 1),
        "check": check(),
    });
    table("A service whose credential each user connects once.", &["name", "kind", "field"], properties)
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
