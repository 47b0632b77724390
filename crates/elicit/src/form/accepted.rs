use std::fmt;

use serde::de::DeserializeOwned;

use super::{Field, Form, Kind};
use crate::answer::write_object;
use crate::{Answer, Content, Value};

/// The content of an accepted form that fits it: what was asked for, and nothing else, in the order
/// of the form. Made by [`Form::check`] alone.
#[derive(Clone)]
pub struct Accepted<'a> {
    form: &'a Form,
    /// One for each field of the form.
    values: Vec<Option<&'a Value>>,
}

/// A checked answer that is no value of the wanted type: the type and the form disagree.
///
/// The text tells where it failed and never what was answered.
#[derive(Debug, thiserror::Error)]
#[error("the checked answer is no {type_name} ({category} at byte {position})")]
pub struct ExtractError {
    type_name: &'static str,
    category: &'static str,
    position: usize,
}

impl<'a> Accepted<'a> {
    pub(super) fn new(form: &'a Form, values: Vec<Option<&'a Value>>) -> Self {
        Self { form, values }
    }

    /// The answer to the field `name`; `None` where the person left it empty.
    pub fn get(&self, name: &str) -> Option<&'a Value> {
        self.form.place(name).and_then(|place| self.values.get(place).copied().flatten())
    }

    /// Names and values, in the order of the form.
    pub fn iter(&self) -> impl Iterator<Item = (&'a str, &'a Value)> {
        let form: &'a Form = self.form;
        form.fields
            .iter()
            .zip(self.values.iter().copied())
            .filter_map(|(field, value)| Some((field.name.as_str(), value?)))
    }

    /// An owned copy.
    pub fn to_content(&self) -> Content {
        Content::from_members(self.iter().map(|(name, value)| (name.to_owned(), value.clone())).collect())
    }

    /// The JSON object, numbers in their exact text (R-FORM-11).
    pub fn to_json(&self) -> String {
        write_object(self.iter())
    }

    /// The answer as a value of `T`, such as the type that the form was made of.
    ///
    /// No number passes through a float on the way (R-FORM-11): `T` reads their exact text, except
    /// that `5.0` in an integer field reads as `5`.
    pub fn into<T: DeserializeOwned>(self) -> Result<T, ExtractError> {
        let plain: Vec<Option<Value>> =
            self.form.fields.iter().zip(&self.values).map(|(field, value)| plain_integer(field, *value)).collect();
        let members = self
            .form
            .fields
            .iter()
            .zip(&self.values)
            .zip(&plain)
            .filter_map(|((field, value), plain)| Some((field.name.as_str(), plain.as_ref().or(*value)?)));
        serde_json::from_str(&write_object(members)).map_err(|error| ExtractError {
            type_name: std::any::type_name::<T>(),
            category: match error.classify() {
                serde_json::error::Category::Data => "a value of another kind",
                _ => "unreadable text",
            },
            position: error.column(),
        })
    }
}

/// An integer that is written with a point, an exponent or as `-0`, in plain digits.
fn plain_integer(field: &Field, value: Option<&Value>) -> Option<Value> {
    match (&field.kind, value) {
        (Kind::Integer(_), Some(Value::Number(number)))
            if number.as_str().contains(['.', 'e', 'E']) || number.as_str() == "-0" =>
        {
            let digits = number.integer_text()?;
            crate::Number::parse(&digits).ok().map(Value::Number)
        }
        _ => None,
    }
}

impl Answer<Accepted<'_>> {
    /// The checked answer as a value of `T`: [`Accepted::into`], where the person accepted.
    pub fn into<T: DeserializeOwned>(self) -> Result<Answer<T>, ExtractError> {
        self.try_map(Accepted::into)
    }

    /// The result of an `elicitation/create`, of what fits the form alone.
    pub fn to_json(&self) -> String {
        match self {
            Self::Accept(accepted) => Answer::Accept(accepted.to_content()).to_json(),
            Self::Decline => Answer::<Content>::Decline.to_json(),
            Self::Cancel => Answer::<Content>::Cancel.to_json(),
        }
    }
}

/// Names only: the values are the person's.
impl fmt::Debug for Accepted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Accepted")?;
        f.debug_list().entries(self.iter().map(|(name, _)| name)).finish()
    }
}
