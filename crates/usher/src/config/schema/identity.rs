//! `[identity]`.

use serde_json::{Value, json};

use super::{
    shapes::{choice, duration, path, target, word},
    table,
};

pub(super) fn section() -> Value {
    let scope = json!({ "type": "string", "pattern": "^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$" });
    let mut properties = json!({
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
            "items": scope,
        },
        "scopes_supported": {
            "type": "array",
            "description": "Mode oidc: the scopes that clients are told to ask for, where the issuer wants others there than it writes \
                            into the token. By default those of scopes.",
            "items": scope,
        },
        "sign_in_scopes": {
            "type": "array",
            "description": "Mode oidc: the scopes that are asked for when a browser signs in, beside openid.",
            "items": scope,
        },
        "session_idle": duration(
            "Mode oidc: how long a browser stays signed in without being used.",
            "1m to 720h",
            "8h",
        ),
        "session_lifetime": duration(
            "Mode oidc: how long a browser stays signed in at most.",
            "5m to 2160h",
            "24h",
        ),
    });
    properties["tokens"] = choice(
        "Mode oidc: how access tokens are verified. jwt: by the issuer's public keys. introspection: the issuer is asked about each.",
        &["jwt", "introspection"],
        Some("jwt"),
    );
    properties["introspection"] = introspection();
    table("How users and clients prove who they are.", &[], properties)
}

fn introspection() -> Value {
    let properties = json!({
        "url": target("The endpoint. By default the one of the issuer's metadata."),
        "client_id": word("The client that asks, with a secret of its own. By default that of the sign-in."),
        "client_secret": { "type": "string", "description": "Its secret. Or client_secret_file, or client_secret_env." },
        "client_secret_file": path("A file with the secret as its only text.", None),
        "client_secret_env": { "type": "string", "description": "The environment variable with the secret." },
    });
    table("Mode oidc: where the issuer is asked about access tokens (RFC 7662), and as whom.", &[], properties)
}
