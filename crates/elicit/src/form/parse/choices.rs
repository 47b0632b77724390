//! The lists of choices, in each of their shapes (R-FORM-01).

use std::collections::HashSet;

use serde_json::value::RawValue;

use super::super::{Choice, Choices, Oddity, Problem};
use super::COMBINATORS;
use super::reader::{Place, Reader};
use crate::{JsonType, json};

/// `enum`, with the `enumNames` of older revisions where it is there.
pub(super) fn list(
    raw: &RawValue,
    titles: Option<&RawValue>,
    place: &Place<'_>,
    reader: &mut Reader,
) -> Option<Choices> {
    let mut choices = values(raw, &place.at("enum"), reader)?;
    if let Some(raw) = titles {
        let place = place.at("enumNames");
        let titles = reader.array(&place, raw, "an array of titles")?;
        if titles.len() != choices.len() {
            reader.fault(&place, Problem::TitleCount { found: titles.len(), expected: choices.len() });
            return None;
        }
        for (index, (choice, title)) in choices.iter_mut().zip(titles).enumerate() {
            choice.title = Some(reader.text(&place.at(&index.to_string()), title)?.into_owned());
        }
    }
    collect(choices, &place.at("enum"), reader)
}

/// The `items` of a multi-select field: `enum`, or `anyOf`.
pub(super) fn items(raw: &RawValue, place: &Place<'_>, reader: &mut Reader) -> Option<Choices> {
    let object = reader.object(place, raw.get())?;
    let (mut type_name, mut plain, mut any_of, mut combined) = (None, None, None, false);
    for (key, value) in reader.members(place, &object) {
        match key {
            "type" => type_name = Some(value),
            "enum" => plain = Some(value),
            "anyOf" => any_of = Some(value),
            _ if COMBINATORS.contains(&key) => {
                reader.fault(&place.at(key), Problem::Combinator);
                combined = true;
            }
            _ => {}
        }
    }
    // `anyOf` may leave the type out, since its constants say it.
    let text = match type_name {
        Some(name) => json::text(name.get()).as_deref() == Some("string"),
        None => plain.is_none(),
    };
    match (plain, any_of) {
        _ if combined => None,
        (None, None) => {
            reader.fault(place, Problem::FreeArray);
            None
        }
        _ if !text => {
            reader.fault(place, Problem::ChoicesNotOfText);
            None
        }
        (Some(_), Some(_)) => {
            reader.fault(&place.at("anyOf"), Problem::TwoLists);
            None
        }
        (Some(raw), None) => {
            let place = place.at("enum");
            let choices = values(raw, &place, reader)?;
            collect(choices, &place, reader)
        }
        (None, Some(raw)) => titled(raw, &place.at("anyOf"), reader),
    }
}

/// `oneOf` or `anyOf`: a list of `const` and `title`.
pub(super) fn titled(raw: &RawValue, place: &Place<'_>, reader: &mut Reader) -> Option<Choices> {
    let entries = reader.array(place, raw, "an array of choices")?;
    let count = entries.len();
    let mut choices = Vec::with_capacity(count);
    for (index, entry) in entries.into_iter().enumerate() {
        let index = index.to_string();
        choices.extend(entry_of(entry, &place.at(&index), reader));
    }
    // A list with faulty entries is not to be complained of as a whole, too.
    (choices.len() == count).then(|| collect(choices, place, reader)).flatten()
}

fn entry_of(raw: &RawValue, place: &Place<'_>, reader: &mut Reader) -> Option<Choice> {
    let object = reader.object(place, raw.get())?;
    let (mut value, mut title) = (None, None);
    for (key, raw) in reader.members(place, &object) {
        match key {
            "const" => value = Some(raw),
            "title" => title = Some(raw),
            _ if COMBINATORS.contains(&key) => reader.fault(&place.at(key), Problem::Combinator),
            _ => {}
        }
    }
    let title = match title {
        Some(raw) => Some(reader.text(&place.at("title"), raw)?.into_owned()),
        None => None,
    };
    let Some(raw) = value else {
        reader.fault(place, Problem::ChoiceWithoutConst);
        return None;
    };
    let value = text_of(raw, &place.at("const"), reader)?;
    if title.is_none() {
        reader.find(place, Oddity::MissingTitle);
    }
    Some(Choice { value, title })
}

fn values(raw: &RawValue, place: &Place<'_>, reader: &mut Reader) -> Option<Vec<Choice>> {
    let items = reader.array(place, raw, "an array of strings")?;
    let mut choices = Vec::with_capacity(items.len());
    for (index, item) in items.into_iter().enumerate() {
        let index = index.to_string();
        choices.push(Choice::new(text_of(item, &place.at(&index), reader)?));
    }
    Some(choices)
}

fn text_of(raw: &RawValue, place: &Place<'_>, reader: &mut Reader) -> Option<String> {
    let text = json::text(raw.get());
    if text.is_none() {
        reader.fault(place, Problem::ChoiceNotText(JsonType::of(raw.get())));
    }
    text.map(std::borrow::Cow::into_owned)
}

fn collect(choices: Vec<Choice>, place: &Place<'_>, reader: &mut Reader) -> Option<Choices> {
    if choices.is_empty() {
        reader.fault(place, Problem::NoChoices);
        return None;
    }
    let titled = choices.iter().any(|choice| choice.title.is_some());
    let mut labels = HashSet::with_capacity(choices.len());
    if titled && !choices.iter().all(|choice| labels.insert(choice.label())) {
        reader.find(place, Oddity::RepeatedTitle);
    }
    match Choices::new(choices) {
        Ok(choices) => Some(choices),
        Err(twice) => {
            reader.fault(place, Problem::RepeatedChoice(twice));
            None
        }
    }
}
