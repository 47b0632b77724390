use std::fmt;

use super::Number;
use crate::json::{self, cursor};

/// One value of an answer, as the restricted schema of a form allows it (R-FORM-01).
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Value {
    /// A text, or the one chosen value of a single-select field.
    Text(String),
    /// A number in its exact text.
    Number(Number),
    /// Yes or no.
    Boolean(bool),
    /// The chosen values of a multi-select field.
    List(Vec<String>),
    /// What no field of a form takes: `null`, an object, a list of other things, a number such as
    /// `1e999`, half a surrogate pair. Only reading makes it, so that checking can name the fault.
    Other(OtherJson),
}

/// The JSON text of a value that no form takes.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct OtherJson(Box<str>);

impl OtherJson {
    /// The text as it came.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What kind of JSON value stands somewhere: for the words of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JsonType {
    /// `null`
    Null,
    /// `true` or `false`
    Boolean,
    /// A number.
    Number,
    /// A string.
    String,
    /// A list.
    Array,
    /// An object.
    Object,
}

impl JsonType {
    /// The type of a valid JSON text.
    pub(crate) fn of(raw: &str) -> Self {
        match raw.trim_start().bytes().next() {
            Some(b'"') => Self::String,
            Some(b'{') => Self::Object,
            Some(b'[') => Self::Array,
            Some(b't' | b'f') => Self::Boolean,
            Some(b'n') | None => Self::Null,
            Some(_) => Self::Number,
        }
    }

    /// The name that JSON Schema gives it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Number => "number",
            Self::String => "string",
            Self::Array => "array",
            Self::Object => "object",
        }
    }
}

impl fmt::Display for JsonType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Value {
    /// The kind of JSON value that this is.
    pub fn json_type(&self) -> JsonType {
        match self {
            Self::Text(_) => JsonType::String,
            Self::Number(_) => JsonType::Number,
            Self::Boolean(_) => JsonType::Boolean,
            Self::List(_) => JsonType::Array,
            Self::Other(other) => JsonType::of(&other.0),
        }
    }

    /// Reads a valid JSON text.
    pub(crate) fn read(text: &str) -> Self {
        let read = match JsonType::of(text) {
            JsonType::String => json::text(text).map(|text| Self::Text(text.into_owned())),
            JsonType::Number => Number::parse(text).ok().map(Self::Number),
            JsonType::Boolean => Some(Self::Boolean(text == "true")),
            JsonType::Array => texts(text).map(Self::List),
            JsonType::Null | JsonType::Object => None,
        };
        read.unwrap_or_else(|| Self::Other(OtherJson(text.into())))
    }

    /// The text, where it is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number, where it is one.
    pub fn as_number(&self) -> Option<&Number> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Yes or no, where it is one.
    pub fn as_boolean(&self) -> Option<bool> {
        match self {
            Self::Boolean(value) => Some(*value),
            _ => None,
        }
    }

    /// The chosen values, where it is a list of texts.
    pub fn as_list(&self) -> Option<&[String]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    /// The JSON text, numbers in their exact text (R-FORM-11).
    pub fn to_json(&self) -> String {
        let mut json = String::new();
        self.write(&mut json);
        json
    }

    /// Appends the value as JSON.
    pub(crate) fn write(&self, json: &mut String) {
        match self {
            Self::Text(text) => json::write_quoted(text, json),
            Self::Number(number) => json.push_str(number.as_str()),
            Self::Boolean(value) => json.push_str(if *value { "true" } else { "false" }),
            Self::List(items) => {
                json.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        json.push(',');
                    }
                    json::write_quoted(item, json);
                }
                json.push(']');
            }
            Self::Other(other) => json.push_str(&other.0),
        }
    }
}

/// A list that holds nothing but texts.
fn texts(raw: &str) -> Option<Vec<String>> {
    cursor::items(raw).map(|item| json::text(item).map(std::borrow::Cow::into_owned)).collect()
}

/// Says what kind of value it is, never which: answers are the person's.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Value({})", self.json_type())
    }
}

impl fmt::Debug for OtherJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OtherJson({})", JsonType::of(&self.0))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self::Text(text.clone())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

impl<N: Into<Number>> From<N> for Value {
    fn from(number: N) -> Self {
        Self::Number(number.into())
    }
}

impl From<Vec<String>> for Value {
    fn from(items: Vec<String>) -> Self {
        Self::List(items)
    }
}

impl From<Vec<&str>> for Value {
    fn from(items: Vec<&str>) -> Self {
        items[..].into()
    }
}

impl From<&[&str]> for Value {
    fn from(items: &[&str]) -> Self {
        Self::List(items.iter().map(|item| (*item).to_owned()).collect())
    }
}

impl<const N: usize> From<[&str; N]> for Value {
    fn from(items: [&str; N]) -> Self {
        items[..].into()
    }
}
