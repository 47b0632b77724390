//! Reads a schema as a form: `form` the whole, `property` one field, `choices` their lists.

mod choices;
mod index;
mod property;
mod reader;

use std::borrow::Cow;
use std::collections::HashSet;

use super::{Field, Form, FormError, Oddity, Problem};
use crate::json;
use crate::json::cursor::{self, Cursor, NotJson};
use property::property;
use reader::{FEW, Place, Reader};

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
    let mut cursor = Cursor::new(schema);
    let read = root(&mut cursor, &mut reader).and_then(|read| cursor.end().map(|()| read));
    match read {
        // What was found before the text broke off says nothing about a form.
        Err(NotJson) => Err(FormError::not_json()),
        Ok((fields, closed)) => {
            let findings = reader.into_findings()?;
            Ok(Form::new(schema, fields, closed, findings))
        }
    }
}

fn root<'a>(cursor: &mut Cursor<'a>, reader: &mut Reader<'a>) -> Result<(Vec<Field>, bool), NotJson> {
    let place = Place::ROOT;
    let (mut type_name, mut fields, mut required, mut closed) = (None, None, None, false);
    let is_object = reader.object(cursor, &place, |reader, key, cursor| {
        let at = place.at(key);
        if key == "properties" && cursor.peek() != Some(b'n') {
            fields = Some(properties(cursor, &at, reader)?);
            return Ok(());
        }
        let value = cursor.value()?;
        match key {
            _ if value == "null" => {}
            "type" => type_name = json::text(value),
            "required" => required = Some(value),
            "additionalProperties" => match value {
                "false" => closed = true,
                "true" => {}
                schema if json::is_object(schema) => reader.find(&at, Oddity::UncheckedKeyword),
                other => reader.wrong_type(&at, other, "true or false"),
            },
            _ if COMBINATORS.contains(&key) => reader.fault(&at, Problem::Combinator),
            _ if UNCHECKED.contains(&key) => reader.find(&at, Oddity::UncheckedKeyword),
            _ => {}
        }
        Ok(())
    })?;
    if !is_object {
        return Ok((Vec::new(), false));
    }
    if type_name.as_deref() != Some("object") {
        reader.fault(&place, Problem::RootNotObject);
    }
    if fields.is_none() {
        reader.fault(&place, Problem::MissingProperties);
    }
    let mut fields = fields.unwrap_or_default();
    if let Some(required) = required {
        require(required, &mut fields, &place.at("required"), reader);
    }
    Ok((fields, closed))
}

fn properties<'a>(cursor: &mut Cursor<'a>, place: &Place<'_>, reader: &mut Reader<'a>) -> Result<Vec<Field>, NotJson> {
    // As many as most forms have at most.
    let mut fields = Vec::with_capacity(FEW);
    reader.object(cursor, place, |reader, name, cursor| {
        let field = property(cursor, &place.at(name), reader)?;
        // A property with a fault stays, so that `required` does not complain of it, too.
        let mut field = field.unwrap_or_else(Field::unreadable);
        name.clone_into(&mut field.name);
        fields.push(field);
        Ok(())
    })?;
    Ok(fields)
}

fn require(required: &str, fields: &mut [Field], place: &Place<'_>, reader: &mut Reader<'_>) {
    let Some(items) = reader.array(place, required, "an array of property names") else { return };
    let mut names: Vec<Cow<'_, str>> = Vec::new();
    for (index, item) in items.enumerate() {
        match json::text(item) {
            Some(name) => names.push(name),
            None => reader.wrong_type(&place.at(&index.to_string()), item, "the name of a property"),
        }
    }
    // A few names are compared faster than they are hashed.
    let mut left = HashSet::new();
    if names.len() <= FEW && fields.len() <= FEW {
        for field in fields.iter_mut() {
            field.required = names.iter().any(|name| *name == field.name);
        }
        names.retain(|name| !fields.iter().any(|field| *name == field.name));
        left.extend(names);
    } else {
        left.extend(names);
        for field in fields.iter_mut() {
            field.required = left.contains(field.name.as_str());
        }
        for field in fields.iter() {
            left.remove(field.name.as_str());
        }
    }
    if left.is_empty() {
        return;
    }
    // In the order of the text, not of the set.
    for item in cursor::items(required) {
        if let Some(name) = json::text(item).filter(|name| left.remove(name.as_ref())) {
            reader.fault(place, Problem::UnknownRequired(name.into_owned()));
        }
    }
}
