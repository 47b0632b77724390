use std::borrow::Cow;

use super::{RawObject, WireError};
use crate::json;

/// What kind of result a result says that it is (R-MRTR-07).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultType<'a> {
    /// `complete`, or nothing, as servers of the legacy era send it.
    Complete,
    /// `input_required`: questions have to be answered first.
    InputRequired,
    /// Anything else: invalid, unless both sides declared an extension that defines it.
    Other(Cow<'a, str>),
}

impl<'a> ResultType<'a> {
    /// Reads the `resultType` of a result. One that is no text is an error.
    pub fn of(result: &RawObject<'a>) -> Result<Self, WireError> {
        let Some(value) = result.get("resultType") else {
            return Ok(Self::Complete);
        };
        let text = json::text(value.get()).ok_or(WireError::WrongType("resultType"))?;
        Ok(match &*text {
            "complete" => Self::Complete,
            "input_required" => Self::InputRequired,
            _ => Self::Other(text),
        })
    }
}

/// A result of the legacy era as a modern one: the same text with `resultType` in it, where it has
/// none (R-MRTR-07).
pub fn complete_result(result_raw: &str) -> Result<String, WireError> {
    let mut result = RawObject::parse(result_raw)?;
    if !result.contains("resultType") {
        result.set("resultType", r#""complete""#.to_owned());
    }
    Ok(result.to_json())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-MRTR-07: a missing `resultType` means complete; an unknown one is told apart.
    #[test]
    fn each_result_type_is_told_apart() {
        let table = [
            ("{}", Ok(ResultType::Complete)),
            (r#"{"content":[],"isError":true}"#, Ok(ResultType::Complete)),
            (r#"{"resultType":"complete"}"#, Ok(ResultType::Complete)),
            (r#"{"_meta":{},"resultType":"input_required"}"#, Ok(ResultType::InputRequired)),
            (r#"{"resultType":"task"}"#, Ok(ResultType::Other("task".into()))),
            (r#"{"resultType":"Complete"}"#, Ok(ResultType::Other("Complete".into()))),
            (r#"{"resultType":""}"#, Ok(ResultType::Other("".into()))),
            (r#"{"resultType":null}"#, Err(WireError::WrongType("resultType"))),
            (r#"{"resultType":1}"#, Err(WireError::WrongType("resultType"))),
        ];
        for (raw, expected) in table {
            let result = RawObject::parse(raw).unwrap();
            assert_eq!(ResultType::of(&result), expected, "{raw}");
        }
    }

    /// R-MRTR-07, R-REQ-03: every modern result has a `resultType`; all else stays.
    #[test]
    fn a_legacy_result_becomes_complete_and_keeps_the_rest() {
        assert_eq!(
            complete_result(r#"{"content":[ 1e999 ],"x":-0}"#).unwrap(),
            r#"{"content":[ 1e999 ],"x":-0,"resultType":"complete"}"#
        );
        assert_eq!(complete_result("{}").unwrap(), r#"{"resultType":"complete"}"#);
        let other = r#"{"resultType":"task"}"#;
        assert_eq!(complete_result(other).unwrap(), other);
        assert_eq!(complete_result("[]"), Err(WireError::NotObject));
    }
}
