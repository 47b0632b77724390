//! Where the keys of a file belong, for whoever wrote one into another section.

use super::suggest;

/// A section: its path without indices, how its head is written, and its keys.
struct Section {
    path: &'static str,
    head: &'static str,
    keys: &'static [&'static str],
}

/// The keys of what a token endpoint says, the first time and later.
const REPLY: &[&str] = &[
    "format",
    "access_token",
    "refresh_token",
    "expires",
    "expires_as",
    "lifetime",
    "scope",
    "scope_separator",
    "fields",
];

const SECTIONS: &[Section] = &[
    Section {
        path: "",
        head: "at the top of the file, before the first [table]",
        keys: &[
            "public_url",
            "listen",
            "store",
            "keys",
            "identity",
            "limits",
            "processes",
            "egress",
            "provider",
            "upstream",
        ],
    },
    Section { path: "listen", head: "in [listen]", keys: &["address"] },
    Section { path: "store", head: "in [store]", keys: &["url", "url_file", "url_env", "wait"] },
    Section { path: "keys", head: "in [keys]", keys: &["file"] },
    Section {
        path: "identity",
        head: "in [identity]",
        keys: &[
            "mode",
            "tokens_file",
            "control_file",
            "issuer",
            "client_id",
            "client_secret",
            "client_secret_file",
            "client_secret_env",
            "user_claim",
            "audience",
            "scopes",
            "scopes_supported",
            "sign_in_scopes",
            "session_idle",
            "session_lifetime",
            "tokens",
            "introspection",
        ],
    },
    Section {
        path: "identity.introspection",
        head: "in [identity.introspection]",
        keys: &["url", "client_id", "client_secret", "client_secret_file", "client_secret_env"],
    },
    Section { path: "egress", head: "in [egress]", keys: &["allow"] },
    Section { path: "processes", head: "in [processes]", keys: &["per_user", "total"] },
    Section {
        path: "limits",
        head: "in [limits]",
        keys: &[
            "client_questions_per_minute",
            "user_questions_per_minute",
            "upstream_questions_per_minute",
            "user_open_questions",
            "client_open_questions",
            "client_held_calls",
            "user_held_calls",
            "held_calls",
            "client_sessions",
            "user_sessions",
            "sessions",
            "client_requests",
            "client_streams",
            "api_requests_per_minute",
            "api_waits",
            "api_waits_total",
            "connections",
            "body_size",
            "client_memory",
            "memory",
        ],
    },
    Section {
        path: "provider",
        head: "in [[provider]]",
        keys: &[
            "name",
            "kind",
            "title",
            "about",
            "field",
            "check",
            "url",
            "confirm",
            "per",
            "client_id",
            "client_secret",
            "client_secret_file",
            "client_secret_env",
            "scopes",
            "issuer",
            "registration",
            "catalogue",
            "values",
            "documentation",
            "read",
            "register_at",
            "iss",
            "input",
            "authorization_endpoint",
            "token_endpoint",
            "introspection_endpoint",
            "registration_endpoint",
            "client_id_parameter",
            "client_authentication",
            "public_clients",
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
        ],
    },
    Section {
        path: "provider.field",
        head: "in [[provider.field]]",
        keys: &["name", "label", "description", "help_url", "secret", "required"],
    },
    Section { path: "provider.check", head: "in [provider.check]", keys: &["get", "header"] },
    Section {
        path: "provider.confirm",
        head: "in [provider.confirm]",
        keys: &["get", "header", "secret", "secret_file", "secret_env", "field", "equals"],
    },
    Section {
        path: "provider.input",
        head: "in [[provider.input]]",
        keys: &["name", "label", "description", "example", "suffix", "default", "chosen_by", "pattern"],
    },
    Section {
        path: "provider.authorize",
        head: "in [provider.authorize]",
        keys: &[
            "scope_separator",
            "scope_encoding",
            "scope_parameter",
            "pkce",
            "offline",
            "offline_scopes",
            "parameters",
            "language",
        ],
    },
    Section {
        path: "provider.callback",
        head: "in [provider.callback]",
        keys: &["code", "state", "error", "error_description", "declined", "fields"],
    },
    Section {
        path: "provider.token",
        head: "in [provider.token]",
        keys: &["request", "code_parameter", "parameters", "header"],
    },
    Section { path: "provider.reply", head: "in [provider.reply]", keys: REPLY },
    Section {
        path: "provider.refresh",
        head: "in [provider.refresh]",
        keys: &[
            "endpoint",
            "method",
            "request",
            "by",
            "parameter",
            "grant_type",
            "parameters",
            "scope",
            "redirect_uri",
            "rotation",
            "grace",
            "lifetime",
            "keeps",
            "reply",
        ],
    },
    Section { path: "provider.refresh.reply", head: "in [provider.refresh.reply]", keys: REPLY },
    Section { path: "provider.errors", head: "in [provider.errors]", keys: &["code", "dead", "client", "transient"] },
    Section {
        path: "provider.revocation",
        head: "in [provider.revocation]",
        keys: &["endpoint", "method", "request", "token", "parameter", "parameters", "header", "proof"],
    },
    Section {
        path: "provider.account",
        head: "in [provider.account]",
        keys: &["url", "method", "header", "body", "member"],
    },
    Section {
        path: "provider.lookup",
        head: "in [provider.lookup]",
        keys: &["url", "method", "header", "body", "fields"],
    },
    Section {
        path: "upstream",
        head: "in [[upstream]]",
        keys: &[
            "name",
            "title",
            "url",
            "command",
            "wrapper",
            "trusted",
            "env",
            "pass",
            "directory",
            "idle",
            "hold",
            "timeout",
            "fallback",
            "reject",
            "allow",
            "needs",
        ],
    },
    Section { path: "upstream.allow", head: "in allow of [[upstream]]", keys: &["claim", "any"] },
    Section {
        path: "upstream.needs",
        head: "in [[upstream.needs]]",
        keys: &["provider", "on", "header", "env", "scopes"],
    },
];

/// What a provider of kind oauth has by other names than elsewhere.
const ELSEWHERE: [(&[&str], &str); 8] = [
    (&["authorize_url", "authorization_url", "auth_url", "authorize_endpoint"], "write it as authorization_endpoint"),
    (&["token_url", "access_token_url"], "write it as token_endpoint"),
    (&["refresh_url", "refresh_endpoint"], "it belongs in [provider.refresh], as endpoint"),
    (&["revoke_url", "revocation_url", "revocation_endpoint"], "it belongs in [provider.revocation], as endpoint"),
    (
        &["userinfo_url", "userinfo_endpoint"],
        "it belongs in [provider.account], as url, with the member that says whose account it is",
    ),
    (
        &["redirect_uri", "redirect_url", "callback_url"],
        "remove it; it is public_url, /callback/ and the name of the provider",
    ),
    (&["scope_separator", "pkce", "offline"], "it belongs in [provider.authorize]"),
    (&["auth_method", "token_endpoint_auth_method"], "write it as client_authentication"),
];

/// The fix for a key that the section at `path` does not know; `known` are those that it knows.
pub(super) fn fix(path: &str, key: &str, known: &[&str]) -> String {
    let here = section(path);
    let is_inside = |section: &Section| match section.path.strip_prefix(here.as_str()) {
        Some(rest) => !here.is_empty() && rest.starts_with('.'),
        None => false,
    };
    let others = || SECTIONS.iter().filter(|section| section.path != here);
    if here == "provider"
        && let Some((_, fix)) = ELSEWHERE.iter().find(|(names, _)| names.contains(&key))
    {
        return (*fix).to_owned();
    }
    // A table within this one that has the key is what was meant, most likely; its head was forgotten.
    let one_or_many = [key.strip_suffix('s').unwrap_or(key).to_owned(), format!("{key}s")];
    let is_close = one_or_many.iter().any(|other| known.contains(&other.as_str()));
    for meant in [key, key.strip_suffix('s').unwrap_or(key)] {
        if known.contains(&meant) || is_close {
            break;
        }
        let found = others().find(|section| is_inside(section) && section.keys.contains(&meant));
        if let Some(Section { head, .. }) = found {
            let spelt = if meant == key { String::new() } else { format!("did you mean {meant}? ") };
            return format!("{spelt}{} belongs {head}", if spelt.is_empty() { "it" } else { "It" });
        }
    }
    if let Some(close) = suggest::closest(key, known.iter().copied()) {
        return match head(&here, close) {
            Some(head) => format!("write it as {head}"),
            None => format!("did you mean {close}?"),
        };
    }
    // Without those that are only known as not available.
    let listed = SECTIONS.iter().find(|section| section.path == here).map_or(known, |section| section.keys);
    let known_here = || format!("known here: {}", listed.join(", "));
    if let Some(place) = places(key, &here, others()) {
        return format!("it belongs {place}; {}", known_here());
    }
    let keys: Vec<&str> = others().flat_map(|section| section.keys).copied().collect();
    match suggest::closest(key, keys.into_iter()) {
        Some(close) => match places(close, &here, others()) {
            Some(place) => format!("did you mean {close}? It belongs {place}; {}", known_here()),
            None => known_here(),
        },
        None => format!("remove it; {}", known_here()),
    }
}

/// All places of a key, in words.
fn places<'s>(key: &str, here: &str, sections: impl Iterator<Item = &'s Section>) -> Option<String> {
    let found = sections.filter(|section| section.keys.contains(&key));
    let places: Vec<String> = found
        .map(|section| match head(section.path, key) {
            Some(head) => format!("in {head}"),
            // After the head of a table within, a key is that table's.
            None if here.starts_with(section.path) && here[section.path.len()..].starts_with('.') => {
                let inner = SECTIONS.iter().find(|section| section.path == here).map_or("", |section| section.head);
                format!("{}, above its {}", section.head, inner.trim_start_matches("in "))
            }
            None => section.head.to_owned(),
        })
        .collect();
    (!places.is_empty()).then(|| places.join(" or "))
}

/// The head of a key that is a table itself.
fn head(path: &str, key: &str) -> Option<&'static str> {
    Some(match (path, key) {
        ("upstream", "needs") => "[[upstream.needs]]",
        ("provider", "field") => "[[provider.field]]",
        ("provider", "check") => "[provider.check]",
        ("provider", "confirm") => "[provider.confirm]",
        ("provider", "input") => "[[provider.input]]",
        ("provider", "authorize") => "[provider.authorize]",
        ("provider", "callback") => "[provider.callback]",
        ("provider", "token") => "[provider.token]",
        ("provider", "reply") => "[provider.reply]",
        ("provider", "refresh") => "[provider.refresh]",
        ("provider", "errors") => "[provider.errors]",
        ("provider", "revocation") => "[provider.revocation]",
        ("provider", "account") => "[provider.account]",
        ("provider", "lookup") => "[provider.lookup]",
        _ => return None,
    })
}

/// The path and the keys of each section.
#[cfg(test)]
pub(super) fn sections() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    SECTIONS.iter().map(|section| (section.path, section.keys))
}

/// `upstream[0].needs[1]` is of the section `upstream.needs`.
pub(super) fn section(path: &str) -> String {
    let parts = path.split('.').map(|part| part.split('[').next().unwrap_or_default());
    parts.collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(path: &str) -> &'static [&'static str] {
        SECTIONS.iter().find(|known| known.path == section(path)).unwrap().keys
    }

    #[test]
    fn a_key_of_another_section_is_told_where_it_belongs() {
        for (path, key, expected) in [
            ("", "needs", "it belongs in [[upstream.needs]]; known here: "),
            ("", "check", "it belongs in [provider.check]; known here: "),
            (
                "",
                "header",
                "it belongs in [provider.check] or in [provider.confirm] or in [provider.token] or in [provider.revocation] or in \
                 [provider.account] or in [provider.lookup] or in [[upstream.needs]]; known here: ",
            ),
            (
                "",
                "headers",
                "did you mean header? It belongs in [provider.check] or in [provider.confirm] or in [provider.token] or in \
                 [provider.revocation] or in [provider.account] or in [provider.lookup] or in [[upstream.needs]]; known here: ",
            ),
            ("", "upstreams", "did you mean upstream?"),
            ("upstream[0]", "header", "it belongs in [[upstream.needs]]"),
            ("upstream[0]", "headers", "did you mean header? It belongs in [[upstream.needs]]"),
            ("upstream[0]", "on", "it belongs in [[upstream.needs]]"),
            ("upstream[0]", "provider", "it belongs in [[upstream.needs]]"),
            ("upstream[0]", "need", "write it as [[upstream.needs]]"),
            ("upstream[0]", "check", "it belongs in [provider.check]; known here: name, title"),
            ("upstream[0].needs[1]", "hold", "it belongs in [[upstream]], above its [[upstream.needs]]; known here: "),
            (
                "upstream[0].needs[1]",
                "label",
                "it belongs in [[provider.field]] or in [[provider.input]]; known here: ",
            ),
            ("provider[2]", "fields", "write it as [[provider.field]]"),
            ("provider[2]", "token_url", "write it as token_endpoint"),
            ("provider[2]", "redirect_uri", "remove it; it is public_url, /callback/ and the name of the provider"),
            ("provider[2]", "scope", "did you mean scopes?"),
            ("provider[2]", "access_token", "it belongs in [provider.reply]"),
            ("provider[2].reply", "pkce", "it belongs in [provider.authorize]"),
            ("provider[2]", "label", "it belongs in [[provider.field]]"),
            ("provider[2]", "header", "it belongs in [provider.check]"),
            ("provider[2].check", "label", "it belongs in [[provider.field]] or in [[provider.input]]; known here: "),
            ("store", "public_url", "it belongs at the top of the file, before the first [table]; known here: "),
            ("store", "telemetry", "remove it; known here: url, url_file, url_env"),
        ] {
            let told = fix(path, key, keys(path));
            assert!(told.starts_with(expected), "{path} {key}: {told}");
        }
    }
}
