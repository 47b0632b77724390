//! `[identity]`.

use serde_json::{Value, json};

use super::{
    shapes::{choice, path, target, word},
    table,
};

pub(super) fn section() -> Value {
    let properties = json!({
        "mode": choice(
            "local: one person on this machine. oidc: everybody whom an OpenID provider knows.",
            &["local", "oidc"],
            Some("local"),
        ),
        "tokens_file": path(
            "Mode local: the bearer tokens of MCP clients. By default usher.tokens beside the SQLite file, else beside the \
             configuration.",
            None,
        ),
        "control_file": path(
            "How commands on this machine reach the running service. By default usher.control, likewise.",
            None,
        ),
        "issuer": target("Mode oidc: the issuer identifier of the OpenID provider, exactly as it writes it."),
        "client_id": word("Mode oidc: Usher's own client there."),
        "client_secret": { "type": "string", "description": "Mode oidc: its secret. Or client_secret_file, or client_secret_env; none for a public client." },
        "client_secret_file": path("Mode oidc: a file with the secret as its only text.", None),
        "client_secret_env": { "type": "string", "description": "Mode oidc: the environment variable with the secret." },
        "user_claim": {
            "type": "string",
            "description": "Mode oidc: the claim that is a user's identity at the issuer, in ID tokens and access tokens alike. \
                            Never an address or a name.",
            "default": "sub",
        },
        "audience": word("Mode oidc: the audience of access tokens, where it is not the endpoint's own URI."),
        "scopes": {
            "type": "array",
            "description": "Mode oidc: the scopes that an access token must have.",
            "items": { "type": "string", "pattern": "^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$" },
        },
    });
    table("How users and clients prove who they are.", &[], properties)
}
