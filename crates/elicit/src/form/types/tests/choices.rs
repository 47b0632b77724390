use std::collections::{BTreeSet, HashSet};

use serde::Serialize;

use super::*;

/// The size of the cup.
#[derive(JsonSchema, Serialize, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(dead_code, reason = "only its schema is wanted")]
enum Size {
    Small,
    #[serde(rename = "M")]
    Medium,
    Large,
}

#[derive(JsonSchema, Serialize, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[serde(rename_all = "snake_case")]
#[allow(dead_code, reason = "only its schema is wanted")]
enum Milk {
    #[schemars(title = "From a cow")]
    Cow,
    /// From oats,
    /// hence vegan.
    ///
    /// May hold gluten.
    Oats,
    NoneAtAll,
}

/// R-FORM-01: single-select, as it is, optional, and with words and a default of its own.
#[test]
fn an_enum_becomes_choices() {
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is wanted")]
    struct Cup {
        size: Size,
        some_size: Option<Size>,
        /// Of the second cup.
        #[schemars(title = "Second size")]
        worded_size: Size,
        #[serde(default = "large")]
        default_size: Size,
        #[serde(default = "some_large")]
        some_default_size: Option<Size>,
        milk: Milk,
        some_milk: Option<Milk>,
        /// Of the second cup.
        #[serde(default = "oats")]
        default_milk: Option<Milk>,
        boxed: Box<Milk>,
        newtype: Favourite,
        day: Option<chrono::Weekday>,
    }
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is wanted")]
    struct Favourite(Size);

    fn large() -> Size {
        Size::Large
    }
    #[allow(clippy::unnecessary_wraps, reason = "it has the type of the field")]
    fn some_large() -> Option<Size> {
        Some(Size::Large)
    }
    #[allow(clippy::unnecessary_wraps, reason = "it has the type of the field")]
    fn oats() -> Option<Milk> {
        Some(Milk::Oats)
    }
    insta::assert_snapshot!(lines::<Cup>(), @r#"
    type: "object"
    size {"type":"string","description":"The size of the cup.","enum":["Small","M","Large"]}
    some_size {"type":"string","description":"The size of the cup.","enum":["Small","M","Large"]}
    worded_size {"type":"string","title":"Second size","description":"Of the second cup.","enum":["Small","M","Large"]}
    default_size {"type":"string","description":"The size of the cup.","enum":["Small","M","Large"],"default":"Large"}
    some_default_size {"type":"string","description":"The size of the cup.","enum":["Small","M","Large"],"default":"Large"}
    milk {"type":"string","oneOf":[{"const":"none_at_all","title":"none_at_all"},{"const":"cow","title":"From a cow"},{"const":"oats","title":"From oats, hence vegan."}]}
    some_milk {"type":"string","oneOf":[{"const":"none_at_all","title":"none_at_all"},{"const":"cow","title":"From a cow"},{"const":"oats","title":"From oats, hence vegan."}]}
    default_milk {"type":"string","description":"Of the second cup.","oneOf":[{"const":"none_at_all","title":"none_at_all"},{"const":"cow","title":"From a cow"},{"const":"oats","title":"From oats, hence vegan."}],"default":"oats"}
    boxed {"type":"string","oneOf":[{"const":"none_at_all","title":"none_at_all"},{"const":"cow","title":"From a cow"},{"const":"oats","title":"From oats, hence vegan."}]}
    newtype {"type":"string","description":"The size of the cup.","enum":["Small","M","Large"]}
    day {"type":"string","enum":["Mon","Tue","Wed","Thu","Fri","Sat","Sun"]}
    required: ["size","worded_size","milk","boxed","newtype"]
    "#);
}

/// R-FORM-01
#[test]
fn an_enum_of_one_variant_is_one_choice() {
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is wanted")]
    struct Terms {
        plain: Plain,
        some_plain: Option<Plain>,
        titled: Titled,
        some_titled: Option<Titled>,
        #[schemars(with = "String", extend("const" = "yes"))]
        constant: String,
    }
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is wanted")]
    enum Plain {
        Agreed,
    }
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is wanted")]
    enum Titled {
        /// I agree
        Agreed,
    }
    insta::assert_snapshot!(lines::<Terms>(), @r#"
    type: "object"
    plain {"type":"string","enum":["Agreed"]}
    some_plain {"type":"string","enum":["Agreed"]}
    titled {"type":"string","oneOf":[{"const":"Agreed","title":"I agree"}]}
    some_titled {"type":"string","oneOf":[{"const":"Agreed","title":"I agree"}]}
    constant {"type":"string","enum":["yes"]}
    required: ["plain","titled","constant"]
    "#);
}

/// R-FORM-01: multi-select, from each type that holds several.
#[test]
fn a_list_of_an_enum_becomes_several_choices() {
    #[derive(JsonSchema)]
    #[allow(dead_code, reason = "only its schema is wanted")]
    struct Cups {
        list: Vec<Size>,
        some_list: Option<Vec<Size>>,
        /// Which you like.
        #[schemars(length(min = 1, max = 2))]
        bounded: Vec<Milk>,
        #[schemars(length(min = 1))]
        some_bounded: Option<Vec<Size>>,
        sorted: BTreeSet<Size>,
        hashed: Option<HashSet<Milk>>,
        pair: [Milk; 2],
        #[serde(default)]
        empty: Vec<Size>,
        #[serde(default = "two")]
        default: BTreeSet<Size>,
    }
    fn two() -> BTreeSet<Size> {
        [Size::Medium, Size::Small].into()
    }
    insta::assert_snapshot!(lines::<Cups>(), @r#"
    type: "object"
    list {"type":"array","description":"The size of the cup.","items":{"type":"string","enum":["Small","M","Large"]}}
    some_list {"type":"array","description":"The size of the cup.","items":{"type":"string","enum":["Small","M","Large"]}}
    bounded {"type":"array","description":"Which you like.","items":{"anyOf":[{"const":"none_at_all","title":"none_at_all"},{"const":"cow","title":"From a cow"},{"const":"oats","title":"From oats, hence vegan."}]},"minItems":1,"maxItems":2}
    some_bounded {"type":"array","description":"The size of the cup.","items":{"type":"string","enum":["Small","M","Large"]},"minItems":1}
    sorted {"type":"array","description":"The size of the cup.","items":{"type":"string","enum":["Small","M","Large"]},"uniqueItems":true}
    hashed {"type":"array","items":{"anyOf":[{"const":"none_at_all","title":"none_at_all"},{"const":"cow","title":"From a cow"},{"const":"oats","title":"From oats, hence vegan."}]},"uniqueItems":true}
    pair {"type":"array","items":{"anyOf":[{"const":"none_at_all","title":"none_at_all"},{"const":"cow","title":"From a cow"},{"const":"oats","title":"From oats, hence vegan."}]},"minItems":2,"maxItems":2}
    empty {"type":"array","description":"The size of the cup.","items":{"type":"string","enum":["Small","M","Large"]},"default":[]}
    default {"type":"array","description":"The size of the cup.","items":{"type":"string","enum":["Small","M","Large"]},"uniqueItems":true,"default":["Small","M"]}
    required: ["list","bounded","sorted","pair"]
    "#);
}

/// R-FORM-02: a form has no references, also where whoever wrote the schema has.
#[test]
fn references_are_written_out() {
    struct Referring;

    impl JsonSchema for Referring {
        fn schema_name() -> std::borrow::Cow<'static, str> {
            "Referring".into()
        }

        fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
            schemars::json_schema!({
                "type": "object",
                "properties": {
                    "size": { "$ref": "#/$defs/Indirect", "description": "Here.", "default": "S" },
                    "maybe": { "anyOf": [{ "$ref": "#/$defs/Size" }, { "type": "null" }], "title": "Maybe" },
                    "several": { "type": "array", "items": { "allOf": [{ "$ref": "#/$defs/Size" }] } },
                    "variants": { "oneOf": [{ "$ref": "#/$defs/Unit" }, { "const": "b", "type": "string" }] },
                },
                "$defs": {
                    "Indirect": { "$ref": "#/$defs/Size", "title": "Indirect" },
                    "Size": { "type": "string", "enum": ["S", "L"], "title": "Size", "description": "There." },
                    "Unit": { "type": "string", "const": "a", "title": "A" },
                },
            })
        }
    }
    insta::assert_snapshot!(lines::<Referring>(), @r#"
    type: "object"
    size {"type":"string","title":"Indirect","description":"Here.","enum":["S","L"],"default":"S"}
    maybe {"type":"string","title":"Maybe","description":"There.","enum":["S","L"]}
    several {"type":"array","title":"Size","description":"There.","items":{"type":"string","enum":["S","L"]}}
    variants {"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"b"}]}
    "#);
}
