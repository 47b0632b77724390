use std::collections::HashSet;
use std::fmt;

use serde_json::value::RawValue;

use super::{RawObject, WireError};
use crate::Answer;

/// The answers that a retry brings: the other half of a round. Each is a result of the method that
/// its key asked for; an [`Answer`] for `elicitation/create`.
///
/// An answer that is not there, or cannot be read, counts as missing and is asked for again; those
/// under keys that nobody asked for are left alone (R-MRTR-04).
#[derive(Clone)]
pub struct InputResponses<'a>(RawObject<'a>);

impl<'a> InputResponses<'a> {
    /// Reads the `inputResponses` of a request: an object without repeated keys.
    pub fn parse(raw: &'a str) -> Result<Self, WireError> {
        RawObject::parse(raw).map(Self)
    }

    /// The answer under `key`.
    pub fn get(&self, key: &str) -> Option<&'a RawValue> {
        self.0.get(key)
    }

    /// The answer of a person under `key`; `None` where it is missing or malformed, and so has to be
    /// asked for again (R-MRTR-04).
    pub fn answer(&self, key: &str) -> Option<Answer> {
        Answer::parse(self.get(key)?.get()).ok()
    }

    /// All answers, in the order of the text. Keys that are no Unicode text, which nobody asked
    /// for, are passed over.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0.members().filter_map(|(key, value)| Some((std::str::from_utf8(key).ok()?, value)))
    }

    /// The JSON object of all other answers, in their order and with their text.
    pub fn without<K: AsRef<str>>(&self, keys: &[K]) -> String {
        let keys: HashSet<&[u8]> = keys.iter().map(|key| key.as_ref().as_bytes()).collect();
        self.0.to_json_without(|key| keys.contains(key))
    }
}

/// Names the keys only: answers are the user's.
impl fmt::Debug for InputResponses<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InputResponses")?;
        f.debug_list().entries(self.iter().map(|(key, _)| key)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Action;

    const RAW: &str =
        r#"{"b":{"action":"accept","content":{"n":1e999}},"\u0061":{"action":"decline"},"c":[1.0],"\ud800":7}"#;

    /// R-MRTR-04: missing and malformed answers are both to be asked for again.
    #[test]
    fn an_answer_is_missing_when_absent_or_malformed() {
        let responses = InputResponses::parse(RAW).unwrap();
        assert_eq!(responses.answer("b").unwrap().action(), Action::Accept);
        assert_eq!(responses.answer("a").unwrap().action(), Action::Decline);
        assert!(responses.answer("c").is_none());
        assert!(responses.answer("absent").is_none());
    }

    /// R-MRTR-04: what nobody asked for disturbs nothing.
    #[test]
    fn unknown_answers_are_left_alone() {
        let responses = InputResponses::parse(RAW).unwrap();
        let keys: Vec<_> = responses.iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["b", "a", "c"]);
        assert_eq!(responses.get("c").unwrap().get(), "[1.0]");
    }

    /// R-MRTR-04, R-REQ-03: the rest passes on with its order and text.
    #[test]
    fn the_rest_keeps_its_order_and_text() {
        let responses = InputResponses::parse(RAW).unwrap();
        assert_eq!(responses.without::<&str>(&[]), RAW);
        assert_eq!(
            responses.without(&["a", "absent"]),
            r#"{"b":{"action":"accept","content":{"n":1e999}},"c":[1.0],"\ud800":7}"#
        );
        assert_eq!(responses.without(&["a", "b", "c"]), r#"{"\ud800":7}"#);
        let empty = InputResponses::parse("{}").unwrap();
        assert_eq!(empty.without(&["a".to_owned()]), "{}");
    }

    /// R-MRTR-04
    #[test]
    fn what_is_no_object_of_answers_is_refused() {
        assert_eq!(InputResponses::parse("[]").unwrap_err(), WireError::NotObject);
        assert_eq!(InputResponses::parse(r#"{"a":1,"a":2}"#).unwrap_err(), WireError::DuplicateKey);
    }

    #[test]
    fn no_answer_shows_in_debug() {
        assert_eq!(format!("{:?}", InputResponses::parse(RAW).unwrap()), r#"InputResponses["b", "a", "c"]"#);
    }
}
