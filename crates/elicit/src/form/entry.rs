//! What a person types into a field, as a value.

use super::{Choices, Field, Kind, Rule};
use crate::{Number, Value};

/// Why what a person typed is no answer, in words for the person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryFault {
    /// The field is required, and nothing was typed.
    #[error("An answer is needed here.")]
    Empty,
    /// A number was asked for.
    #[error("Enter a number, such as 12 or 0.5, with a point and without separators.")]
    NotNumber,
    /// A whole number was asked for.
    #[error("Enter a whole number, such as 12, without separators.")]
    NotInteger,
    /// Yes or no was asked for.
    #[error("Answer yes or no.")]
    NotBoolean,
    /// What was typed is none of the choices, or could be several.
    #[error("Choose one of the given choices.")]
    NotChoice,
    /// What was typed breaks a rule of the field.
    #[error("It {0}.")]
    Rule(Rule),
}

impl Field {
    /// What a person typed, as a value that fits this field (R-FORM-05, R-FORM-11); `None` where
    /// nothing was typed and the field is optional, so that it is left out of the answer.
    ///
    /// - A text stays exactly what was typed; one with a format loses the white space around it.
    /// - A number keeps its digits: no float is made of it. A leading `+`, leading zeros, a missing zero
    ///   before the point and full-width digits are read; `1,5`, `1 000` and `42xyz` are not.
    /// - Yes or no: `yes`, `no`, `y`, `n`, `true`, `false`, `on`, `off`, `是`, `否`.
    /// - A choice is its value, else its title, else the one that differs in upper and lower case only.
    /// - Several choices stand on lines of their own, or between commas; no order is changed.
    pub fn parse_text(&self, typed: &str) -> Result<Option<Value>, Vec<EntryFault>> {
        if typed.trim().is_empty() {
            return self.empty(typed);
        }
        let value = self.read(typed).map_err(|fault| vec![fault])?;
        self.fitting(value).map(Some)
    }

    fn empty(&self, typed: &str) -> Result<Option<Value>, Vec<EntryFault>> {
        match &self.kind {
            // White space is a text like any other; nothing at all is none.
            Kind::Text(text) if text.format.is_none() && !typed.is_empty() => {
                self.fitting(Value::from(typed)).map(Some)
            }
            Kind::MultiSelect(_) if self.required => self.fitting(Value::List(Vec::new())).map(Some),
            _ if self.required => Err(vec![EntryFault::Empty]),
            _ => Ok(None),
        }
    }

    fn fitting(&self, value: Value) -> Result<Value, Vec<EntryFault>> {
        let rules = self.check(&value);
        if rules.is_empty() { Ok(value) } else { Err(rules.into_iter().map(EntryFault::Rule).collect()) }
    }

    fn read(&self, typed: &str) -> Result<Value, EntryFault> {
        match &self.kind {
            Kind::Text(text) if text.format.is_some() => Ok(Value::from(typed.trim())),
            Kind::Text(_) => Ok(Value::from(typed)),
            Kind::Number(_) => number(typed).ok_or(EntryFault::NotNumber)?.map_err(EntryFault::Rule),
            Kind::Integer(_) => number(typed).ok_or(EntryFault::NotInteger)?.map_err(EntryFault::Rule),
            Kind::Boolean(_) => boolean(typed).map(Value::Boolean).ok_or(EntryFault::NotBoolean),
            Kind::Select(select) => choice(&select.choices, typed).map(Value::from).ok_or(EntryFault::NotChoice),
            Kind::MultiSelect(select) => several(&select.choices, typed).ok_or(EntryFault::NotChoice),
        }
    }
}

fn number(typed: &str) -> Option<Result<Value, Rule>> {
    let plain: String = typed.trim().chars().map(half_width).collect();
    let (sign, digits) = match plain.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", plain.strip_prefix('+').unwrap_or(&plain)),
    };
    let significant = digits.trim_start_matches('0');
    // The zero before a point, an exponent or the end stays.
    let zero = if significant.starts_with(|first: char| first.is_ascii_digit()) { "" } else { "0" };
    if digits.is_empty() || digits.starts_with(['e', 'E']) || digits == "." {
        return None;
    }
    match Number::parse(&format!("{sign}{zero}{significant}")) {
        Ok(number) => Some(Ok(Value::Number(number))),
        Err(crate::NumberError::TooLarge) => Some(Err(Rule::NumberTooLarge)),
        Err(_) => None,
    }
}

/// The ASCII character that an input method for East Asian scripts may have made wide.
fn half_width(character: char) -> char {
    match character {
        '\u{ff10}'..='\u{ff19}' | '\u{ff0b}' | '\u{ff0d}' | '\u{ff0e}' => {
            u8::try_from(u32::from(character) - 0xfee0).map_or(character, char::from)
        }
        '\u{2212}' => '-',
        other => other,
    }
}

fn boolean(typed: &str) -> Option<bool> {
    match typed.trim().to_lowercase().as_str() {
        "yes" | "y" | "true" | "on" | "是" => Some(true),
        "no" | "n" | "false" | "off" | "否" => Some(false),
        _ => None,
    }
}

fn choice(choices: &Choices, typed: &str) -> Option<String> {
    if choices.contains(typed) {
        return Some(typed.to_owned());
    }
    let typed = typed.trim();
    if choices.contains(typed) {
        return Some(typed.to_owned());
    }
    only(choices, |text| text == typed).or_else(|| {
        let lower = typed.to_lowercase();
        only(choices, |text| text.to_lowercase() == lower)
    })
}

/// The value of the only choice that a person would read so.
fn only(choices: &Choices, is: impl Fn(&str) -> bool) -> Option<String> {
    let mut fitting = choices.iter().filter(|choice| is(choice.label()) || is(&choice.value));
    match (fitting.next(), fitting.next()) {
        (Some(choice), None) => Some(choice.value.clone()),
        _ => None,
    }
}

fn several(choices: &Choices, typed: &str) -> Option<Value> {
    // A value may hold a comma.
    if let Some(one) = choice(choices, typed) {
        return Some(Value::List(vec![one]));
    }
    let lines = typed.contains('\n');
    let separates = |character: char| if lines { character == '\n' } else { matches!(character, ',' | '，' | '、') };
    let items = typed.split(separates).map(str::trim).filter(|item| !item.is_empty());
    items.map(|item| choice(choices, item)).collect::<Option<Vec<_>>>().map(Value::List)
}

#[cfg(test)]
mod tests;
