//! Nothing of a schema is lost, and the order stays.

use crate::Form;
use crate::form::{Choice, Field, Kind};

/// R-FORM-10, R-FORM-11, R-REQ-03: text, order, unknown keywords and numbers stay as they came.
#[test]
fn a_form_keeps_its_text_and_its_order() {
    let schema = "{ \"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\",\n \"x-ui\":{\"columns\":2.0},\"properties\":{
        \"zeta\":{\"maximum\":9007199254740993,\"type\":\"number\",\"minimum\":0.10},
        \"10\":{\"type\":\"string\",\"examples\":[1e999]}, \"9\":{\"type\":\"boolean\"}, \"alpha\":{\"type\":\"integer\",\"default\":1.0}},
        \"required\":[\"alpha\",\"alpha\"],\"additionalProperties\":false}";
    let form = Form::parse(schema).unwrap();
    assert_eq!(form.as_str(), schema);
    let names: Vec<_> = form.fields().iter().map(|field| field.name.as_str()).collect();
    assert_eq!(names, ["zeta", "10", "9", "alpha"]);
    let Kind::Number(zeta) = &form.fields()[0].kind else { panic!("a number") };
    assert_eq!(zeta.minimum.as_ref().unwrap().as_str(), "0.10");
    assert_eq!(zeta.maximum.as_ref().unwrap().as_str(), "9007199254740993");
    let required: Vec<_> =
        form.fields().iter().filter(|field| field.required).map(|field| field.name.as_str()).collect();
    assert_eq!(required, ["alpha"]);
    assert!(form.is_closed());
    assert_eq!(form.field("9").map(|field| field.name.as_str()), Some("9"));
    assert_eq!(form.field("nowhere"), None);
}

/// R-FORM-10: with many fields, too, each is found, and the order of the answer is the form's.
#[test]
fn a_large_form_finds_its_fields() {
    let properties: Vec<String> = (0..2_000).map(|n| format!(r#""p{n}":{{"type":"integer"}}"#)).collect();
    let form = Form::parse(&format!(r#"{{"type":"object","properties":{{{}}}}}"#, properties.join(","))).unwrap();
    let backwards: Vec<String> = (0..2_000).rev().map(|n| format!(r#""p{n}":{n}"#)).collect();
    let answer =
        crate::Answer::parse(&format!(r#"{{"action":"accept","content":{{{}}}}}"#, backwards.join(","))).unwrap();
    let accepted = form.check(&answer).unwrap().accepted().unwrap();
    assert!(accepted.iter().enumerate().all(|(n, (name, _))| name == format!("p{n}")));
    assert_eq!(accepted.get("p77"), Some(&77.into()));
}

/// R-FORM-01: labels are titles, else names; blank titles count as none.
#[test]
fn a_person_reads_titles() {
    let form = Form::parse(
        r#"{"type":"object","properties":{"a":{"type":"string","title":"Name"},"b":{"type":"string","title":" "},
        "c":{"type":"string","enum":["x","y"],"enumNames":["Ex",""]}}}"#,
    )
    .unwrap();
    let labels: Vec<_> = form.fields().iter().map(Field::label).collect();
    assert_eq!(labels, ["Name", "b", "c"]);
    let Kind::Select(select) = &form.fields()[2].kind else { panic!("a choice") };
    assert_eq!(select.choices.iter().map(Choice::label).collect::<Vec<_>>(), ["Ex", "y"]);
}

/// R-FORM-11: 5.0 reads as an integer of Rust, 9007199254740993 as itself; R-ACT-02: only what was accepted is read.
#[test]
fn a_checked_answer_becomes_a_type() {
    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Guest {
        name: String,
        seats: u8,
        id: u64,
        score: f64,
        news: Option<bool>,
        tags: Vec<String>,
    }
    let form = Form::parse(
        r#"{"type":"object","properties":{"name":{"type":"string"},"seats":{"type":"integer"},"id":{"type":"integer"},
        "score":{"type":"number"},"news":{"type":"boolean"},"tags":{"type":"array","items":{"type":"string","enum":["a","b"]}}}}"#,
    )
    .unwrap();
    let content = r#"{"tags":["b"],"id":9007199254740993,"seats":50e-1,"score":5,"name":"\"Ada\"","other":1}"#;
    let answer = crate::Answer::parse(&format!(r#"{{"action":"accept","content":{content}}}"#)).unwrap();
    let guest = form.check(&answer).unwrap().into::<Guest>().unwrap().accepted().unwrap();
    assert_eq!(
        guest,
        Guest {
            name: "\"Ada\"".into(),
            seats: 5,
            id: 9_007_199_254_740_993,
            score: 5.0,
            news: None,
            tags: vec!["b".into()]
        }
    );
    let declined = crate::Answer::parse(r#"{"action":"decline","content":{}}"#).unwrap();
    assert_eq!(form.check(&declined).unwrap().into::<Guest>().unwrap(), crate::Answer::Decline);
    let error = form.check(&answer).unwrap().into::<Vec<String>>().unwrap_err();
    assert!(!error.to_string().contains("Ada"), "{error}");
    assert_eq!(
        form.check(&answer).unwrap().to_json(),
        r#"{"action":"accept","content":{"name":"\"Ada\"","seats":50e-1,"id":9007199254740993,"score":5,"tags":["b"]}}"#
    );
}
