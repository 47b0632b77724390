//! The official JSON schema of each revision, as an oracle.

use elicit::Revision;
use jsonschema::Validator;
use serde_json::{Value, json};

/// The schema of everything in a revision.
fn schema(revision: Revision) -> Value {
    let text = match revision {
        Revision::V2025_06_18 => include_str!("../spec/2025-06-18.json"),
        Revision::V2025_11_25 => include_str!("../spec/2025-11-25.json"),
        Revision::V2026_07_28 => include_str!("../spec/2026-07-28.json"),
        other => panic!("{other} has no elicitation"),
    };
    serde_json::from_str(text).unwrap()
}

/// The validator of one definition. Formats are annotations there.
pub fn definition(revision: Revision, name: &str) -> Validator {
    let mut schema = schema(revision);
    let definitions = if schema.get("$defs").is_some() { "$defs" } else { "definitions" };
    assert!(schema[definitions].get(name).is_some(), "{revision} has no {name}");
    schema["$ref"] = json!(format!("#/{definitions}/{name}"));
    jsonschema::options().should_validate_formats(false).build(&schema).unwrap()
}

/// Fails unless `text` is what the revision calls `name`.
pub fn assert_is(text: &str, revision: Revision, name: &str) {
    let value: Value = serde_json::from_str(text).unwrap();
    let faults: Vec<String> = definition(revision, name).iter_errors(&value).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{revision} {name}: {faults:?}: {text}");
}

/// The oracle can say no.
#[test]
fn what_is_no_elicitation_is_none_to_the_schema() {
    for revision in Revision::SUPPORTED {
        let request = definition(*revision, "ElicitRequest");
        assert!(!request.is_valid(&json!({"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}})));
        assert!(!definition(*revision, "ElicitResult").is_valid(&json!({"action":"maybe"})));
    }
}
