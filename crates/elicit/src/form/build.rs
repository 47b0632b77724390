//! Building a form. It writes the specification's own shapes, and then reads them as a peer would.

mod bounds;
mod draft;
mod fields;

use std::collections::HashSet;

pub use bounds::InclusiveRange;
pub use draft::FieldDraft;
pub use fields::{BooleanField, IntegerField, MultiSelectField, NumberField, SelectField, TextField};

use super::error::step;
use super::{Form, FormError, Problem, SchemaFault, strict};
use crate::json;

/// Builds a form field by field; begun by [`Form::builder`].
#[derive(Clone, Debug, Default)]
#[must_use = "a form is made by `build`"]
pub struct FormBuilder {
    questions: Vec<Question>,
}

/// A field with its name.
#[derive(Clone, Debug)]
struct Question {
    name: String,
    required: bool,
    draft: FieldDraft,
}

impl Form {
    /// A form of the fields that are added to it, in that order (R-FORM-01, R-FORM-10).
    ///
    /// ```
    /// use elicit::{Field, Form};
    ///
    /// let form = Form::builder()
    ///     .required("guest", Field::text().title("Guest").description("Who is the table for?").length(1..=80))
    ///     .optional("email", Field::email())
    ///     .required("seats", Field::integer().range(1..=12).default(2))
    ///     .required("place", Field::select([("in", "Inside"), ("out", "Outside")]).default("in"))
    ///     .optional("wishes", Field::multi_select(["quiet", "window"]).items(..=2))
    ///     .optional("tip", Field::number().range(0.0..=0.5))
    ///     .optional("news", Field::boolean().default(false))
    ///     .build()?;
    /// assert_eq!(form.fields().len(), 7);
    /// # Ok::<(), elicit::form::FormError>(())
    /// ```
    ///
    /// A range without an end, or one that excludes it, is written in another way:
    ///
    /// ```compile_fail
    /// elicit::Field::integer().range(1..12);
    /// ```
    pub fn builder() -> FormBuilder {
        FormBuilder::default()
    }
}

impl FormBuilder {
    /// Adds a field that has to be answered.
    pub fn required(self, name: impl Into<String>, field: impl Into<FieldDraft>) -> Self {
        self.with(name.into(), true, field.into())
    }

    /// Adds a field that may be left empty.
    pub fn optional(self, name: impl Into<String>, field: impl Into<FieldDraft>) -> Self {
        self.with(name.into(), false, field.into())
    }

    fn with(mut self, name: String, required: bool, draft: FieldDraft) -> Self {
        self.questions.push(Question { name, required, draft });
        self
    }

    /// The form, or every fault of every field (R-FORM-02): what [`Form::parse`] refuses, what
    /// [`Form::strict`] refuses beyond that, and a name that is there twice.
    pub fn build(self) -> Result<Form, FormError> {
        let mut names = HashSet::with_capacity(self.questions.len());
        let mut faults = Vec::new();
        for question in &self.questions {
            if !names.insert(question.name.as_str()) {
                faults.push(SchemaFault { pointer: question.pointer(), problem: Problem::RepeatedProperty });
            }
            faults.extend(question.faults());
        }
        if !faults.is_empty() {
            return Err(FormError::new(faults));
        }
        // Once more as a whole: what patterns may cost is counted for all of them together.
        Form::parse(&schema(&self.questions))?.strict()
    }
}

impl Question {
    fn pointer(&self) -> String {
        step("/properties", &self.name)
    }

    /// What is wrong with this field alone.
    fn faults(&self) -> Vec<SchemaFault> {
        let pointer = self.pointer();
        let mut faults: Vec<_> = self
            .draft
            .unwritable()
            .map(|(keyword, problem)| SchemaFault { pointer: step(&pointer, keyword), problem: problem.clone() })
            .collect();
        let form = Form::parse(&schema([self])).or_else(|error| {
            faults.extend_from_slice(error.faults());
            // What is left without the faulty keywords may have faults that are seen only where a form is built.
            let keyword = |fault: &SchemaFault| {
                let rest = fault.pointer.strip_prefix(&pointer)?.strip_prefix('/')?;
                Some(rest.split('/').next().unwrap_or(rest).to_owned())
            };
            let at_fault: Vec<String> = error.faults().iter().filter_map(keyword).collect();
            Form::parse(&schema([&Self { draft: self.draft.without(&at_fault), ..self.clone() }]))
        });
        faults.extend(form.iter().flat_map(strict::faults));
        faults
    }
}

/// The text of a form with these fields.
fn schema<'q>(questions: impl IntoIterator<Item = &'q Question>) -> String {
    let (mut properties, mut required) = (String::new(), String::new());
    for question in questions {
        if !properties.is_empty() {
            properties.push(',');
        }
        json::write_quoted(&question.name, &mut properties);
        properties.push(':');
        question.draft.write(&mut properties);
        if question.required {
            required.push_str(if required.is_empty() { r#","required":["# } else { "," });
            json::write_quoted(&question.name, &mut required);
        }
    }
    if !required.is_empty() {
        required.push(']');
    }
    format!(r#"{{"type":"object","properties":{{{properties}}}{required}}}"#)
}

#[cfg(test)]
mod tests;
