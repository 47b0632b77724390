use proptest::prelude::*;
use serde_json::json;

use super::*;

fn strength_of(name: &str, schema: serde_json::Value) -> Option<Strength> {
    let form = json!({ "type": "object", "properties": { name: schema } }).to_string();
    scan(&Form::parse(&form).unwrap()).first().map(|finding| finding.strength)
}

fn named(name: &str) -> Option<Strength> {
    strength_of(name, json!({ "type": "string" }))
}

/// R-FORM-07: what asks for a secret by its name or title, however it is written.
#[test]
fn a_field_that_asks_for_a_secret_is_found() {
    let names = [
        "password",
        "passwd",
        "pwd",
        "passphrase",
        "passcode",
        "p@ssword",
        "pAssWord",
        "passw0rd",
        "PASSWORD",
        "user_password",
        "passwordConfirmation",
        "Your password",
        "new-password",
        "user_name_password",
        "secret",
        "clientSecret",
        "Client secret",
        "apiKey",
        "API-KEY",
        "api.key",
        "api key",
        "APIKey",
        "apikey",
        "OPENAI_API_KEY",
        "access_key",
        "secretKey",
        "private key",
        "signing_key",
        "encryption-key",
        "ssh_key",
        "accessToken",
        "ACCESS_TOKEN",
        "refresh token",
        "bearerToken",
        "auth_token",
        "id_token",
        "session_token",
        "github_personal_access_token",
        "connection_string",
        "credential",
        "credentials",
        "seed phrase",
        "recoveryPhrase",
        "mnemonic_phrase",
        "cvv",
        "CVC",
        "card_number",
        "Card number",
        "pan",
        "PAN",
        "otp",
        "totp",
        "mfa_code",
        "2fa code",
        "2faCode",
        "verification_code",
        "security code",
        "pin",
        "PIN",
        "Your PIN",
        "session_cookie",
        "密码",
        "请输入密码",
        "API 密钥",
        "访问令牌",
        "口令",
        "验证码",
        "Passwort",
        "Benutzerpasswort",
        "Kennwort",
        "mot de passe",
        "Votre mot de passe",
        "clé API",
        "contraseña",
        "CONTRASEÑA",
        "пароль",
        "Ваш пароль",
        "p\u{430}ssword",
        "pass\u{200b}word",
        "ｐａｓｓｗｏｒｄ",
        "раssword",
        "Password for the file server",
        "Password (max length 64)",
        "password: at most 20 words",
        "Name and password",
        "token_secret",
        "password2",
    ];
    for name in names {
        assert_eq!(named(name), Some(Strength::Strong), "{name}");
        assert_eq!(
            strength_of("x", json!({ "type": "string", "title": name })),
            Some(Strength::Strong),
            "title {name}"
        );
    }
}

/// R-FORM-07: ordinary questions that only sound like it are let through.
#[test]
fn a_field_about_something_else_is_no_secret() {
    let names = [
        "max_tokens",
        "token_count",
        "tokenizer",
        "primary_key",
        "key_generator",
        "sort_key",
        "keyboard_layout",
        "keyword",
        "monkey",
        "public_key",
        "ssh_key_name",
        "key_vault_name",
        "password_policy",
        "password_min_length",
        "password_reset_url",
        "author",
        "authorization_type",
        "private_repo",
        "pin_to_top",
        "spinning",
        "pinned",
        "secret_name",
        "secret_santa_budget",
        "session_name",
        "api_key_id",
        "pan_and_zoom",
        "card_title",
        "code_review",
        "zip_code",
        "country_code",
        "credential_type",
        "username",
        "user_name",
        "email",
        "name",
        "Full name",
        "company",
        "maxTokens",
        "tokenLimit",
        "passwordLength",
        "PasswordStrength",
        "foreign_key",
        "partitionKey",
        "secretary",
        "passport_number",
        "compassion",
        "description",
        "notes",
        "密码长度",
        "密钥名称",
        "Passwortlänge",
        "keynote",
        "turkey",
        "panel",
        "pant_size",
        "opinion",
        "shipping",
        "key_binding",
        "secretsManager",
        "",
    ];
    for name in names {
        assert_eq!(named(name), None, "{name}");
    }
}

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
    ] {
        assert_eq!(named(name), Some(Strength::Weak), "{name}");
    }
    let described = json!({ "type": "string", "description": "Paste your API key here." });
    assert_eq!(strength_of("value", described), Some(Strength::Weak));
    let harmless = json!({ "type": "string", "description": "How many tokens at most? A key fact." });
    assert_eq!(strength_of("value", harmless), None);
}

/// R-FORM-07: the schema's own words count.
#[test]
fn a_schema_that_says_secret_is_believed() {
    assert_eq!(strength_of("a", json!({ "type": "string", "format": "password" })), Some(Strength::Strong));
    assert_eq!(strength_of("a", json!({ "type": "string", "writeOnly": true })), Some(Strength::Strong));
    assert_eq!(strength_of("a", json!({ "type": "string", "writeOnly": false })), None);
}

/// R-FORM-07: booleans and choices cannot hold a secret, and numbers only some.
#[test]
fn the_kind_of_field_counts() {
    for name in ["otp_enabled", "password", "use_api_key"] {
        assert_eq!(strength_of(name, json!({ "type": "boolean" })), None, "{name}");
        assert_eq!(strength_of(name, json!({ "type": "string", "enum": ["a"] })), None, "{name}");
        let list = json!({ "type": "array", "items": { "type": "string", "enum": ["a"] } });
        assert_eq!(strength_of(name, list), None, "{name}");
    }
    for name in ["pin", "otp", "cvv", "card_number", "verification code"] {
        assert_eq!(strength_of(name, json!({ "type": "integer" })), Some(Strength::Strong), "{name}");
    }
    for name in ["password", "api_key", "token", "secret"] {
        assert_eq!(strength_of(name, json!({ "type": "number" })), None, "{name}");
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
        assert_eq!(strength_of("PIN code", schema.clone()), Some(Strength::Strong), "{schema}");
        assert_eq!(strength_of("pincode", schema.clone()), Some(Strength::Strong), "{schema}");
    }
    for schema in [
        json!({ "type": "string" }),
        json!({ "type": "string", "maxLength": 20 }),
        json!({ "type": "string", "pattern": "^[A-Z]{4}$" }),
    ] {
        assert_eq!(strength_of("PIN code", schema.clone()), None, "{schema}");
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
    assert!(
        scan_with_message(
            &Form::parse(r#"{"type":"object","properties":{"a":{"type":"string"}}}"#).unwrap(),
            "Which city?"
        )
        .is_empty()
    );
}

/// R-FORM-07: what looks like a secret is stopped on the way out.
#[test]
fn an_answer_that_looks_like_a_secret_is_named() {
    let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl";
    let table = [
        ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", KnownSecret::GitHubToken),
        ("gho_abcdefghijklmnopqrstuvwxyz0123456789", KnownSecret::GitHubToken),
        ("github_pat_11ABCDEFG0123456789_abcdefghijkl", KnownSecret::GitHubToken),
        ("my token is ghp_abcdefghijklmnopqrstuvwxyz0123456789, thanks", KnownSecret::GitHubToken),
        ("sk-proj-abcdefghijklmnop", KnownSecret::SecretKey),
        ("API_KEY=sk-abcdefghijklmnopqrst", KnownSecret::SecretKey),
        ("xoxb-1234567890-abcdef", KnownSecret::SlackToken),
        ("xoxp-1234567890-abcdef", KnownSecret::SlackToken),
        ("AKIAIOSFODNN7EXAMPLE", KnownSecret::AwsAccessKey),
        ("AIzaSyA-abcdefghijklmnopqrstuvwxyz012345", KnownSecret::GoogleApiKey),
        (jwt, KnownSecret::JsonWebToken),
        ("Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", KnownSecret::JsonWebToken),
        ("-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==", KnownSecret::Pem),
        ("4111 1111 1111 1111", KnownSecret::CardNumber),
        ("5500-0000-0000-0004", KnownSecret::CardNumber),
        ("378282246310005", KnownSecret::CardNumber),
    ];
    for (text, secret) in table {
        assert_eq!(in_value(text), Some(secret), "{text}");
        assert!(!secret.as_str().is_empty());
    }
    for text in [
        "",
        "hello",
        "sk-8 skateboard",
        "ghp_short",
        "AKIA",
        "AKIAlowercaseexampl1",
        "4111 1111 1111 1112",
        "0000 0000 0000 0000",
        "12345",
        "a.b.c",
        "eyJ.x.y",
        "https://example.com/a.b.c",
        "555-0100",
        "2026-11-30",
        "task-1234567890123456",
        "AIzaShort",
    ] {
        assert_eq!(in_value(text), None, "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_scanned_without_a_panic(text in any::<String>(), message in any::<String>()) {
        let form = json!({ "type": "object", "properties": { &text: { "type": "string", "title": text, "description": message } } });
        let form = Form::parse(&form.to_string()).unwrap();
        let _ = (scan(&form), scan_with_message(&form, &message), in_value(&text));
    }

    /// Whatever stands around it in sentences of its own.
    #[test]
    fn a_password_is_found_in_any_company(before in "[A-Za-z ]{0,20}", after in "[A-Za-z ]{0,20}") {
        prop_assert_eq!(best(&format!("{before}, password: {after}")).map(|found| found.strength), Some(Strength::Strong));
    }
}
