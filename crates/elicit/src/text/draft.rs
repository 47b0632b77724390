//! The text that is being written, and where it can be cut.

use std::fmt::Write as _;

/// The most nonspacing marks that are kept on one base (UTS #39, 5.4).
pub(super) const MOST_MARKS: usize = 4;

/// `…‹+18446744073709551615›`, in characters.
pub(super) const LONGEST_NOTICE: usize = 24;

/// A base for a mark that has none.
const DOTTED_CIRCLE: char = '\u{25CC}';

/// A place where the text may end, before a notice.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cut {
    /// The bytes of output before it.
    bytes: usize,
    /// The characters of output before it, in all and in its line.
    characters: usize,
    column: usize,
    /// The bytes of input before it.
    pub(super) read: usize,
}

/// The output so far. Whether it is too long is for its owner to ask.
#[derive(Debug, Default)]
pub(super) struct Draft {
    text: String,
    /// Characters in all, and in the last line.
    pub(super) characters: usize,
    pub(super) column: usize,
    /// The last character, if it is one of the text in the same line: none at the start, and after a notice.
    pub(super) previous: Option<char>,
    /// Nonspacing marks on the last base.
    pub(super) marks: usize,
    /// Marks of the last base that are not written.
    dropped: usize,
}

impl Draft {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes), ..Self::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// A character that others can sit on.
    pub(super) fn base(&mut self, character: char) {
        self.append(character);
        self.marks = 0;
    }

    /// An invisible character inside a cluster.
    pub(super) fn append(&mut self, character: char) {
        self.text.push(character);
        self.count(1);
        self.previous = Some(character);
    }

    /// A combining mark; one too many is dropped, and every mark after it.
    pub(super) fn mark(&mut self, character: char, nonspacing: bool) {
        if self.dropped > 0 || (nonspacing && self.marks == MOST_MARKS) {
            self.dropped += 1;
            return;
        }
        if self.previous.is_none() {
            self.base(DOTTED_CIRCLE);
        }
        self.append(character);
        self.marks += usize::from(nonspacing);
    }

    /// To be called before whatever is no mark, and at the end: says how many marks were dropped.
    pub(super) fn end_marks(&mut self) {
        if self.dropped > 0 {
            let dropped = std::mem::take(&mut self.dropped);
            self.notice(format_args!("‹+{dropped}›"));
        }
    }

    /// Begins another line.
    pub(super) fn newline(&mut self) {
        self.base('\n');
        self.column = 0;
        self.previous = None;
    }

    /// The code point of a character that no glyph stands for.
    pub(super) fn code_point(&mut self, character: char) {
        self.notice(format_args!("‹U+{:04X}›", u32::from(character)));
    }

    /// Where the text could end now, with `read` bytes of input behind it.
    pub(super) fn cut(&self, read: usize) -> Cut {
        Cut { bytes: self.text.len(), characters: self.characters, column: self.column, read }
    }

    /// Goes back to `cut`, and says `…` there.
    pub(super) fn end_at(&mut self, cut: Cut) {
        self.text.truncate(cut.bytes);
        self.characters = cut.characters;
        self.column = cut.column;
        self.dropped = 0;
        self.notice(format_args!("…"));
    }

    /// Says after an [`end_at`](Self::end_at) how many characters of the input are left out.
    pub(super) fn left_out(&mut self, characters: usize) {
        self.notice(format_args!("‹+{characters}›"));
    }

    fn notice(&mut self, notice: std::fmt::Arguments<'_>) {
        let start = self.text.len();
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(notice);
        let written = self.text.get(start..).map_or(0, |written| written.chars().count());
        self.count(written);
        self.previous = None;
        self.marks = 0;
    }

    fn count(&mut self, characters: usize) {
        self.characters += characters;
        self.column += characters;
    }
}
