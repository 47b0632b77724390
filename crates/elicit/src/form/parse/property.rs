//! One property: its type, and the keywords that belong to it.

use std::cmp::Ordering;

use super::super::field::{Boolean, Field, Kind, MultiSelect, Numeric, Select, Text};
use super::super::{Format, Oddity, Pattern, Problem, Rule};
use super::choices::{items, list, titled};
use super::reader::{Place, Reader};
use super::{COMBINATORS, UNCHECKED};
use crate::json::cursor::{Cursor, NotJson};
use crate::{Value, json};

/// The keywords of one property that mean something to a form.
#[derive(Default)]
pub(super) struct Keywords<'a> {
    type_name: Option<&'a str>,
    title: Option<&'a str>,
    description: Option<&'a str>,
    default: Option<&'a str>,
    format: Option<&'a str>,
    pattern: Option<&'a str>,
    min_length: Option<&'a str>,
    max_length: Option<&'a str>,
    minimum: Option<&'a str>,
    maximum: Option<&'a str>,
    pub(super) list: Option<&'a str>,
    pub(super) titles: Option<&'a str>,
    pub(super) one_of: Option<&'a str>,
    items: Option<&'a str>,
    min_items: Option<&'a str>,
    max_items: Option<&'a str>,
    unique_items: Option<&'a str>,
    write_only: Option<&'a str>,
    combined: bool,
}

pub(super) fn property<'a>(
    cursor: &mut Cursor<'a>,
    place: &Place<'_>,
    reader: &mut Reader<'a>,
) -> Result<Option<Field>, NotJson> {
    let mut words = Keywords::default();
    let is_object = reader.object(cursor, place, |reader, key, cursor| {
        let value = cursor.value()?;
        // `null` counts as absent.
        if value != "null" {
            words.keep(key, value, place, reader);
        }
        Ok(())
    })?;
    Ok(if is_object { words.field(place, reader) } else { None })
}

impl<'a> Keywords<'a> {
    fn keep(&mut self, key: &str, value: &'a str, place: &Place<'_>, reader: &mut Reader<'_>) {
        let slot = match key.as_bytes() {
            b"type" => &mut self.type_name,
            b"title" => &mut self.title,
            b"description" => &mut self.description,
            b"default" => &mut self.default,
            b"format" => &mut self.format,
            b"pattern" => &mut self.pattern,
            b"minLength" => &mut self.min_length,
            b"maxLength" => &mut self.max_length,
            b"minimum" => &mut self.minimum,
            b"maximum" => &mut self.maximum,
            b"enum" => &mut self.list,
            b"enumNames" => &mut self.titles,
            b"oneOf" => &mut self.one_of,
            b"items" => &mut self.items,
            b"minItems" => &mut self.min_items,
            b"maxItems" => &mut self.max_items,
            b"uniqueItems" => &mut self.unique_items,
            b"writeOnly" => &mut self.write_only,
            _ if COMBINATORS.contains(&key) => {
                reader.fault(&place.at(key), Problem::Combinator);
                self.combined = true;
                return;
            }
            _ if UNCHECKED.contains(&key) => {
                reader.find(&place.at(key), Oddity::UncheckedKeyword);
                return;
            }
            _ => return,
        };
        *slot = Some(value);
    }
}

impl<'a> Keywords<'a> {
    fn field(&self, place: &Place<'_>, reader: &mut Reader<'a>) -> Option<Field> {
        let mut words = |key: &str, raw: Option<&str>| {
            raw.and_then(|raw| reader.text(&place.at(key), raw)).map(std::borrow::Cow::into_owned)
        };
        let title = words("title", self.title);
        let description = words("description", self.description);
        let kind = self.kind(place, reader)?;
        let mut field = Field { name: String::new(), title, description, required: false, kind };
        if let Some(default) = self.default {
            read_default(&mut field, default, &place.at("default"), reader);
        }
        Some(field)
    }

    fn kind(&self, place: &Place<'_>, reader: &mut Reader<'a>) -> Option<Kind> {
        let Some(raw) = self.type_name else {
            // A reference or a combinator stands in place of the type, and was named.
            if !self.combined {
                reader.fault(place, Problem::MissingType("type"));
            }
            return None;
        };
        let Some(name) = json::text(raw) else {
            reader.wrong_type(&place.at("type"), raw, "the name of one type");
            return None;
        };
        if name != "string" {
            if self.list.is_some() {
                reader.fault(&place.at("enum"), Problem::ChoicesNotOfText);
            }
            if self.one_of.is_some() {
                reader.fault(&place.at("oneOf"), Problem::Combinator);
            }
        }
        match &*name {
            "string" if self.list.is_some() || self.one_of.is_some() => self.select(place, reader),
            "string" => Some(Kind::Text(self.text(place, reader))),
            "number" => Some(Kind::Number(self.numeric(place, reader))),
            "integer" => Some(Kind::Integer(self.numeric(place, reader))),
            "boolean" => Some(Kind::Boolean(Boolean::default())),
            "array" => self.multi_select(place, reader),
            "object" => {
                reader.fault(place, Problem::NestedObject);
                None
            }
            _ => {
                reader.fault(place, Problem::UnknownType(name.into_owned()));
                None
            }
        }
    }

    fn text(&self, place: &Place<'_>, reader: &mut Reader<'a>) -> Text {
        let mut text = Text {
            min_length: self.min_length.and_then(|raw| reader.count(&place.at("minLength"), raw)),
            max_length: self.max_length.and_then(|raw| reader.count(&place.at("maxLength"), raw)),
            secret: self.write_only.is_some_and(|raw| raw == "true"),
            ..Text::default()
        };
        if text.min_length > text.max_length && text.max_length.is_some() {
            reader.fault(&place.at("minLength"), Problem::Bounds("maxLength"));
        }
        if let Some(name) = self.format.and_then(|raw| reader.text(&place.at("format"), raw)) {
            text.secret |= name == "password";
            text.format = Format::from_name(&name);
            if text.format.is_none() {
                reader.find(&place.at("format"), Oddity::UnknownFormat(name.into_owned()));
            }
        }
        if let Some(source) = self.pattern.and_then(|raw| reader.text(&place.at("pattern"), raw)) {
            match Pattern::parse_within(&source, &mut reader.budget) {
                Ok(pattern) => {
                    if let Some(reason) = pattern.unchecked_reason() {
                        reader.find(&place.at("pattern"), Oddity::UncheckedPattern(reason));
                    }
                    text.pattern = Some(pattern);
                }
                Err(error) => reader.fault(&place.at("pattern"), Problem::Pattern(error)),
            }
        }
        text
    }

    fn numeric(&self, place: &Place<'_>, reader: &mut Reader<'a>) -> Numeric {
        let minimum = self.minimum.and_then(|raw| reader.number(&place.at("minimum"), raw));
        let maximum = self.maximum.and_then(|raw| reader.number(&place.at("maximum"), raw));
        if let (Some(least), Some(most)) = (&minimum, &maximum)
            && least.compare(most) == Ordering::Greater
        {
            reader.fault(&place.at("minimum"), Problem::Bounds("maximum"));
        }
        Numeric { minimum, maximum, default: None }
    }

    fn select(&self, place: &Place<'_>, reader: &mut Reader<'a>) -> Option<Kind> {
        for (key, raw) in [
            ("format", self.format),
            ("pattern", self.pattern),
            ("minLength", self.min_length),
            ("maxLength", self.max_length),
        ] {
            if raw.is_some() {
                reader.find(&place.at(key), Oddity::UncheckedKeyword);
            }
        }
        let choices = match (self.list, self.one_of) {
            (Some(raw), one_of) => {
                if one_of.is_some() {
                    reader.fault(&place.at("oneOf"), Problem::TwoLists);
                }
                list(raw, self.titles, place, reader)
            }
            (None, Some(raw)) => titled(raw, &place.at("oneOf"), reader),
            (None, None) => None,
        }?;
        Some(Kind::Select(Select { choices, default: None }))
    }

    fn multi_select(&self, place: &Place<'_>, reader: &mut Reader<'a>) -> Option<Kind> {
        let min_items = self.min_items.and_then(|raw| reader.count(&place.at("minItems"), raw));
        let max_items = self.max_items.and_then(|raw| reader.count(&place.at("maxItems"), raw));
        let unique = self.unique_items.and_then(|raw| reader.flag(&place.at("uniqueItems"), raw)).unwrap_or(false);
        if max_items.is_some_and(|most| min_items > Some(most)) {
            reader.fault(&place.at("minItems"), Problem::Bounds("maxItems"));
        }
        let Some(raw) = self.items else {
            reader.fault(place, Problem::FreeArray);
            return None;
        };
        let choices = items(raw, &place.at("items"), reader)?;
        if min_items.is_some_and(|least| least > choices.len() as u64) {
            reader.fault(&place.at("minItems"), Problem::MoreThanChoices(choices.len()));
        }
        Some(Kind::MultiSelect(MultiSelect { choices, min_items, max_items, unique, default: None }))
    }
}

fn read_default(field: &mut Field, raw: &str, place: &Place<'_>, reader: &mut Reader<'_>) {
    let value = Value::read(raw);
    for rule in field.check(&value) {
        match rule {
            // The specification's own example has a default that its pattern does not match.
            Rule::Pattern(_) => reader.find(place, Oddity::Default("pattern")),
            Rule::Format(_) => reader.find(place, Oddity::Default("format")),
            rule => reader.fault(place, Problem::Default(rule)),
        }
    }
    match (&mut field.kind, value) {
        (Kind::Text(text), Value::Text(value)) => text.default = Some(value),
        (Kind::Number(numeric) | Kind::Integer(numeric), Value::Number(value)) => numeric.default = Some(value),
        (Kind::Boolean(boolean), Value::Boolean(value)) => boolean.default = Some(value),
        (Kind::Select(select), Value::Text(value)) => select.default = Some(value),
        (Kind::MultiSelect(select), Value::List(value)) => select.default = Some(value),
        // Named above as a default of another type.
        _ => {}
    }
}

impl Field {
    /// What stands for a property whose schema has a fault, until the whole form is refused.
    pub(super) fn unreadable() -> Self {
        Self {
            name: String::new(),
            title: None,
            description: None,
            required: false,
            kind: Kind::Boolean(Boolean::default()),
        }
    }
}
