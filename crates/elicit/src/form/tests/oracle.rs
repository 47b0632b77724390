//! Against the `jsonschema` crate, wherever its rules and ours coincide. Where they do not, on purpose:
//!
//! - an accept without content is `{}` here; there is no action over there;
//! - decimals are compared exactly here and as doubles there;
//! - a number beyond the doubles, such as `1e999`, is refused here, and no value over there;
//! - an address over 254 octets, and a leap second inside a month, are refused here (see `format`);
//! - lengths and formats beside `enum` are found and not checked here;
//! - a text over 16 KiB matches no pattern here;
//! - a pattern that takes a backtracking engine is not checked here.

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::{Content, Form};

fn agree(schema: &Json, content: &str) -> Result<(), TestCaseError> {
    let form = Form::parse(&schema.to_string()).map_err(|error| TestCaseError::fail(format!("{error}: {schema}")))?;
    let ours = form.check_content(&Content::parse(content).unwrap()).map(|_| ()).map_err(|faults| faults.to_string());
    let validator = jsonschema::options().should_validate_formats(true).build(schema).unwrap();
    let theirs = validator.is_valid(&serde_json::from_str(content).unwrap());
    prop_assert_eq!(ours.is_ok(), theirs, "{:?} for {} of {}", ours, content, schema);
    Ok(())
}

fn schemas() -> impl Strategy<Value = Json> {
    let text = (
        prop::option::of(0..3_u8),
        prop::option::of(3..6_u8),
        prop::option::of(prop_oneof![
            Just("^[a-z]+$"),
            Just("b"),
            Just("\\d"),
            Just("^.{2,3}$"),
            Just("[^x]"),
            Just("")
        ]),
    )
        .prop_map(|(least, most, pattern)| {
            let mut schema = json!({ "type": "string" });
            if let Some(least) = least {
                schema["minLength"] = least.into();
            }
            if let Some(most) = most {
                schema["maxLength"] = most.into();
            }
            if let Some(pattern) = pattern {
                schema["pattern"] = pattern.into();
            }
            schema
        });
    let format = prop_oneof![Just("email"), Just("uri"), Just("date"), Just("date-time"), Just("color")]
        .prop_map(|format| json!({ "type": "string", "format": format }));
    let number =
        (prop_oneof![Just("number"), Just("integer")], prop::option::of(-5..2_i32), prop::option::of(2..9_i32))
            .prop_map(|(name, least, most)| {
                let mut schema = json!({ "type": name });
                if let Some(least) = least {
                    schema["minimum"] = (f64::from(least) / 2.0).into();
                }
                if let Some(most) = most {
                    schema["maximum"] = most.into();
                }
                schema
            });
    let choice = prop_oneof![
        Just(json!({ "type": "string", "enum": ["a", "b", ""] })),
        Just(json!({ "type": "string", "oneOf": [{ "const": "a", "title": "A" }, { "const": "é", "title": "b" }] })),
    ];
    let several = (0..3_u8, 1..4_u8, any::<bool>(), any::<bool>()).prop_map(|(least, most, unique, titled)| {
        let items = if titled {
            json!({ "anyOf": [{ "const": "a", "title": "A" }, { "const": "b", "title": "B" }, { "const": "c", "title": "C" }] })
        } else {
            json!({ "type": "string", "enum": ["a", "b", "c"] })
        };
        json!({ "type": "array", "items": items, "minItems": least, "maxItems": most.max(least), "uniqueItems": unique })
    });
    let property = prop_oneof![text, format, number, Just(json!({ "type": "boolean" })), choice, several];
    (prop::collection::vec((property, any::<bool>()), 0..5), any::<bool>()).prop_map(|(properties, closed)| {
        let mut schema = json!({ "type": "object", "properties": {}, "required": [], "additionalProperties": !closed });
        for (index, (property, required)) in properties.into_iter().enumerate() {
            schema["properties"][format!("p{index}")] = property;
            if required {
                schema["required"].as_array_mut().unwrap().push(format!("p{index}").into());
            }
        }
        schema
    })
}

/// Values in their JSON text: right ones, near misses, and other types.
fn values() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => prop_oneof![
            Just("a"), Just("b"), Just("c"), Just("é"), Just(""), Just("abc"), Just("x1"), Just("😀😀😀"), Just("a@example.com"),
            Just("a@b@c"), Just("https://example.com/?a"), Just("/a"), Just("2026-02-28"), Just("2026-02-30"),
            Just("2026-02-28T10:00:00Z"), Just("2026-02-28T10:00:00"),
        ].prop_map(|text| json!(text).to_string()),
        1 => "[a-c1]{0,7}".prop_map(|text| json!(text).to_string()),
        2 => prop_oneof![
            Just("0"), Just("-0"), Just("1"), Just("1.0"), Just("2.5"), Just("-2.5"), Just("8"), Just("8.000"), Just("8.5"), Just("1e1"),
            Just("25e-1"), Just("9007199254740993"), Just("-1.0e0"),
        ].prop_map(str::to_owned),
        1 => prop_oneof![Just("true"), Just("false"), Just("null"), Just("{}"), Just(r#"{"a":1}"#)].prop_map(str::to_owned),
        2 => prop::collection::vec(prop_oneof![Just("a"), Just("b"), Just("c"), Just("z")], 0..5).prop_map(|items| json!(items).to_string()),
        1 => Just(r#"["a",1]"#.to_owned()),
    ]
}

fn contents() -> impl Strategy<Value = String> {
    prop::collection::btree_map("p[0-5]", values(), 0..6).prop_map(|members| {
        let members: Vec<String> =
            members.into_iter().map(|(name, value)| format!("{}:{value}", json!(name))).collect();
        format!("{{{}}}", members.join(","))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// R-FORM-06: the verdict is that of JSON Schema.
    #[test]
    fn the_verdict_is_that_of_json_schema(schema in schemas(), content in contents()) {
        agree(&schema, &content)?;
    }

    /// The same for one field at a time, where each value counts.
    #[test]
    fn the_verdict_on_one_field_is_that_of_json_schema(schema in schemas(), value in values()) {
        for (name, property) in schema["properties"].as_object().unwrap() {
            let one = json!({ "type": "object", "properties": { name: property } });
            agree(&one, &format!("{}:{value}}}", json!(name).to_string().replacen('"', "{\"", 1)))?;
        }
    }
}

/// R-FORM-11: the one place where exactness changes the verdict.
#[test]
fn decimals_are_compared_exactly_here_and_as_doubles_there() {
    let schema = json!({ "type": "object", "properties": { "n": { "type": "number", "maximum": 0.1 } } });
    let content = r#"{"n":0.10000000000000000001}"#;
    let form = Form::parse(&schema.to_string()).unwrap();
    assert!(form.check_content(&Content::parse(content).unwrap()).is_err());
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(validator.is_valid(&serde_json::from_str(content).unwrap()));
}
