//! The shapes of the specification, and its own schemas.

use jsonschema::Validator;
use serde_json::{Value, json};

use super::*;
use crate::Revision;

/// Each kind with all of its keywords; the definition of the official schemas that it is; its shape as the
/// specification shows it, in the same order.
type Shape = (FieldDraft, &'static str, &'static str);

fn kinds() -> Vec<Shape> {
    [plain(), choices()].concat()
}

fn plain() -> Vec<Shape> {
    vec![
        (
            Field::text()
                .title("Guest")
                .description("Who comes?")
                .length(3..=50)
                .pattern("^[A-Z]")
                .default("Ada")
                .into(),
            "StringSchema",
            r#"{
                "type": "string",
                "title": "Guest",
                "description": "Who comes?",
                "minLength": 3,
                "maxLength": 50,
                "pattern": "^[A-Z]",
                "default": "Ada"
            }"#,
        ),
        (
            Field::email().title("E-mail").length(3..).default("user@example.com").into(),
            "StringSchema",
            r#"{
                "type": "string",
                "title": "E-mail",
                "minLength": 3,
                "format": "email",
                "default": "user@example.com"
            }"#,
        ),
        (
            Field::uri().default("https://example.com/").into(),
            "StringSchema",
            r#"{ "type": "string", "format": "uri", "default": "https://example.com/" }"#,
        ),
        (Field::date().into(), "StringSchema", r#"{ "type": "string", "format": "date" }"#),
        (Field::date_time().into(), "StringSchema", r#"{ "type": "string", "format": "date-time" }"#),
        (
            Field::number().title("Share").description("Of the whole").range(0..=100).default(50).into(),
            "NumberSchema",
            r#"{
                "type": "number",
                "title": "Share",
                "description": "Of the whole",
                "minimum": 0,
                "maximum": 100,
                "default": 50
            }"#,
        ),
        (Field::integer().range(..=12).into(), "NumberSchema", r#"{ "type": "integer", "maximum": 12 }"#),
        (
            Field::boolean().title("News").description("Once a month").default(false).into(),
            "BooleanSchema",
            r#"{ "type": "boolean", "title": "News", "description": "Once a month", "default": false }"#,
        ),
    ]
}

fn choices() -> Vec<Shape> {
    vec![
        (
            Field::select(["Red", "Green"]).title("Colour").description("Of the wall").default("Red").into(),
            "UntitledSingleSelectEnumSchema",
            r#"{
                "type": "string",
                "title": "Colour",
                "description": "Of the wall",
                "enum": ["Red", "Green"],
                "default": "Red"
            }"#,
        ),
        (
            Field::select([("#F00", "Red"), ("#0F0", "Green")]).title("Colour").default("#F00").into(),
            "TitledSingleSelectEnumSchema",
            r##"{
                "type": "string",
                "title": "Colour",
                "oneOf": [{ "const": "#F00", "title": "Red" }, { "const": "#0F0", "title": "Green" }],
                "default": "#F00"
            }"##,
        ),
        (
            Field::multi_select(["Red", "Green"]).title("Colours").items(1..=2).default(["Red", "Green"]).into(),
            "UntitledMultiSelectEnumSchema",
            r#"{
                "type": "array",
                "title": "Colours",
                "minItems": 1,
                "maxItems": 2,
                "items": { "type": "string", "enum": ["Red", "Green"] },
                "default": ["Red", "Green"]
            }"#,
        ),
        (
            Field::multi_select([("#F00", "Red"), ("#0F0", "Green")])
                .title("Colours")
                .items(1..=2)
                .default(["#F00"])
                .into(),
            "TitledMultiSelectEnumSchema",
            r##"{
                "type": "array",
                "title": "Colours",
                "minItems": 1,
                "maxItems": 2,
                "items": { "anyOf": [{ "const": "#F00", "title": "Red" }, { "const": "#0F0", "title": "Green" }] },
                "default": ["#F00"]
            }"##,
        ),
    ]
}

/// R-FORM-01
#[test]
fn each_kind_has_the_shape_of_the_specification() {
    for (draft, _, expected) in kinds() {
        let form = Form::builder().required("a", draft).build().unwrap();
        let expected: Value = serde_json::from_str(expected).unwrap();
        assert_eq!(form.as_str(), format!(r#"{{"type":"object","properties":{{"a":{expected}}},"required":["a"]}}"#));
    }
}

fn schema(revision: Revision) -> Value {
    let text = match revision {
        Revision::V2025_06_18 => include_str!("../../../../tests/spec/2025-06-18.json"),
        Revision::V2025_11_25 => include_str!("../../../../tests/spec/2025-11-25.json"),
        Revision::V2026_07_28 => include_str!("../../../../tests/spec/2026-07-28.json"),
        other => panic!("{other} has no elicitation"),
    };
    serde_json::from_str(text).unwrap()
}

/// A definition of a revision's official schema.
fn definition(schema: &Value, name: &str) -> Validator {
    let key = if schema.get("$defs").is_some() { "$defs" } else { "definitions" };
    assert!(schema[key].get(name).is_some(), "{name}");
    let mut root = schema.clone();
    root["$ref"] = json!(format!("#/{key}/{name}"));
    jsonschema::validator_for(&root).unwrap()
}

fn assert_valid(validator: &Validator, value: &Value, what: &str) {
    if let Err(error) = validator.validate(value) {
        panic!("{what}: {error}: {value}");
    }
}

/// R-FORM-01, R-CAP-07: what is written is valid by the schemas that the revisions publish: the parameters as a whole,
/// and each property as what it is.
#[test]
fn what_is_written_is_valid_by_the_official_schemas() {
    for revision in Revision::SUPPORTED.iter().copied() {
        let oldest = revision == Revision::V2025_06_18;
        let official = schema(revision);
        let whole = definition(&official, if oldest { "ElicitRequest" } else { "ElicitRequestFormParams" });
        let kinds = kinds().into_iter().filter(|(_, name, _)| !(oldest && name.contains("MultiSelect")));
        let (mut builder, mut names) = (Form::builder(), Vec::new());
        for (index, (draft, name, _)) in kinds.enumerate() {
            builder = builder.required(format!("field{index}"), draft);
            names.push(if oldest && name.contains("Enum") { "EnumSchema" } else { name });
        }
        let form = builder.build().unwrap();
        let requested: Value = serde_json::from_str(&form.for_revision(revision).unwrap()).unwrap();
        for (index, name) in names.iter().enumerate() {
            let property = &requested["properties"][format!("field{index}")];
            assert_valid(&definition(&official, name), property, &format!("{revision} {name}"));
        }
        let params = json!({ "message": "Please answer.", "requestedSchema": requested });
        if oldest {
            assert_valid(&whole, &json!({ "method": "elicitation/create", "params": params }), revision.as_str());
        } else {
            let mut params = params;
            params["mode"] = json!("form");
            assert_valid(&whole, &params, revision.as_str());
        }
    }
}
