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
    let separator = if typed.contains('\n') { '\n' } else { ',' };
    let typed = typed.replace('\u{ff0c}', ",");
    let items = typed.split(separator).map(str::trim).filter(|item| !item.is_empty());
    items.map(|item| choice(choices, item)).collect::<Option<Vec<_>>>().map(Value::List)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use crate::Form;

    fn typed(schema: &serde_json::Value, required: bool, text: &str) -> String {
        let required = if required { vec!["a"] } else { vec![] };
        let form = json!({ "type": "object", "properties": { "a": schema }, "required": required }).to_string();
        match Form::parse(&form).unwrap().field("a").unwrap().parse_text(text) {
            Ok(None) => "absent".to_owned(),
            Ok(Some(value)) => {
                let mut json = String::new();
                value.write(&mut json);
                json
            }
            Err(faults) => faults.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
        }
    }

    const NO_NUMBER: &str = "Enter a number, such as 12 or 0.5, with a point and without separators.";
    const NO_INTEGER: &str = "Enter a whole number, such as 12, without separators.";

    /// R-FORM-11: exact; what only begins as a number is none.
    #[test]
    fn numbers_keep_their_digits() {
        let number = json!({ "type": "number" });
        for (text, value) in [
            ("42", "42"),
            (" 1.0 ", "1.0"),
            ("+0.10", "0.10"),
            ("007", "7"),
            ("000", "0"),
            ("-00.5", "-0.5"),
            (".5", "0.5"),
            ("-.5", "-0.5"),
            ("\u{2212}3", "-3"),
            ("１２．５", "12.5"),
            ("1e5", "1e5"),
            ("0e1", "0e1"),
            ("9007199254740993", "9007199254740993"),
            ("0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827"),
            ("42xyz", NO_NUMBER),
            ("1,5", NO_NUMBER),
            ("1 000", NO_NUMBER),
            ("5.", NO_NUMBER),
            (".", NO_NUMBER),
            ("-", NO_NUMBER),
            ("e5", NO_NUMBER),
            ("0x10", NO_NUMBER),
            ("--1", NO_NUMBER),
            ("NaN", NO_NUMBER),
            ("Infinity", NO_NUMBER),
            ("1e999", "It is too large a number."),
        ] {
            assert_eq!(typed(&number, true, text), value, "{text:?}");
        }
        let integer = json!({ "type": "integer", "minimum": 1, "maximum": 10 });
        for (text, value) in [
            ("5", "5"),
            ("5.0", "5.0"),
            ("2.5", "It has to be a whole number."),
            ("two", NO_INTEGER),
            ("11", "It has to be at most 10."),
            ("0", "It has to be at least 1."),
        ] {
            assert_eq!(typed(&integer, true, text), value, "{text:?}");
        }
    }

    /// R-FORM-05: a text is what was typed, and each broken rule is told.
    #[test]
    fn texts_stay_as_they_are() {
        let text = json!({ "type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-z ]+$" });
        assert_eq!(typed(&text, true, " ab "), r#"" ab ""#);
        assert_eq!(typed(&text, true, "  "), r#""  ""#);
        assert_eq!(
            typed(&text, true, "ABCDE"),
            "It has to be at most 4 characters long. It has to match the pattern ^[a-z ]+$."
        );
        let date = json!({ "type": "string", "format": "date" });
        assert_eq!(typed(&date, true, " 2026-02-28\n"), r#""2026-02-28""#);
        assert!(typed(&date, true, "2026-02-30").starts_with("It has to be"));
    }

    /// R-FORM-06: nothing is no answer, and no empty text.
    #[test]
    fn an_empty_field_is_left_out_or_asked_for() {
        let kinds = [
            json!({ "type": "string" }),
            json!({ "type": "string", "format": "email" }),
            json!({ "type": "number" }),
            json!({ "type": "boolean" }),
            json!({ "type": "string", "enum": ["a"] }),
        ];
        for kind in kinds {
            assert_eq!(typed(&kind, false, ""), "absent", "{kind}");
            assert_eq!(typed(&kind, true, ""), "An answer is needed here.", "{kind}");
        }
        let many = json!({ "type": "array", "items": { "type": "string", "enum": ["a"] }, "minItems": 1 });
        assert_eq!(typed(&many, false, " "), "absent");
        assert_eq!(typed(&many, true, " "), "It needs at least 1 of the choices.");
        let any = json!({ "type": "array", "items": { "type": "string", "enum": ["a"] } });
        assert_eq!(typed(&any, true, ""), "[]");
    }

    #[test]
    fn yes_and_no_are_read_in_their_usual_words() {
        let boolean = json!({ "type": "boolean" });
        for text in ["yes", "Y", " true ", "ON", "是"] {
            assert_eq!(typed(&boolean, true, text), "true", "{text}");
        }
        for text in ["no", "N", "False", "off", "否"] {
            assert_eq!(typed(&boolean, true, text), "false", "{text}");
        }
        for text in ["maybe", "1", "0", "yes no"] {
            assert_eq!(typed(&boolean, true, text), "Answer yes or no.", "{text}");
        }
    }

    /// R-FORM-06: what is sent is the value, whatever the person read.
    #[test]
    fn a_choice_is_its_value_or_its_title() {
        let one = json!({ "type": "string", "oneOf": [
            { "const": "r", "title": "Red" }, { "const": "g", "title": "Green, dark" }, { "const": "Red", "title": "Trap" },
            { "const": "x", "title": "Same" }, { "const": "y", "title": "Same" }] });
        for (text, value) in [
            ("r", r#""r""#),
            ("Red", r#""Red""#),
            (" trap ", r#""Red""#),
            ("GREEN, DARK", r#""g""#),
            ("Same", "Choose one of the given choices."),
            ("blue", "Choose one of the given choices."),
        ] {
            assert_eq!(typed(&one, true, text), value, "{text}");
        }
        let many = json!({ "type": "array", "maxItems": 2, "items": { "anyOf": [
            { "const": "r", "title": "Red" }, { "const": "g", "title": "Green, dark" }, { "const": "b", "title": "Blue" }] } });
        for (text, value) in [
            ("Red", r#"["r"]"#),
            ("Green, dark", r#"["g"]"#),
            ("b, red", r#"["b","r"]"#),
            ("Green, dark\nRed", r#"["g","r"]"#),
            ("r，b", r#"["r","b"]"#),
            ("r,g,b", "It has to have at most 2 of the choices."),
            ("r,z", "Choose one of the given choices."),
        ] {
            assert_eq!(typed(&many, true, text), value, "{text}");
        }
    }

    proptest! {
        /// R-FORM-05: what is taken fits, whatever was typed.
        #[test]
        fn what_is_taken_fits_the_field(text in prop_oneof![any::<String>(), "[-+0-9.eE,]{0,9}", "[a-c, \n]{0,9}"]) {
            let form = Form::parse(
                r#"{"type":"object","properties":{"s":{"type":"string","maxLength":5},"n":{"type":"number","minimum":-2},
                "i":{"type":"integer"},"b":{"type":"boolean"},"c":{"type":"string","enum":["a","b","a,b"]},
                "m":{"type":"array","items":{"type":"string","enum":["a","b","c"]},"maxItems":2}}}"#,
            ).unwrap();
            for field in form.fields() {
                match field.parse_text(&text) {
                    Ok(Some(value)) => prop_assert_eq!(field.check(&value), []),
                    Ok(None) => prop_assert!(text.trim().is_empty()),
                    Err(faults) => prop_assert!(!faults.is_empty()),
                }
            }
        }
    }
}
