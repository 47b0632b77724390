//! The configuration file as a JSON schema (draft 2020-12), for editors and tools. A file a section, beside its reader.
//!
//! A key that a reader asks for stands here as well; tests hold the two together. The schema is the less strict of the
//! two: what needs two values, or the machine, is the reader's alone to refuse.

mod definition;
mod egress;
mod identity;
mod keys;
mod limits;
mod processes;
mod provider;
mod shapes;
mod store;
#[cfg(test)]
pub(super) mod tests;
mod top;
mod upstream;

use serde_json::{Value, json};

/// The schema.
pub fn schema() -> Value {
    let mut root = top::section();
    if let Some(root) = root.as_object_mut() {
        root.shift_insert(0, "$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        root.shift_insert(1, "title".to_owned(), json!("The configuration of Usher, usher.toml"));
    }
    root
}

/// A table: its keys, and which of them must be there.
fn table(description: &str, required: &[&str], properties: Value) -> Value {
    let mut table = json!({ "type": "object", "description": description, "additionalProperties": false });
    if !required.is_empty() {
        table["required"] = json!(required);
    }
    table["properties"] = properties;
    table
}

/// The text of the schema, as it is printed and kept in the documentation.
pub fn text() -> String {
    format!("{:#}\n", schema())
}
