//! Secrets that somebody asks for in a form, which MCP forbids (R-FORM-07): which fields do, and
//! which answers look like one.
//!
//! ```
//! use elicit::{Form, secrets};
//!
//! let form = Form::parse(r#"{"type":"object","properties":{"apiKey":{"type":"string"},"max_tokens":{"type":"string"}}}"#)?;
//! let findings = secrets::scan(&form);
//! assert_eq!(findings.len(), 1);
//! assert_eq!((findings[0].property.as_str(), findings[0].strength), ("apiKey", secrets::Strength::Strong));
//! # Ok::<(), elicit::form::FormError>(())
//! ```
//!
//! What to do about a finding is for the caller. **Strong**: show no input, tell the person that the
//! server asked for a secret through a form, and offer Decline first. **Weak**: warn, and mask what
//! is typed. Where there is no person: cancel.
//!
//! It is a reading of words, in English, Chinese, German, French, Spanish and Russian, and of a few
//! more that are unmistakable. A server that wants to deceive can ask for a password by any other
//! name; [`in_value`] catches some of those on the way out.

mod card;
mod dictionary;
mod letters;
mod lists;
mod phrases;
mod pieces;
mod pin;
mod runs;
mod value;
mod words;

pub(crate) use value::is_json_web_token;
pub use value::{KnownSecret, in_value};

use crate::Form;
use crate::form::{Field, Kind};
use phrases::{Sort, best};

/// How sure it is that a field asks for a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strength {
    /// It may: a bare "token", or a secret that only the description or the message speaks of.
    Weak,
    /// It does: its name or its title says so.
    Strong,
}

/// Where the words stand that gave a field away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Place {
    /// The property's name.
    Name,
    /// Its title.
    Title,
    /// Its description.
    Description,
    /// The message of the request.
    Message,
    /// A keyword of the schema: `format: "password"`, or `writeOnly: true`.
    Schema,
}

/// A field that asks for a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The name of the property.
    pub property: String,
    /// How sure it is.
    pub strength: Strength,
    /// Where the words stand.
    pub place: Place,
    /// What is asked for, as the list of words has it: "api key".
    pub what: &'static str,
}

/// The fields of a form that ask for a secret, at most one finding each, in the order of the form.
///
/// Texts count, and of numbers what secrets are numbers: card numbers, PINs, one-time codes.
/// Booleans and choices do not.
pub fn scan(form: &Form) -> Vec<Finding> {
    form.fields().iter().filter_map(scan_field).collect()
}

/// [`scan`], with the message of the request: where it speaks of a secret, each field that could take
/// it is [`Weak`](Strength::Weak) at least.
pub fn scan_with_message(form: &Form, message: &str) -> Vec<Finding> {
    let spoken = |wanted: fn(Sort) -> bool| best(message, wanted).filter(|phrase| phrase.strength == Strength::Strong);
    // Once for all fields.
    let (any, digits) = (spoken(|_| true), spoken(|sort| sort == Sort::Digits));
    let finding = |field: &Field| {
        scan_field(field).or_else(|| {
            let phrase = [any, digits].into_iter().flatten().find(|phrase| takes(field, phrase.sort))?;
            Some(field_finding(field, Strength::Weak, Place::Message, phrase.what))
        })
    };
    form.fields().iter().filter_map(finding).collect()
}

/// What a single field asks for, if it asks for a secret.
pub fn scan_field(field: &Field) -> Option<Finding> {
    if let Kind::Text(text) = &field.kind
        && text.secret
    {
        return Some(field_finding(field, Strength::Strong, Place::Schema, "password"));
    }
    let said = |text: &str, place| {
        let phrase = best(text, |sort| takes(field, sort))?;
        Some(field_finding(field, phrase.strength, place, phrase.what))
    };
    let mut findings: Vec<Finding> = Vec::with_capacity(3);
    findings.extend(said(&field.name, Place::Name));
    findings.extend(field.title.as_deref().and_then(|title| said(title, Place::Title)));
    findings.extend(pin_code(field));
    if let Some(description) = &field.description
        && let Some(finding) = said(description, Place::Description).filter(|found| found.strength == Strength::Strong)
    {
        findings.push(Finding { strength: Strength::Weak, ..finding });
    }
    // The first of the strongest.
    findings.into_iter().rev().max_by_key(|finding| finding.strength)
}

fn field_finding(field: &Field, strength: Strength, place: Place, what: &'static str) -> Finding {
    Finding { property: field.name.clone(), strength, place, what }
}

/// Whether a field of this kind can take a secret of that sort.
fn takes(field: &Field, sort: Sort) -> bool {
    match field.kind {
        Kind::Text(_) => true,
        Kind::Number(_) | Kind::Integer(_) => sort == Sort::Digits,
        Kind::Boolean(_) | Kind::Select(_) | Kind::MultiSelect(_) => false,
    }
}

/// "PIN code" is a secret in some countries and a postal code in others; with four to eight digits it
/// is taken for the secret.
fn pin_code(field: &Field) -> Option<Finding> {
    let place = [(Some(field.name.as_str()), Place::Name), (field.title.as_deref(), Place::Title)]
        .into_iter()
        .find_map(|(text, place)| pin::is_called_pin_code(text).then_some(place))?;
    pin::has_its_length(field).then(|| field_finding(field, Strength::Strong, place, "pin code"))
}

#[cfg(test)]
mod tests;
