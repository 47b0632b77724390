use super::super::Problem;
use crate::json;

/// A field that is being built, of any kind: what the builders of the kinds, such as
/// [`TextField`](super::TextField), become when they are added to a form.
#[derive(Clone, Debug)]
#[must_use = "a field is part of a form only when it is added to one"]
pub struct FieldDraft {
    type_name: &'static str,
    keywords: Vec<Keyword>,
}

#[derive(Clone, Debug)]
struct Keyword {
    name: &'static str,
    /// The JSON text, or why there is none.
    value: Result<String, Problem>,
}

/// The keywords behind `type`, in the order in which the specification shows them.
const ORDER: [&str; 14] = [
    "title",
    "description",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "enum",
    "oneOf",
    "minItems",
    "maxItems",
    "items",
    "default",
];

/// The keywords that hold choices.
const LISTS: [&str; 3] = ["enum", "oneOf", "items"];

impl FieldDraft {
    pub(super) fn new(type_name: &'static str) -> Self {
        Self { type_name, keywords: Vec::new() }
    }

    /// Gives a keyword its value, a JSON text. The last one that is given counts.
    pub(super) fn set(&mut self, name: &'static str, value: Result<String, Problem>) {
        self.remove(name);
        self.keywords.push(Keyword { name, value });
    }

    pub(super) fn set_text(&mut self, name: &'static str, text: &str) {
        self.set(name, Ok(json::quote(text)));
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.keywords.retain(|keyword| keyword.name != name);
    }

    /// The keywords that have no JSON text.
    pub(super) fn unwritable(&self) -> impl Iterator<Item = (&'static str, &Problem)> {
        self.keywords.iter().filter_map(|keyword| Some((keyword.name, keyword.value.as_ref().err()?)))
    }

    /// The field without some of its keywords. Without its choices it is a boolean, so that it still is no field for a
    /// text, which could be asked for a secret.
    pub(super) fn without(&self, names: &[String]) -> Self {
        let mut rest = self.clone();
        rest.keywords.retain(|keyword| !names.iter().any(|name| name == keyword.name));
        if LISTS.iter().any(|list| names.iter().any(|name| name == list)) {
            rest.remove("default");
            rest.type_name = "boolean";
        }
        rest
    }

    /// Appends the field's schema.
    pub(super) fn write(&self, schema: &mut String) {
        schema.push_str(r#"{"type":""#);
        schema.push_str(self.type_name);
        schema.push('"');
        for name in ORDER {
            if let Some(Keyword { value: Ok(value), .. }) = self.keywords.iter().find(|keyword| keyword.name == name) {
                schema.push_str(",\"");
                schema.push_str(name);
                schema.push_str("\":");
                schema.push_str(value);
            }
        }
        schema.push('}');
    }
}
