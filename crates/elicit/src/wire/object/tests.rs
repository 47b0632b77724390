use proptest::prelude::*;

use super::*;

/// Every oddity that a decoder to floats, maps or strings would lose.
const ODD: &str =
    r#"{"z":1e999,"a":-0,"m":9007199254740993,"\u0065\/":"\u00e9\/😀","":[ 1.0 , 1.00 ],"n":{ "b" :1, "a":2}}"#;

fn parse(raw: &str) -> RawObject<'_> {
    RawObject::parse(raw).unwrap()
}

/// R-REQ-03, R-FORM-11: order, key text, number text and inner white space stay.
#[test]
fn an_object_that_nobody_edits_stays_as_it_was() {
    assert_eq!(parse(ODD).to_json(), ODD);
    assert_eq!(parse("{}").to_json(), "{}");
}

/// R-REQ-03: white space between members is all that goes.
#[test]
fn white_space_between_members_goes() {
    assert_eq!(parse("\n{ \"a\" : 1 ,\t\"b\" : [ 1 ] }\r\n").to_json(), r#"{"a":1,"b":[ 1 ]}"#);
}

/// R-REQ-03
#[test]
fn setting_keeps_the_place_and_the_text_of_the_key() {
    let mut object = parse(r#"{"a":1e999,"\u0062":2,"c":3.00}"#);
    object.set("b", "[1.0]".to_owned());
    object.set("new \"key\"", "null".to_owned());
    assert_eq!(object.to_json(), r#"{"a":1e999,"\u0062":[1.0],"c":3.00,"new \"key\"":null}"#);
}

/// R-REQ-03
#[test]
fn removing_leaves_the_others_in_order() {
    let mut object = parse(r#"{"a":1,"b":2,"c":3}"#);
    assert!(object.remove("b"));
    assert!(!object.remove("b"));
    assert_eq!(object.to_json(), r#"{"a":1,"c":3}"#);
    assert!(object.remove("a"));
    assert!(object.remove("c"));
    assert_eq!(object.to_json(), "{}");
}

#[test]
fn reading_gives_the_exact_text_of_a_value() {
    let object = parse(ODD);
    assert_eq!(object.get("z").unwrap().get(), "1e999");
    assert_eq!(object.get("e/").unwrap().get(), r#""\u00e9\/😀""#);
    assert_eq!(object.get("").unwrap().get(), "[ 1.0 , 1.00 ]");
    assert!(object.get("absent").is_none());
    // A key is what it means, not what it is written as.
    assert!(object.get(r"\u0065\/").is_none());
}

#[test]
fn a_member_that_was_set_is_there_but_was_not_read() {
    let mut object = parse(r#"{"a":1}"#);
    object.set("a", "2".to_owned());
    assert!(object.contains("a"));
    assert!(object.get("a").is_none());
    object.remove("a");
    assert!(!object.contains("a"));
}

#[test]
fn a_value_outlives_the_object_that_it_was_read_from() {
    let text = String::from(r#"{"a":[1]}"#);
    let value = parse(&text).get("a").unwrap();
    assert_eq!(value.get(), "[1]");
}

#[test]
fn a_repeated_key_is_an_error_in_small_and_large_objects() {
    let many: String = (0..100).fold(String::new(), |text, key| text + &format!("\"k{key}\":1,"));
    let error = |raw: &str| RawObject::parse(raw).unwrap_err();
    assert_eq!(error(r#"{"a":1,"a":1}"#), WireError::DuplicateKey);
    assert_eq!(error(r#"{"a":1,"\u0061":1}"#), WireError::DuplicateKey);
    assert_eq!(error(&format!("{{{many}\"k0\":1}}")), WireError::DuplicateKey);
    assert!(RawObject::parse(&format!("{{{many}\"k\":1}}")).is_ok());
    // Halves of surrogate pairs are told apart, too.
    assert!(RawObject::parse(r#"{"\ud800":1,"\ud801":1}"#).is_ok());
    assert_eq!(error(r#"{"\ud800":1,"\uD800":1}"#), WireError::DuplicateKey);
}

#[test]
fn what_is_no_object_is_told_from_what_is_not_json() {
    for raw in ["[]", "null", "7", r#""{}""#, "true"] {
        assert_eq!(RawObject::parse(raw).unwrap_err(), WireError::NotObject, "{raw}");
    }
    for raw in ["", "{", "{}}", "{\"a\":1,}", "{a:1}", "{\"a\":\"\n\"}", "{1:1}"] {
        assert_eq!(RawObject::parse(raw).unwrap_err(), WireError::NotJson, "{raw}");
    }
}

#[test]
fn no_value_shows_in_debug() {
    let shown = format!("{:?}", parse(r#"{"password":"hunter2"}"#));
    assert!(shown.contains("password") && !shown.contains("hunter2"), "{shown}");
}

proptest! {
    /// Against `serde_json` as the oracle.
    #[test]
    fn edits_do_what_a_map_does(
        members in prop::collection::btree_map("[a-e\"\\\\é\n]{0,2}", any::<i64>(), 0..20),
        edits in prop::collection::vec(("[a-e\"\\\\é\n]{0,2}", any::<Option<u8>>()), 0..8),
    ) {
        let mut oracle: serde_json::Map<_, _> = members
            .into_iter()
            .map(|(key, value)| (key, value.into()))
            .collect();
        let raw = serde_json::to_string(&oracle).unwrap();
        let mut object = parse(&raw);
        for (key, edit) in edits {
            match edit {
                Some(value) => {
                    object.set(&key, value.to_string());
                    oracle.insert(key, value.into());
                }
                None => {
                    prop_assert_eq!(object.remove(&key), oracle.shift_remove(&key).is_some());
                }
            }
        }
        prop_assert_eq!(object.to_json(), serde_json::to_string(&oracle).unwrap());
    }

    #[test]
    fn any_text_is_read_or_refused_without_a_panic(raw in any::<String>()) {
        let _ = RawObject::parse(&raw);
    }
}
