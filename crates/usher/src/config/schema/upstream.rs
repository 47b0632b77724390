//! `[[upstream]]`, with its needs.

use serde_json::{Value, json};

use super::{
    shapes::{boolean, choice, duration, headers, name, tables, target, text, variables, word, words},
    table,
};

pub(super) fn section() -> Value {
    let properties = json!({
        "name": name("Its name, a part of the path: clients reach it at /mcp/NAME."),
        "title": text("What people know it by; the name by default."),
        "url": target("Its MCP endpoint (streamable HTTP). This or command."),
        "command": words("The program that is started here, and its arguments. This or url."),
        "wrapper": words("For a command: a program and arguments to stand before it, a sandbox for example."),
        "trusted": boolean("For a command: that it may run with the rights of the service, without a wrapper.", false),
        "env": variables("For a command: variables of its environment, which is empty otherwise.", 0),
        "pass": {
            "type": "array",
            "description": "For a command: names of variables that pass from the service's own environment.",
            "items": { "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" },
            "default": ["PATH"],
        },
        "directory": {
            "type": "string",
            "description": "For a command: the folder in which it starts; by default that of the configuration.",
            "minLength": 1,
        },
        "idle": duration("For a command: after how long without a message it is stopped.", "1s to 24h", "10m"),
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
        "allow": allow(),
        "needs": tables(&need(), 0),
    });
    let mut table = table("An MCP server behind the gateway.", &["name"], properties);
    table["oneOf"] = json!([{ "required": ["url"] }, { "required": ["command"] }]);
    table
}

fn allow() -> Value {
    let properties = json!({
        "claim": word("The claim of the access token: a string, or an array of strings."),
        "any": {
            "type": "array",
            "description": "The values, of which one is enough.",
            "items": { "type": "string" },
            "minItems": 1,
        },
    });
    table("Mode oidc: whom the server is for. By default everybody.", &["claim", "any"], properties)
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
        "header": headers(
            "For a url: headers that carry the credential; at least one with a field of the provider. For providers with a \
             credential alone; Authorization = \"Bearer {access_token}\" by default where that is an account.",
        ),
        "env": variables("For a command: variables that carry the credential, with templates as in header.", 1),
        "scopes": super::provider::scopes("For the kinds oauth and mcp: the scopes that this server needs, beside those of the provider."),
    });
    table("A credential that the server needs, or something that its users do.", &["provider"], properties)
}
