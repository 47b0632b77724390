use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::super::error::step;
use super::super::{Form, FormError, SchemaFault, strict};
use super::members::{Members, array};
use super::property::property;
use super::refusal::Refusal;
use super::shape::Shape;
use crate::json;

/// The form that a schema of `schemars` means, with every fault at once where it means none.
pub(super) fn form(root: &Value) -> Result<Form, FormError> {
    let shape = match Shape::of(root, root) {
        Ok(shape) if shape.type_name() == Some("object") && !shape.nullable => shape,
        _ => return Err(FormError::new(vec![whole(Refusal::NoStruct)])),
    };
    let none = Map::new();
    let properties = shape.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let named = shape.get("required").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let required: HashSet<&str> = named.iter().filter_map(Value::as_str).collect();
    let mut faults: Vec<SchemaFault> = refusals(&shape).map(whole).collect();
    let mut written = Vec::new();
    let mut members = Members::new();
    for (name, schema) in properties {
        match property(schema, required.contains(name.as_str()), root) {
            Ok(property) => {
                members.raw(name, &property);
                written.push(name.as_str());
            }
            Err(refusal) => faults.push(SchemaFault { pointer: step("/properties", name), problem: refusal.into() }),
        }
    }
    let mut form = Members::new();
    form.text("type", "object");
    form.raw("properties", &members.into_json());
    written.retain(|name| required.contains(name));
    // A name that is no property is for `parse` to refuse.
    written.extend(named.iter().filter_map(Value::as_str).filter(|name| !properties.contains_key(*name)));
    if !written.is_empty() {
        form.raw("required", &array(written.into_iter().map(json::quote)));
    }
    if is_closed(&shape) {
        form.raw("additionalProperties", "false");
    }
    // What can be written is read although there are faults, so that its own are said as well.
    match Form::parse(&form.into_json()) {
        Ok(form) => {
            faults.extend(strict::faults(&form));
            if faults.is_empty() {
                return Ok(form);
            }
        }
        Err(error) => faults.extend_from_slice(error.faults()),
    }
    let places: HashMap<String, usize> =
        properties.keys().enumerate().map(|(place, name)| (step("", name), place + 1)).collect();
    faults.sort_by_key(|fault| {
        let name = fault.pointer.strip_prefix("/properties/").and_then(|rest| rest.split('/').next());
        name.and_then(|name| places.get(&format!("/{name}")).copied()).unwrap_or_default()
    });
    Err(FormError::new(faults))
}

fn whole(refusal: Refusal) -> SchemaFault {
    SchemaFault { pointer: String::new(), problem: refusal.into() }
}

/// Why the whole is no form, whatever its fields are.
fn refusals(shape: &Shape) -> impl Iterator<Item = Refusal> {
    let combined = ["oneOf", "anyOf", "allOf"].into_iter().any(|keyword| shape.get(keyword).is_some());
    let open = ["additionalProperties", "unevaluatedProperties", "patternProperties"]
        .into_iter()
        .any(|keyword| shape.get(keyword).is_some_and(|more| *more != Value::Bool(false)));
    [combined.then_some(Refusal::FlattenedEnum), open.then_some(Refusal::FlattenedMap)].into_iter().flatten()
}

fn is_closed(shape: &Shape) -> bool {
    ["additionalProperties", "unevaluatedProperties"]
        .into_iter()
        .any(|keyword| shape.get(keyword) == Some(&Value::Bool(false)))
}
