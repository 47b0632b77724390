//! Reads single keywords, and keeps what is wrong or odd about them.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::super::error::step;
use super::super::pattern::Budget;
use super::super::{Finding, Oddity, Problem, SchemaFault};
use super::Members;
use crate::{JsonType, Number, NumberError, RawObject, WireError, json};

/// Where in the schema the reader is; a pointer is made of it only if there is something to say.
pub(super) struct Place<'p> {
    parent: Option<&'p Place<'p>>,
    key: &'p str,
}

impl<'p> Place<'p> {
    pub(super) const ROOT: Self = Self { parent: None, key: "" };

    pub(super) fn at(&'p self, key: &'p str) -> Place<'p> {
        Place { parent: Some(self), key }
    }

    /// As deep as a form is: root, properties, name, items, list, entry, keyword.
    fn pointer(&self) -> String {
        self.parent.map_or_else(String::new, |parent| step(&parent.pointer(), self.key))
    }
}

pub(super) struct Reader {
    faults: Vec<SchemaFault>,
    findings: Vec<Finding>,
    /// What all patterns of the form may cost together.
    pub(super) budget: Budget,
}

impl Reader {
    pub(super) fn new() -> Self {
        Self { faults: Vec::new(), findings: Vec::new(), budget: Budget::for_one_form() }
    }

    pub(super) fn into_parts(self) -> (Vec<SchemaFault>, Vec<Finding>) {
        (self.faults, self.findings)
    }

    pub(super) fn fault(&mut self, place: &Place<'_>, problem: Problem) {
        self.faults.push(SchemaFault { pointer: place.pointer(), problem });
    }

    pub(super) fn find(&mut self, place: &Place<'_>, oddity: Oddity) {
        self.findings.push(Finding { pointer: place.pointer(), oddity });
    }

    pub(super) fn wrong_type(&mut self, place: &Place<'_>, raw: &str, expected: &'static str) {
        self.fault(place, Problem::WrongType { found: JsonType::of(raw), expected });
    }

    pub(super) fn object<'a>(&mut self, place: &Place<'_>, raw: &'a str) -> Option<RawObject<'a>> {
        match RawObject::parse(raw) {
            Ok(object) => return Some(object),
            Err(WireError::DuplicateKey) => self.fault(place, Problem::DuplicateKey),
            Err(WireError::NotObject) => self.wrong_type(place, raw, "an object"),
            Err(_) => self.fault(place, Problem::NotJson),
        }
        None
    }

    pub(super) fn named_members<'o, 'a>(&mut self, place: &Place<'_>, object: &'o RawObject<'a>) -> Members<'o, 'a> {
        let mut members = Vec::new();
        for member in object.text_members() {
            match member {
                Ok(member) => members.push(member),
                Err(_) => self.fault(place, Problem::NameNotText),
            }
        }
        members
    }

    pub(super) fn array<'a>(
        &mut self,
        place: &Place<'_>,
        raw: &'a RawValue,
        expected: &'static str,
    ) -> Option<Vec<&'a RawValue>> {
        let items = serde_json::from_str(raw.get()).ok();
        if items.is_none() {
            self.wrong_type(place, raw.get(), expected);
        }
        items
    }

    pub(super) fn text<'a>(&mut self, place: &Place<'_>, raw: &'a RawValue) -> Option<Cow<'a, str>> {
        let text = json::text(raw.get());
        if text.is_none() {
            self.wrong_type(place, raw.get(), "a string of Unicode text");
        }
        text
    }

    pub(super) fn flag(&mut self, place: &Place<'_>, raw: &RawValue) -> Option<bool> {
        match raw.get() {
            "true" => Some(true),
            "false" => Some(false),
            other => {
                self.wrong_type(place, other, "true or false");
                None
            }
        }
    }

    pub(super) fn number(&mut self, place: &Place<'_>, raw: &RawValue) -> Option<Number> {
        match Number::parse(raw.get()) {
            Ok(number) => return Some(number),
            Err(NumberError::TooLarge) => self.fault(place, Problem::NumberTooLarge),
            Err(NumberError::Syntax) => self.wrong_type(place, raw.get(), "a number"),
        }
        None
    }

    /// A length, or a number of items. What is beyond 64 bits is as good as their end.
    pub(super) fn count(&mut self, place: &Place<'_>, raw: &RawValue) -> Option<u64> {
        let number = self.number(place, raw)?;
        let count =
            number.integer_text().filter(|text| !text.starts_with('-')).map(|text| text.parse().unwrap_or(u64::MAX));
        if count.is_none() {
            self.fault(place, Problem::NotCount);
        }
        count
    }
}
