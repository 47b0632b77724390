use super::super::FormError;
use super::*;

fn faults(schema: &str) -> Vec<String> {
    let texts = |error: FormError| error.faults().iter().map(ToString::to_string).collect();
    Form::parse(schema).unwrap().strict().map_or_else(texts, |_| Vec::new())
}

/// R-FORM-01, R-FORM-03, R-FORM-07, R-FORM-08, R-SEC-02: each schema is taken on receipt, and refused where we ask.
#[test]
fn each_fault_is_named_with_its_place() {
    #[rustfmt::skip]
    let table = [
        // What is only found on receipt.
        (r#""a":{"type":"string","format":"color"}"#, vec![r#"/properties/a/format has format "color"; allowed are email, uri, date and date-time"#]),
        (r#""a":{"type":"number","multipleOf":2}"#, vec!["/properties/a/multipleOf is a keyword that forms do not have"]),
        (r#""a":{"type":"string","enum":["x"],"minLength":1}"#, vec!["/properties/a/minLength is a keyword that forms do not have"]),
        (r#""a":{"type":"string","pattern":"^[a-z]+$","default":"A"}"#, vec!["/properties/a/default is no answer to its own field: has to match the pattern ^[a-z]+$"]),
        (r#""a":{"type":"string","oneOf":[{"const":"x","title":"X"},{"const":"y"}]}"#, vec!["/properties/a/oneOf/1 lacks `title`; either all choices have one or none"]),
        (r#""a":{"type":"string","oneOf":[{"const":"x","title":"X"},{"const":"y","title":"X"}]}"#, vec![r#"/properties/a/oneOf/1/title shows "X" for two choices"#]),
        (r#""a":{"type":"string","enum":["x","y"],"enumNames":["X","X"]}"#, vec![r#"/properties/a/enumNames/1 shows "X" for two choices"#]),
        (r#""a":{"type":"array","items":{"anyOf":[{"const":"X","title":"x"},{"const":"y","title":"x"}]}}"#, vec![r#"/properties/a/items/anyOf/1/title shows "x" for two choices"#]),
        // Secrets.
        (r#""apiKey":{"type":"string"}"#, vec!["/properties/apiKey asks for a secret (api key); use url mode for it"]),
        (r#""a":{"type":"string","title":"Your password"}"#, vec!["/properties/a/title asks for a secret (password); use url mode for it"]),
        (r#""a":{"type":"string","writeOnly":true}"#, vec!["/properties/a asks for a secret (password); use url mode for it"]),
        // Links.
        (r#""a":{"type":"boolean","title":"Read https://example.com/a first"}"#, vec!["/properties/a/title holds a URL (https://example.com/a); use url mode for it"]),
        (r#""a":{"type":"boolean","description":"www.example.com"}"#, vec!["/properties/a/description holds a URL (www.example.com); use url mode for it"]),
        (r#""www.example.com":{"type":"boolean"}"#, vec!["/properties/www.example.com holds a URL (www.example.com); use url mode for it"]),
        (r#""a":{"type":"string","default":"mailto:a@example.com"}"#, vec!["/properties/a/default holds a URL (mailto:a@example.com); use url mode for it"]),
        (r#""a":{"type":"string","enum":["x","https://example.com"]}"#, vec!["/properties/a/enum/1 holds a URL (https://example.com); use url mode for it"]),
        (r#""a":{"type":"array","items":{"type":"string","enum":["https://example.com"]}}"#, vec!["/properties/a/items/enum/0 holds a URL (https://example.com); use url mode for it"]),
        (r#""a":{"type":"string","oneOf":[{"const":"x","title":"www.example.com"}]}"#, vec!["/properties/a/oneOf/0/title holds a URL (www.example.com); use url mode for it"]),
        // Nothing to read, and nothing to see.
        (r#""":{"type":"boolean"}"#, vec!["/properties/ has nothing that a person could read"]),
        (r#""a":{"type":"boolean","title":" \u2003\t"}"#, vec!["/properties/a/title has nothing that a person could read"]),
        (r#""a":{"type":"string","enum":[""]}"#, vec!["/properties/a/enum/0 has nothing that a person could read"]),
        (r#""a":{"type":"string","oneOf":[{"const":"x","title":""}]}"#, vec!["/properties/a/oneOf/0/title has nothing that a person could read"]),
        (r#""a\u200bb":{"type":"boolean","title":"A"}"#, vec!["/properties/a‹U+200B›b holds characters that cannot be seen"]),
        (r#""a":{"type":"boolean","title":"A\u202eB"}"#, vec!["/properties/a/title holds characters that cannot be seen"]),
        (r#""a":{"type":"boolean","description":"\u001b[2J"}"#, vec!["/properties/a/description holds characters that cannot be seen"]),
        (r#""a":{"type":"string","default":"x\u0000"}"#, vec!["/properties/a/default holds characters that cannot be seen"]),
        (r#""a":{"type":"string","format":"uri","default":"https://example.com/\u200b"}"#, vec!["/properties/a/default is no answer to its own field: has to be a complete address such as https://example.com/page", "/properties/a/default holds characters that cannot be seen"]),
        (r#""a":{"type":"string","enum":["x\u00ad"]}"#, vec!["/properties/a/enum/0 holds characters that cannot be seen"]),
        (r#""a":{"type":"boolean","title":"\u0301a"}"#, vec!["/properties/a/title holds characters that cannot be seen"]),
    ];
    for (property, expected) in table {
        assert_eq!(faults(&format!(r#"{{"type":"object","properties":{{{property}}}}}"#)), expected, "{property}");
    }
}

/// R-FORM-01: what cannot be checked in linear time cannot be asked for.
#[test]
fn an_unchecked_pattern_is_refused() {
    let found = faults(r#"{"type":"object","properties":{"a":{"type":"string","pattern":"(?=a)b"}}}"#);
    assert!(matches!(&*found, [fault] if fault.starts_with("/properties/a/pattern cannot be checked")), "{found:?}");
}

/// R-FORM-07, R-FORM-08: what looks similar, and is allowed.
#[test]
fn harmless_fields_are_allowed() {
    let schema = r#"{"type":"object","properties":{
        "email":{"type":"string","format":"email","default":"user@example.com"},
        "user_name":{"type":"string","title":"Prix\u00a0: ‹a›, e.g. 3.5 and/or Node.js"},
        "site":{"type":"string","format":"uri","default":"https://example.com"},
        "max_tokens":{"type":"integer"},
        "token":{"type":"string"},
        "www.example.com":{"type":"boolean","title":"The example"},
        "repository":{"type":"string","oneOf":[{"const":"https://example.com/a","title":"A"}]},
        "site pattern":{"type":"string","pattern":"^https://example\\.com/"},
        "password_policy":{"type":"string","enum":["strict","lax"],"description":"First line\r\n\tsecond line"}
    },"$id":"https://example.com/schema"}"#;
    assert_eq!(faults(schema), Vec::<String>::new());
}

/// R-FORM-08: the form's own words are shown, too.
#[test]
fn the_title_of_the_form_is_looked_at() {
    let found = faults(r#"{"title":"a\u200b","description":"See www.example.com","type":"object","properties":{}}"#);
    assert_eq!(
        found,
        [
            "/title holds characters that cannot be seen",
            "/description holds a URL (www.example.com); use url mode for it"
        ]
    );
}

#[test]
fn faults_come_in_the_order_of_the_fields() {
    let found = faults(
        r#"{"type":"object","minProperties":1,"properties":{
            "a/b~":{"type":"string","title":""},
            "password":{"type":"string","format":"color"},
            "c":{"type":"string","format":"color","description":"www.example.com"}
        }}"#,
    );
    let places: Vec<_> = found.iter().map(|fault| fault.split(' ').next().unwrap()).collect();
    assert_eq!(
        places,
        [
            "/minProperties",
            "/properties/a~1b~0/title",
            "/properties/password/format",
            "/properties/password",
            "/properties/c/format",
            "/properties/c/description",
        ]
    );
}
