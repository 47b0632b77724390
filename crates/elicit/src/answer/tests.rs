use proptest::prelude::*;

use super::*;

fn read(raw: &str) -> Answer {
    Answer::parse(raw).unwrap()
}

/// R-ACT-03, R-ACT-02: all three are handled, and content counts on accept alone.
#[test]
fn each_action_is_read_with_what_belongs_to_it() {
    let table = [
        (r#"{"action":"accept"}"#, r#"{"action":"accept","content":{}}"#),
        (
            r#"{"content":{"n":9007199254740993,"a":"\u00e9", "d":0.10},"action":"accept"}"#,
            r#"{"action":"accept","content":{"n":9007199254740993,"a":"é","d":0.10}}"#,
        ),
        (r#"{"action":"accept","content":{}}"#, r#"{"action":"accept","content":{}}"#),
        (r#"{"action":"accept","content":null}"#, r#"{"action":"accept","content":{}}"#),
        (r#"{"action":"decline"}"#, r#"{"action":"decline"}"#),
        (r#"{"action":"decline","content":{"a":1}}"#, r#"{"action":"decline"}"#),
        (r#"{"action":"cancel","content":"no object"}"#, r#"{"action":"cancel"}"#),
        (r#"{"action":"cancel","content":null,"_meta":{"x":1}}"#, r#"{"action":"cancel"}"#),
        (r#"{"\u0061ction":"\u0061ccept"}"#, r#"{"action":"accept","content":{}}"#),
    ];
    for (raw, written) in table {
        assert_eq!(read(raw).to_json(), written, "{raw}");
    }
}

/// R-ACT-03: unknown actions, and content of another shape, are refused.
#[test]
fn what_is_no_answer_is_refused() {
    let table = [
        (r#"{"action":"ok"}"#, WireError::UnknownAction),
        (r#"{"action":"Accept"}"#, WireError::UnknownAction),
        (r#"{"action":""}"#, WireError::UnknownAction),
        (r#"{"action":true}"#, WireError::WrongType("action")),
        (r#"{"action":null}"#, WireError::WrongType("action")),
        (r#"{"content":{}}"#, WireError::Missing("action")),
        ("{}", WireError::Missing("action")),
        (r#"{"action":"accept","content":[]}"#, WireError::WrongType("content")),
        (r#"{"action":"accept","content":"a"}"#, WireError::WrongType("content")),
        (r#"{"action":"accept","content":7}"#, WireError::WrongType("content")),
        (r#"{"action":"accept","content":{"a":1,"\u0061":2}}"#, WireError::DuplicateKey),
        (r#"{"action":"accept","content":{"\ud800":1}}"#, WireError::KeyNotText),
        (r#"{"action":"decline","action":"accept"}"#, WireError::DuplicateKey),
        ("null", WireError::NotObject),
        ("", WireError::NotJson),
    ];
    for (raw, error) in table {
        assert_eq!(Answer::parse(raw).unwrap_err(), error, "{raw}");
    }
}

/// R-FORM-11: each value is what its text says, and no other.
#[test]
fn each_value_is_read_as_what_it_is() {
    let content = Content::parse(
        r#"{"t":"a\nb","n":-1.50,"b":false,"l":["x","y"],"e":[],"null":null,"big":1e999,"half":"\udc00","mixed":["x",1],"o":{"a":[1]}}"#,
    )
    .unwrap();
    assert_eq!(content.get("t"), Some(&"a\nb".into()));
    assert_eq!(content.get("n"), Some(&Value::Number(Number::parse("-1.50").unwrap())));
    assert_eq!(content.get("b"), Some(&false.into()));
    assert_eq!(content.get("l"), Some(&["x", "y"].into()));
    assert_eq!(content.get("e"), Some(&Value::List(Vec::new())));
    for (name, json_type, raw) in [
        ("null", JsonType::Null, "null"),
        ("big", JsonType::Number, "1e999"),
        ("half", JsonType::String, r#""\udc00""#),
        ("mixed", JsonType::Array, r#"["x",1]"#),
        ("o", JsonType::Object, r#"{"a":[1]}"#),
    ] {
        let Some(Value::Other(other)) = content.get(name) else { panic!("{name}") };
        assert_eq!((other.as_str(), content.get(name).unwrap().json_type()), (raw, json_type));
    }
    assert_eq!(content.len(), 10);
}

#[test]
fn content_is_built_in_order_and_changed_in_place() {
    let mut content = Content::new().with("b", 1).with("a", "x").with("b", true);
    content.insert("c", ["p", "\"q\""]);
    assert_eq!(content.to_json(), r#"{"b":true,"a":"x","c":["p","\"q\""]}"#);
    assert_eq!(content.remove("a"), Some("x".into()));
    assert_eq!(content.remove("a"), None);
    assert_eq!(content.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["b", "c"]);
    assert!(!content.is_empty() && Content::new().is_empty());
}

#[test]
fn large_content_finds_its_members() {
    let mut content: Content = (0..2_000).map(|n| (format!("p{n}"), n)).collect();
    content.insert("p7", "seven");
    assert_eq!(content.remove("p3"), Some(3.into()));
    assert_eq!(
        (content.get("p7"), content.get("p3"), content.get("p1999")),
        (Some(&"seven".into()), None, Some(&1999.into()))
    );
    assert_eq!(content.len(), 1_999);
    assert_eq!(content, Content::parse(&content.to_json()).unwrap());
    assert_eq!(content.into_iter().next(), Some(("p0".to_owned(), 0.into())));
}

#[test]
fn a_value_is_asked_for_what_it_is() {
    let values: Vec<Value> = vec!["a".into(), 7.into(), true.into(), vec!["x"].into()];
    assert_eq!(values.iter().map(Value::to_json).collect::<Vec<_>>(), [r#""a""#, "7", "true", r#"["x"]"#]);
    assert_eq!(values[0].as_text(), Some("a"));
    assert_eq!(values[1].as_number(), Some(&7.into()));
    assert_eq!(values[2].as_boolean(), Some(true));
    assert_eq!(values[3].as_list(), Some(&["x".to_owned()][..]));
    assert!(values[1].as_text().is_none() && values[0].as_number().is_none());
    assert!(values[0].as_boolean().is_none() && values[0].as_list().is_none());
}

/// R-ACT-02, R-URL-10: consent to open a page has no content.
#[test]
fn consent_carries_no_content() {
    assert_eq!(read(r#"{"action":"accept","content":{"a":1}}"#).consent().to_json(), r#"{"action":"accept"}"#);
    assert_eq!(Consent::Decline.to_json(), r#"{"action":"decline"}"#);
    assert_eq!(read(r#"{"action":"cancel"}"#).consent(), Consent::Cancel);
}

/// R-ACT-02: what was not accepted cannot be taken for an answer.
#[test]
fn only_an_accepted_answer_holds_anything() {
    assert_eq!(read(r#"{"action":"decline","content":{"a":1}}"#).accepted(), None);
    assert_eq!(Answer::Accept(2).map(|n| n + 1), Answer::Accept(3));
    assert_eq!(Answer::<u8>::Cancel.try_map(|_| Err::<(), _>("unread")), Ok(Answer::Cancel));
    assert_eq!(Answer::Accept(2).try_map(|_| Err::<(), _>("read")), Err("read"));
}

/// R-SEC-03
#[test]
fn no_answer_shows_in_debug() {
    let answer = read(r#"{"action":"accept","content":{"a":"private","n":42,"o":{"p":"private"}}}"#);
    assert_eq!(format!("{answer:?}"), r#"Accept(Content["a", "n", "o"])"#);
    let Answer::Accept(content) = answer else { panic!() };
    let values: Vec<_> = content.iter().map(|(_, value)| format!("{value:?}")).collect();
    assert_eq!(values, ["Value(string)", "Value(number)", "Value(object)"]);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_without_a_panic(raw in any::<String>()) {
        let _ = Answer::parse(&raw);
    }

    /// R-FORM-10, R-FORM-11: what was written reads back as the same, in the same order.
    #[test]
    fn what_is_written_reads_back(members in prop::collection::vec((any::<String>(), values()), 0..8)) {
        let content = members.into_iter().fold(Content::new(), |content, (name, value)| content.with(name, value));
        let answer = Answer::Accept(content);
        prop_assert_eq!(Answer::parse(&answer.to_json()).unwrap(), answer);
    }
}

fn values() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<String>().prop_map(Value::from),
        any::<i128>().prop_map(Value::from),
        "-?[1-9][0-9]{0,30}\\.[0-9]{1,30}e-?[0-9]{1,2}".prop_map(|text| Value::Number(Number::parse(&text).unwrap())),
        any::<bool>().prop_map(Value::from),
        prop::collection::vec(any::<String>(), 0..4).prop_map(Value::from),
    ]
}
