//! A member of a JSON document: `access_token`, `authed_user.access_token`, `0.id`.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::config::field::is_field_name;
use crate::config::reader::Node;

/// Where something stands in a JSON document: names of members and indices of arrays, with dots between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member(String);

impl Member {
    /// A member at the top.
    pub fn new(name: &str) -> Self {
        Self(name.to_owned())
    }

    /// The value there, if there is one that is not `null`.
    pub fn of<'v>(&self, document: &'v Value) -> Option<&'v Value> {
        let step = |value: &'v Value, name: &str| match value {
            Value::Object(members) => members.get(name),
            Value::Array(elements) => elements.get(name.parse::<usize>().ok()?),
            _ => None,
        };
        self.0.split('.').try_fold(document, step).filter(|value| !value.is_null())
    }

    /// The text there: a string that is not empty, or a number.
    pub fn text_of(&self, document: &Value) -> Option<String> {
        match self.of(document)? {
            Value::String(text) if !text.is_empty() => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// The path as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Reads one.
pub(super) fn read(node: &Node<'_>) -> Option<Member> {
    const EXAMPLE: &str = "\"authed_user.access_token\"";
    let text = node.string(EXAMPLE)?;
    let right =
        text.len() <= 255 && text.split('.').all(|part| !part.is_empty() && !part.contains(['/', '$', ' ', '[']));
    if !right {
        node.fault(
            format!("{text:?} is no member"),
            format!("names with dots between them, an index as a number: {EXAMPLE}, \"0.id\""),
        );
        return None;
    }
    Some(Member(text.to_owned()))
}

/// Reads `fields = { name = "member" }`: what else is kept, by the names that templates use.
pub(super) fn read_fields(node: &Node<'_>) -> BTreeMap<String, Member> {
    let mut fields = BTreeMap::new();
    let Some(table) = node.table("fields = { instance_url = \"instance_url\" }") else { return fields };
    for (name, node) in table.entries() {
        if is_name(name, &node)
            && let Some(member) = read(&node)
        {
            fields.insert(name.to_owned(), member);
        }
    }
    fields
}

/// Whether a field may have this name. Leaves a fault where not.
pub(super) fn is_name(name: &str, node: &Node<'_>) -> bool {
    let taken = ["access_token", "refresh_token", "client_id", "client_secret"].contains(&name);
    if taken {
        node.fault(format!("{name} is kept anyway"), "call the field something else");
    } else if !is_field_name(name) {
        node.fault(
            format!("{name:?} is no field name"),
            "start with a lower-case letter, then lower-case letters, digits and _",
        );
    }
    !taken && is_field_name(name)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Kinds 2 and 16.
    #[test]
    fn a_member_is_found_in_objects_and_arrays() {
        let document = json!({ "a": { "b": "x", "n": 7, "null": null, "empty": "" }, "list": [{ "id": "one" }] });
        let text = |path: &str| Member::new(path).text_of(&document);
        assert_eq!(text("a.b").as_deref(), Some("x"));
        assert_eq!(text("a.n").as_deref(), Some("7"));
        assert_eq!(text("list.0.id").as_deref(), Some("one"));
        for nothing in ["a", "a.c", "a.b.c", "a.null", "a.empty", "list.1.id", "list.id", "list.-1", "A.b", ""] {
            assert_eq!(text(nothing), None, "{nothing}");
        }
    }
}
