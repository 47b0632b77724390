use std::fmt;

use crate::text;

/// One choice of a field.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Choice {
    /// What is sent.
    pub value: String,
    /// What a person reads in place of the value.
    pub title: Option<String>,
}

impl Choice {
    /// A choice that a person reads by its value.
    pub fn new(value: impl Into<String>) -> Self {
        Self { value: value.into(), title: None }
    }

    /// A choice that a person reads by its title.
    pub fn titled(value: impl Into<String>, title: impl Into<String>) -> Self {
        Self { value: value.into(), title: Some(title.into()) }
    }

    /// What a person reads: the title, else the value.
    pub fn label(&self) -> &str {
        self.title.as_deref().filter(|title| !title.trim().is_empty()).unwrap_or(&self.value)
    }
}

impl From<&str> for Choice {
    fn from(value: &str) -> Self {
        Self::new(value)
    }
}

impl From<&String> for Choice {
    fn from(value: &String) -> Self {
        Self::new(value)
    }
}

impl From<String> for Choice {
    fn from(value: String) -> Self {
        Self::new(value)
    }
}

/// Value and title.
impl<V: Into<String>, T: Into<String>> From<(V, T)> for Choice {
    fn from((value, title): (V, T)) -> Self {
        Self::titled(value, title)
    }
}

/// What is allowed where a choice has to be made: the first few values, and how many more there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SomeChoices {
    values: Vec<String>,
    more: usize,
}

/// How many values, and how many characters of each, are told.
const TOLD: usize = 5;
const LONGEST: usize = 40;

impl SomeChoices {
    pub(super) fn of(choices: &[Choice]) -> Self {
        Self {
            values: choices.iter().take(TOLD).map(|choice| choice.value.clone()).collect(),
            more: choices.len().saturating_sub(TOLD),
        }
    }

    /// The first few values.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// How many more there are.
    pub fn more(&self) -> usize {
        self.more
    }
}

/// In one line, with nothing hidden in it.
impl fmt::Display for SomeChoices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, value) in self.values.iter().enumerate() {
            write!(f, "{}\"{}\"", if index == 0 { "" } else { ", " }, text::line(value, LONGEST))?;
        }
        if self.more > 0 { write!(f, " and {} more", self.more) } else { Ok(()) }
    }
}
