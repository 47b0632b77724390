use proptest::prelude::*;
use serde_json::json;

use crate::Form;

fn typed(schema: &serde_json::Value, required: bool, text: &str) -> String {
    let required = if required { vec!["a"] } else { vec![] };
    let form = json!({ "type": "object", "properties": { "a": schema }, "required": required }).to_string();
    match Form::parse(&form).unwrap().field("a").unwrap().parse_text(text) {
        Ok(None) => "absent".to_owned(),
        Ok(Some(value)) => {
            let mut json = String::new();
            value.write(&mut json);
            json
        }
        Err(faults) => faults.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
    }
}

const NO_NUMBER: &str = "Enter a number, such as 12 or 0.5, with a point and without separators.";
const NO_INTEGER: &str = "Enter a whole number, such as 12, without separators.";

/// R-FORM-11: exact; what only begins as a number is none.
#[test]
fn numbers_keep_their_digits() {
    let number = json!({ "type": "number" });
    for (text, value) in [
        ("42", "42"),
        (" 1.0 ", "1.0"),
        ("+0.10", "0.10"),
        ("007", "7"),
        ("000", "0"),
        ("-00.5", "-0.5"),
        (".5", "0.5"),
        ("-.5", "-0.5"),
        ("\u{2212}3", "-3"),
        ("１２．５", "12.5"),
        ("1e5", "1e5"),
        ("0e1", "0e1"),
        ("9007199254740993", "9007199254740993"),
        ("0.1000000000000000055511151231257827", "0.1000000000000000055511151231257827"),
        ("42xyz", NO_NUMBER),
        ("1,5", NO_NUMBER),
        ("1 000", NO_NUMBER),
        ("5.", NO_NUMBER),
        (".", NO_NUMBER),
        ("-", NO_NUMBER),
        ("e5", NO_NUMBER),
        ("0x10", NO_NUMBER),
        ("--1", NO_NUMBER),
        ("NaN", NO_NUMBER),
        ("Infinity", NO_NUMBER),
        ("1e999", "It is too large a number."),
    ] {
        assert_eq!(typed(&number, true, text), value, "{text:?}");
    }
    let integer = json!({ "type": "integer", "minimum": 1, "maximum": 10 });
    for (text, value) in [
        ("5", "5"),
        ("5.0", "5.0"),
        ("2.5", "It has to be a whole number."),
        ("two", NO_INTEGER),
        ("11", "It has to be at most 10."),
        ("0", "It has to be at least 1."),
    ] {
        assert_eq!(typed(&integer, true, text), value, "{text:?}");
    }
}

/// R-FORM-05: a text is what was typed, and each broken rule is told.
#[test]
fn texts_stay_as_they_are() {
    let text = json!({ "type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-z ]+$" });
    assert_eq!(typed(&text, true, " ab "), r#"" ab ""#);
    assert_eq!(typed(&text, true, "  "), r#""  ""#);
    assert_eq!(
        typed(&text, true, "ABCDE"),
        "It has to be at most 4 characters long. It has to match the pattern ^[a-z ]+$."
    );
    let date = json!({ "type": "string", "format": "date" });
    assert_eq!(typed(&date, true, " 2026-02-28\n"), r#""2026-02-28""#);
    assert!(typed(&date, true, "2026-02-30").starts_with("It has to be"));
}

/// R-FORM-06: nothing is no answer, and no empty text.
#[test]
fn an_empty_field_is_left_out_or_asked_for() {
    let kinds = [
        json!({ "type": "string" }),
        json!({ "type": "string", "format": "email" }),
        json!({ "type": "number" }),
        json!({ "type": "boolean" }),
        json!({ "type": "string", "enum": ["a"] }),
    ];
    for kind in kinds {
        assert_eq!(typed(&kind, false, ""), "absent", "{kind}");
        assert_eq!(typed(&kind, true, ""), "An answer is needed here.", "{kind}");
    }
    let many = json!({ "type": "array", "items": { "type": "string", "enum": ["a"] }, "minItems": 1 });
    assert_eq!(typed(&many, false, " "), "absent");
    assert_eq!(typed(&many, true, " "), "It needs at least 1 of the choices.");
    let any = json!({ "type": "array", "items": { "type": "string", "enum": ["a"] } });
    assert_eq!(typed(&any, true, ""), "[]");
}

#[test]
fn yes_and_no_are_read_in_their_usual_words() {
    let boolean = json!({ "type": "boolean" });
    for text in ["yes", "Y", " true ", "ON", "是"] {
        assert_eq!(typed(&boolean, true, text), "true", "{text}");
    }
    for text in ["no", "N", "False", "off", "否"] {
        assert_eq!(typed(&boolean, true, text), "false", "{text}");
    }
    for text in ["maybe", "1", "0", "yes no"] {
        assert_eq!(typed(&boolean, true, text), "Answer yes or no.", "{text}");
    }
}

/// R-FORM-06: what is sent is the value, whatever the person read.
#[test]
fn a_choice_is_its_value_or_its_title() {
    let one = json!({ "type": "string", "oneOf": [
        { "const": "r", "title": "Red" }, { "const": "g", "title": "Green, dark" }, { "const": "Red", "title": "Trap" },
        { "const": "x", "title": "Same" }, { "const": "y", "title": "Same" }] });
    for (text, value) in [
        ("r", r#""r""#),
        ("Red", r#""Red""#),
        (" trap ", r#""Red""#),
        ("GREEN, DARK", r#""g""#),
        ("Same", "Choose one of the given choices."),
        ("blue", "Choose one of the given choices."),
    ] {
        assert_eq!(typed(&one, true, text), value, "{text}");
    }
    let many = json!({ "type": "array", "maxItems": 2, "items": { "anyOf": [
        { "const": "r", "title": "Red" }, { "const": "g", "title": "Green, dark" }, { "const": "b", "title": "Blue" }] } });
    for (text, value) in [
        ("Red", r#"["r"]"#),
        ("Green, dark", r#"["g"]"#),
        ("b, red", r#"["b","r"]"#),
        ("Green, dark\nRed", r#"["g","r"]"#),
        ("r，b", r#"["r","b"]"#),
        ("r、b", r#"["r","b"]"#),
        ("b\nGreen, dark", r#"["b","g"]"#),
        ("r,g,b", "It has to have at most 2 of the choices."),
        ("r,z", "Choose one of the given choices."),
    ] {
        assert_eq!(typed(&many, true, text), value, "{text}");
    }
}

proptest! {
    /// R-FORM-05: what is taken fits, whatever was typed.
    #[test]
    fn what_is_taken_fits_the_field(text in prop_oneof![any::<String>(), "[-+0-9.eE,]{0,9}", "[a-c, \n]{0,9}"]) {
        let form = Form::parse(
            r#"{"type":"object","properties":{"s":{"type":"string","maxLength":5},"n":{"type":"number","minimum":-2},
            "i":{"type":"integer"},"b":{"type":"boolean"},"c":{"type":"string","enum":["a","b","a,b"]},
            "m":{"type":"array","items":{"type":"string","enum":["a","b","c"]},"maxItems":2}}}"#,
        ).unwrap();
        for field in form.fields() {
            match field.parse_text(&text) {
                Ok(Some(value)) => prop_assert_eq!(field.check(&value), []),
                Ok(None) => prop_assert!(text.trim().is_empty()),
                Err(faults) => prop_assert!(!faults.is_empty()),
            }
        }
    }
}
