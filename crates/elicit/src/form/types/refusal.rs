use super::super::Problem;

/// Why a type has no form, in words for who wrote the type. Each reads as the end of "The field …".
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("is no struct with named fields; a form can be made of nothing else")]
    NoStruct,
    #[error(
        "takes in the variants of an enum by `flatten`; a form has the same fields for everybody: use an enum of unit variants, without `flatten`"
    )]
    FlattenedEnum,
    #[error(
        "collects properties of any name, as a map does that is flattened; a form asks for named fields: use a struct"
    )]
    FlattenedMap,
    #[error("is a struct of its own; a form is flat: write `#[serde(flatten)]`, or ask for it by another form")]
    Struct,
    #[error("is a map; a form asks for named fields: use a field for each key")]
    Map,
    #[error("is a tuple; a form has no lists of unlike things: use a field for each of its parts")]
    Tuple,
    #[error(
        "is a list of free values; a form has lists of choices alone: use a `Vec` or a set of an enum of unit variants"
    )]
    FreeList,
    #[error("is an enum with data; choices are texts: use unit variants, and more fields for the data")]
    DataEnum,
    #[error("is an untagged enum, or another union of types; a field has one type")]
    Union,
    #[error("has choices that are no texts; use an enum of unit variants that is read by its names")]
    ChoicesNotText,
    #[error("is of several types ({0}); a field has one type: say which by `#[schemars(with = \"…\")]`")]
    SeveralTypes(String),
    #[error("takes any JSON value; use `String`, `bool`, a number, or an enum of unit variants")]
    Anything,
    #[error("is of a type that has no values")]
    Nothing,
    #[error("is always null, so that there is nothing to ask; leave it out by `#[serde(skip)]`")]
    Null,
    #[error(
        "has to be there and may be null, which no answer to a form is: make it an `Option` at the field itself, without another one inside of its type"
    )]
    Nullable,
    #[error("has choices that may be null, which no answer to a form is; leave the inner `Option` out")]
    NullableItems,
    #[error("refers to itself; a form is flat")]
    Recursion,
    #[error("refers to {0:?}, which its schema does not hold")]
    Unresolved(String),
    #[error("may be anything but 0, which a form cannot say: leave 0 out by `#[schemars(range(min = 1))]`")]
    NonZero,
    #[error(
        "has format {0:?}; formats of a form are email, uri, date and date-time: write `#[schemars(with = \"String\", regex(pattern = \"…\"))]`, with a pattern of what its type reads"
    )]
    TextFormat(String),
    #[error("has format {0:?}, whose bounds nobody knows: say which number it is by `#[schemars(with = \"i64\")]`")]
    NumberFormat(String),
    #[error("has type {0:?}, which a form does not have")]
    UnknownType(String),
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        Self::Type(refusal.to_string())
    }
}
