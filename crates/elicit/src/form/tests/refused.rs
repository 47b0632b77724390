//! What is no form, and what its sender is told.

use crate::Form;

fn error(schema: &str) -> String {
    Form::parse(schema).unwrap_err().to_string()
}

fn property(schema: &str) -> String {
    let whole = format!(r#"{{"type":"object","properties":{{"a":{schema}}}}}"#);
    error(&whole).strip_prefix("the schema is no form: ").unwrap().to_owned()
}

/// R-FORM-02: the error names the property, what is wrong there, and what is allowed.
#[test]
fn each_fault_names_its_place_and_what_is_allowed() {
    insta::assert_snapshot!(property(r#"{"type":"object","properties":{}}"#), @"/properties/a is a nested object; allowed types are string, number, integer, boolean, and array for several choices; choices are `enum`, or `oneOf` of `const` and `title`");
    insta::assert_snapshot!(property(r#"{"type":"array","items":{"type":"string"}}"#), @"/properties/a/items needs `items` with `enum`, or with `anyOf` of `const` and `title`: a form has no free arrays");
    insta::assert_snapshot!(property(r#"{"type":"array"}"#), @"/properties/a needs `items` with `enum`, or with `anyOf` of `const` and `title`: a form has no free arrays");
    insta::assert_snapshot!(property(r##"{"$ref":"#/$defs/X"}"##), @"/properties/a/$ref is not allowed: a form has neither references nor combinators; allowed types are string, number, integer, boolean, and array for several choices; choices are `enum`, or `oneOf` of `const` and `title`");
    insta::assert_snapshot!(property(r#"{"type":["string","null"]}"#), @"/properties/a/type is of type array; allowed is the name of one type");
    insta::assert_snapshot!(property(r#"{"type":"null"}"#), @"/properties/a has type `null`; allowed types are string, number, integer, boolean, and array for several choices; choices are `enum`, or `oneOf` of `const` and `title`");
    insta::assert_snapshot!(property(r#"{"title":"A"}"#), @"/properties/a lacks `type`; allowed types are string, number, integer, boolean, and array for several choices; choices are `enum`, or `oneOf` of `const` and `title`");
    insta::assert_snapshot!(property("true"), @"/properties/a is of type boolean; allowed is an object");
    insta::assert_snapshot!(property(r#"{"type":"string","enum":[]}"#), @"/properties/a/enum is empty; at least one choice is needed");
    insta::assert_snapshot!(property(r#"{"type":"string","enum":["x","y","x"]}"#), @r#"/properties/a/enum holds the choice "x" twice"#);
    insta::assert_snapshot!(property(r#"{"type":"string","enum":["x",null]}"#), @"/properties/a/enum/1 is of type null; choices are strings of Unicode text");
    insta::assert_snapshot!(property(r#"{"type":"integer","enum":[1]}"#), @"/properties/a/enum is only allowed for type string, and for the items of an array");
    insta::assert_snapshot!(property(r#"{"type":"string","oneOf":[{"title":"A"}]}"#), @r#"/properties/a/oneOf/0 lacks `const`; a choice is `{"const": …, "title": …}`"#);
    insta::assert_snapshot!(property(r#"{"type":"string","enum":["x"],"oneOf":[{"const":"x","title":"X"}]}"#), @"/properties/a/oneOf stands beside `enum`; allowed is one of them");
    insta::assert_snapshot!(property(r#"{"type":"string","enum":["x"],"enumNames":["X","Y"]}"#), @"/properties/a/enumNames has 2 titles for 1 choices");
    insta::assert_snapshot!(property(r#"{"type":"string","minLength":-1}"#), @"/properties/a/minLength is no count; allowed are 0, 1, 2, …");
    insta::assert_snapshot!(property(r#"{"type":"string","minLength":5,"maxLength":1}"#), @"/properties/a/minLength is above `maxLength`, so that no answer fits");
    insta::assert_snapshot!(property(r#"{"type":"number","minimum":1e999}"#), @"/properties/a/minimum is too large a number");
    insta::assert_snapshot!(property(r#"{"type":"number","minimum":"1"}"#), @"/properties/a/minimum is of type string; allowed is a number");
    insta::assert_snapshot!(property(r#"{"type":"number","minimum":9007199254740993,"maximum":9007199254740992}"#), @"/properties/a/minimum is above `maximum`, so that no answer fits");
    insta::assert_snapshot!(property(r#"{"type":"array","minItems":3,"items":{"type":"string","enum":["x"]}}"#), @"/properties/a/minItems is above the number of choices, which is 1");
    insta::assert_snapshot!(property(r#"{"type":"boolean","default":"yes"}"#), @"/properties/a/default is no answer to its own field: has to be true or false, and is of type string");
    insta::assert_snapshot!(property(r#"{"type":"string","maxLength":1,"default":"ab"}"#), @"/properties/a/default is no answer to its own field: has to be at most 1 character long");
    insta::assert_snapshot!(property(r#"{"type":"string","title":7}"#), @"/properties/a/title is of type number; allowed is a string of Unicode text");
    insta::assert_snapshot!(property(r#"{"type":"string","title":"\ud800"}"#), @"/properties/a/title is of type string; allowed is a string of Unicode text");
    insta::assert_snapshot!(property(r#"{"type":"string","type":"number"}"#), @r#"/properties/a holds the key "type" twice"#);
    assert!(
        property(r#"{"type":"string","pattern":"("}"#).starts_with("/properties/a/pattern is no regular expression: ")
    );
}

/// R-FORM-02
#[test]
fn a_whole_that_is_no_form_says_so() {
    insta::assert_snapshot!(error(""), @"the schema is no form: it is not JSON");
    insta::assert_snapshot!(error("[]"), @"the schema is no form: it is of type array; allowed is an object");
    insta::assert_snapshot!(error("{}"), @r#"the schema is no form: it has to be of type object, with flat properties; it lacks `properties`; a form without questions has `"properties": {}`"#);
    insta::assert_snapshot!(error(r#"{"type":"object","properties":[]}"#), @"the schema is no form: /properties is of type array; allowed is an object");
    insta::assert_snapshot!(error(r#"{"type":"object","properties":{"\ud800":{"type":"string"}}}"#), @"the schema is no form: /properties has a name that is no Unicode text");
    insta::assert_snapshot!(error(r#"{"type":"object","properties":{},"required":["b",7]}"#), @r#"the schema is no form: /required/1 is of type number; allowed is the name of a property; /required names "b", which is no property"#);
    insta::assert_snapshot!(error(r#"{"type":"object","properties":{},"required":"b"}"#), @"the schema is no form: /required is of type string; allowed is an array of property names");
    insta::assert_snapshot!(error(r#"{"type":"object","properties":{},"additionalProperties":7}"#), @"the schema is no form: /additionalProperties is of type number; allowed is true or false");
}

/// R-FORM-02: all at once, with a pointer that has its escapes (RFC 6901).
#[test]
fn all_faults_are_told_at_once() {
    let schema = r#"{"type":"object","allOf":[],"properties":{
        "a/b~c":{"type":"string","minLength":"x","pattern":"("},
        "ok":{"type":"boolean"},
        "d":{"type":"array","items":{"anyOf":[{"const":1,"title":"A"},{"title":"B"}]}}},
        "required":["ok","nowhere"]}"#;
    let error = Form::parse(schema).unwrap_err();
    let places: Vec<_> = error.faults().iter().map(|fault| fault.pointer.as_str()).collect();
    assert_eq!(
        places,
        [
            "/allOf",
            "/properties/a~1b~0c/minLength",
            "/properties/a~1b~0c/pattern",
            "/properties/d/items/anyOf/0/const",
            "/properties/d/items/anyOf/1",
            "/required",
        ]
    );
}

/// R-FORM-02: every combinator, wherever it stands.
#[test]
fn references_and_combinators_are_refused_everywhere() {
    for keyword in
        ["$ref", "$dynamicRef", "allOf", "anyOf", "not", "if", "then", "else", "patternProperties", "dependentSchemas"]
    {
        for schema in [
            format!(r#"{{"type":"object","properties":{{}},"{keyword}":[]}}"#),
            format!(r#"{{"type":"object","properties":{{"a":{{"type":"string","{keyword}":{{}}}}}}}}"#),
            format!(r#"{{"type":"object","properties":{{"a":{{"type":"boolean","{keyword}":{{}}}}}}}}"#),
        ] {
            assert!(error(&schema).contains(&format!("/{keyword} is not allowed")), "{schema}");
        }
    }
    let items =
        r#"{"type":"object","properties":{"a":{"type":"array","items":{"oneOf":[{"const":"x","title":"X"}]}}}}"#;
    assert!(error(items).contains("/properties/a/items/oneOf is not allowed"));
    let number = r#"{"type":"object","properties":{"a":{"type":"number","oneOf":[{"const":1,"title":"X"}]}}}"#;
    assert!(error(number).contains("/properties/a/oneOf is not allowed"));
}

/// A hostile schema is refused in time, and in few words.
#[test]
fn a_million_faults_make_a_short_text() {
    let properties: Vec<String> = (0..20_000).map(|n| format!(r#""p{n}":7"#)).collect();
    let error = Form::parse(&format!(r#"{{"type":"object","properties":{{{}}}}}"#, properties.join(","))).unwrap_err();
    assert_eq!(error.faults().len(), 100);
    assert!(error.to_string().len() < 3_000);
    assert!(error.to_string().ends_with("; and 19980 more"));
}
