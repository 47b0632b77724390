use std::fmt;

use super::PatternError;
use crate::{JsonType, text};

/// Why a schema is no form (R-FORM-02): every fault at once, in the order of the text. A peer that
/// sent it gets [`INVALID_PARAMS`](crate::INVALID_PARAMS) with this text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct FormError {
    faults: Vec<SchemaFault>,
    /// How many more there are, which are not kept.
    more: usize,
}

/// One fault of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SchemaFault {
    /// Where: a JSON pointer into the schema (RFC 6901), such as `/properties/age/minimum`. Empty
    /// for the schema as a whole.
    pub pointer: String,
    /// What is wrong there, and what is allowed.
    pub problem: Problem,
}

/// What can be wrong with a schema. Names and values in it are the sender's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The text is not one JSON value.
    #[error("is not JSON")]
    NotJson,
    /// An object names a key twice, so that two readers may see two values.
    #[error("holds the key {0:?} twice")]
    DuplicateKey(String),
    /// A property's name is half of a surrogate pair, or the like.
    #[error("has a name that is no Unicode text")]
    NameNotText,
    /// A keyword has another type than JSON Schema gives it.
    #[error("is of type {found}; allowed is {expected}")]
    WrongType {
        /// The type that it has.
        found: JsonType,
        /// What is allowed, in words.
        expected: &'static str,
    },
    /// A keyword has to be there.
    #[error("lacks `{0}`; allowed types are {TYPES}")]
    MissingType(&'static str),
    /// The schema as a whole is not of type `object`.
    #[error("has to be of type object, with flat properties")]
    RootNotObject,
    /// `properties` is missing.
    #[error("lacks `properties`; a form without questions has `\"properties\": {{}}`")]
    MissingProperties,
    /// A property of a type that a form does not have.
    #[error("has type `{0}`; allowed types are {TYPES}")]
    UnknownType(String),
    /// A property is an object of its own.
    #[error("is a nested object; allowed types are {TYPES}")]
    NestedObject,
    /// References and combinators.
    #[error("is not allowed: a form has neither references nor combinators; allowed types are {TYPES}")]
    Combinator,
    /// An array whose items are no list of choices.
    #[error("needs `items` with `enum`, or with `anyOf` of `const` and `title`: a form has no free arrays")]
    FreeArray,
    /// Choices on a property that is neither a string nor an array of them.
    #[error("is only allowed for type string, and for the items of an array")]
    ChoicesNotOfText,
    /// Two ways to say the choices at once.
    #[error("stands beside `enum`; allowed is one of them")]
    TwoLists,
    /// A list of choices without any.
    #[error("is empty; at least one choice is needed")]
    NoChoices,
    /// A choice that is no text.
    #[error("is of type {0}; choices are strings of Unicode text")]
    ChoiceNotText(JsonType),
    /// An entry of `oneOf` or `anyOf` without a `const`.
    #[error("lacks `const`; a choice is `{{\"const\": …, \"title\": …}}`")]
    ChoiceWithoutConst,
    /// A choice that is there twice.
    #[error("holds the choice {0:?} twice")]
    RepeatedChoice(String),
    /// `enumNames` is not as long as `enum`.
    #[error("has {found} titles for {expected} choices")]
    TitleCount {
        /// Titles.
        found: usize,
        /// Choices.
        expected: usize,
    },
    /// A length or a count that is none.
    #[error("is no count; allowed are 0, 1, 2, …")]
    NotCount,
    /// A number that cannot be exchanged, such as `1e999` (R-FORM-11).
    #[error("is too large a number")]
    NumberTooLarge,
    /// The lower bound is above the upper one, so that nothing fits.
    #[error("is above `{0}`, so that no answer fits")]
    Bounds(&'static str),
    /// More have to be chosen than there are.
    #[error("is above the number of choices, which is {0}")]
    MoreThanChoices(usize),
    /// The default is no answer to the field.
    #[error("is no answer to its own field: {0}")]
    Default(super::Rule),
    /// The pattern is no regular expression of ECMA-262.
    #[error("is no regular expression: {0}")]
    Pattern(PatternError),
    /// `required` names what is no property.
    #[error("names {0:?}, which is no property")]
    UnknownRequired(String),
    /// Only where we build: a format that the protocol does not have.
    #[error("has format {0:?}; allowed are email, uri, date and date-time")]
    UnknownFormat(String),
    /// Only where we build: a pattern that nobody can check in linear time.
    #[error("cannot be checked in linear time, because it {0}")]
    UncheckedPattern(super::Unchecked),
    /// Only where we build: a keyword that would not be checked by whoever answers.
    #[error("is a keyword that forms do not have")]
    UnknownKeyword,
    /// Only where we build: the field asks for a secret, which MCP forbids in a form (R-FORM-07).
    #[error("asks for a secret ({0}); use url mode for it")]
    Secret(&'static str),
    /// Only where we build: a text holds what could be clicked (R-FORM-08).
    #[error("holds a URL ({0}); use url mode for it")]
    Link(String),
    /// Only where we build: two choices that a person cannot tell apart.
    #[error("shows {0:?} for two choices")]
    RepeatedTitle(String),
    /// Only where we build: some choices have a title, and this one has none.
    #[error("lacks `title`; either all choices have one or none")]
    MissingTitle,
    /// Only where we build: a name, a title or a choice without anything to read.
    #[error("has nothing that a person could read")]
    Blank,
    /// Only where we build: a text with characters that nobody can see (R-SEC-02).
    #[error("holds characters that cannot be seen")]
    Hidden,
    /// Only where we build: a property that is there twice.
    #[error("is there twice")]
    RepeatedProperty,
    /// Only from a type: why its schema has no form.
    #[error("{0}")]
    Type(String),
}

pub(super) const TYPES: &str = "string, number, integer, boolean, and array for several choices; choices are `enum`, or `oneOf` of `const` and `title`";

impl FormError {
    /// `faults` has at least one.
    pub(super) fn new(faults: Vec<SchemaFault>) -> Self {
        debug_assert!(!faults.is_empty(), "an error without a fault");
        Self { faults, more: 0 }
    }

    pub(super) fn and_more(self, more: usize) -> Self {
        Self { more, ..self }
    }

    pub(super) fn not_json() -> Self {
        Self::new(vec![SchemaFault { pointer: String::new(), problem: Problem::NotJson }])
    }

    /// The faults, in the order of the text: every one of an ordinary schema, and the first hundred of a hostile one.
    pub fn faults(&self) -> &[SchemaFault] {
        &self.faults
    }
}

/// Faults beyond these are counted only.
const SHOWN: usize = 20;
/// The most of a pointer that is shown, in characters.
const POINTER: usize = 200;

impl fmt::Display for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the schema is no form: ")?;
        for (index, fault) in self.faults.iter().take(SHOWN).enumerate() {
            write!(f, "{}{fault}", if index == 0 { "" } else { "; " })?;
        }
        match (self.faults.len() + self.more).checked_sub(SHOWN) {
            Some(more @ 1..) => write!(f, "; and {more} more"),
            _ => Ok(()),
        }
    }
}

/// In one line, with nothing hidden in it: names are the sender's.
impl fmt::Display for SchemaFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pointer.as_str() {
            "" => f.write_str("it")?,
            pointer => f.write_str(&text::line(pointer, POINTER))?,
        }
        write!(f, " {}", self.problem)
    }
}

/// A JSON pointer one step longer (RFC 6901, section 3).
pub(super) fn step(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}
