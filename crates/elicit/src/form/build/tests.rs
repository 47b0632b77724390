#![allow(clippy::reversed_empty_ranges, reason = "bounds that no answer fits are a fault to be found")]

use proptest::prelude::*;

use super::super::{Boolean, Choice, Choices, Field, Form, Format, Kind, MultiSelect, Numeric, Pattern, Select, Text};
use super::*;
use crate::Number;

mod random;
mod shapes;

/// The faults of a form, as texts.
fn faults(builder: FormBuilder) -> Vec<String> {
    builder.build().unwrap_err().faults().iter().map(ToString::to_string).collect()
}

/// R-FORM-10: calls, text and fields have one order; only what is required is listed so.
#[test]
fn fields_stay_in_the_order_of_the_calls() {
    let form = Form::builder()
        .optional("z", Field::boolean())
        .required("b", Field::text())
        .required("a/~\"", Field::integer())
        .build()
        .unwrap();
    insta::assert_snapshot!(
        form.as_str(),
        @r#"{"type":"object","properties":{"z":{"type":"boolean"},"b":{"type":"string"},"a/~\"":{"type":"integer"}},"required":["b","a/~\""]}"#
    );
    let names: Vec<_> = form.fields().iter().map(|field| (field.name.as_str(), field.required)).collect();
    assert_eq!(names, [("z", false), ("b", true), ("a/~\"", true)]);
}

#[test]
fn a_form_may_have_no_fields() {
    let form = Form::builder().build().unwrap();
    insta::assert_snapshot!(form.as_str(), @r#"{"type":"object","properties":{}}"#);
}

/// R-FORM-02, R-FORM-07, R-FORM-08: what is wrong with a field is named with the others' faults, whether it is refused
/// on receipt or only where a form is built.
#[test]
fn all_faults_of_all_fields_come_at_once() {
    let builder = Form::builder()
        .required("a", Field::text().title("See https://example.com").length(3..=2).default("x"))
        .optional("fine", Field::boolean())
        .optional("password", Field::text().length(5..=1))
        .optional("fine", Field::text().length(2..=1).description("www.example.com"))
        .optional("size", Field::select(["s", "m", "s"]).title(" ").default("l"))
        .optional("part", Field::number().range(f64::NEG_INFINITY..=f64::NAN).description("\u{200b}"))
        .optional("tags", Field::multi_select(["a"]).items(2..=1).default(["b"]));
    insta::assert_snapshot!(faults(builder).join("\n"), @r#"
    /properties/a/minLength is above `maxLength`, so that no answer fits
    /properties/a/default is no answer to its own field: has to be at least 3 characters long
    /properties/a/title holds a URL (https://example.com); use url mode for it
    /properties/password/minLength is above `maxLength`, so that no answer fits
    /properties/password asks for a secret (password); use url mode for it
    /properties/fine is there twice
    /properties/fine/minLength is above `maxLength`, so that no answer fits
    /properties/fine/description holds a URL (www.example.com); use url mode for it
    /properties/size/enum holds the choice "s" twice
    /properties/size/title has nothing that a person could read
    /properties/part/minimum is too large a number
    /properties/part/maximum is too large a number
    /properties/part/description holds characters that cannot be seen
    /properties/tags/minItems is above `maxItems`, so that no answer fits
    /properties/tags/minItems is above the number of choices, which is 1
    /properties/tags/default is no answer to its own field: needs at least 2 of the choices
    /properties/tags/default is no answer to its own field: has to be one of the choices: "a"
    "#);
}

/// R-FORM-02: each fault that a builder lets through is found by `build`, with its place.
#[test]
fn each_fault_names_its_property() {
    let number = |text| Number::parse(text).unwrap();
    #[rustfmt::skip]
    let table: Vec<(FieldDraft, &[&str])> = vec![
        (Field::text().length(2..=1).into(), &["/minLength is above `maxLength`, so that no answer fits"]),
        (Field::text().length(2..).default("a").into(), &["/default is no answer to its own field: has to be at least 2 characters long"]),
        (Field::text().pattern("^b").default("a").into(), &["/default is no answer to its own field: has to match the pattern ^b"]),
        (Field::text().pattern("(").into(), &["/pattern is no regular expression"]),
        (Field::text().pattern("(?=a)").into(), &["/pattern cannot be checked in linear time"]),
        (Field::email().default("a").into(), &["/default is no answer to its own field: has to be"]),
        (Field::integer().range(2..=1).into(), &["/minimum is above `maximum`, so that no answer fits"]),
        (Field::integer().default(number("0.5")).into(), &["/default is no answer to its own field: has to be a whole number"]),
        (Field::integer().range(..=5).default(6).into(), &["/default is no answer to its own field: has to be at most 5"]),
        (Field::number().range(f64::INFINITY..).into(), &["/minimum is too large a number"]),
        (Field::number().default(f64::NAN).into(), &["/default is too large a number"]),
        (Field::select::<&str>([]).into(), &["/enum is empty; at least one choice is needed"]),
        (Field::select(["a", "a"]).into(), &["/enum holds the choice \"a\" twice"]),
        (Field::select([("a", "A"), ("a", "B")]).into(), &["/oneOf holds the choice \"a\" twice"]),
        (Field::select([("a", "A"), ("b", "A")]).into(), &["/oneOf/1/title shows \"A\" for two choices"]),
        (Field::select([Choice::titled("a", "A"), Choice::new("b")]).into(), &["/oneOf/1 lacks"]),
        (Field::select(["a"]).default("A").into(), &["/default is no answer to its own field: has to be one of the choices: \"a\""]),
        (Field::multi_select::<&str>([]).into(), &["/items/enum is empty; at least one choice is needed"]),
        (Field::multi_select(["a"]).items(2..).into(), &["/minItems is above the number of choices, which is 1"]),
        (Field::multi_select(["a"]).items(1..).default::<&str>([]).into(), &["/default is no answer to its own field: needs at least 1 of the choices"]),
    ];
    for (draft, expected) in table {
        let found = faults(Form::builder().required("a~/b", draft.clone()));
        assert_eq!(found.len(), expected.len(), "{draft:?}: {found:?}");
        for (found, expected) in found.iter().zip(expected) {
            let found = found.strip_prefix("/properties/a~0~1b").unwrap();
            assert!(found.starts_with(expected), "{found}");
        }
    }
}

/// A name that is there twice is one fault, and hides none of the second field's own.
#[test]
fn a_repeated_name_is_refused() {
    let builder = Form::builder().optional("a", Field::text()).optional("a", Field::integer().range(2..=1));
    insta::assert_snapshot!(faults(builder).join("\n"), @"
    /properties/a is there twice
    /properties/a/minimum is above `maximum`, so that no answer fits
    ");
}

/// R-FORM-07: a field that lost its choices to a fault is not taken for a text.
#[test]
fn a_faulty_list_of_choices_asks_for_no_secret() {
    let table: [FieldDraft; 2] =
        [Field::select(["a", "a"]).default("a").into(), Field::multi_select::<&str>([]).items(1..).into()];
    for draft in table {
        let found = faults(Form::builder().optional("password", draft));
        assert!(!found.is_empty() && !found.iter().any(|fault| fault.contains("secret")), "{found:?}");
    }
}

/// R-FORM-11: numbers are written in their exact text.
#[test]
fn numbers_keep_their_text() {
    let form = Form::builder()
        .optional("a", Field::integer().range(-1..=9_007_199_254_740_993_i64))
        .optional("b", Field::number().range(0.1..=1e21).default(0.5))
        .optional("c", Field::number().range(Number::parse("0.10").unwrap()..).default(u64::MAX))
        .optional("d", Field::integer().default(Number::parse("5.0").unwrap()))
        .build()
        .unwrap();
    insta::assert_snapshot!(
        form.as_str(),
        @r#"{"type":"object","properties":{"a":{"type":"integer","minimum":-1,"maximum":9007199254740993},"b":{"type":"number","minimum":0.1,"maximum":1e21,"default":0.5},"c":{"type":"number","minimum":0.10,"default":18446744073709551615},"d":{"type":"integer","default":5.0}}}"#
    );
}

#[test]
fn the_last_call_counts() {
    let form = Form::builder()
        .optional("a", Field::text().title("A").length(1..=9).default("x").title("B").length(2..).default("yy"))
        .optional("b", Field::number().range(f64::NAN..).range(..=1))
        .build()
        .unwrap();
    insta::assert_snapshot!(
        form.as_str(),
        @r#"{"type":"object","properties":{"a":{"type":"string","title":"B","minLength":2,"default":"yy"},"b":{"type":"number","maximum":1}}}"#
    );
}
