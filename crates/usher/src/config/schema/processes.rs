//! `[processes]`.

use serde_json::{Value, json};

use super::{shapes::count, table};

pub(super) fn section() -> Value {
    let properties = json!({
        "per_user": count("For one user.", 1000, 16),
        "total": count("In all, on one replica.", 10_000, 64),
    });
    table("How many servers that are commands may run at a time.", &[], properties)
}
