//! The keyword `pattern` of JSON Schema: a regular expression of ECMA-262 that a server chose, run
//! in time linear in the answer.

mod class;
mod cursor;
mod error;
mod escape;
mod groups;
mod property;
mod quantifier;
mod translate;
mod weight;

use std::fmt;

use regex::{Regex, RegexBuilder};

pub use self::error::{PatternError, PatternFault};
pub(super) use self::weight::Budget;

/// The longest pattern that is run, in bytes. Longer ones are kept unchecked.
pub const MAX_PATTERN_BYTES: usize = 4 * 1024;

/// The most memory that one compiled pattern may take for its program, in bytes. It bounds the time
/// to compile it as well: some milliseconds.
const MAX_PROGRAM_BYTES: usize = 512 * 1024;

/// The most memory that one search may take for its cache, in bytes.
const MAX_CACHE_BYTES: usize = 1024 * 1024;

/// A regular expression of ECMA-262 as JSON Schema's `pattern` has it: unanchored, read as with the
/// flag `u` (R-FORM-06).
///
/// Beyond that flag it takes what browsers take without it, where only one thing can be meant:
/// `\-`, `\_`, `\@` and the like for the character itself, `{`, `}` and `]` that stand for
/// themselves, and `-` beside a set, as in `[\w-.]`. What other engines alone know (`\A`, `\z`, `\h`,
/// `(?P<name>…)`, `(?>…)`, `a++`) is invalid, as it is with the flag.
///
/// It is run by an engine that never backtracks. A valid pattern that such an engine cannot run is
/// [unchecked](Self::unchecked_reason).
#[derive(Clone)]
pub struct Pattern {
    text: String,
    program: Result<Regex, Unchecked>,
}

/// Why a valid pattern is not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Unchecked {
    /// It looks ahead or behind: `(?=…)`, `(?!…)`, `(?<=…)`, `(?<!…)`.
    Lookaround,
    /// It refers to what a group matched: `\1`, `\k<name>`.
    Backreference,
    /// It changes how a part is matched, `(?i:…)` or `(?m:…)`, in a way that the engine does not know.
    Modifier,
    /// It names a property of Unicode that the engine has no table of.
    Property,
    /// It takes more than this program spends on a pattern, or on the patterns of one form.
    TooLarge,
}

impl Unchecked {
    /// The reason for a person, as the rest of "not checked, because it …".
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lookaround => "looks ahead or behind",
            Self::Backreference => "refers back to what a group matched",
            Self::Modifier => "changes how letters or lines are compared",
            Self::Property => "names a property of characters that is not known here",
            Self::TooLarge => "is too large",
        }
    }
}

impl fmt::Display for Unchecked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Pattern {
    /// Reads one pattern, with all that a form may spend on patterns. A text that is no regular
    /// expression of ECMA-262 is an error.
    ///
    /// The patterns of one [`Form`](super::Form) are bounded together.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        Self::parse_within(text, &mut Budget::for_one_form())
    }

    /// Reads one pattern of several that share `budget`. Reading takes time linear in the text, also
    /// where the pattern then is too large to be run. Once the budget is spent, patterns are still
    /// read, but left unchecked.
    pub(super) fn parse_within(text: &str, budget: &mut Budget) -> Result<Self, PatternError> {
        let translation = translate::translate(text)?;
        let program = match translation.unchecked {
            Some(reason) => Err(reason),
            None if text.len() > MAX_PATTERN_BYTES || !budget.spend(translation.weight) => Err(Unchecked::TooLarge),
            // The translation is valid, so size is all that can be wrong with it.
            None => RegexBuilder::new(&translation.expression)
                .size_limit(MAX_PROGRAM_BYTES)
                .dfa_size_limit(MAX_CACHE_BYTES)
                .build()
                .map_err(|_| Unchecked::TooLarge),
        };
        Ok(Self { text: text.to_owned(), program })
    }

    /// The pattern as the server wrote it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether answers are checked against this pattern.
    pub fn is_checked(&self) -> bool {
        self.program.is_ok()
    }

    /// Why answers are not checked against this pattern; `None` where they are.
    pub fn unchecked_reason(&self) -> Option<Unchecked> {
        self.program.as_ref().err().copied()
    }

    /// Whether the pattern matches somewhere in `value`; `None` where it is unchecked.
    pub fn matches(&self, value: &str) -> Option<bool> {
        self.program.as_ref().ok().map(|program| program.is_match(value))
    }
}

/// By text.
impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}

/// Without the program, which says the same again at length.
impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pattern")
            .field("text", &self.text)
            .field("unchecked", &self.unchecked_reason())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
