//! Defaults: what a form holds before anybody has changed it (R-FORM-03).

use super::Form;
use crate::{Content, Value};

impl Form {
    /// `content` with the default of each field that it lacks, in the order of the form; names that
    /// are no fields follow as they are.
    ///
    /// A host fills a form with `form.with_defaults(Content::new())` before the person changes it
    /// (R-FORM-03); a field without a default stays without a value: an untouched checkbox is not
    /// "no". A server fills what an answer left out with `form.with_defaults(content)`.
    pub fn with_defaults(&self, content: Content) -> Content {
        let mut given: Vec<Option<Value>> = vec![None; self.fields.len()];
        let mut others = Vec::new();
        for (name, value) in content.into_members() {
            match self.place(&name).and_then(|place| given.get_mut(place)) {
                Some(slot) => *slot = Some(value),
                None => others.push((name, value)),
            }
        }
        let filled = self.fields.iter().zip(given).filter_map(|(field, value)| {
            let value = value.or_else(|| field.default())?;
            Some((field.name.clone(), value))
        });
        Content::from_members(filled.chain(others).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORM: &str = r#"{"type":"object","properties":{
        "s":{"type":"string","default":"a"},
        "n":{"type":"number","default":0.10},
        "i":{"type":"integer","default":9007199254740993},
        "b":{"type":"boolean","default":true},
        "c":{"type":"string","enum":["x","y"],"default":"y"},
        "t":{"type":"string","oneOf":[{"const":"r","title":"Red"}],"default":"r"},
        "m":{"type":"array","items":{"type":"string","enum":["p","q"]},"default":["q"]},
        "untouched":{"type":"boolean"},
        "empty":{"type":"string","default":null}}}"#;

    fn filled(content: &str) -> String {
        Form::parse(FORM).unwrap().with_defaults(Content::parse(content).unwrap()).to_json()
    }

    /// R-FORM-03, R-FORM-11: every type has defaults, in their exact text; what has none stays absent.
    #[test]
    fn every_type_of_field_is_filled() {
        assert_eq!(filled("{}"), r#"{"s":"a","n":0.10,"i":9007199254740993,"b":true,"c":"y","t":"r","m":["q"]}"#);
    }

    /// R-FORM-03: what the person changed is not changed back.
    #[test]
    fn what_is_there_stays() {
        assert_eq!(
            filled(r#"{"extra":1,"m":[],"b":false,"s":"","untouched":true}"#),
            r#"{"s":"","n":0.10,"i":9007199254740993,"b":false,"c":"y","t":"r","m":[],"untouched":true,"extra":1}"#
        );
    }
}
