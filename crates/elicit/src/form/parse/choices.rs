//! The lists of choices, in each of their shapes (R-FORM-01).

use super::super::check::distinct;
use super::super::{Choice, Choices, Oddity, Problem};
use super::COMBINATORS;
use super::index::Index;
use super::reader::{Place, Reader};
use crate::json::cursor::Cursor;
use crate::{JsonType, json};

/// `enum`, with the `enumNames` of older revisions where it is there.
pub(super) fn list<'a>(
    raw: &'a str,
    titles: Option<&'a str>,
    place: &Place<'_>,
    reader: &mut Reader<'a>,
) -> Option<Choices> {
    let mut choices = values(raw, &place.at("enum"), reader)?;
    if let Some(raw) = titles {
        let place = place.at("enumNames");
        let titles: Vec<&str> = reader.array(&place, raw, "an array of titles")?.collect();
        if titles.len() != choices.len() {
            reader.fault(&place, Problem::TitleCount { found: titles.len(), expected: choices.len() });
            return None;
        }
        for (index, (choice, title)) in choices.iter_mut().zip(titles).enumerate() {
            choice.title = reader.text(&place.at(&index.to_string()), title).map(std::borrow::Cow::into_owned);
        }
    }
    collect(choices, &place.at("enum"), reader)
}

/// The `items` of a multi-select field: `enum`, or `anyOf`.
pub(super) fn items<'a>(raw: &'a str, place: &Place<'_>, reader: &mut Reader<'a>) -> Option<Choices> {
    let (mut type_name, mut plain, mut any_of, mut combined) = (None, None, None, false);
    let read = reader.object(&mut Cursor::new(raw), place, |reader, key, cursor| {
        let value = cursor.value()?;
        match key {
            _ if value == "null" => {}
            "type" => type_name = Some(value),
            "enum" => plain = Some(value),
            "anyOf" => any_of = Some(value),
            _ if COMBINATORS.contains(&key) => {
                reader.fault(&place.at(key), Problem::Combinator);
                combined = true;
            }
            _ => {}
        }
        Ok(())
    });
    if read != Ok(true) {
        return None;
    }
    // `anyOf` may leave the type out, since its constants say it.
    let text = match type_name {
        Some(name) => json::text(name).as_deref() == Some("string"),
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
pub(super) fn titled<'a>(raw: &'a str, place: &Place<'_>, reader: &mut Reader<'a>) -> Option<Choices> {
    let entries = reader.array(place, raw, "an array of choices")?;
    let mut choices = Vec::new();
    let mut count = 0;
    for entry in entries {
        choices.extend(entry_of(entry, place, count, reader));
        count += 1;
    }
    // A list with faulty entries is not to be complained of as a whole, too.
    (choices.len() == count).then(|| collect(choices, place, reader)).flatten()
}

fn entry_of<'a>(raw: &'a str, list: &Place<'_>, index: usize, reader: &mut Reader<'a>) -> Option<Choice> {
    let (mut value, mut title) = (None, None);
    let number = Index::new(index);
    let place = list.at(number.as_str());
    let read = reader.object(&mut Cursor::new(raw), &place, |reader, key, cursor| {
        let raw = cursor.value()?;
        match key {
            _ if raw == "null" => {}
            "const" => value = Some(raw),
            "title" => title = Some(raw),
            _ if COMBINATORS.contains(&key) => reader.fault(&place.at(key), Problem::Combinator),
            _ => {}
        }
        Ok(())
    });
    if read != Ok(true) {
        return None;
    }
    let title = match title {
        Some(raw) => Some(reader.text(&place.at("title"), raw)?.into_owned()),
        None => None,
    };
    let Some(raw) = value else {
        reader.fault(&place, Problem::ChoiceWithoutConst);
        return None;
    };
    let value = text_of(raw, &place.at("const"), reader)?;
    if title.is_none() {
        reader.find(&place, Oddity::MissingTitle);
    }
    Some(Choice { value, title })
}

fn values<'a>(raw: &'a str, place: &Place<'_>, reader: &mut Reader<'a>) -> Option<Vec<Choice>> {
    let mut choices = Vec::new();
    let mut count = 0;
    for item in reader.array(place, raw, "an array of strings")? {
        let number = Index::new(count);
        choices.extend(text_of(item, &place.at(number.as_str()), reader).map(Choice::new));
        count += 1;
    }
    (choices.len() == count).then_some(choices)
}

fn text_of<'a>(raw: &'a str, place: &Place<'_>, reader: &mut Reader<'a>) -> Option<String> {
    let text = json::text(raw);
    if text.is_none() {
        reader.fault(place, Problem::ChoiceNotText(JsonType::of(raw)));
    }
    text.map(std::borrow::Cow::into_owned)
}

fn collect(choices: Vec<Choice>, place: &Place<'_>, reader: &mut Reader<'_>) -> Option<Choices> {
    if choices.is_empty() {
        reader.fault(place, Problem::NoChoices);
        return None;
    }
    if choices.iter().any(|choice| choice.title.is_some()) && !distinct(choices.iter().map(Choice::label)) {
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
