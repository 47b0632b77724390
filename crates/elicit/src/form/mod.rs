//! Forms: the restricted schema of form mode, the answers that fit it, and how to build one.

mod accepted;
mod build;
mod check;
mod choice;
mod defaults;
mod entry;
mod error;
mod fault;
mod field;
mod finding;
mod format;
mod parse;
mod pattern;
mod revision;
mod strict;
#[cfg(feature = "schemars")]
mod types;

pub use accepted::{Accepted, ExtractError};
pub use build::*;
pub use choice::{Choice, SomeChoices};
pub use entry::EntryFault;
pub use error::{FormError, Problem, SchemaFault};
pub use fault::{Fault, Faults, Rule};
pub use field::{Boolean, Choices, Field, Kind, MultiSelect, Numeric, Select, Text};
pub use finding::{Finding, Oddity};
pub use format::Format;
pub use pattern::{MAX_PATTERN_BYTES, Pattern, PatternError, PatternFault, Unchecked};
pub use revision::RevisionError;

use std::fmt;

use crate::places::Places;

/// A form: the `requestedSchema` of an elicitation, with its exact text and what it means.
///
/// A `Form` is always a valid one, whether it was [parsed](Self::parse) or built.
#[derive(Clone)]
pub struct Form {
    raw: Box<str>,
    fields: Vec<Field>,
    /// The places of the fields by name, where there are many.
    places: Places,
    /// `additionalProperties: false`
    closed: bool,
    findings: Vec<Finding>,
}

impl Form {
    /// Reads a `requestedSchema` as a peer sent it (R-FORM-01, R-FORM-02).
    ///
    /// What the restricted schema does not have is an error that names every fault with its JSON
    /// pointer. What does no harm is tolerated and [found](Self::findings): unknown annotations,
    /// unknown formats, keywords of JSON Schema that a form does not check. `null` in place of an
    /// optional keyword counts as absent.
    pub fn parse(schema: &str) -> Result<Self, FormError> {
        parse::form(schema)
    }

    fn new(raw: &str, fields: Vec<Field>, closed: bool, findings: Vec<Finding>) -> Self {
        let places = Places::of(&fields, |field| &field.name);
        Self { raw: raw.into(), fields, places, closed, findings }
    }

    /// The schema's exact text, unknown keywords, `$schema` and number texts included (R-REQ-03).
    pub fn as_str(&self) -> &str {
        &self.raw
    }

    /// The fields in the sender's order (R-FORM-10).
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The field of this name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.place(name).and_then(|place| self.fields.get(place))
    }

    /// Whether answers with properties that were not asked for are refused
    /// (`"additionalProperties": false`); else such properties are dropped.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// What is odd about the schema, and was taken nevertheless.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.places.find(&self.fields, |field| &field.name, name)
    }
}

impl std::str::FromStr for Form {
    type Err = FormError;

    fn from_str(schema: &str) -> Result<Self, FormError> {
        Self::parse(schema)
    }
}

/// Two forms are equal when their texts are.
impl PartialEq for Form {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl Eq for Form {}

/// The names of the fields.
impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Form")?;
        f.debug_list().entries(self.fields.iter().map(|field| &field.name)).finish()
    }
}

#[cfg(test)]
mod tests;
