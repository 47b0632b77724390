//! What is refused where a form is built, beyond what is refused on receipt.

mod choices;
mod text;

use super::error::step;
use super::revision::property_schemas;
use super::{Field, Finding, Form, FormError, Format, Kind, Oddity, Problem, SchemaFault};
use crate::secrets::{Place, Strength, scan_field};
use crate::{RawObject, json};

impl Form {
    /// Whether we may ask with this form, for authors with a schema of their own; a
    /// [built](Self::builder) form is strict already. Every fault at once:
    ///
    /// - whatever was only [found](Self::findings) on receipt: unknown formats, patterns and
    ///   keywords that are not checked, a default that does not fit its own field, choices without
    ///   a title or with the same one;
    /// - a field that asks for a secret (R-FORM-07), where its name, its title or its schema says
    ///   so: [`Strength::Strong`];
    /// - a text with a link in it (R-FORM-08): title and description of a field or of the form, the
    ///   name of a field without a title, what a person reads of a choice, the default of a text
    ///   that is no URI. The value of a choice with a title may be a URL, since only the title is
    ///   shown;
    /// - a name or a title without anything to read, and a text with characters that nobody can see
    ///   (R-SEC-02).
    pub fn strict(self) -> Result<Self, FormError> {
        let faults = faults(&self);
        if faults.is_empty() { Ok(self) } else { Err(FormError::new(faults)) }
    }
}

/// The faults of a form that we build ourselves, in the order of its fields.
pub(super) fn faults(form: &Form) -> Vec<SchemaFault> {
    let mut faults: Vec<(usize, SchemaFault)> = Vec::new();
    for (pointer, problem) in root(form) {
        faults.push((0, SchemaFault { pointer, problem }));
    }
    for finding in form.findings() {
        if let Some(problem) = refused(finding) {
            let pointer = finding.pointer.clone();
            faults.push((place(form, &pointer), SchemaFault { pointer, problem }));
        }
    }
    for (index, (field, schema)) in form.fields().iter().zip(property_schemas(form)).enumerate() {
        let mut fault = |pointer, problem| faults.push((index + 1, SchemaFault { pointer, problem }));
        let pointer = step("/properties", &field.name);
        words(field, &pointer, &mut fault);
        default(field, &pointer, &mut fault);
        choices::check(field, schema, &pointer, &mut fault);
    }
    faults.sort_by_key(|(place, _)| *place);
    faults.into_iter().map(|(_, fault)| fault).collect()
}

/// A finding that is a fault where we build. Of the others, defaults and repeated titles are looked
/// at with their fields.
fn refused(finding: &Finding) -> Option<Problem> {
    match &finding.oddity {
        Oddity::UnknownFormat(name) => Some(Problem::UnknownFormat(name.clone())),
        Oddity::UncheckedPattern(reason) => Some(Problem::UncheckedPattern(*reason)),
        Oddity::UncheckedKeyword => Some(Problem::UnknownKeyword),
        Oddity::MissingTitle => Some(Problem::MissingTitle),
        Oddity::Default(_) | Oddity::RepeatedTitle => None,
    }
}

/// The place of the field that a pointer leads into, counted from one; zero for the form itself.
fn place(form: &Form, pointer: &str) -> usize {
    let name = pointer.strip_prefix("/properties/").map(|rest| rest.split('/').next().unwrap_or(rest));
    let name = name.map(|name| name.replace("~1", "/").replace("~0", "~"));
    name.and_then(|name| form.place(&name)).map_or(0, |place| place + 1)
}

/// The form's own title and description, which mean nothing to a form but may be shown.
fn root(form: &Form) -> Vec<(String, Problem)> {
    let Ok(object) = RawObject::parse(form.as_str()) else { return Vec::new() };
    let mut faults = Vec::new();
    for key in ["title", "description"] {
        if let Some(words) = object.get(key).and_then(|raw| json::text(raw.get())) {
            text::shown(&words, &mut |problem| faults.push((step("", key), problem)));
        }
    }
    faults
}

/// Name, title and description.
fn words(field: &Field, pointer: &str, fault: &mut dyn FnMut(String, Problem)) {
    match &field.title {
        Some(title) => {
            text::hidden(&field.name, &mut |problem| fault(pointer.to_owned(), problem));
            text::label(title, &mut |problem| fault(step(pointer, "title"), problem));
        }
        None => text::label(&field.name, &mut |problem| fault(pointer.to_owned(), problem)),
    }
    if let Some(description) = &field.description {
        text::shown(description, &mut |problem| fault(step(pointer, "description"), problem));
    }
    if let Some(found) = scan_field(field).filter(|found| found.strength == Strength::Strong) {
        let pointer = if found.place == Place::Title { step(pointer, "title") } else { pointer.to_owned() };
        fault(pointer, Problem::Secret(found.what));
    }
}

fn default(field: &Field, pointer: &str, fault: &mut dyn FnMut(String, Problem)) {
    let Some(default) = field.default() else { return };
    let pointer = step(pointer, "default");
    for rule in field.check(&default) {
        fault(pointer.clone(), Problem::Default(rule));
    }
    if let Kind::Text(kind) = &field.kind
        && let Some(default) = &kind.default
    {
        let fault = &mut |problem| fault(pointer.clone(), problem);
        if kind.format == Some(Format::Uri) { text::hidden(default, fault) } else { text::shown(default, fault) }
    }
}

#[cfg(test)]
mod tests;
