mod cost;
mod fields;
mod harmless;
mod lists;
mod properties;
mod strong;
mod value;

use serde_json::json;

use super::*;

fn strength_of(name: &str, schema: &serde_json::Value) -> Option<Strength> {
    let form = json!({ "type": "object", "properties": { name: schema } }).to_string();
    scan(&Form::parse(&form).unwrap()).first().map(|finding| finding.strength)
}

fn named(name: &str) -> Option<Strength> {
    strength_of(name, &json!({ "type": "string" }))
}

fn titled(title: &str) -> Option<Strength> {
    strength_of("x", &json!({ "type": "string", "title": title }))
}
