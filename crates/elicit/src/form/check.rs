//! Whether an answer fits its form (R-FORM-06).

use std::cmp::Ordering;
use std::collections::HashSet;

use super::{Accepted, Fault, Faults, Field, Form, Kind, MultiSelect, Numeric, Rule, Text};
use crate::{Answer, Content, JsonType, Number, Value};

impl Form {
    /// Checks an answer against this form (R-FORM-06, R-ACT-03): required fields, types, lengths in
    /// code points, bounds, formats, choices, counts, patterns; all faults at once, each with its
    /// property. Decline and cancel pass as what they are.
    ///
    /// Properties that nobody asked for are dropped, or refused where the form is
    /// [closed](Self::is_closed). A pattern that cannot be run in linear time is not checked
    /// ([`Pattern::is_checked`](super::Pattern::is_checked)); a text of more than 16 KiB is
    /// refused where there is a pattern that can. The time is linear in answer and form.
    pub fn check<'a>(&'a self, answer: &'a Answer) -> Result<Answer<Accepted<'a>>, Faults> {
        Ok(match answer {
            Answer::Accept(content) => Answer::Accept(self.check_content(content)?),
            Answer::Decline => Answer::Decline,
            Answer::Cancel => Answer::Cancel,
        })
    }

    /// Checks the content of an accepted form: [`check`](Self::check), for who has no answer around it.
    pub fn check_content<'a>(&'a self, content: &'a Content) -> Result<Accepted<'a>, Faults> {
        let mut values: Vec<Option<&'a Value>> = vec![None; self.fields.len()];
        let mut faults = Vec::new();
        let mut foreign = Vec::new();
        // Most answers come in the order of the form, so the next field is the first guess.
        let mut next = 0;
        for (name, value) in content.iter() {
            let place = match self.fields.get(next) {
                Some(field) if field.name == name => Some(next),
                _ => self.place(name),
            };
            match place.and_then(|place| values.get_mut(place).map(|slot| (place, slot))) {
                Some((place, slot)) => {
                    *slot = Some(value);
                    next = place + 1;
                }
                None if self.closed => foreign.push(name),
                None => {}
            }
        }
        for (field, value) in self.fields.iter().zip(&values) {
            match value {
                Some(value) => field.check_into(value, &mut |rule| faults.push(field.fault(rule))),
                None if field.required => faults.push(field.fault(Rule::Required)),
                None => {}
            }
        }
        let not_asked = |name: &str| Fault { property: name.to_owned(), rule: Rule::AdditionalProperty };
        faults.extend(foreign.into_iter().map(not_asked));
        if faults.is_empty() { Ok(Accepted::new(self, values)) } else { Err(Faults::new(faults)) }
    }
}

impl Field {
    /// The rules that `value` breaks as an answer to this field; none where it fits.
    pub fn check(&self, value: &Value) -> Vec<Rule> {
        let mut rules = Vec::new();
        self.check_into(value, &mut |rule| rules.push(rule));
        rules
    }

    fn fault(&self, rule: Rule) -> Fault {
        Fault { property: self.name.clone(), rule }
    }

    fn check_into(&self, value: &Value, fault: &mut dyn FnMut(Rule)) {
        match (&self.kind, value) {
            (Kind::Text(text), Value::Text(value)) => text.check(value, fault),
            (Kind::Number(numeric), Value::Number(value)) => numeric.check(value, fault),
            (Kind::Integer(numeric), Value::Number(value)) => {
                if !value.is_integer() {
                    fault(Rule::Integer);
                }
                numeric.check(value, fault);
            }
            (Kind::Boolean(_), Value::Boolean(_)) => {}
            (Kind::Select(select), Value::Text(value)) => {
                if !select.choices.contains(value) {
                    fault(Rule::Choice(select.choices.some()));
                }
            }
            (Kind::MultiSelect(select), Value::List(items)) => select.check(items, fault),
            (kind, value) => fault(kind.other_type(value)),
        }
    }
}

impl Kind {
    /// What a value of this kind is, in words.
    pub(super) fn expected(&self) -> (&'static str, JsonType) {
        match self {
            Self::Text(_) => ("a text", JsonType::String),
            Self::Number(_) => ("a number", JsonType::Number),
            Self::Integer(_) => ("a whole number", JsonType::Number),
            Self::Boolean(_) => ("true or false", JsonType::Boolean),
            Self::Select(_) => ("one of the choices", JsonType::String),
            Self::MultiSelect(_) => ("a list of choices", JsonType::Array),
        }
    }

    fn other_type(&self, value: &Value) -> Rule {
        let (expected, json_type) = self.expected();
        let found = value.json_type();
        match found {
            JsonType::Number if json_type == found => Rule::NumberTooLarge,
            JsonType::String if json_type == found => Rule::NotText,
            JsonType::Array if json_type == found => match self {
                Self::MultiSelect(select) => Rule::Choice(select.choices.some()),
                _ => Rule::Type { expected, found },
            },
            _ => Rule::Type { expected, found },
        }
    }
}

/// The longest text that a pattern is looked for in, in bytes. The time is linear in the text, but a hostile pattern
/// can make it microseconds a byte, and nobody types this much into a field with a pattern.
const MAX_MATCHED_BYTES: usize = 16 * 1024;

impl Text {
    fn check(&self, value: &str, fault: &mut dyn FnMut(Rule)) {
        if self.min_length.is_some() || self.max_length.is_some() {
            let length = value.chars().count() as u64;
            if let Some(least) = self.min_length.filter(|least| length < *least) {
                fault(Rule::MinLength(least));
            }
            if let Some(most) = self.max_length.filter(|most| length > *most) {
                fault(Rule::MaxLength(most));
            }
        }
        if let Some(format) = self.format.filter(|format| !format.accepts(value)) {
            fault(Rule::Format(format));
        }
        if let Some(pattern) = &self.pattern {
            let too_long = value.len() > MAX_MATCHED_BYTES;
            if too_long && pattern.is_checked() {
                fault(Rule::TooLongForPattern);
            } else if !too_long && pattern.matches(value) == Some(false) {
                fault(Rule::Pattern(pattern.as_str().to_owned()));
            }
        }
    }
}

impl Numeric {
    fn check(&self, value: &Number, fault: &mut dyn FnMut(Rule)) {
        if let Some(least) = self.minimum.as_ref().filter(|least| value.compare(least) == Ordering::Less) {
            fault(Rule::Minimum(least.clone()));
        }
        if let Some(most) = self.maximum.as_ref().filter(|most| value.compare(most) == Ordering::Greater) {
            fault(Rule::Maximum(most.clone()));
        }
    }
}

impl MultiSelect {
    fn check(&self, items: &[String], fault: &mut dyn FnMut(Rule)) {
        let count = items.len() as u64;
        if let Some(least) = self.min_items.filter(|least| count < *least) {
            fault(Rule::MinItems(least));
        }
        if let Some(most) = self.max_items.filter(|most| count > *most) {
            fault(Rule::MaxItems(most));
        }
        if !items.iter().all(|item| self.choices.contains(item)) {
            fault(Rule::Choice(self.choices.some()));
        }
        if self.unique && !distinct(items.iter().map(String::as_str)) {
            fault(Rule::UniqueItems);
        }
    }
}

/// So few texts are compared with each other faster than they are hashed.
const FEW: usize = 16;

/// Whether no text is there twice.
pub(super) fn distinct<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> bool {
    if texts.clone().nth(FEW).is_none() {
        return texts.clone().enumerate().all(|(index, text)| texts.clone().take(index).all(|other| other != text));
    }
    let mut seen = HashSet::new();
    texts.into_iter().all(|text| seen.insert(text))
}
