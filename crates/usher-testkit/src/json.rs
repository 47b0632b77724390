//! JSON as text: what a test compares byte for byte must never pass through a number type.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

pub(crate) type Members<'a> = BTreeMap<String, &'a RawValue>;

/// The members of a JSON object with their text as it stands; `None` for anything else.
pub(crate) fn members(text: &str) -> Option<Members<'_>> {
    serde_json::from_str(text).ok()
}

/// The text of the member at `path`, as it stands.
pub(crate) fn at<'a>(text: &'a str, path: &[&str]) -> Option<&'a str> {
    let mut found = text;
    for key in path {
        found = members(found)?.get(*key).map(|raw| raw.get())?;
    }
    Some(found)
}

/// The string at `path`, unescaped.
pub(crate) fn string_at(text: &str, path: &[&str]) -> Option<String> {
    serde_json::from_str(at(text, path)?).ok()
}

/// `text` as a JSON string, with its quotes.
pub fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The object `text` with `members` (text without braces) put before its own.
pub(crate) fn prepend(text: &str, members: &str) -> String {
    let inner = text.trim_start().strip_prefix('{').unwrap_or_else(|| panic!("not an object: {text}"));
    if members.is_empty() {
        return text.to_owned();
    }
    let comma = if inner.trim_start().starts_with('}') { "" } else { "," };
    format!("{{{members}{comma}{inner}")
}

/// The object `text` with `meta` (members without braces) put into its `_meta`.
pub(crate) fn with_meta(text: &str, meta: &str) -> String {
    match at(text, &["_meta"]) {
        // The slice lies inside `text`, so the rest stays as it stands.
        Some(old) => {
            let start = old.as_ptr() as usize - text.as_ptr() as usize;
            format!("{}{}{}", &text[..start], prepend(old, meta), &text[start + old.len()..])
        }
        None => prepend(text, &format!("\"_meta\":{{{meta}}}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_put_in_without_touching_the_rest() {
        let text = r#"{"n": 9007199254740993, "_meta" : {"a":1e999} , "z":1}"#;
        assert_eq!(with_meta(text, r#""b":2"#), r#"{"n": 9007199254740993, "_meta" : {"b":2,"a":1e999} , "z":1}"#);
        assert_eq!(with_meta("{}", r#""b":2"#), r#"{"_meta":{"b":2}}"#);
        assert_eq!(at(text, &["_meta", "a"]), Some("1e999"));
    }
}
