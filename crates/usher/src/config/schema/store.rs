//! `[store]`.

use serde_json::{Value, json};

use super::{
    shapes::{duration, path},
    table,
};

pub(super) fn section() -> Value {
    let properties = json!({
        "url": {
            "type": "string",
            "description": "sqlite: and a path, or postgres://user:password@host/database.",
            "pattern": "^(sqlite:.*[^/]$|[Pp][Oo][Ss][Tt][Gg][Rr][Ee][Ss]([Qq][Ll])?:)",
            "default": "sqlite:usher.db",
        },
        "url_file": path("A file that holds the URL, readable for its owner and group alone.", None),
        "url_env": { "type": "string", "description": "An environment variable that holds the URL.", "minLength": 1 },
        "wait": duration("How long a start waits for PostgreSQL.", "0s to 10m", "10s"),
    });
    let mut section = table("Where durable state is kept. Give the URL by one of the three keys.", &[], properties);
    let twice = [["url", "url_file"], ["url", "url_env"], ["url_file", "url_env"]];
    section["not"] = json!({ "anyOf": twice.map(|keys| json!({ "required": keys })) });
    section
}
