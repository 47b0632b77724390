use std::fmt;

use serde_json::value::RawValue;

use super::WireError;
use crate::{JsonType, json};

/// The id of a JSON-RPC request: a text or an integer, which keeps its digits however many they are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RequestId(Id);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Id {
    Text(String),
    Integer(String),
}

impl RequestId {
    /// Reads the `id` of a message. `null`, fractions and exponents are no ids of MCP.
    pub fn read(id: &RawValue) -> Result<Self, WireError> {
        let text = id.get();
        let read = match JsonType::of(text) {
            JsonType::String => json::text(text).map(|text| Id::Text(text.into_owned())),
            JsonType::Number if !text.contains(['.', 'e', 'E']) => Some(Id::Integer(text.to_owned())),
            _ => None,
        };
        read.map(Self).ok_or(WireError::WrongType("id"))
    }

    /// The id as JSON.
    pub fn to_json(&self) -> String {
        match &self.0 {
            Id::Text(text) => json::quote(text),
            Id::Integer(digits) => digits.clone(),
        }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            Id::Text(text) | Id::Integer(text) => text,
        })
    }
}

impl From<&str> for RequestId {
    fn from(text: &str) -> Self {
        Self(Id::Text(text.to_owned()))
    }
}

impl From<String> for RequestId {
    fn from(text: String) -> Self {
        Self(Id::Text(text))
    }
}

impl From<i64> for RequestId {
    fn from(number: i64) -> Self {
        Self(Id::Integer(number.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_integers_are_ids_and_nothing_else() {
        let read = |text: &str| RequestId::read(&RawValue::from_string(text.to_owned()).unwrap());
        for (text, written) in
            [("7", "7"), ("9007199254740993", "9007199254740993"), (r#""a\u0062""#, r#""ab""#), (r#""7""#, r#""7""#)]
        {
            assert_eq!(read(text).unwrap().to_json(), written);
        }
        for text in ["null", "1.5", "1e3", "true", "{}", "[1]", r#""\ud800""#] {
            assert_eq!(read(text), Err(WireError::WrongType("id")), "{text}");
        }
        assert_ne!(read("7"), read(r#""7""#));
        assert_eq!(RequestId::from(7), read("7").unwrap());
        assert_eq!(RequestId::from("7").to_string(), "7");
    }
}
