//! What the kind of field, its schema and the message say.

use super::*;

/// R-FORM-07: what may be a secret is told apart from what is one.
#[test]
fn a_bare_word_is_a_weak_finding() {
    for name in [
        "token",
        "key",
        "auth",
        "private",
        "github_token",
        "licenseKey",
        "card_pin",
        "ssn",
        "IBAN",
        "routing_number",
        "Токен",
        "keys",
        "token_from_github",
        "Token für GitHub",
        "social_security_number",
        "card PIN (4 digits)",
    ] {
        assert_eq!(named(name), Some(Strength::Weak), "{name}");
    }
    let described = json!({ "type": "string", "description": "Paste your API key here." });
    assert_eq!(strength_of("value", &described), Some(Strength::Weak));
    let harmless = json!({ "type": "string", "description": "How many tokens at most? A key fact." });
    assert_eq!(strength_of("value", &harmless), None);
}

/// R-FORM-07: the schema's own words count.
#[test]
fn a_schema_that_says_secret_is_believed() {
    assert_eq!(strength_of("a", &json!({ "type": "string", "format": "password" })), Some(Strength::Strong));
    assert_eq!(strength_of("a", &json!({ "type": "string", "writeOnly": true })), Some(Strength::Strong));
    assert_eq!(strength_of("a", &json!({ "type": "string", "writeOnly": false })), None);
}

/// R-FORM-07: booleans and choices cannot hold a secret, and numbers only some.
#[test]
fn the_kind_of_field_counts() {
    for name in ["otp_enabled", "password", "use_api_key"] {
        assert_eq!(strength_of(name, &json!({ "type": "boolean" })), None, "{name}");
        assert_eq!(strength_of(name, &json!({ "type": "string", "enum": ["a"] })), None, "{name}");
        let list = json!({ "type": "array", "items": { "type": "string", "enum": ["a"] } });
        assert_eq!(strength_of(name, &list), None, "{name}");
    }
    for name in ["pin", "otp", "cvv", "card_number", "verification code"] {
        assert_eq!(strength_of(name, &json!({ "type": "integer" })), Some(Strength::Strong), "{name}");
    }
    // A secret of text beside it hides none of digits.
    for name in ["Secret PIN", "Password or OTP", "Passcode (OTP)", "secret_otp", "password, card number"] {
        assert!(strength_of(name, &json!({ "type": "integer" })).is_some(), "{name}");
    }
    for name in ["password", "api_key", "token", "secret"] {
        assert_eq!(strength_of(name, &json!({ "type": "number" })), None, "{name}");
    }
}

/// R-FORM-07
#[test]
fn a_pin_code_is_a_secret_when_it_has_the_length_of_one() {
    for schema in [
        json!({ "type": "string", "minLength": 4, "maxLength": 6 }),
        json!({ "type": "string", "maxLength": 4 }),
        json!({ "type": "string", "pattern": "^\\d{4}$" }),
        json!({ "type": "string", "pattern": "^[0-9]{4,8}$" }),
        json!({ "type": "integer", "maximum": 9999 }),
    ] {
        assert_eq!(strength_of("PIN code", &schema), Some(Strength::Strong), "{schema}");
        for name in ["pincode", "Your PIN code", "ПИН-код", "PIN-код", "code PIN"] {
            assert_eq!(strength_of(name, &schema), Some(Strength::Strong), "{name} {schema}");
        }
    }
    for schema in [
        json!({ "type": "string" }),
        json!({ "type": "string", "maxLength": 20 }),
        json!({ "type": "string", "minLength": 2, "maxLength": 6 }),
        json!({ "type": "string", "pattern": "^[A-Z]{4}$" }),
        json!({ "type": "string", "pattern": "^[0-9]{4,12}$" }),
    ] {
        assert_eq!(strength_of("PIN code", &schema), None, "{schema}");
    }
}

/// R-FORM-07: a message that speaks of a secret casts doubt on each field that could take it.
#[test]
fn the_message_counts_for_every_field() {
    let form = r#"{"type":"object","properties":{"value":{"type":"string"},"n":{"type":"number"},"go":{"type":"boolean"},"pwd":{"type":"string"}}}"#;
    let findings = scan_with_message(&Form::parse(form).unwrap(), "Please enter your API key.");
    let found: Vec<_> =
        findings.iter().map(|found| (found.property.as_str(), found.strength, found.place, found.what)).collect();
    assert_eq!(
        found,
        [("value", Strength::Weak, Place::Message, "api key"), ("pwd", Strength::Strong, Place::Name, "pwd"),]
    );
    let digits = r#"{"type":"object","properties":{"n":{"type":"integer"}}}"#;
    let findings = scan_with_message(&Form::parse(digits).unwrap(), "Send your password and the verification code.");
    assert_eq!(findings.first().map(|found| found.what), Some("verification code"));
    assert!(
        scan_with_message(
            &Form::parse(r#"{"type":"object","properties":{"a":{"type":"string"}}}"#).unwrap(),
            "Which city?"
        )
        .is_empty()
    );
}
