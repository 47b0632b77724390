//! Reads a schema as a form: `form` the whole, `property` one field, `choices` their lists.

mod choices;
mod property;
mod reader;

use std::collections::HashSet;

use serde_json::value::RawValue;

use super::{Field, Form, FormError, Oddity, Problem};
use crate::{JsonType, RawObject, json};
use property::property;
use reader::{Place, Reader};

/// Keywords that refer to other schemas or combine them (R-FORM-02).
const COMBINATORS: [&str; 18] = [
    "$ref",
    "$dynamicRef",
    "$recursiveRef",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "patternProperties",
    "propertyNames",
    "dependencies",
    "dependentSchemas",
    "dependentRequired",
    "unevaluatedProperties",
    "unevaluatedItems",
    "prefixItems",
];

/// Keywords that constrain values and that no form has.
const UNCHECKED: [&str; 9] = [
    "const",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minProperties",
    "maxProperties",
    "contains",
    "minContains",
    "maxContains",
];

pub(super) fn form(schema: &str) -> Result<Form, FormError> {
    let mut reader = Reader::new();
    let read = root(schema, &mut reader);
    let (faults, findings) = reader.into_parts();
    match read {
        Some((fields, closed)) if faults.is_empty() => Ok(Form::new(schema, fields, closed, findings)),
        _ => Err(FormError::new(faults)),
    }
}

fn root(schema: &str, reader: &mut Reader) -> Option<(Vec<Field>, bool)> {
    let place = Place::ROOT;
    let object = reader.object(&place, schema)?;
    let (mut type_name, mut properties, mut required, mut closed) = (None, None, None, false);
    for (key, value) in reader.members(&place, &object) {
        match key {
            "type" => type_name = Some(value),
            "properties" => properties = Some(value),
            "required" => required = Some(value),
            "additionalProperties" => match value.get() {
                "false" => closed = true,
                "true" => {}
                schema if json::is_object(schema) => reader.find(&place.at(key), Oddity::UncheckedKeyword),
                other => reader.wrong_type(&place.at(key), other, "true or false"),
            },
            _ if COMBINATORS.contains(&key) => reader.fault(&place.at(key), Problem::Combinator),
            _ if UNCHECKED.contains(&key) => reader.find(&place.at(key), Oddity::UncheckedKeyword),
            _ => {}
        }
    }
    if type_name.and_then(|name| json::text(name.get())).as_deref() != Some("object") {
        reader.fault(&place, Problem::RootNotObject);
    }
    let mut fields = if let Some(properties) = properties {
        fields(properties, &place, reader)
    } else {
        reader.fault(&place, Problem::MissingProperties);
        Vec::new()
    };
    if let Some(required) = required {
        require(required, &mut fields, &place, reader);
    }
    Some((fields, closed))
}

fn fields(properties: &RawValue, place: &Place<'_>, reader: &mut Reader) -> Vec<Field> {
    let place = place.at("properties");
    let Some(object) = reader.object(&place, properties.get()) else { return Vec::new() };
    reader
        .named_members(&place, &object)
        .into_iter()
        // A property with a fault stays, so that `required` does not complain of it, too.
        .map(|(name, schema)| {
            let kind = property(schema, &place.at(name), reader);
            kind.unwrap_or_else(Field::unreadable).named(name)
        })
        .collect()
}

fn require(required: &RawValue, fields: &mut [Field], place: &Place<'_>, reader: &mut Reader) {
    let place = place.at("required");
    let Some(items) = reader.array(&place, required, "an array of property names") else { return };
    let mut names = HashSet::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        match json::text(item.get()) {
            Some(name) => drop(names.insert(name)),
            None => reader.fault(
                &place.at(&index.to_string()),
                Problem::WrongType { found: JsonType::of(item.get()), expected: "the name of a property" },
            ),
        }
    }
    for field in fields.iter_mut() {
        field.required = names.remove(field.name.as_str());
    }
    // In the order of the text, not of the set.
    for item in items {
        if let Some(name) = json::text(item.get()).filter(|name| names.remove(name.as_ref())) {
            reader.fault(&place, Problem::UnknownRequired(name.into_owned()));
        }
    }
}

/// The members of an object whose values are not `null`.
type Members<'o, 'a> = Vec<(&'o str, &'a RawValue)>;

impl Reader {
    /// The members of a schema's own keywords; `null` counts as absent.
    fn members<'o, 'a>(&mut self, place: &Place<'_>, object: &'o RawObject<'a>) -> Members<'o, 'a> {
        let mut members = self.named_members(place, object);
        members.retain(|(_, value)| !json::is_null(value.get()));
        members
    }
}
