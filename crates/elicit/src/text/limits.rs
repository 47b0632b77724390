//! How much of a text is shown.

use super::draft::LONGEST_NOTICE;

/// The most that is shown of one text, in characters (Unicode scalar values) of what comes out, notices included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Characters in all, newlines included; less than 32 counts as 32.
    pub characters: usize,
    /// Lines, the one after a last newline included; 0 counts as 1.
    pub lines: usize,
    /// Characters in one line, without its newline; less than 32 counts as 32.
    pub line: usize,
}

/// The least that holds a notice and something before it.
const SMALLEST: usize = LONGEST_NOTICE + 8;

impl Default for Limits {
    /// 4,096 characters, 200 lines, 2,048 characters in a line: a long paragraph is one line.
    fn default() -> Self {
        Self { characters: 4_096, lines: 200, line: 2_048 }
    }
}

impl Limits {
    /// These limits, none too small for a notice.
    pub(super) fn usable(self) -> Self {
        Self { characters: self.characters.max(SMALLEST), lines: self.lines.max(1), line: self.line.max(SMALLEST) }
    }

    /// Whether a text of ASCII is within the limits.
    pub(super) fn hold(&self, ascii: &str) -> bool {
        ascii.len() <= self.characters
            && newlines(ascii) < self.lines
            && (ascii.len() <= self.line || ascii.split('\n').all(|line| line.len() <= self.line))
    }
}

/// Counted in chunks that a byte can hold, which compiles to vector instructions.
fn newlines(text: &str) -> usize {
    text.as_bytes()
        .chunks(255)
        .map(|chunk| usize::from(chunk.iter().fold(0_u8, |count, byte| count + u8::from(*byte == b'\n'))))
        .sum()
}
