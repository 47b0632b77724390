//! What is odd, and taken nevertheless.

use crate::Form;

fn findings(properties: &str) -> Vec<String> {
    let form = Form::parse(&format!(r#"{{"type":"object","properties":{properties}}}"#)).unwrap();
    form.findings().iter().map(ToString::to_string).collect()
}

/// R-FORM-01, R-FORM-06: what a form cannot check is kept, and found.
#[test]
fn what_is_not_checked_is_found() {
    let table = [
        (
            r#"{"a":{"type":"string","format":"ipv4"}}"#,
            "/properties/a/format has an unknown format, which is not checked",
        ),
        (
            r#"{"a":{"type":"string","pattern":"^(?=a).*$"}}"#,
            "/properties/a/pattern is not checked, because it looks ahead or behind",
        ),
        (
            r#"{"a":{"type":"number","exclusiveMinimum":0}}"#,
            "/properties/a/exclusiveMinimum is not checked: forms do not have this keyword",
        ),
        (
            r#"{"a":{"type":"string","enum":["x"],"minLength":3}}"#,
            "/properties/a/minLength is not checked: forms do not have this keyword",
        ),
        (
            r#"{"a":{"type":"string","pattern":"^[0-9]+$","default":"x"}}"#,
            "/properties/a/default does not fit the pattern of its own field",
        ),
        (
            r#"{"a":{"type":"string","format":"email","default":"x"}}"#,
            "/properties/a/default does not fit the format of its own field",
        ),
        (
            r#"{"a":{"type":"string","oneOf":[{"const":"x"}]}}"#,
            "/properties/a/oneOf/0 lacks a title; its value is shown",
        ),
        (
            r#"{"a":{"type":"string","oneOf":[{"const":"x","title":"X"},{"const":"y","title":"X"}]}}"#,
            "/properties/a/oneOf shows the same text for two choices",
        ),
    ];
    for (properties, finding) in table {
        assert_eq!(findings(properties), [finding], "{properties}");
    }
}

/// R-FORM-01: annotations, numeric formats, `$defs` that nothing refers to, and `null` for what is absent.
#[test]
fn what_does_no_harm_is_not_even_odd() {
    for properties in [
        r#"{"a":{"type":"string","x-order":1,"examples":["q"],"readOnly":false,"$comment":"c","deprecated":true}}"#,
        r#"{"a":{"type":"boolean","$defs":{"X":{"type":"object"}}}}"#,
        r#"{"a":{"type":"string","title":null,"description":null,"default":null,"minLength":null,"format":null,"enum":null}}"#,
        r#"{"a":{"type":"number","minLength":-1,"format":"double"}}"#,
    ] {
        assert_eq!(findings(properties), [""; 0], "{properties}");
    }
}

/// The specification's example of a string has a default that its own pattern does not match.
#[test]
fn the_example_of_the_specification_is_a_form() {
    let example = r#"{"a":{"type":"string","title":"Display Name","description":"Description text","minLength":3,
        "maxLength":50,"pattern":"^[A-Za-z]+$","format":"email","default":"user@example.com"}}"#;
    assert_eq!(findings(example), ["/properties/a/default does not fit the pattern of its own field"]);
}

/// R-FORM-06: an unchecked pattern lets every text through, and says that it does.
#[test]
fn an_unchecked_pattern_stops_nobody() {
    let form = Form::parse(r#"{"type":"object","properties":{"a":{"type":"string","pattern":"(?!x)"}}}"#).unwrap();
    let super::Kind::Text(text) = &form.fields()[0].kind else { panic!("a text") };
    let pattern = text.pattern.as_ref().unwrap();
    assert_eq!((pattern.as_str(), pattern.is_checked()), ("(?!x)", false));
    assert_eq!(form.fields()[0].check(&"x".into()), []);
}

/// R-FORM-06: a pattern that may be slow to look for is not looked for in a text of any length.
#[test]
fn a_long_text_does_not_match_a_pattern() {
    let form = Form::parse(r#"{"type":"object","properties":{"a":{"type":"string","pattern":"x"}}}"#).unwrap();
    let field = &form.fields()[0];
    assert_eq!(field.check(&"x".repeat(16 * 1024).into()), []);
    assert_eq!(field.check(&"x".repeat(16 * 1024 + 1).into()).len(), 1);
}
