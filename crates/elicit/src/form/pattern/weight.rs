//! What a pattern costs, guessed before it is compiled.

/// What all patterns of one form may cost together. A server chooses the patterns, so that a form
/// could hold hundreds of the largest size.
#[derive(Clone, Debug)]
pub(in crate::form) struct Budget {
    remaining: u64,
}

/// About 10 milliseconds of compiling.
const FORM: u64 = 1024 * 1024;

/// What a pattern costs before its first character.
const PATTERN: u64 = 2048;

impl Budget {
    /// The budget of one form.
    pub(in crate::form) fn for_one_form() -> Self {
        Self { remaining: FORM }
    }

    /// Takes `weight` from the budget; whether there was so much. Where there was not, nothing is
    /// taken, since nothing then is compiled.
    pub(super) fn spend(&mut self, weight: Weight) -> bool {
        let left = self.remaining.checked_sub(weight.0.saturating_add(PATTERN));
        self.remaining = left.unwrap_or(self.remaining);
        left.is_some()
    }
}

/// About the bytes of a compiled program. A single character counts more than it takes, since each
/// state of a program can cost time for each byte of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Weight(u64);

impl Weight {
    /// A character, an anchor, or what a group costs beside its content.
    pub(super) const UNIT: Self = Self(256);
    /// A set of ASCII characters.
    pub(super) const ASCII_SET: Self = Self(256);
    /// A set that takes in most of Unicode, such as `.` or `[^<>]`.
    pub(super) const WIDE_SET: Self = Self(1536);
    /// A property of Unicode.
    pub(super) const PROPERTY: Self = Self(64 * 1024);

    pub(super) fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The weight of as many copies as the program has to hold.
    pub(super) fn times(self, copies: u64) -> Self {
        Self(self.0.saturating_mul(copies))
    }
}
