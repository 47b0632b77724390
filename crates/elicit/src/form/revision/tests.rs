use proptest::prelude::*;

use super::super::{Choice, Field};
use super::*;

/// A form with all that 2025-06-18 can take, and much that nobody knows; each number and each escape as it is.
const FOREIGN: &str = r#"{ "type":"object", "$schema" : "https://json-schema.org/draft/2020-12/schema",
  "properties":{
    "n\u0061me": {"type":"string", "pattern":"^\u005ba-z]", "x-\u0061":[1.0, 1e400]},
    "size":{"oneOf":[{"const":"s","title":"Sm\u0061ll","x":1},{"title":"Large","const":"l"}], "x-widget" : { "b":9007199254740993 } ,"type":"string","default":"l"},
    "plain": {"type":"string","enum":["a", "b"]},
    "old":{"type":"string","enum":["a"],"enumNames":["A"]},
    "both":{"enum":null,"enumNames":["stray"],"type":"string","oneOf":[{"const":"x"},{"const":"y","title":"Y"}]},
    "age": {"type":"integer","minimum":1.0,"maximum":9007199254740993}
  },
  "required":["size"] ,"x-last":null}"#;

/// R-CAP-07, R-REQ-03, R-FORM-11
#[test]
fn newer_peers_get_the_very_text() {
    let form = Form::parse(FOREIGN).unwrap();
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        assert!(matches!(form.for_revision(revision), Ok(Cow::Borrowed(FOREIGN))), "{revision}");
    }
}

/// R-CAP-07, R-REQ-03, R-FORM-10, R-FORM-11: titled choices become `enum` and `enumNames`; all else keeps its text.
#[test]
fn peers_of_2025_06_18_get_titles_as_names() {
    let form = Form::parse(FOREIGN).unwrap();
    // Byte for byte, but for the two properties that had `oneOf`.
    let expected = FOREIGN
        .replace(
            r#"{"oneOf":[{"const":"s","title":"Sm\u0061ll","x":1},{"title":"Large","const":"l"}], "x-widget" : { "b":9007199254740993 } ,"type":"string","default":"l"}"#,
            r#"{"x-widget":{ "b":9007199254740993 },"type":"string","default":"l","enum":["s","l"],"enumNames":["Small","Large"]}"#,
        )
        .replace(
            r#"{"enum":null,"enumNames":["stray"],"type":"string","oneOf":[{"const":"x"},{"const":"y","title":"Y"}]}"#,
            r#"{"enum":["x","y"],"enumNames":["x","Y"],"type":"string"}"#,
        );
    assert!(!expected.contains("oneOf"));
    assert_eq!(form.for_revision(Revision::V2025_06_18).unwrap(), expected);
}

/// R-CAP-07: a form without titled choices is not touched.
#[test]
fn what_needs_no_change_is_borrowed() {
    let text = r#"{ "type":"object","properties":{ "a":{"type":"string","enum":["x"] }, "oneOf":{"type":"boolean"}} }"#;
    let form = Form::parse(text).unwrap();
    assert!(matches!(form.for_revision(Revision::V2025_06_18), Ok(Cow::Borrowed(same)) if same == text));
}

/// R-CAP-07: nothing takes the place of a multi-select.
#[test]
fn a_multi_select_is_refused_by_name() {
    let form = Form::builder()
        .required("a/b", Field::multi_select(["x"]))
        .required("c", Field::text())
        .required("d", Field::multi_select([("x", "X")]))
        .build()
        .unwrap();
    let error = form.for_revision(Revision::V2025_06_18).unwrap_err();
    insta::assert_snapshot!(error, @"revision 2025-06-18 has no field for several choices, such as /properties/a~1b, /properties/d");
    let fields = vec!["a/b".to_owned(), "d".to_owned()];
    assert_eq!(error, RevisionError::MultiSelect { revision: Revision::V2025_06_18, fields });
}

#[test]
fn the_error_is_short_however_many_fields_there_are() {
    let builder = (0..1_000)
        .fold(Form::builder(), |builder, index| builder.optional(format!("f{index}"), Field::multi_select(["x"])));
    let error = builder.build().unwrap().for_revision(Revision::V2025_06_18).unwrap_err().to_string();
    assert!(error.ends_with("/properties/f19 and 980 more"), "{error}");
}

/// R-CAP-07
#[test]
fn older_revisions_are_not_asked() {
    for revision in [Revision::V2024_11_05, Revision::V2025_03_26] {
        let error = Form::parse(FOREIGN).unwrap().for_revision(revision).unwrap_err();
        assert_eq!(error, RevisionError::NoElicitation(revision));
    }
}

proptest! {
    /// R-CAP-07: the older text is the same form, so that its answers are this form's.
    #[test]
    fn the_older_text_is_the_same_form(
        lists in prop::collection::vec((any::<bool>(), prop::collection::vec("[a-zé\"\\\\]{1,4}", 1..8)), 0..20),
    ) {
        let builder = lists.into_iter().enumerate().fold(Form::builder(), |builder, (field, (titled, titles))| {
            let choice = |(index, title)| {
                let value = format!("{title}{index}");
                if titled { Choice::titled(value, format!("{index} {title}")) } else { Choice::new(value) }
            };
            builder.required(format!("f{field}"), Field::select(titles.into_iter().enumerate().map(choice)))
        });
        let form = builder.build().unwrap();
        let older = form.for_revision(Revision::V2025_06_18).unwrap();
        prop_assert!(!older.contains(r#""oneOf":"#));
        let again = Form::parse(&older).unwrap();
        prop_assert_eq!(again.fields(), form.fields());
    }
}
