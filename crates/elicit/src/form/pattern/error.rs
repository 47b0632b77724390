use std::fmt;

/// Why a text is no regular expression of ECMA-262.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PatternError {
    /// How many Unicode code points stand before the fault.
    pub position: usize,
    /// What is wrong there.
    pub fault: PatternFault,
}

impl std::error::Error for PatternError {}

/// People count characters from one.
impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at character {}", self.fault, self.position + 1)
    }
}

/// What is wrong with a pattern (ECMA-262, section 22.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PatternFault {
    /// `(` without its `)`.
    UnclosedGroup,
    /// `)` without its `(`.
    UnopenedGroup,
    /// `(?` before something that ECMA-262 does not know.
    UnknownGroup,
    /// `(?<` or `\k` without a name in angle brackets.
    GroupName,
    /// Two groups of one name, of which both could match.
    DuplicateGroupName,
    /// `\1` or `\k<name>` without such a group.
    MissingGroup,
    /// `[` without its `]`.
    UnclosedClass,
    /// A range from a higher to a lower character, as in `[z-a]`.
    ClassRange,
    /// `*`, `+`, `?` or `{1}` after nothing that can be repeated.
    NothingToRepeat,
    /// A repetition from more to less times, as in `a{2,1}`.
    RepeatRange,
    /// `\` at the end.
    TrailingBackslash,
    /// `\` before a letter or digit that has no meaning there.
    UnknownEscape,
    /// `\x`, `\u` or `\c` without what has to follow it.
    IncompleteEscape,
    /// `\p{…}` of no property of Unicode that ECMA-262 lists.
    UnknownProperty,
}

impl fmt::Display for PatternFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnclosedGroup => "a group that is not closed",
            Self::UnopenedGroup => "a closing bracket without its opening one",
            Self::UnknownGroup => "an unknown kind of group",
            Self::GroupName => "no valid group name",
            Self::DuplicateGroupName => "a group name that is used twice",
            Self::MissingGroup => "a reference to a group that is not there",
            Self::UnclosedClass => "a character class that is not closed",
            Self::ClassRange => "a character range that runs backwards",
            Self::NothingToRepeat => "nothing to repeat",
            Self::RepeatRange => "a repetition that runs backwards",
            Self::TrailingBackslash => "a backslash with nothing after it",
            Self::UnknownEscape => "an unknown escape",
            Self::IncompleteEscape => "an incomplete escape",
            Self::UnknownProperty => "an unknown Unicode property",
        })
    }
}
