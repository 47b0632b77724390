//! The vectors: every schema and every answer with its verdict.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::*;
use crate::{Answer, WireError};

#[derive(Deserialize)]
struct SchemaVector<'a> {
    name: String,
    #[serde(borrow)]
    schema: &'a RawValue,
    valid: bool,
}

#[derive(Deserialize)]
struct AnswerVector<'a> {
    name: String,
    #[serde(borrow)]
    schema: &'a RawValue,
    #[serde(borrow)]
    answer: &'a RawValue,
    valid: bool,
    checked: Option<serde_json::Value>,
}

/// R-FORM-01, R-FORM-02: all shapes of the restricted schema are taken, and nothing else.
#[test]
fn each_schema_gets_its_verdict() {
    let vectors: Vec<SchemaVector<'_>> =
        serde_json::from_str(include_str!("../../tests/vectors/form_vectors.json")).unwrap();
    assert!(vectors.len() >= 40);
    for vector in vectors {
        match Form::parse(vector.schema.get()) {
            Ok(form) => {
                assert!(vector.valid, "{}: {}", vector.name, vector.schema);
                assert_eq!(form.as_str(), vector.schema.get());
            }
            Err(error) => assert!(!vector.valid, "{}: {error}", vector.name),
        }
    }
}

/// R-FORM-06, R-FORM-11, R-ACT-02, R-ACT-03: every answer is taken or refused as it should be, and what is
/// taken holds what was asked for.
#[test]
fn each_answer_gets_its_verdict() {
    let vectors: Vec<AnswerVector<'_>> =
        serde_json::from_str(include_str!("../../tests/vectors/answer_vectors.json")).unwrap();
    assert!(vectors.len() >= 48);
    for vector in vectors {
        let form = Form::parse(vector.schema.get()).unwrap();
        let verdict = Answer::parse(vector.answer.get()).map_err(|error: WireError| error.to_string());
        let verdict = verdict.as_ref().map_err(Clone::clone).and_then(|answer| match form.check(answer) {
            Ok(checked) => Ok(checked.to_json()),
            Err(faults) => Err(faults.to_string()),
        });
        assert_eq!(verdict.is_ok(), vector.valid, "{}: {verdict:?}", vector.name);
        if let (Ok(json), Some(checked)) = (verdict, vector.checked) {
            assert_eq!(serde_json::from_str::<serde_json::Value>(&json).unwrap(), checked, "{}", vector.name);
        }
    }
}

mod lenient;
mod losslessness;
mod oracle;
mod refused;
