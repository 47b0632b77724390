//! `[[upstream]]`, with its needs.

use serde_json::{Value, json};

use super::{
    shapes::{choice, duration, headers, name, tables, target, text},
    table,
};

pub(super) fn section() -> Value {
    let properties = json!({
        "name": name("Its name, a part of the path: clients reach it at /mcp/NAME."),
        "title": text("What people know it by; the name by default."),
        "url": target("Its MCP endpoint (streamable HTTP)."),
        "hold": duration(
            "How long a call waits while its user is at a page, from the call's arrival. Many clients give up at 60 s.",
            "0s to 10m",
            "40s",
        ),
        "timeout": duration("How long the first byte of an answer may take.", "1s to 1h", "60s"),
        "fallback": choice(
            "For clients that cannot show a link. error: the call ends with an error that says where to connect.",
            &["error"],
            Some("error"),
        ),
        "reject": {
            "type": "array",
            "description": "The HTTP statuses by which the server says that a credential is bad; the user is then asked again.",
            "items": { "enum": [401, 403] },
            "uniqueItems": true,
            "default": [401],
        },
        "needs": tables(&need(), 0),
    });
    table("An MCP server behind the gateway.", &["name", "url"], properties)
}

fn need() -> Value {
    let properties = json!({
        "provider": name("The provider's name; once an upstream."),
        "on": {
            "type": "array",
            "description": "The calls that ask for the credential when it is missing; by default every call. Others carry it \
                            if it is there.",
            "items": { "type": "string", "pattern": "^(tools|prompts|resources)/." },
            "minItems": 1,
        },
        "header": headers("Headers that carry the credential; at least one with a field of the provider."),
    });
    table("A credential that the server needs.", &["provider", "header"], properties)
}
