//! `[provider.callback]`: the reply through the browser (kinds 17 and 18).

use std::collections::BTreeMap;

use super::member::is_name;
use super::parameters::name;
use crate::config::reader::Node;

/// What the parameters of the reply are called (RFC 6749, sections 4.1.2 and 4.1.2.1).
#[derive(Clone, Debug)]
pub struct Callback {
    /// `code` by default (kind 18).
    pub code: String,
    /// `state` by default (kind 18).
    pub state: String,
    /// `error` by default (kind 18).
    pub error: String,
    /// `error_description` by default (kind 18).
    pub error_description: String,
    /// What a person's "no" is called, in `error`; `access_denied` among them always.
    pub declined: Vec<String>,
    /// Parameters beside these that belong to the connection, by the names that templates and URLs use (kind 17).
    pub fields: BTreeMap<String, String>,
}

impl Default for Callback {
    fn default() -> Self {
        Self {
            code: "code".to_owned(),
            state: "state".to_owned(),
            error: "error".to_owned(),
            error_description: "error_description".to_owned(),
            declined: Vec::new(),
            fields: BTreeMap::new(),
        }
    }
}

/// Reads the section.
pub(super) fn read(node: &Node<'_>) -> Callback {
    let Some(table) = node.table("[provider.callback]") else { return Callback::default() };
    let callback = Callback {
        code: name(&table, "code", "code"),
        state: name(&table, "state", "state"),
        error: name(&table, "error", "error"),
        error_description: name(&table, "error_description", "error_description"),
        declined: super::parameters::words(&table, "declined", "\"user_denied\""),
        fields: table.take("fields").map(|node| fields(&node)).unwrap_or_default(),
    };
    table.close();
    callback
}

fn fields(node: &Node<'_>) -> BTreeMap<String, String> {
    let mut fields = BTreeMap::new();
    let Some(table) = node.table("fields = { realm_id = \"realmId\" }") else { return fields };
    for (name, node) in table.entries() {
        if is_name(name, &node)
            && let Some(parameter) = node.string("\"realmId\"")
        {
            fields.insert(name.to_owned(), parameter.to_owned());
        }
    }
    fields
}
