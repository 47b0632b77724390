//! Shapes of values that stand in several sections.

use serde_json::{Value, json};

/// A name of a provider or an upstream.
pub(super) fn name(description: &str) -> Value {
    json!({ "type": "string", "description": description, "pattern": "^[a-z0-9-]{1,64}$" })
}

/// A path, relative to the folder of the configuration.
pub(super) fn path(description: &str, default: Option<&str>) -> Value {
    let mut shape = json!({ "type": "string", "description": description, "pattern": "[^/]$" });
    if let Some(default) = default {
        shape["default"] = json!(default);
    }
    shape
}

/// A word of a protocol: one to 255 printable ASCII characters.
pub(super) fn word(description: &str) -> Value {
    json!({ "type": "string", "description": description, "pattern": "^[\\x20-\\x7e]{1,255}$" })
}

/// A text for people, in one language or several.
pub(super) fn text(description: &str) -> Value {
    let line = json!({ "type": "string", "minLength": 1, "maxLength": 1000, "pattern": "\\S" });
    json!({
        "description": format!("{description} One text for all, or one a language: {{ en = \"Weather\", \"zh-CN\" = \"天气\" }}."),
        "anyOf": [
            line,
            {
                "type": "object",
                "minProperties": 1,
                "propertyNames": { "pattern": "^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$" },
                "additionalProperties": line,
            },
        ],
    })
}

/// A whole number and a unit. The range is told in words: a pattern cannot.
pub(super) fn duration(description: &str, range: &str, default: &str) -> Value {
    json!({
        "type": "string",
        "description": format!("{description} {range}."),
        "pattern": "^[0-9]+[smh]$",
        "default": default,
    })
}

/// A count from 1 on.
pub(super) fn count(description: &str, most: u32, default: u32) -> Value {
    json!({ "type": "integer", "description": description, "minimum": 1, "maximum": most, "default": default })
}

/// A size in bytes. The range is told in words: a pattern cannot.
pub(super) fn size(description: &str, range: &str, default: &str) -> Value {
    json!({
        "type": "string",
        "description": format!("{description} {range}."),
        "pattern": "^[0-9]+(KiB|MiB|GiB)$",
        "default": default,
    })
}

/// The program and arguments of a command.
pub(super) fn words(description: &str) -> Value {
    json!({ "type": "array", "description": description, "items": { "type": "string" }, "minItems": 1 })
}

/// Variables of a process, as the operator writes them or with fields of a provider.
pub(super) fn variables(description: &str, least: u8) -> Value {
    let mut shape = json!({
        "type": "object",
        "description": description,
        "propertyNames": { "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" },
        "additionalProperties": { "type": "string" },
    });
    if least > 0 {
        shape["minProperties"] = json!(least);
    }
    shape
}

/// A URL of a server that the operator names.
pub(super) fn target(description: &str) -> Value {
    json!({
        "type": "string",
        "description": format!("{description} https; or http on loopback and in private networks."),
        "format": "uri",
        "pattern": "^[Hh][Tt][Tt][Pp][Ss]?:",
    })
}

/// Headers that carry a credential.
pub(super) fn headers(description: &str) -> Value {
    json!({
        "type": "object",
        "description": format!(
            "{description} Names and templates: {{ Authorization = \"Bearer {{api_key}}\" }}. Braces hold a field of the \
             provider; {{{{ and }}}} stand for themselves."
        ),
        "minProperties": 1,
        "propertyNames": { "pattern": "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$" },
        "additionalProperties": { "type": "string", "pattern": "^[\\x20-\\x7e]*$" },
    })
}

/// A word out of a list.
pub(super) fn choice(description: &str, words: &[&str], default: Option<&str>) -> Value {
    let mut shape = json!({ "type": "string", "description": description, "enum": words });
    if let Some(default) = default {
        shape["default"] = json!(default);
    }
    shape
}

/// True or false.
pub(super) fn boolean(description: &str, default: bool) -> Value {
    json!({ "type": "boolean", "description": description, "default": default })
}

/// Tables that may stand several times.
pub(super) fn tables(table: &Value, least: u8) -> Value {
    let mut shape = json!({ "type": "array", "items": table });
    if least > 0 {
        shape["minItems"] = json!(least);
    }
    shape
}
