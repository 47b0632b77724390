use std::borrow::Cow;
use std::num::{NonZeroI32, NonZeroU8, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::sync::Arc;

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};
use url::Url;

use super::*;

/// R-FORM-01, R-FORM-10: the order is the struct's, not the alphabet's.
#[test]
fn fields_keep_their_order_their_names_and_their_words() {
    /// What is said of the whole has no place in a form.
    #[derive(JsonSchema)]
    #[schemars(rename_all = "camelCase")]
    #[allow(dead_code, reason = "only its schema is wanted")]
    struct Signup {
        zip: String,
        /// How we call you.
        ///
        /// Any name
        /// will do.
        display_name: String,
        /// # Town
        /// Where you live.
        town: String,
        /// Not shown.
        #[schemars(title = "E-mail", description = "For the receipt.", email)]
        mail: String,
        #[schemars(rename = "NEWS")]
        newsletter: bool,
        a_note: Option<String>,
        #[schemars(skip)]
        internal: u8,
    }
    insta::assert_snapshot!(lines::<Signup>(), @r#"
    type: "object"
    zip {"type":"string"}
    displayName {"type":"string","description":"How we call you.\n\nAny name\nwill do."}
    town {"type":"string","title":"Town","description":"Where you live."}
    mail {"type":"string","title":"E-mail","description":"For the receipt.","format":"email"}
    NEWS {"type":"boolean"}
    aNote {"type":"string"}
    required: ["zip","displayName","town","mail","NEWS"]
    "#);
}

/// R-FORM-01, R-FORM-11: an answer that fits the form fits the type.
#[test]
fn integers_have_the_bounds_of_their_types() {
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is wanted")]
    struct Integers {
        u8: u8,
        u16: u16,
        u32: u32,
        u64: u64,
        u128: u128,
        i8: i8,
        i16: i16,
        i32: i32,
        i64: i64,
        i128: i128,
        some_u8: Option<u8>,
        nonzero_u8: NonZeroU8,
        nonzero_u64: Option<NonZeroU64>,
    }
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is wanted")]
    struct OfThisMachine {
        isize: isize,
        usize: usize,
        nonzero: NonZeroUsize,
    }

    insta::assert_snapshot!(lines::<Integers>(), @r#"
    type: "object"
    u8 {"type":"integer","minimum":0,"maximum":255}
    u16 {"type":"integer","minimum":0,"maximum":65535}
    u32 {"type":"integer","minimum":0,"maximum":4294967295}
    u64 {"type":"integer","minimum":0,"maximum":18446744073709551615}
    u128 {"type":"integer","minimum":0,"maximum":340282366920938463463374607431768211455}
    i8 {"type":"integer","minimum":-128,"maximum":127}
    i16 {"type":"integer","minimum":-32768,"maximum":32767}
    i32 {"type":"integer","minimum":-2147483648,"maximum":2147483647}
    i64 {"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807}
    i128 {"type":"integer","minimum":-170141183460469231731687303715884105728,"maximum":170141183460469231731687303715884105727}
    some_u8 {"type":"integer","minimum":0,"maximum":255}
    nonzero_u8 {"type":"integer","minimum":1,"maximum":255}
    nonzero_u64 {"type":"integer","minimum":1,"maximum":18446744073709551615}
    required: ["u8","u16","u32","u64","u128","i8","i16","i32","i64","i128","nonzero_u8"]
    "#);

    let bounds = |name: &str| {
        let form = Form::from_type::<OfThisMachine>().unwrap();
        let super::super::super::Kind::Integer(numeric) = form.field(name).unwrap().kind.clone() else { panic!() };
        (numeric.minimum.unwrap().to_string(), numeric.maximum.unwrap().to_string())
    };
    assert_eq!(bounds("isize"), (isize::MIN.to_string(), isize::MAX.to_string()));
    assert_eq!(bounds("usize"), (usize::MIN.to_string(), usize::MAX.to_string()));
    assert_eq!(bounds("nonzero"), ("1".to_owned(), usize::MAX.to_string()));
}

/// R-FORM-01, R-FORM-11: numbers keep their text, and the type's bounds hold where wider ones are said.
#[test]
fn bounds_are_those_that_are_said_within_those_of_the_type() {
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is wanted")]
    struct Bounded {
        #[schemars(range(min = 1, max = 12))]
        within: u8,
        #[schemars(range(min = -5, max = 1000))]
        beyond: u8,
        #[schemars(range(max = u64::MAX))]
        most: u64,
        #[schemars(range(min = i64::MIN, max = -1))]
        least: i64,
        #[schemars(range(min = 1))]
        positive: NonZeroI32,
        #[schemars(range(max = -1))]
        negative: Option<NonZeroI32>,
        #[schemars(range(min = 0.0, max = 0.1))]
        ratio: f64,
        #[schemars(range(min = -1e300))]
        wide: Option<f64>,
        #[schemars(range(min = 0.1, max = 100))]
        single: f32,
        any: f32,
        #[schemars(range(min = 18))]
        newtype: Age,
        #[schemars(range(min = 18))]
        some_newtype: Option<Age>,
    }

    /// In years.
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is wanted")]
    struct Age(u8);

    insta::assert_snapshot!(lines::<Bounded>(), @r#"
    type: "object"
    within {"type":"integer","minimum":1,"maximum":12}
    beyond {"type":"integer","minimum":0,"maximum":255}
    most {"type":"integer","minimum":0,"maximum":18446744073709551615}
    least {"type":"integer","minimum":-9223372036854775808,"maximum":-1}
    positive {"type":"integer","minimum":1,"maximum":2147483647}
    negative {"type":"integer","minimum":-2147483648,"maximum":-1}
    ratio {"type":"number","minimum":0.0,"maximum":0.1}
    wide {"type":"number","minimum":-1e+300}
    single {"type":"number","minimum":0.1,"maximum":100}
    any {"type":"number","minimum":-3.4028235e38,"maximum":3.4028235e38}
    newtype {"type":"integer","description":"In years.","minimum":18,"maximum":255}
    some_newtype {"type":"integer","description":"In years.","minimum":18,"maximum":255}
    required: ["within","beyond","most","least","positive","ratio","single","any","newtype"]
    "#);
}

/// R-FORM-01
#[test]
fn texts_keep_lengths_patterns_and_formats() {
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is wanted")]
    struct Texts {
        #[schemars(length(min = 2, max = 40))]
        name: String,
        #[schemars(length(equal = 2))]
        country: Option<String>,
        #[schemars(regex(pattern = r"^[a-z]+(-[a-z]+)*$"))]
        slug: String,
        #[schemars(email)]
        mail: String,
        #[schemars(url)]
        page: Option<String>,
        initial: char,
        some_initial: Option<char>,
        path: PathBuf,
        boxed: Box<str>,
        shared: Arc<str>,
        borrowed: Cow<'static, str>,
        newtype: Handle,
        some_newtype: Option<Handle>,
        #[schemars(extend("x-unit" = "m"))]
        extended: String,
    }

    /// How others call you.
    #[derive(JsonSchema)]
    #[schemars(transparent)]
    #[allow(dead_code, reason = "only its schema is wanted")]
    struct Handle(#[schemars(length(max = 15))] String);

    insta::assert_snapshot!(lines::<Texts>(), @r#"
    type: "object"
    name {"type":"string","minLength":2,"maxLength":40}
    country {"type":"string","minLength":2,"maxLength":2}
    slug {"type":"string","pattern":"^[a-z]+(-[a-z]+)*$"}
    mail {"type":"string","format":"email"}
    page {"type":"string","format":"uri"}
    initial {"type":"string","minLength":1,"maxLength":1}
    some_initial {"type":"string","minLength":1,"maxLength":1}
    path {"type":"string"}
    boxed {"type":"string"}
    shared {"type":"string"}
    borrowed {"type":"string"}
    newtype {"type":"string","description":"How others call you.","maxLength":15}
    some_newtype {"type":"string","description":"How others call you.","maxLength":15}
    extended {"type":"string","x-unit":"m"}
    required: ["name","slug","mail","initial","path","boxed","shared","borrowed","newtype","extended"]
    "#);
}

/// A date of a crate that has no schemas.
#[derive(Serialize, Deserialize, Clone)]
struct Day(String);

/// R-FORM-01
#[test]
fn dates_and_addresses_have_their_formats() {
    #[derive(JsonSchema)]
    #[schemars(transparent)]
    #[allow(dead_code, reason = "only its schema is wanted")]
    struct Birthday(#[schemars(with = "String", extend("format" = "date"))] Day);

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is wanted")]
    struct Formats {
        day: NaiveDate,
        some_day: Option<NaiveDate>,
        moment: DateTime<Utc>,
        page: Url,
        some_page: Option<Url>,
        #[schemars(with = "String", extend("format" = "date"))]
        foreign_day: Day,
        #[schemars(with = "Option<String>", extend("format" = "date"))]
        some_foreign_day: Option<Day>,
        birthday: Birthday,
    }
    insta::assert_snapshot!(lines::<Formats>(), @r#"
    type: "object"
    day {"type":"string","format":"date"}
    some_day {"type":"string","format":"date"}
    moment {"type":"string","format":"date-time"}
    page {"type":"string","format":"uri"}
    some_page {"type":"string","format":"uri"}
    foreign_day {"type":"string","format":"date"}
    some_foreign_day {"type":"string","format":"date"}
    birthday {"type":"string","format":"date"}
    required: ["day","moment","page","foreign_day","birthday"]
    "#);
}

/// R-FORM-03, R-FORM-11: a default is kept in its exact text, and makes the answer optional.
#[test]
fn defaults_are_kept() {
    #[derive(JsonSchema, Serialize)]
    #[serde(default)]
    struct Defaults {
        text: String,
        yes: bool,
        most: u64,
        least: i64,
        half: f64,
        tenth: f64,
        tenth_single: f32,
        none: Option<u8>,
        some: Option<u8>,
        letter: char,
        day: NaiveDate,
        page: Url,
    }

    impl Default for Defaults {
        fn default() -> Self {
            Self {
                text: "a \"b\"".to_owned(),
                yes: true,
                most: u64::MAX,
                least: -9_007_199_254_740_993,
                half: 0.5,
                tenth: 0.1,
                tenth_single: 0.1,
                none: None,
                some: Some(3),
                letter: 'ü',
                day: NaiveDate::from_ymd_opt(2026, 2, 28).unwrap(),
                page: Url::parse("https://example.com/").unwrap(),
            }
        }
    }
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is wanted")]
    struct Single {
        #[schemars(default)]
        count: u8,
        #[serde(default = "seven")]
        week: u8,
        must: u8,
    }
    fn seven() -> u8 {
        7
    }

    insta::assert_snapshot!(lines::<Defaults>(), @r#"
    type: "object"
    text {"type":"string","default":"a \"b\""}
    yes {"type":"boolean","default":true}
    most {"type":"integer","minimum":0,"maximum":18446744073709551615,"default":18446744073709551615}
    least {"type":"integer","minimum":-9223372036854775808,"maximum":9223372036854775807,"default":-9007199254740993}
    half {"type":"number","default":0.5}
    tenth {"type":"number","default":0.1}
    tenth_single {"type":"number","minimum":-3.4028235e38,"maximum":3.4028235e38,"default":0.1}
    none {"type":"integer","minimum":0,"maximum":255}
    some {"type":"integer","minimum":0,"maximum":255,"default":3}
    letter {"type":"string","minLength":1,"maxLength":1,"default":"ü"}
    day {"type":"string","format":"date","default":"2026-02-28"}
    page {"type":"string","format":"uri","default":"https://example.com/"}
    "#);

    insta::assert_snapshot!(lines::<Single>(), @r#"
    type: "object"
    count {"type":"integer","minimum":0,"maximum":255,"default":0}
    week {"type":"integer","minimum":0,"maximum":255,"default":7}
    must {"type":"integer","minimum":0,"maximum":255}
    required: ["must"]
    "#);
}

/// R-FORM-01, R-FORM-10
#[test]
fn flattened_fields_stand_where_their_struct_stands() {
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is wanted")]
    struct Order {
        item: String,
        #[serde(flatten)]
        address: Address,
        gift: bool,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is wanted")]
    struct Address {
        street: String,
        floor: Option<i8>,
    }
    insta::assert_snapshot!(lines::<Order>(), @r#"
    type: "object"
    item {"type":"string"}
    street {"type":"string"}
    floor {"type":"integer","minimum":-128,"maximum":127}
    gift {"type":"boolean"}
    required: ["item","street","gift"]
    "#);
}

/// R-FORM-01
#[test]
fn a_type_that_denies_unknown_fields_has_a_closed_form() {
    #[derive(JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}

    #[derive(JsonSchema)]
    struct Open {}

    let form = Form::from_type::<Nothing>().unwrap();
    assert!(form.is_closed());
    insta::assert_snapshot!(form.as_str(), @r#"{"type":"object","properties":{},"additionalProperties":false}"#);

    let form = Form::from_type::<Box<Open>>().unwrap();
    assert!(!form.is_closed());
    insta::assert_snapshot!(form.as_str(), @r#"{"type":"object","properties":{}}"#);
}
