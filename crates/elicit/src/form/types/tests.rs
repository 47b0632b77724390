mod choices;
mod extract;
mod fields;
mod refused;

use schemars::JsonSchema;

use super::super::Form;
use crate::RawObject;

/// The properties of the form of `T`, each on a line of its own, and what else is said.
fn lines<T: JsonSchema>() -> String {
    let form = Form::from_type::<T>().unwrap_or_else(|error| panic!("{error}"));
    let whole = RawObject::parse(form.as_str()).unwrap();
    let mut lines = Vec::new();
    for (name, value) in whole.text_members().map(Result::unwrap) {
        if name == "properties" {
            let properties = RawObject::parse(value.get()).unwrap();
            lines.extend(properties.text_members().map(Result::unwrap).map(|(name, value)| format!("{name} {value}")));
        } else {
            lines.push(format!("{name}: {value}"));
        }
    }
    lines.join("\n")
}

/// The faults of `T`, each on a line of its own.
fn faults<T: JsonSchema>() -> String {
    let error = Form::from_type::<T>().unwrap_err();
    error.faults().iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
