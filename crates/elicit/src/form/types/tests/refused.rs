use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::IpAddr;
use std::num::NonZeroI64;
use std::time::Duration;

use chrono::{NaiveDateTime, NaiveTime};

use super::*;

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is wanted")]
struct Refused {
    nested: Inner,
    some_nested: Option<Inner>,
    fine: u8,
    list: Vec<String>,
    bytes: Vec<u8>,
    structs: Vec<Inner>,
    set: HashSet<u8>,
    empty: [String; 0],
    unsure: Vec<Option<Unit>>,
    map: BTreeMap<String, String>,
    tuple: (u8, String),
    #[schemars(rename = "a/b~c")]
    data: Data,
    tagged: Option<Tagged>,
    untagged: Untagged,
    any: serde_json::Value,
    some_any: Option<serde_json::Value>,
    unit: (),
    never: Never,
    recursive: Recursive,
    newtype_of_option: Hidden,
    nonzero: NonZeroI64,
    time: NaiveTime,
    moment: Option<NaiveDateTime>,
    address: IpAddr,
    duration: Duration,
    #[schemars(with = "String", extend("format" = "uuid"))]
    uuid: String,
    #[schemars(extend("format" = "int53"))]
    number: i64,
    #[schemars(extend("enum" = [1, 2]))]
    level: u8,
    #[schemars(extend("type" = ["string", "number"]))]
    amount: String,
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is wanted")]
struct Inner {
    a: u8,
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is wanted")]
enum Unit {
    A,
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is wanted")]
enum Data {
    Plain,
    Text(String),
}

#[derive(JsonSchema)]
#[serde(tag = "type")]
#[allow(dead_code, reason = "only its schema is wanted")]
enum Tagged {
    A,
    B { b: u8 },
}

#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code, reason = "only its schema is wanted")]
enum Untagged {
    Number(u8),
    Text(String),
}

#[derive(JsonSchema)]
enum Never {}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is wanted")]
struct Recursive(Box<Self>);
#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is wanted")]
struct Hidden(Option<u8>);

/// R-FORM-02: every field that no form can ask for, at once, in the order of the struct.
#[test]
fn each_field_that_a_form_cannot_ask_for_is_named() {
    insta::assert_snapshot!(faults::<Refused>(), @r#"
    /properties/nested is a struct of its own; a form is flat: write `#[serde(flatten)]`, or ask for it by another form
    /properties/some_nested is a struct of its own; a form is flat: write `#[serde(flatten)]`, or ask for it by another form
    /properties/list is a list of free values; a form has lists of choices alone: use a `Vec` or a set of an enum of unit variants
    /properties/bytes is a list of free values; a form has lists of choices alone: use a `Vec` or a set of an enum of unit variants
    /properties/structs is a list of free values; a form has lists of choices alone: use a `Vec` or a set of an enum of unit variants
    /properties/set is a list of free values; a form has lists of choices alone: use a `Vec` or a set of an enum of unit variants
    /properties/empty is a list of free values; a form has lists of choices alone: use a `Vec` or a set of an enum of unit variants
    /properties/unsure has choices that may be null, which no answer to a form is; leave the inner `Option` out
    /properties/map is a map; a form asks for named fields: use a field for each key
    /properties/tuple is a tuple; a form has no lists of unlike things: use a field for each of its parts
    /properties/a~1b~0c is an enum with data; choices are texts: use unit variants, and more fields for the data
    /properties/tagged is an enum with data; choices are texts: use unit variants, and more fields for the data
    /properties/untagged is an untagged enum, or another union of types; a field has one type
    /properties/any takes any JSON value; use `String`, `bool`, a number, or an enum of unit variants
    /properties/some_any takes any JSON value; use `String`, `bool`, a number, or an enum of unit variants
    /properties/unit is always null, so that there is nothing to ask; leave it out by `#[serde(skip)]`
    /properties/never is of a type that has no values
    /properties/recursive refers to itself; a form is flat
    /properties/newtype_of_option has to be there and may be null, which no answer to a form is: make it an `Option` at the field itself, without another one inside of its type
    /properties/nonzero may be anything but 0, which a form cannot say: leave 0 out by `#[schemars(range(min = 1))]`
    /properties/time has format "partial-time"; formats of a form are email, uri, date and date-time: write `#[schemars(with = "String", regex(pattern = "…"))]`, with a pattern of what its type reads
    /properties/moment has format "partial-date-time"; formats of a form are email, uri, date and date-time: write `#[schemars(with = "String", regex(pattern = "…"))]`, with a pattern of what its type reads
    /properties/address has format "ip"; formats of a form are email, uri, date and date-time: write `#[schemars(with = "String", regex(pattern = "…"))]`, with a pattern of what its type reads
    /properties/duration is a struct of its own; a form is flat: write `#[serde(flatten)]`, or ask for it by another form
    /properties/uuid has format "uuid"; formats of a form are email, uri, date and date-time: write `#[schemars(with = "String", regex(pattern = "…"))]`, with a pattern of what its type reads
    /properties/number has format "int53", whose bounds nobody knows: say which number it is by `#[schemars(with = "i64")]`
    /properties/level has choices that are no texts; use an enum of unit variants that is read by its names
    /properties/amount is of several types (string, number); a field has one type: say which by `#[schemars(with = "…")]`
    "#);
}

/// R-FORM-02: what `parse` refuses is said beside it, in the same order.
#[test]
fn faults_of_values_are_found_beside_those_of_types() {
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is wanted")]
    struct Refused {
        #[schemars(range(min = 300))]
        bound: u8,
        list: Vec<String>,
        #[schemars(length(min = 1))]
        #[serde(default)]
        text: String,
        #[schemars(length(min = 2))]
        several: Vec<Unit>,
        map: HashMap<String, u8>,
        #[schemars(regex(pattern = "("))]
        pattern: String,
    }
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is wanted")]
    enum Unit {
        A,
    }
    insta::assert_snapshot!(faults::<Refused>(), @r"
    /properties/bound/minimum is above `maximum`, so that no answer fits
    /properties/list is a list of free values; a form has lists of choices alone: use a `Vec` or a set of an enum of unit variants
    /properties/text/default is no answer to its own field: has to be at least 1 character long
    /properties/several/minItems is above the number of choices, which is 1
    /properties/map is a map; a form asks for named fields: use a field for each key
    /properties/pattern/pattern is no regular expression: a group that is not closed at character 1
    ");
}

/// R-FORM-02: a form is an object.
#[test]
fn what_is_no_struct_with_named_fields_is_no_form() {
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is wanted")]
    enum Unit {
        A,
    }
    #[derive(JsonSchema)]
    #[serde(tag = "type")]
    #[allow(dead_code, reason = "only its schema is wanted")]
    enum Tagged {
        A { a: u8 },
    }
    #[derive(JsonSchema)]
    struct Empty;
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is wanted")]
    struct Pair(u8, u8);
    #[derive(JsonSchema)]
    struct Named {}

    let expected = "it is no struct with named fields; a form can be made of nothing else";
    for found in [
        faults::<Unit>(),
        faults::<Tagged>(),
        faults::<Empty>(),
        faults::<Pair>(),
        faults::<Option<Named>>(),
        faults::<u8>(),
        faults::<()>(),
        faults::<Vec<Named>>(),
        faults::<serde_json::Value>(),
    ] {
        assert_eq!(found, expected);
    }
}

/// R-FORM-02: a form has the same fields for everybody.
#[test]
fn a_flattened_map_or_enum_is_no_part_of_a_form() {
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is wanted")]
    struct WithMap {
        a: u8,
        #[serde(flatten)]
        rest: HashMap<String, String>,
    }
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is wanted")]
    struct WithValue {
        a: u8,
        #[serde(flatten)]
        rest: serde_json::Value,
    }
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is wanted")]
    struct WithEnum {
        list: Vec<u8>,
        #[serde(flatten)]
        either: Either,
    }
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is wanted")]
    enum Either {
        A { a: u8 },
        B { b: u8 },
    }
    insta::assert_snapshot!(faults::<WithMap>(), @"it collects properties of any name, as a map does that is flattened; a form asks for named fields: use a struct");
    assert_eq!(faults::<WithValue>(), faults::<WithMap>());
    assert_eq!(faults::<HashMap<String, u8>>(), faults::<WithMap>());
    insta::assert_snapshot!(faults::<WithEnum>(), @r"
    it takes in the variants of an enum by `flatten`; a form has the same fields for everybody: use an enum of unit variants, without `flatten`
    /properties/list is a list of free values; a form has lists of choices alone: use a `Vec` or a set of an enum of unit variants
    ");
}
