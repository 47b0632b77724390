//! A form in the words of a revision.

use std::borrow::Cow;
use std::fmt;

use serde_json::value::RawValue;

use super::error::step;
use super::{Form, Kind, Select};
use crate::{RawObject, Revision, Value, json};

/// Why a peer of some revision cannot be sent a form.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RevisionError {
    /// Its revision is from before elicitation.
    #[error("revision {0} has no elicitation")]
    NoElicitation(Revision),
    /// Its revision has no field in which several choices can be made (R-CAP-07).
    #[error("revision {revision} has no field for several choices, such as {}", Pointers(.fields))]
    MultiSelect {
        /// The peer's revision.
        revision: Revision,
        /// The names of the fields in question, in the order of the form; at least one.
        fields: Vec<String>,
    },
}

/// Names as pointers, of which those beyond [`SHOWN`] are counted only.
struct Pointers<'a>(&'a [String]);

const SHOWN: usize = 20;

impl fmt::Display for Pointers<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, name) in self.0.iter().take(SHOWN).enumerate() {
            write!(f, "{}{}", if index == 0 { "" } else { ", " }, step("/properties", name))?;
        }
        match self.0.len().checked_sub(SHOWN) {
            Some(more @ 1..) => write!(f, " and {more} more"),
            _ => Ok(()),
        }
    }
}

impl Form {
    /// The schema as it is sent to a peer of `revision` (R-CAP-07).
    ///
    /// To 2025-11-25 and later ones it goes as it is. 2025-06-18 has no `oneOf`: a titled single
    /// choice becomes `enum` and `enumNames`, and nothing but the keywords of that one field
    /// changes, of which each other keeps its text. What more an entry of `oneOf` holds than
    /// `const` and `title` is lost there.
    ///
    /// The values are the same in either shape, so that the answer needs no translation: it is
    /// [checked](Self::check) against this form.
    ///
    /// `pattern` goes to every revision. Only the text of 2025-11-25 lists it, but in all of them
    /// the schema of a string is an open object: a peer that knows it tells the person of a fault
    /// sooner, and for any other the answer is checked here. The same holds for `default`, which
    /// 2025-06-18 has for booleans only.
    pub fn for_revision(&self, revision: Revision) -> Result<Cow<'_, str>, RevisionError> {
        match revision {
            Revision::V2024_11_05 | Revision::V2025_03_26 => Err(RevisionError::NoElicitation(revision)),
            Revision::V2025_06_18 => {
                let several = |kind: &Kind| matches!(kind, Kind::MultiSelect(_));
                let fields: Vec<_> =
                    self.fields().iter().filter(|field| several(&field.kind)).map(|field| field.name.clone()).collect();
                if fields.is_empty() {
                    Ok(without_one_of(self))
                } else {
                    Err(RevisionError::MultiSelect { revision, fields })
                }
            }
            Revision::V2025_11_25 | Revision::V2026_07_28 => Ok(Cow::Borrowed(self.as_str())),
        }
    }
}

/// The schemas of the properties, in the order of the fields.
pub(super) fn property_schemas(form: &Form) -> Vec<&RawValue> {
    let properties = RawObject::parse(form.as_str()).ok().and_then(|object| object.get("properties"));
    let properties = properties.and_then(|properties| RawObject::parse(properties.get()).ok());
    properties.map_or_else(Vec::new, |object| object.text_members().flatten().map(|(_, schema)| schema).collect())
}

fn without_one_of(form: &Form) -> Cow<'_, str> {
    let text = form.as_str();
    let mut written = String::new();
    let mut read = 0;
    for (field, schema) in form.fields().iter().zip(property_schemas(form)) {
        if let Kind::Select(select) = &field.kind
            && let Some(older) = with_names(select, schema.get())
            // The schema is a part of the text.
            && let Some(start) = schema.get().as_ptr().addr().checked_sub(text.as_ptr().addr())
        {
            written.push_str(text.get(read..start).unwrap_or_default());
            written.push_str(&older);
            read = start + schema.get().len();
        }
    }
    if read == 0 {
        return Cow::Borrowed(text);
    }
    written.push_str(text.get(read..).unwrap_or_default());
    Cow::Owned(written)
}

/// A field with `oneOf` as one with `enum`; `None` where it has no `oneOf`.
fn with_names(select: &Select, schema: &str) -> Option<String> {
    let mut object = RawObject::parse(schema).ok()?;
    object.get("oneOf").filter(|list| !json::is_null(list.get()))?;
    let list = |texts: Vec<String>| {
        let mut list = String::new();
        Value::List(texts).write(&mut list);
        list
    };
    object.remove("oneOf");
    object.set("enum", list(select.choices.iter().map(|choice| choice.value.clone()).collect()));
    object.set("enumNames", list(select.choices.iter().map(|choice| choice.label().to_owned()).collect()));
    Some(object.to_json())
}

#[cfg(test)]
mod tests;
