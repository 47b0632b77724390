use proptest::prelude::*;

use super::*;

fn number(text: &str) -> Number {
    Number::parse(text).unwrap()
}

/// R-FORM-11: the text stays, also where a double could not hold it.
#[test]
fn a_number_keeps_its_text() {
    for text in ["0", "-0", "9007199254740993", "0.10", "1E+2", "-1.5e-7", "123456789012345678901234567890.5", "1e-999"]
    {
        assert_eq!(number(text).as_str(), text);
        assert_eq!(number(text).to_string(), text);
    }
}

/// R-FORM-11
#[test]
fn what_is_no_number_is_refused() {
    for text in [
        "", "-", "+1", ".5", "1.", "01", "-01", "00", "1e", "1e+", "1.e3", "0x1", "1_000", "1,5", " 1", "1 ", "NaN",
        "Infinity", "\"42\"", "42xyz", "١", "1e1.5", "--1",
    ] {
        assert_eq!(Number::parse(text), Err(NumberError::Syntax), "{text:?}");
    }
    for text in ["1e999", "-1e999", "1e309", "1.8e308", "-1.8e308", "1e99999999999999999999", "0.1e310"] {
        assert_eq!(Number::parse(text), Err(NumberError::TooLarge), "{text:?}");
    }
    for text in
        ["1e308", "1.7976931348623157e308", "-1.7e308", "0e999", "0.0e99999999999999999999", "1e-99999999999999999999"]
    {
        assert!(number(text).to_f64().is_finite(), "{text:?}");
    }
    let digits = "9".repeat(400);
    assert_eq!(Number::parse(&digits), Err(NumberError::TooLarge));
}

/// R-FORM-11: 5.0 is an integer.
#[test]
fn a_value_without_fraction_is_an_integer() {
    let table = [
        ("5", Some("5")),
        ("5.0", Some("5")),
        ("-5.000", Some("-5")),
        ("5e3", Some("5000")),
        ("1.25e2", Some("125")),
        ("500e-2", Some("5")),
        ("0", Some("0")),
        ("-0", Some("0")),
        ("0.000", Some("0")),
        ("0e5", Some("0")),
        ("10", Some("10")),
        ("100.0", Some("100")),
        ("9007199254740993.0", Some("9007199254740993")),
        ("123456789012345678901234567890", Some("123456789012345678901234567890")),
        ("1234567890123456789.5", None),
        ("2.5", None),
        ("1e-1", None),
        ("1.25e1", None),
        ("1e-99999999999999999999", None),
    ];
    for (text, plain) in table {
        assert_eq!(number(text).integer_text().as_deref(), plain, "{text}");
        assert_eq!(number(text).is_integer(), plain.is_some(), "{text}");
    }
    assert_eq!(number("1e308").integer_text().unwrap().len(), 309);
    assert_eq!(number("-9223372036854775808.0").to_i64(), Some(i64::MIN));
    assert_eq!(number("9223372036854775808").to_i64(), None);
    assert_eq!(number("18446744073709551615").to_u64(), Some(u64::MAX));
    assert_eq!(number("-1").to_u64(), None);
}

/// R-FORM-11: bounds are compared exactly.
#[test]
fn values_are_compared_without_rounding() {
    let ordered = [
        "-1.7e308",
        "-9007199254740993",
        "-9007199254740992",
        "-10",
        "-1.5",
        "-1e-300",
        "0",
        "1e-9223372036854775807",
        "1e-2147483649",
        "1e-2147483648",
        "1e-2147483647",
        "1e-400",
        "1e-300",
        "0.1",
        "0.10000000000000000001",
        "1",
        "1.0000000000000000000001",
        "9.99",
        "10",
        "12",
        "9007199254740992",
        "9007199254740993",
        "123456789012345678901",
        "123456789012345678902",
        "1e308",
        "1.7e308",
    ];
    for (index, left) in ordered.iter().enumerate() {
        for (other, right) in ordered.iter().enumerate() {
            assert_eq!(number(left).compare(&number(right)), index.cmp(&other), "{left} and {right}");
        }
    }
    for (left, right) in
        [("1", "1.0"), ("100", "1e2"), ("0", "-0.0e7"), ("1230", "123e1"), ("0.5", "5e-1"), ("1e30", "10e29")]
    {
        assert_eq!(number(left).compare(&number(right)), Ordering::Equal, "{left} and {right}");
    }
}

#[test]
fn numbers_of_rust_become_numbers() {
    assert_eq!(Number::from(u128::MAX).as_str(), u128::MAX.to_string());
    assert_eq!(Number::from(-7_i8).as_str(), "-7");
    assert_eq!(Number::try_from(0.1).unwrap().as_str(), "0.1");
    assert_eq!(Number::try_from(1e300).unwrap().to_f64().to_bits(), 1e300_f64.to_bits());
    assert_eq!(Number::try_from(f64::NAN), Err(NumberError::NotFinite));
    assert_eq!(Number::try_from(f64::INFINITY), Err(NumberError::NotFinite));
}

fn texts() -> impl Strategy<Value = String> {
    "-?(0|[1-9][0-9]{0,24})(\\.[0-9]{1,24})?([eE][+-]?[0-9]{1,3}|[eE]-21474836[0-9]{2})?"
}

proptest! {
    /// Against `serde_json` as the oracle of what a number is.
    #[test]
    fn any_text_is_a_number_when_json_says_so(text in prop_oneof![any::<String>(), texts(), "[-+0-9.eE]{0,8}"]) {
        let json = serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok_and(|value| value.get() == text)
            && text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
        match Number::parse(&text) {
            Ok(number) => prop_assert!(json && number.to_f64().is_finite()),
            Err(NumberError::Syntax) => prop_assert!(!json),
            Err(_) => prop_assert!(json && text.parse::<f64>().unwrap().is_infinite()),
        }
    }

    /// The short form and the digits order alike; doubles agree wherever they can tell the two apart.
    #[test]
    fn both_ways_to_compare_agree(left in texts(), right in texts()) {
        if let (Ok(left), Ok(right)) = (Number::parse(&left), Number::parse(&right)) {
            let order = left.compare(&right);
            prop_assert_eq!(order, left.parts().compare(&right.parts()));
            prop_assert_eq!(order.reverse(), right.compare(&left));
            let doubles = left.to_f64().partial_cmp(&right.to_f64()).unwrap();
            prop_assert!(doubles == Ordering::Equal || doubles == order);
        }
    }
}
