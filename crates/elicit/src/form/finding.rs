use std::fmt;

use super::Unchecked;

/// Something odd about a schema that was taken nevertheless: for the log, and for whoever shows the
/// form. Nothing of it is lost; it is kept in [`Form::as_str`](super::Form::as_str).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// Where: a JSON pointer into the schema (RFC 6901).
    pub pointer: String,
    /// What is odd there.
    pub oddity: Oddity,
}

/// What can be odd about a schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Oddity {
    /// A format of strings that the protocol does not have; it is not checked.
    #[error("has an unknown format, which is not checked")]
    UnknownFormat(String),
    /// A pattern that is not checked, with the reason (R-FORM-06).
    #[error("is not checked, because it {0}")]
    UncheckedPattern(Unchecked),
    /// A keyword that constrains values and is not one of the restricted schema; it is not checked.
    #[error("is not checked: forms do not have this keyword")]
    UncheckedKeyword,
    /// The default does not fit its own pattern or format.
    #[error("does not fit the {0} of its own field")]
    Default(&'static str),
    /// A choice without a title among titled ones.
    #[error("lacks a title; its value is shown")]
    MissingTitle,
    /// Two choices that a person cannot tell apart.
    #[error("shows the same text for two choices")]
    RepeatedTitle,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.pointer, self.oddity)
    }
}
