//! What a person reads of choices.

use std::collections::HashSet;

use serde_json::value::RawValue;

use super::super::{Choice, Field, Kind, Problem};
use super::text;
use crate::{RawObject, json};

pub(super) fn check(field: &Field, schema: &RawValue, pointer: &str, fault: &mut dyn FnMut(String, Problem)) {
    let choices = match &field.kind {
        Kind::Select(select) => &select.choices,
        Kind::MultiSelect(select) => &select.choices,
        Kind::Text(_) | Kind::Number(_) | Kind::Integer(_) | Kind::Boolean(_) => return,
    };
    let list = List::of(schema);
    let mut labels = HashSet::with_capacity(choices.len());
    for (index, choice) in choices.iter().enumerate() {
        let place = || list.pointer(pointer, index, choice);
        // A blank title is refused as such: what is shown in its place is another matter.
        let shown = choice.title.as_deref().unwrap_or(&choice.value);
        text::label(shown, &mut |problem| fault(place(), problem));
        if !labels.insert(choice.label()) {
            fault(place(), Problem::RepeatedTitle(choice.label().to_owned()));
        }
    }
}

/// The shapes that a list of choices can have in a schema.
#[derive(Clone, Copy)]
enum List {
    Enum,
    OneOf,
    ItemsEnum,
    ItemsAnyOf,
}

impl List {
    fn of(schema: &RawValue) -> Self {
        let object = RawObject::parse(schema.get()).ok();
        let value = |object: &Option<RawObject<'_>>, key: &str| {
            object.as_ref().and_then(|object| object.get(key)).is_some_and(|value| !json::is_null(value.get()))
        };
        if value(&object, "items") {
            let items = object.and_then(|object| RawObject::parse(object.get("items")?.get()).ok());
            if value(&items, "anyOf") { Self::ItemsAnyOf } else { Self::ItemsEnum }
        } else if value(&object, "oneOf") {
            Self::OneOf
        } else {
            Self::Enum
        }
    }

    /// Where the words of one choice stand.
    fn pointer(self, field: &str, index: usize, choice: &Choice) -> String {
        let titled = choice.title.is_some();
        let key = if titled { "title" } else { "const" };
        match self {
            Self::Enum if titled => format!("{field}/enumNames/{index}"),
            Self::Enum => format!("{field}/enum/{index}"),
            Self::OneOf => format!("{field}/oneOf/{index}/{key}"),
            Self::ItemsEnum => format!("{field}/items/enum/{index}"),
            Self::ItemsAnyOf => format!("{field}/items/anyOf/{index}/{key}"),
        }
    }
}
