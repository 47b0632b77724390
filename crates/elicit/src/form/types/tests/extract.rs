//! Whatever fits the form of a type can be read as the type.

use std::collections::BTreeSet;

use chrono::{DateTime, NaiveDate, Utc};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};
use url::Url;

use super::*;
use crate::{Answer, Content, Number, Value};

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
struct Everything {
    text: String,
    some_text: Option<String>,
    letter: char,
    yes: bool,
    some_yes: Option<bool>,
    byte: u8,
    short: Option<i16>,
    unsigned: u64,
    signed: i64,
    huge: i128,
    double: f64,
    some_single: Option<f32>,
    plain: Plain,
    some_plain: Option<Plain>,
    titled: Titled,
    some_titled: Option<Titled>,
    list: Vec<Plain>,
    some_set: Option<BTreeSet<Titled>>,
    pair: [Plain; 2],
    day: NaiveDate,
    some_moment: Option<DateTime<Utc>>,
    page: Url,
    #[serde(flatten)]
    more: More,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "kebab-case")]
struct More {
    newtype_text: Newtype,
    #[serde(default = "seven", skip_serializing_if = "is_seven")]
    default_number: u8,
}

fn seven() -> u8 {
    7
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_seven(number: &u8) -> bool {
    *number == 7
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
struct Newtype(#[schemars(length(max = 8))] String);

#[derive(JsonSchema, Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
enum Plain {
    A,
    #[serde(rename = "b")]
    B,
}

#[derive(JsonSchema, Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Titled {
    /// The first
    A,
    #[schemars(title = "Second")]
    B,
    C,
}

fn plain() -> impl Strategy<Value = Plain> + Clone {
    prop_oneof![Just(Plain::A), Just(Plain::B)]
}

fn titled() -> impl Strategy<Value = Titled> + Clone {
    prop_oneof![Just(Titled::A), Just(Titled::B), Just(Titled::C)]
}

fn more() -> impl Strategy<Value = More> {
    ("[a-zü]{0,8}", any::<u8>()).prop_map(|(text, default_number)| More { newtype_text: Newtype(text), default_number })
}

prop_compose! {
    fn everything()(
        (text, some_text, letter, yes, some_yes) in any::<(String, Option<String>, char, bool, Option<bool>)>(),
        (byte, short, unsigned, signed, huge) in any::<(u8, Option<i16>, u64, i64, i128)>(),
        (double, some_single) in (prop::num::f64::NORMAL | prop::num::f64::ZERO, prop::option::of(prop::num::f32::NORMAL)),
        (plain, some_plain, pair, list) in
            (plain(), prop::option::of(plain()), [plain(), plain()], prop::collection::vec(plain(), 0..4)),
        (titled, some_titled, some_set) in
            (titled(), prop::option::of(titled()), prop::option::of(prop::collection::btree_set(titled(), 0..4))),
        (days, seconds) in (0..3_000_000, prop::option::of(0_i64..250_000_000_000)),
        page in "https://[a-z]{1,9}\\.example/[a-z0-9]{0,9}",
        more in more(),
    ) -> Everything {
        Everything {
            text, some_text, letter, yes, some_yes, byte, short, unsigned, signed, huge, double, some_single,
            plain, some_plain, titled, some_titled, list, some_set, pair, more,
            day: NaiveDate::from_num_days_from_ce_opt(days + 1).unwrap(),
            some_moment: seconds.map(|seconds| DateTime::from_timestamp(seconds, 0).unwrap()),
            page: Url::parse(&page).unwrap(),
        }
    }
}

/// What was not answered is not there; `serde_json` writes it as null.
fn answered(value: &impl Serialize) -> Content {
    let content = Content::parse(&serde_json::to_string(value).unwrap()).unwrap();
    let given = content.iter().filter(|(_, value)| !matches!(value, Value::Other(null) if null.as_str() == "null"));
    given.fold(Content::new(), |content, (name, value)| content.with(name, value.clone()))
}

proptest! {
    /// R-FORM-01, R-FORM-06, R-FORM-11
    #[test]
    fn each_value_of_a_type_fits_its_form_and_comes_back_the_same(value in everything()) {
        let form = Form::from_type::<Everything>().unwrap();
        let answer = Answer::Accept(answered(&value));
        let checked = form.check(&answer).map_err(|faults| TestCaseError::fail(faults.to_string()))?;
        let read = checked.into::<Everything>().unwrap();
        prop_assert_eq!(read, Answer::Accept(value));
    }
}

#[derive(JsonSchema, Deserialize, Default, Debug, PartialEq)]
#[serde(default)]
struct Numbers {
    u8: u8,
    i8: i8,
    u16: u16,
    i16: i16,
    u32: u32,
    i32: i32,
    u64: u64,
    i64: i64,
    u128: u128,
    i128: i128,
    f32: f32,
    f64: f64,
}

/// The names of the fields of [`Numbers`].
const NAMES: [&str; 12] = ["u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "u128", "i128", "f32", "f64"];

fn number_text() -> impl Strategy<Value = String> {
    let sign = prop_oneof![Just(""), Just("-")];
    let whole = prop_oneof![
        "[1-9][0-9]{0,3}",
        "[1-9][0-9]{17,20}",
        "[1-9][0-9]{36,40}",
        prop::sample::select(vec!["0", "128", "255", "256", "32768", "65536", "2147483648", "4294967296"])
            .prop_map(str::to_owned),
        prop::sample::select(vec!["9223372036854775807", "9223372036854775808", "18446744073709551615"])
            .prop_map(str::to_owned),
        prop::sample::select(vec!["18446744073709551616", "340282366920938463463374607431768211455"])
            .prop_map(str::to_owned),
    ];
    let fraction = prop_oneof![3 => Just(String::new()), 1 => "\\.0{1,3}", 1 => "\\.[0-9]{1,9}"];
    let exponent = prop_oneof![4 => Just(String::new()), 1 => "[eE][+-]?[0-9]{1,3}"];
    (sign, whole, fraction, exponent)
        .prop_map(|(sign, whole, fraction, exponent)| format!("{sign}{whole}{fraction}{exponent}"))
}

proptest! {
    /// R-FORM-11: no number that fits the form is refused, or becomes infinite, in the type.
    #[test]
    fn each_number_that_fits_the_form_fits_the_type(text in number_text(), name in prop::sample::select(&NAMES[..])) {
        let form = Form::from_type::<Numbers>().unwrap();
        let Ok(number) = Number::parse(&text) else { return Ok(()) };
        let content = Content::new().with(name, number);
        if let Ok(checked) = form.check_content(&content) {
            let numbers = checked.into::<Numbers>().map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
            prop_assert!(numbers.f32.is_finite() && numbers.f64.is_finite(), "{}", text);
        }
    }
}

/// R-FORM-11
#[test]
fn numbers_come_as_they_are() {
    let form = Form::from_type::<Numbers>().unwrap();
    let read = |name: &str, text: &str| {
        let content = Content::new().with(name, Number::parse(text).unwrap());
        form.check_content(&content).map(|checked| checked.into::<Numbers>().unwrap())
    };
    assert_eq!(read("u8", "5.0").unwrap().u8, 5);
    assert_eq!(read("u8", "2.55e2").unwrap().u8, 255);
    assert_eq!(read("i64", "9007199254740993").unwrap().i64, 9_007_199_254_740_993);
    assert_eq!(read("u64", "9007199254740993").unwrap().u64, 9_007_199_254_740_993);
    assert_eq!(read("u64", "18446744073709551615").unwrap().u64, u64::MAX);
    assert_eq!(read("i64", "-9223372036854775808").unwrap().i64, i64::MIN);
    assert_eq!(read("i128", &i128::MIN.to_string()).unwrap().i128, i128::MIN);
    assert_eq!(read("u128", &u128::MAX.to_string()).unwrap().u128, u128::MAX);
    assert_eq!(read("f64", "0.1").unwrap(), Numbers { f64: 0.1, ..Numbers::default() });
    assert_eq!(read("f32", "0.1").unwrap(), Numbers { f32: 0.1, ..Numbers::default() });
    assert_eq!(read("f32", "3.4028235e38").unwrap(), Numbers { f32: f32::MAX, ..Numbers::default() });
    for (name, text) in [
        ("u8", "256"),
        ("u8", "-1"),
        ("u8", "0.5"),
        ("i32", "2147483648"),
        ("u64", "18446744073709551616"),
        ("i64", "-9223372036854775809"),
        ("f32", "3.5e38"),
    ] {
        assert!(read(name, text).is_err(), "{name}: {text}");
    }
}
