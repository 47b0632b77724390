//! Reads single keywords, and keeps what is wrong or odd about them.

use std::borrow::Cow;
use std::collections::HashSet;

use super::super::error::step;
use super::super::pattern::Budget;
use super::super::{Finding, FormError, Oddity, Problem, SchemaFault};
use crate::json::cursor::{self, Cursor, Key, NotJson};
use crate::{JsonType, Number, NumberError, json};

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

/// Faults and findings beyond these are counted only: each holds the name of its property, and a hostile schema may have
/// a million of them.
const KEPT: usize = 100;

/// So few keys are compared with each other faster than they are hashed.
pub(super) const FEW: usize = 16;

pub(super) struct Reader<'a> {
    faults: Vec<SchemaFault>,
    more_faults: usize,
    findings: Vec<Finding>,
    /// The keys of the objects that are being read, one after the other: one list for all, since most have a few.
    keys: Vec<Key<'a>>,
    /// What all patterns of the form may cost together.
    pub(super) budget: Budget,
}

impl<'a> Reader<'a> {
    pub(super) fn new() -> Self {
        Self {
            faults: Vec::new(),
            more_faults: 0,
            findings: Vec::new(),
            keys: Vec::with_capacity(FEW),
            budget: Budget::for_one_form(),
        }
    }

    /// The findings, if there was no fault.
    pub(super) fn into_findings(self) -> Result<Vec<Finding>, FormError> {
        if self.faults.is_empty() {
            Ok(self.findings)
        } else {
            Err(FormError::new(self.faults).and_more(self.more_faults))
        }
    }

    pub(super) fn fault(&mut self, place: &Place<'_>, problem: Problem) {
        if self.faults.len() < KEPT {
            self.faults.push(SchemaFault { pointer: place.pointer(), problem });
        } else {
            self.more_faults += 1;
        }
    }

    pub(super) fn find(&mut self, place: &Place<'_>, oddity: Oddity) {
        if self.findings.len() < KEPT {
            self.findings.push(Finding { pointer: place.pointer(), oddity });
        }
    }

    pub(super) fn wrong_type(&mut self, place: &Place<'_>, raw: &str, expected: &'static str) {
        self.fault(place, Problem::WrongType { found: JsonType::of(raw), expected });
    }

    /// Hands each member of the object at the cursor to `member`, which reads its value. Another value is a fault, and
    /// `false`; a repeated key, and one that is no text, is a fault, and its value is passed over.
    pub(super) fn object(
        &mut self,
        cursor: &mut Cursor<'a>,
        place: &Place<'_>,
        mut member: impl FnMut(&mut Self, &str, &mut Cursor<'a>) -> Result<(), NotJson>,
    ) -> Result<bool, NotJson> {
        if cursor.peek() != Some(b'{') {
            let value = cursor.value()?;
            self.wrong_type(place, value, "an object");
            return Ok(false);
        }
        cursor.enter();
        let start = self.keys.len();
        let mut many: HashSet<Key<'a>> = HashSet::new();
        let mut first = true;
        while let Some(key) = cursor.next_key(first)? {
            first = false;
            let own = self.keys.get(start..).unwrap_or_default();
            let repeated = own.contains(&key) || !many.is_empty() && many.contains(&key);
            match &key {
                Key::NoText(_) => {
                    self.fault(place, Problem::NameNotText);
                    cursor.value()?;
                }
                Key::Text(text) if repeated => {
                    self.fault(place, Problem::DuplicateKey(text.clone().into_owned()));
                    cursor.value()?;
                }
                Key::Text(text) => member(self, text, cursor)?,
            }
            if self.keys.len() - start < FEW {
                self.keys.push(key);
            } else {
                many.insert(key);
            }
        }
        self.keys.truncate(start);
        Ok(true)
    }

    pub(super) fn array<'r>(
        &mut self,
        place: &Place<'_>,
        raw: &'r str,
        expected: &'static str,
    ) -> Option<impl Iterator<Item = &'r str> + use<'r>> {
        if raw.starts_with('[') {
            return Some(cursor::items(raw));
        }
        self.wrong_type(place, raw, expected);
        None
    }

    pub(super) fn text<'r>(&mut self, place: &Place<'_>, raw: &'r str) -> Option<Cow<'r, str>> {
        let text = json::text(raw);
        if text.is_none() {
            self.wrong_type(place, raw, "a string of Unicode text");
        }
        text
    }

    pub(super) fn flag(&mut self, place: &Place<'_>, raw: &str) -> Option<bool> {
        match raw {
            "true" => Some(true),
            "false" => Some(false),
            other => {
                self.wrong_type(place, other, "true or false");
                None
            }
        }
    }

    pub(super) fn number(&mut self, place: &Place<'_>, raw: &str) -> Option<Number> {
        match Number::parse(raw) {
            Ok(number) => return Some(number),
            Err(NumberError::TooLarge) => self.fault(place, Problem::NumberTooLarge),
            Err(_) => self.wrong_type(place, raw, "a number"),
        }
        None
    }

    /// A length, or a number of items. What is beyond 64 bits is as good as their end.
    pub(super) fn count(&mut self, place: &Place<'_>, raw: &str) -> Option<u64> {
        if let Ok(count) = raw.parse() {
            return Some(count);
        }
        let number = self.number(place, raw)?;
        let count =
            number.integer_text().filter(|text| !text.starts_with('-')).map(|text| text.parse().unwrap_or(u64::MAX));
        if count.is_none() {
            self.fault(place, Problem::NotCount);
        }
        count
    }
}
