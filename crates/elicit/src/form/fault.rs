use std::fmt;

use super::{Format, SomeChoices};
use crate::{JsonType, Number, text};

/// Why an answer does not fit its form (R-FORM-06): every fault at once, in the order of the form.
/// The texts name properties and constraints, never what was answered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Faults {
    faults: Vec<Fault>,
}

/// One fault of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fault {
    /// The name of the property.
    pub property: String,
    /// The rule that its value breaks.
    pub rule: Rule,
}

/// The rules that a value can break. Each reads as the end of "The answer to *field* …".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rule {
    /// A required answer is not there.
    #[error("is missing")]
    Required,
    /// The value is of another type.
    #[error("has to be {expected}, and is of type {found}")]
    Type {
        /// The type that it has to have, in words.
        expected: &'static str,
        /// The type that it has.
        found: JsonType,
    },
    /// An integer was asked for (R-FORM-11: 5.0 is one).
    #[error("has to be a whole number")]
    Integer,
    /// A number that cannot be exchanged, such as `1e999` (R-FORM-11).
    #[error("is too large a number")]
    NumberTooLarge,
    /// Not Unicode text: half of a surrogate pair.
    #[error("has to be Unicode text")]
    NotText,
    /// Shorter than it may be, in code points.
    #[error("has to be at least {} long", characters(*.0))]
    MinLength(u64),
    /// Longer than it may be, in code points.
    #[error("has to be at most {} long", characters(*.0))]
    MaxLength(u64),
    /// The pattern is not found in it.
    #[error("has to match the pattern {}", text::line(.0, PATTERN))]
    Pattern(String),
    /// Over 16 KiB, in a field with a pattern, which is not looked for in so long a text.
    #[error("is too long for its pattern to be checked")]
    TooLongForPattern,
    /// Not of the format.
    #[error("has to be {}", .0.expected())]
    Format(Format),
    /// Below the least value.
    #[error("has to be at least {0}")]
    Minimum(Number),
    /// Above the greatest value.
    #[error("has to be at most {0}")]
    Maximum(Number),
    /// None of the choices, or a list with one that is none.
    #[error("has to be one of the choices: {0}")]
    Choice(SomeChoices),
    /// Too few choices.
    #[error("needs at least {0} of the choices")]
    MinItems(u64),
    /// Too many choices.
    #[error("has to have at most {0} of the choices")]
    MaxItems(u64),
    /// One choice twice, where each counts once.
    #[error("has a choice twice")]
    UniqueItems,
    /// Nobody asked for this property, and the form allows no others.
    #[error("was not asked for")]
    AdditionalProperty,
}

/// The most of a pattern, and of a property's name, that is shown, in characters.
const PATTERN: usize = 100;
const POINTER: usize = 200;

fn characters(count: u64) -> String {
    if count == 1 { "1 character".to_owned() } else { format!("{count} characters") }
}

impl Faults {
    pub(super) fn new(faults: Vec<Fault>) -> Self {
        debug_assert!(!faults.is_empty(), "an error without a fault");
        Self { faults }
    }

    /// Every fault, in the order of the form; properties that were not asked for come last.
    pub fn iter(&self) -> std::slice::Iter<'_, Fault> {
        self.faults.iter()
    }

    /// The faults of one property.
    pub fn of<'a>(&'a self, property: &'a str) -> impl Iterator<Item = &'a Rule> {
        self.faults.iter().filter(move |fault| fault.property == property).map(|fault| &fault.rule)
    }
}

impl<'a> IntoIterator for &'a Faults {
    type Item = &'a Fault;
    type IntoIter = std::slice::Iter<'a, Fault>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Faults beyond these are counted only: a hostile answer may have a million of them.
const SHOWN: usize = 20;

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the answer does not fit the form: ")?;
        for (index, fault) in self.faults.iter().take(SHOWN).enumerate() {
            write!(f, "{}{fault}", if index == 0 { "" } else { "; " })?;
        }
        match self.faults.len().checked_sub(SHOWN) {
            Some(more @ 1..) => write!(f, "; and {more} more"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", text::line(&super::error::step("", &self.property), POINTER), self.rule)
    }
}
