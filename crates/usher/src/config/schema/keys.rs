//! `[keys]`.

use serde_json::{Value, json};

use super::{shapes::path, table};

pub(super) fn section() -> Value {
    let properties = json!({
        "file": path("The master keys that everything is sealed with.", Some("usher.keys")),
    });
    table("The master keys.", &[], properties)
}
