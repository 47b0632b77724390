//! What differs from standard OAuth: keys of a `[[provider]]` of kind `oauth`, and of a file of the catalogue.

use serde_json::{Map, Value, json};

use super::{
    shapes::{boolean, choice, headers, tables, target, text},
    table,
};

/// The keys of a definition.
pub(super) fn keys() -> Map<String, Value> {
    let mut keys = ends();
    let Value::Object(more) = json!({
        "authorize": authorize(),
        "callback": callback(),
        "token": token(),
        "reply": reply("Where everything stands in the reply of the token endpoint."),
        "refresh": refresh(),
        "errors": errors(),
        "revocation": revocation(),
        "account": account(),
        "lookup": lookup(),
        "scope_text": {
            "type": "object",
            "description": "Scopes in words, by scope, each a text or one a language.",
            "additionalProperties": text("What a scope allows."),
        },
    }) else {
        return keys;
    };
    keys.extend(more);
    keys
}

/// Who it is, and where its endpoints are.
fn ends() -> Map<String, Value> {
    let link = json!({ "type": "string", "format": "uri", "pattern": "^[Hh][Tt][Tt][Pp][Ss]?:" });
    let mut register_at = link.clone();
    register_at["description"] = json!("Where an operator registers a client.");
    let Value::Object(keys) = json!({
        "documentation": {
            "type": "array",
            "description": "The provider's own pages that a definition was read from.",
            "items": link,
        },
        "read": {
            "type": "string",
            "description": "The day on which they were read.",
            "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
        },
        "register_at": register_at,
        "iss": choice(
            "What holds of iss in its replies (RFC 9207). required: always there. optional: identical to issuer where it is \
             there. ignored: nothing to compare it with. By default optional where there is an issuer.",
            &["required", "optional", "ignored"],
            None,
        ),
        "input": tables(&input(), 0),
        "authorization_endpoint": address("Where the browser goes."),
        "token_endpoint": address("Where codes and refresh tokens are exchanged."),
        "introspection_endpoint": address("Where a token is asked about whose reply does not say how long it lives (RFC 7662)."),
        "registration_endpoint": address("Where a client registers itself (RFC 7591)."),
        "client_id_parameter": parameter("The parameter with our client's id.", "client_id"),
        "client_authentication": choice(
            "How our client proves who it is. …_basic_plain: as Basic, without encoding each part first. none: its id alone.",
            &["none", "client_secret_post", "client_secret_basic", "client_secret_basic_plain"],
            Some("client_secret_basic"),
        ),
        "public_clients": boolean("Whether a client may also have no secret.", false),
        "resource": {
            "type": "string",
            "description": "The resource of both requests (RFC 8707), where it is expected.",
            "format": "uri",
        },
    }) else {
        return Map::new();
    };
    keys
}

/// A URL of an endpoint, possibly with placeholders.
fn address(description: &str) -> Value {
    let mut shape = target(description);
    if let Some(shape) = shape.as_object_mut() {
        // One with placeholders is no URI yet.
        shape.remove("format");
    }
    shape
}

fn member(description: &str, default: &str) -> Value {
    let mut shape =
        json!({ "type": "string", "description": description, "pattern": "^[^./$ \\[]+([.][^./$ \\[]+)*$" });
    if !default.is_empty() {
        shape["default"] = json!(default);
    }
    shape
}

fn members(description: &str) -> Value {
    json!({
        "type": "object",
        "description": description,
        "propertyNames": { "pattern": "^[a-z][a-z0-9_]{0,63}$" },
        "additionalProperties": { "type": "string" },
    })
}

fn parameters(description: &str) -> Value {
    json!({ "type": "object", "description": description, "additionalProperties": { "type": "string" } })
}

fn parameter(description: &str, default: &str) -> Value {
    json!({ "type": "string", "description": description, "pattern": "^[\\x21-\\x7e]{1,64}$", "default": default })
}

fn words(description: &str) -> Value {
    json!({ "type": "array", "description": description, "items": { "type": "string" } })
}

fn lasts(description: &str) -> Value {
    json!({ "type": "string", "description": description, "pattern": "^[0-9]+[smh]$" })
}

fn filled(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn separator(default: Option<&str>) -> Value {
    choice("What stands between two scopes.", &[" ", ",", "+"], default)
}

fn sent() -> Value {
    choice("How the parameters are sent.", &["form", "json", "query"], None)
}

fn method(default: &str) -> Value {
    choice("The method of the request.", &["POST", "GET", "DELETE"], Some(default))
}

fn input() -> Value {
    let properties = json!({
        "name": {
            "type": "string",
            "description": "What placeholders call it.",
            "pattern": "^[a-z][a-z0-9_]{0,63}$",
        },
        "label": text("What the page calls it; the name by default."),
        "description": text("A line of help."),
        "example": filled("What a right one looks like."),
        "suffix": filled("What the page shows behind it, and what is taken off where it is typed as well."),
        "default": filled("What is used where nothing is given."),
        "chosen_by": choice(
            "operator: our client is registered at this one; users are not asked.",
            &["user", "operator"],
            Some("user"),
        ),
        "pattern": filled("A regular expression that holds of the whole value."),
    });
    table("A part of its URLs that a user chooses, or the operator in [provider.values].", &["name"], properties)
}

fn authorize() -> Value {
    let properties = json!({
        "scope_separator": separator(Some(" ")),
        "scope_encoding": choice(
            "raw: scopes stand in the URL as they are, as far as it can hold them.",
            &["percent", "raw"],
            Some("percent"),
        ),
        "scope_parameter": parameter("The parameter with the scopes.", "scope"),
        "pkce": choice("off: the provider refuses it, or does not know it.", &["S256", "off"], Some("S256")),
        "offline": parameters("Parameters by which a refresh token is asked for."),
        "offline_scopes": words("Scopes by which a refresh token is asked for."),
        "parameters": parameters("Whatever else it wants to be told."),
        "language": filled("The parameter with the language of its page."),
    });
    table("How the request through the browser differs.", &[], properties)
}

fn callback() -> Value {
    let properties = json!({
        "code": parameter("The parameter with the code.", "code"),
        "state": parameter("The parameter with the state.", "state"),
        "error": parameter("The parameter with an error.", "error"),
        "error_description": parameter("The parameter with its words.", "error_description"),
        "declined": words("Errors that mean that the person said no, beside access_denied."),
        "fields": members("Parameters that belong to the connection, by the names that templates use."),
    });
    table("How the reply through the browser differs.", &[], properties)
}

fn token() -> Value {
    let properties = json!({
        "request": sent(),
        "code_parameter": parameter("The parameter with the code.", "code"),
        "parameters": parameters("Whatever else it wants to be told: a lifetime, where that must be asked for."),
        "header": headers("Headers that it wants, without fields."),
    });
    table("How the request with the code differs.", &[], properties)
}

fn reply(description: &str) -> Value {
    let properties = json!({
        "format": choice("form: as a form, whatever its media type says.", &["json", "form"], None),
        "access_token": member("The access token.", "access_token"),
        "refresh_token": member("The refresh token.", "refresh_token"),
        "expires": member("When the access token ends.", "expires_in"),
        "expires_as": choice(
            "What that means: in so many seconds or milliseconds; or at a time, since 1970 or in words.",
            &["seconds", "milliseconds", "unix", "unix_milliseconds", "time"],
            None,
        ),
        "lifetime": lasts("How long the access token lives where nothing is said. 1m to 8760h."),
        "scope": member("The scopes that were granted.", "scope"),
        "scope_separator": separator(None),
        "fields": members("What else is kept, by the names that templates use."),
    });
    table(description, &[], properties)
}

fn refresh() -> Value {
    let properties = json!({
        "endpoint": address("Where, if not at the token endpoint."),
        "method": method("POST"),
        "request": sent(),
        "by": choice("What is sent to be refreshed.", &["refresh_token", "access_token"], Some("refresh_token")),
        "parameter": {
            "type": "string",
            "description": "The parameter that it is sent as; its own name by default.",
            "pattern": "^[\\x21-\\x7e]{1,64}$",
        },
        "grant_type": parameter("The grant type.", "refresh_token"),
        "parameters": parameters("Whatever else it wants to be told."),
        "scope": boolean("Whether the granted scopes are sent again.", false),
        "redirect_uri": boolean("Whether the redirect URI is sent again.", false),
        "rotation": choice(
            "Whether a new refresh token comes in the place of the old one.",
            &["never", "possible", "always"],
            Some("possible"),
        ),
        "grace": lasts("How long the old refresh token still works after that. 0s to 24h."),
        "lifetime": lasts("After how long without use a refresh token dies. 1h to 87600h."),
        "keeps": words("What a refresh never changes: scope, or a field."),
        "reply": reply("Where everything stands in its reply, where that differs from the first."),
    });
    table("How a token is refreshed.", &[], properties)
}

fn errors() -> Value {
    let properties = json!({
        "code": member("Where the code of an error stands.", "error"),
        "dead": words("Codes that mean that the person has to connect anew."),
        "client": words("Codes that mean that our client is not right."),
        "transient": words("Codes that pass by themselves."),
    });
    table("What its errors mean.", &[], properties)
}

fn revocation() -> Value {
    let properties = json!({
        "endpoint": address("Where; {client_id} may stand in it."),
        "method": method("POST"),
        "request": sent(),
        "token": choice("What is revoked.", &["refresh_token", "access_token"], Some("refresh_token")),
        "parameter": filled("The parameter that it is sent as: token by default. None where it is empty, as it is by default for proof bearer."),
        "parameters": parameters("Whatever else it wants to be told."),
        "header": headers("Headers that it wants, without fields."),
        "proof": choice(
            "How we prove that we may: by our client as at the token endpoint, by our client as Basic, by the access token, or \
             by the token alone.",
            &["client", "client_basic", "bearer", "off"],
            Some("client"),
        ),
    });
    table("How it is told that a grant is not used any more. By default RFC 7009.", &["endpoint"], properties)
}

fn call(properties: &mut Value) {
    properties["url"] = address("The URL of the call; fields of the connection may stand in it.");
    properties["method"] = method("GET");
    properties["header"] = headers("Its headers; Authorization = \"Bearer {access_token}\" by default.");
    properties["body"] = filled("Its body, as JSON.");
}

fn account() -> Value {
    let one = member("The member that says it.", "");
    let mut properties = json!({
        "member": {
            "description": "The member that says whose account it is, or several, of which the first that is there counts.",
            "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }],
        },
    });
    call(&mut properties);
    table(
        "How to find out whose account it is: by a call, or from the reply of the token endpoint.",
        &["member"],
        properties,
    )
}

fn lookup() -> Value {
    let mut properties = json!({ "fields": members("What is kept of its answer, by the names that templates use.") });
    call(&mut properties);
    table("A call after connecting that says more.", &["url", "fields"], properties)
}
