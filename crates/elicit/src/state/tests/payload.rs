use std::collections::{BTreeMap, HashMap};

use super::*;

fn seal<T: serde::Serialize + ?Sized>(value: &T) -> Result<String, SealError> {
    keys().seal_json(&binding(), value, LATER, &SystemRandom)
}

#[test]
fn a_value_comes_back() {
    let value = BTreeMap::from([("round".to_owned(), vec![1_u64, u64::MAX]), ("é".to_owned(), vec![])]);
    let sealed = seal(&value).unwrap();
    assert_eq!(keys().open_json::<BTreeMap<String, Vec<u64>>>(&sealed, &binding(), NOW).unwrap(), value);
    assert_eq!(*keys().open(&sealed, &binding(), NOW).unwrap(), serde_json::to_vec(&value).unwrap());
}

/// R-MRTR-02: bound and limited like any other state.
#[test]
fn a_value_is_bound_like_bytes() {
    let other = Binding { upstream: "other".to_owned(), ..binding() };
    let sealed = seal("value").unwrap();
    assert_eq!(keys().open_json::<String>(&sealed, &other, NOW), Err(Rejected::Upstream));
    assert_eq!(keys().open_json::<String>(&sealed, &binding(), LATER), Err(Rejected::Expired));
}

#[test]
fn another_type_is_another_payload() {
    let sealed = seal("text").unwrap();
    assert_eq!(keys().open_json::<u64>(&sealed, &binding(), NOW), Err(Rejected::Payload));
    let bytes = keys().seal(&binding(), b"no JSON", LATER, &SystemRandom).unwrap();
    assert_eq!(keys().open_json::<String>(&bytes, &binding(), NOW), Err(Rejected::Payload));
}

#[test]
fn a_value_ends_exactly_at_the_cap() {
    // Two quotes.
    let longest = "x".repeat(StateKeys::MAX_PAYLOAD_BYTES - 2);
    let sealed = seal(&longest).unwrap();
    assert_eq!(sealed.len(), MAX_SEALED_BYTES);
    assert_eq!(keys().open_json::<String>(&sealed, &binding(), NOW).unwrap(), longest);
    assert_eq!(seal(&(longest + "x")), Err(SealError::TooLarge));
}

#[test]
fn a_value_without_json_is_an_error() {
    assert_eq!(seal(&HashMap::from([(vec![1], 1)])), Err(SealError::Payload));
}
