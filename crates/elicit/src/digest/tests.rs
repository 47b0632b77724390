use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;

mod cost;
mod model;
mod paths;

fn of(raw: &str) -> Digest {
    Digest::of_json(raw).unwrap()
}

#[test]
fn white_space_and_the_order_of_keys_do_not_matter() {
    assert_eq!(
        of(r#"{"a":1,"b":{"c":[1,2],"d":null}}"#),
        of(" {\n\t\"b\" : { \"d\" :null, \"c\": [ 1 ,\r\n2 ] } , \"a\" : 1 } ")
    );
}

/// R-MRTR-02, R-FORM-11: numbers count by their text.
#[test]
fn numbers_differ_by_their_exact_text() {
    let numbers = [
        "9007199254740992",
        "9007199254740993",
        "1",
        "1.0",
        "1.00",
        "1e0",
        "1E0",
        "-0",
        "0",
        "1e999",
        "1e998",
        "123456789012345678901234567890.123456789012345678901234567890",
        "123456789012345678901234567890.123456789012345678901234567891",
    ];
    for (index, left) in numbers.iter().enumerate() {
        for right in &numbers[index + 1..] {
            assert_ne!(of(left), of(right), "{left} {right}");
        }
    }
}

#[test]
fn a_string_counts_by_what_it_means() {
    assert_eq!(of(r#""\u0041\/é\t""#), of(r#""A/\u00E9\u0009""#));
    assert_eq!(of(r#""\ud83d\ude00""#), of("\"😀\""));
    assert_eq!(of(r#"{"\u0061":1}"#), of(r#"{"a":1}"#));
    // No Unicode normal form is applied: these are two strings.
    assert_ne!(of("\"\u{e9}\""), of("\"e\u{301}\""));
    assert_ne!(of(r#""\ud800""#), of(r#""\ud801""#));
}

#[test]
fn values_of_different_shape_differ() {
    let values = [
        "null",
        "true",
        "false",
        "\"true\"",
        "1",
        "\"1\"",
        "\"\"",
        "[]",
        "{}",
        "[[]]",
        "[[],[]]",
        "[[[]]]",
        "[1,2]",
        "[2,1]",
        "[12]",
        "[\"a\",\"b\"]",
        "[\"ab\"]",
        "[\"a,b\"]",
        r#"{"a":1}"#,
        r#"{"a":"1"}"#,
        r#"{"a":{}}"#,
        r#"{"a":{"b":1},"c":2}"#,
        r#"{"a":{"b":1,"c":2}}"#,
        r#"["a",1]"#,
        r#"{"a":null}"#,
    ];
    for (index, left) in values.iter().enumerate() {
        for right in &values[index + 1..] {
            assert_ne!(of(left), of(right), "{left} {right}");
        }
    }
}

#[test]
fn a_repeated_key_is_an_error_however_it_is_escaped() {
    for raw in [r#"{"a":1,"a":1}"#, r#"{"a":1,"b":2,"\u0061":3}"#, r#"[{"x":{"":1,"":2}}]"#] {
        assert_eq!(Digest::of_json(raw), Err(DigestError::DuplicateKey), "{raw}");
    }
}

#[test]
fn what_is_not_json_is_an_error() {
    for raw in ["", " ", "{", "[1,]", "{\"a\"}", "nul", "1 2", "01", "'a'", "\"\n\"", "NaN", "[}"] {
        assert_eq!(Digest::of_json(raw), Err(DigestError::NotJson), "{raw:?}");
    }
}

#[test]
fn nesting_ends_at_128() {
    let nested = |open: &str, close: &str, depth| open.repeat(depth) + "1" + &close.repeat(depth);
    for (open, close) in [("[", "]"), (r#"{"a":"#, "}")] {
        assert!(Digest::of_json(&nested(open, close, 128)).is_ok());
        for depth in [129, 100_000] {
            assert_eq!(Digest::of_json(&nested(open, close, depth)), Err(DigestError::TooDeep));
        }
    }
}

/// What no digest is made of may be as deep as it likes, and is checked all the same.
#[test]
fn other_parameters_neither_count_nor_fail() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let with =
        |meta: &str| request_digest("tools/call", Some(&format!(r#"{{"_meta":{meta},"name":"a","x":"}}\"]"}}"#)));
    assert_eq!(with(&deep), request_digest("tools/call", Some(r#"{"name":"a"}"#)));
    assert_eq!(with("[}"), Err(DigestError::NotJson));
    assert_eq!(with(r#"1,"_meta":2"#), Err(DigestError::DuplicateKey));
    assert_eq!(with(r#"1,"\u006eame":"a""#), Err(DigestError::DuplicateKey));
}

#[test]
fn a_digest_shows_as_hexadecimal_digits() {
    let digest = of("{}");
    assert_eq!(digest.to_hex().len(), 64);
    assert_eq!(digest.to_hex()[..2], format!("{:02x}", digest.as_bytes()[0]));
    assert_eq!(format!("{digest:?}"), format!("Digest({digest})"));
}

/// What replicas of different builds have to agree on: a change of these breaks states under way.
#[test]
fn digests_are_the_same_in_every_build() {
    insta::assert_snapshot!(of(r#"{"b":[1.0,true,null],"a":"é"}"#), @"90670e6ad5dce6572298dfb02137eb7466b4205ac1af2da73aa77ec6fb624dab");
    let params = r#"{"name":"book","arguments":{"seats":2}}"#;
    insta::assert_snapshot!(request_digest("tools/call", Some(params)).unwrap(), @"3eb90c77ffe7ab65eb57cb49d971f8427596d6a919a32f9df968121c8c1e859d");
}

/// R-MRTR-02: the salient parameters decide, the others do not.
#[test]
fn a_retry_has_the_digest_of_its_first_request() {
    let first = request_digest(
        "tools/call",
        Some(r#"{"name":"book","arguments":{"seats":2,"day":"x"},"_meta":{"progressToken":1}}"#),
    );
    let retry = request_digest(
        "tools/call",
        Some(
            r#"{"requestState":"s","inputResponses":{"a":{"action":"accept"}},
                "arguments":{"day":"x","seats":2},"name":"b\u006fok"}"#,
        ),
    );
    assert!(first.is_ok());
    assert_eq!(first, retry);
}

/// R-MRTR-02: another tool, other arguments, another method or URI is another request.
#[test]
fn another_request_has_another_digest() {
    let requests = [
        ("tools/call", r#"{"name":"a"}"#),
        ("tools/call", r#"{"name":"b"}"#),
        ("tools/call", r#"{"name":"a","arguments":{"x":1}}"#),
        ("tools/call", r#"{"name":"a","arguments":{"x":"1"}}"#),
        ("tools/call", r#"{"name":"a","arguments":null}"#),
        ("prompts/get", r#"{"name":"a"}"#),
        ("resources/read", r#"{"uri":"a"}"#),
        ("resources/read", r#"{"uri":"b"}"#),
    ];
    let digest = |(method, params)| request_digest(method, Some(params)).unwrap();
    for (index, left) in requests.into_iter().enumerate() {
        for right in requests[index + 1..].iter().copied() {
            assert_ne!(digest(left), digest(right), "{left:?} {right:?}");
        }
    }
}

#[test]
fn absent_arguments_are_empty_arguments() {
    for method in ["tools/call", "prompts/get"] {
        assert_eq!(
            request_digest(method, Some(r#"{"name":"a"}"#)).unwrap(),
            request_digest(method, Some(r#"{"name":"a","arguments":{ }}"#)).unwrap()
        );
    }
}

/// R-MRTR-01: only three methods have rounds; and each needs what names its target.
#[test]
fn requests_without_a_target_have_no_digest() {
    let missing = DigestError::MissingParameter;
    let table = [
        ("tools/list", Some("{}"), DigestError::Method),
        ("", None, DigestError::Method),
        ("tools/call", None, missing("name")),
        ("tools/call", Some(r#"{"uri":"a"}"#), missing("name")),
        ("prompts/get", Some("{}"), missing("name")),
        ("resources/read", Some(r#"{"name":"a"}"#), missing("uri")),
        ("tools/call", Some("[]"), DigestError::ParametersNoObject),
        ("tools/call", Some("{"), DigestError::NotJson),
        ("tools/call", Some(r#"{"name":"a","name":"b"}"#), DigestError::DuplicateKey),
    ];
    for (method, params, error) in table {
        assert_eq!(request_digest(method, params), Err(error), "{method} {params:?}");
    }
}

/// A JSON value whose text can be written in many ways.
#[derive(Clone, Debug, PartialEq)]
enum Json {
    Word(String),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

fn any_json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        "null|true|false".prop_map(Json::Word),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,5})?([eE][+-]?[0-9]{1,4})?".prop_map(Json::Word),
        any::<String>().prop_map(Json::Text),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

impl Json {
    /// The plainest text.
    fn plain(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, false);
        text
    }

    /// The same value with keys in reverse, escapes wherever they can be, and white space.
    fn odd(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, true);
        text
    }

    fn write(&self, text: &mut String, odd: bool) {
        let space = if odd { " \n\t\r" } else { "" };
        text.push_str(space);
        match self {
            Self::Word(word) => text.push_str(word),
            Self::Text(content) => write_string(text, content, odd),
            Self::Array(items) => {
                text.push('[');
                for (index, item) in items.iter().enumerate() {
                    text.push_str(if index == 0 { "" } else { "," });
                    item.write(text, odd);
                }
                text.push(']');
            }
            Self::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                if odd {
                    members.reverse();
                }
                text.push('{');
                for (index, (key, value)) in members.into_iter().enumerate() {
                    text.push_str(if index == 0 { "" } else { "," });
                    text.push_str(space);
                    write_string(text, key, odd);
                    text.push_str(space);
                    text.push(':');
                    value.write(text, odd);
                }
                text.push('}');
            }
        }
        text.push_str(space);
    }
}

fn write_string(text: &mut String, content: &str, odd: bool) {
    if odd {
        text.push('"');
        for unit in content.encode_utf16() {
            write!(text, "\\u{unit:04x}").unwrap();
        }
        text.push('"');
    } else {
        text.push_str(&json::quote(content));
    }
}

proptest! {
    #[test]
    fn one_value_has_one_digest_however_it_is_written(value in any_json()) {
        prop_assert_eq!(of(&value.plain()), of(&value.odd()));
    }

    #[test]
    fn different_values_have_different_digests(left in any_json(), right in any_json()) {
        prop_assert_eq!(of(&left.plain()) == of(&right.plain()), left == right);
    }

    /// Against a model that builds the whole tree; keys are few, so that some are repeated.
    #[test]
    fn every_text_has_the_digest_of_the_model(
        value in any_json(),
        keys in prop::collection::vec("[ab]{0,2}|\\\\u0061|\\\\ud800|\\\\\"", 0..5),
    ) {
        let members: Vec<String> = keys.iter().map(|key| format!("\"{key}\":{}", value.odd())).collect();
        let object = format!("{{{}}}", members.join(","));
        for text in [value.plain(), value.odd(), object.clone(), format!("[{object},{{\"x\":{object}}}]")] {
            prop_assert_eq!(Digest::of_json(&text), model::of_json(&text), "{}", text);
            prop_assert_eq!(paths::streamed(&text), model::of_json(&text), "{}", text);
        }
    }

    #[test]
    fn any_text_is_digested_or_refused_without_a_panic(raw in any::<String>()) {
        let valid = serde_json::from_str::<serde_json::Value>(&raw).is_ok();
        prop_assert_eq!(Digest::of_json(&raw).is_ok(), valid);
    }

    /// Texts near JSON reach further into the reader than random ones.
    #[test]
    fn texts_near_json_do_not_panic(raw in "[\\[\\]{}:,\"\\\\u0-9a-f. tn]{0,40}") {
        prop_assert_eq!(Digest::of_json(&raw), model::of_json(&raw));
        prop_assert_eq!(paths::streamed(&raw), model::of_json(&raw));
        let _ = request_digest("tools/call", Some(&raw));
        let _ = request_digest("tools/call", Some(&format!(r#"{{"name":{raw},"arguments":[{raw}]}}"#)));
    }
}
