//! `[identity]`.

use serde_json::{Value, json};

use super::{
    shapes::{choice, path},
    table,
};

pub(super) fn section() -> Value {
    let properties = json!({
        "mode": choice("local: one person on this machine.", &["local"], Some("local")),
        "tokens_file": path(
            "The bearer tokens of MCP clients. By default usher.tokens beside the SQLite file, else beside the configuration.",
            None,
        ),
        "control_file": path(
            "How usher login reaches the running service. By default usher.control, likewise.",
            None,
        ),
    });
    table("How users and clients prove who they are.", &[], properties)
}
