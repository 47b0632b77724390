//! `[egress]`.

use serde_json::{Value, json};

use super::table;

pub(super) fn section() -> Value {
    let properties = json!({
        "allow": {
            "type": "array",
            "description": "Addresses, ranges of addresses and host names that may be requested beside the public internet \
                            where somebody else chose the URL.",
            "items": { "type": "string", "minLength": 1 },
        },
    });
    table("Requests to URLs that somebody else chose.", &[], properties)
}
