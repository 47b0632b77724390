use serde_json::Value;

use super::super::Format;
use super::bounds::{Bounds, excludes_zero, number};
use super::choices::Listed;
use super::members::Members;
use super::refusal::Refusal;
use super::shape::Shape;

/// The keywords that have a place of their own in what is written, whatever the type.
const PLACED: [&str; 4] = ["type", "title", "description", "default"];

/// Annotations that a form cannot hold.
const DROPPED: [&str; 8] = ["$schema", "$id", "$defs", "definitions", "$comment", "examples", "deprecated", "readOnly"];

/// One property in the shapes of a form. `root` is the whole schema.
pub(super) fn property(schema: &Value, required: bool, root: &Value) -> Result<String, Refusal> {
    let shape = Shape::of(schema, root)?;
    if required && shape.nullable {
        return Err(Refusal::Nullable);
    }
    if let Some(listed) = Listed::of(&shape, root)? {
        if shape.type_name().is_some_and(|name| name != "string") {
            return Err(Refusal::ChoicesNotText);
        }
        let mut property = begin("string", &shape, None);
        listed.write("oneOf", &mut property);
        return Ok(end(property, &shape, &[listed.keyword]));
    }
    match shape.type_name() {
        Some("string") => text(&shape),
        Some(name @ ("integer" | "number")) => numeric(name, &shape),
        Some("boolean") => Ok(end(begin("boolean", &shape, None), &shape, &[])),
        Some("array") => list(&shape, root),
        Some("object") => Err(object(&shape)),
        Some(other) => Err(Refusal::UnknownType(other.to_owned())),
        None => Err(Refusal::Anything),
    }
}

fn text(shape: &Shape) -> Result<String, Refusal> {
    if let Some(format) = shape.get("format").and_then(Value::as_str)
        && Format::from_name(format).is_none()
        // Kept, since it says that the text is a secret.
        && format != "password"
    {
        return Err(Refusal::TextFormat(format.to_owned()));
    }
    Ok(end(begin("string", shape, None), shape, &[]))
}

fn numeric(name: &str, shape: &Shape) -> Result<String, Refusal> {
    let bounds = Bounds::of(shape)?;
    let mut property = begin(name, shape, None);
    for (keyword, bound) in [("minimum", &bounds.minimum), ("maximum", &bounds.maximum)] {
        match (bound, shape.get(keyword)) {
            (Some(bound), _) => property.raw(keyword, bound.as_str()),
            (None, Some(other)) => property.raw(keyword, &other.to_string()),
            (None, None) => {}
        }
    }
    let written: &[&str] =
        if excludes_zero(shape) { &["format", "minimum", "maximum", "not"] } else { &["format", "minimum", "maximum"] };
    Ok(end(property, shape, written))
}

fn list(shape: &Shape, root: &Value) -> Result<String, Refusal> {
    if shape.get("prefixItems").is_some() {
        return Err(Refusal::Tuple);
    }
    let items = Shape::of(shape.get("items").ok_or(Refusal::FreeList)?, root).map_err(|_| Refusal::FreeList)?;
    let Some(listed) = Listed::of(&items, root)? else { return Err(Refusal::FreeList) };
    if items.nullable {
        return Err(Refusal::NullableItems);
    }
    let mut property = begin("array", shape, Some(&items));
    let mut choices = Members::new();
    if !listed.is_titled() {
        choices.text("type", "string");
    }
    listed.write("anyOf", &mut choices);
    property.raw("items", &choices.into_json());
    Ok(end(property, shape, &["items"]))
}

fn object(shape: &Shape) -> Refusal {
    let open = shape.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false));
    if open || shape.get("patternProperties").is_some() { Refusal::Map } else { Refusal::Struct }
}

/// The type, and the words for the person: those of the field, else those of its items.
fn begin(type_name: &str, shape: &Shape, items: Option<&Shape>) -> Members {
    let mut property = Members::new();
    property.text("type", type_name);
    for keyword in ["title", "description"] {
        if let Some(words) = shape.get(keyword).or_else(|| items?.get(keyword)) {
            property.raw(keyword, &words.to_string());
        }
    }
    property
}

/// The default, and what else the schema says. `written` are the keywords that stand there already.
fn end(mut property: Members, shape: &Shape, written: &[&str]) -> String {
    for (keyword, value) in shape.iter() {
        if !written.contains(&keyword) && !PLACED.contains(&keyword) && !DROPPED.contains(&keyword) {
            property.raw(keyword, &value.to_string());
        }
    }
    // The default of an `Option` is null where it is `None`: there is none.
    match shape.get("default") {
        None | Some(Value::Null) => {}
        Some(Value::Number(default)) => {
            let text = number(shape, "default").map_or_else(|| default.to_string(), |number| number.to_string());
            property.raw("default", &text);
        }
        Some(default) => property.raw("default", &default.to_string()),
    }
    property.into_json()
}
