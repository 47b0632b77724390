//! Cleaning: one pass over the normalised text.

use std::str::Chars;

use super::character::{Kind, kind};
use super::draft::{Cut, Draft, LONGEST_NOTICE};
use super::invisible::{BLACK_FLAG, belongs, is_joiner, is_skin_tone, subdivision};
use super::limits::Limits;
use super::source::Source;

/// Tab stops are this many characters apart.
const TAB: usize = 4;

/// Text of several lines, within `limits` that hold a notice.
pub(super) fn lines(text: &str, limits: &Limits) -> String {
    let source = Source::read(text, limits.characters);
    let mut cleaning = Cleaning::new(&source, *limits, LONGEST_NOTICE);
    let mut characters = source.text.chars();
    let mut line = 1;
    loop {
        let read = source.before(&characters);
        let Some(character) = characters.next() else {
            return cleaning.end_text(read, source.beyond == 0);
        };
        match kind(character) {
            Kind::Newline => {
                cleaning.end_line(read);
                cleaning.may_cut(read);
                if line == limits.lines {
                    return cleaning.end_text(read, false);
                }
                line += 1;
                if character == '\r' && characters.as_str().starts_with('\n') {
                    characters.next();
                }
                cleaning.begin_line(source.before(&characters));
            }
            Kind::Tab => cleaning.room(read, TAB - cleaning.draft.column % TAB),
            kind => cleaning.write(character, kind, &mut characters, read),
        }
        if cleaning.draft.column > limits.line {
            let rest = characters.as_str();
            characters = rest.find(['\n', '\r']).and_then(|end| rest.get(end..)).unwrap_or_default().chars();
            cleaning.end_line(source.before(&characters));
        }
        if cleaning.draft.characters > limits.characters {
            return cleaning.end_text(read, false);
        }
    }
}

/// Text of one line, of at most `longest` characters.
pub(super) fn line(text: &str, longest: usize) -> String {
    let source = Source::read(text, longest);
    let limits = Limits { characters: longest, lines: 1, line: usize::MAX };
    let mut cleaning = Cleaning::new(&source, limits, 1);
    let mut characters = source.text.chars();
    let mut after_room = false;
    while cleaning.draft.characters <= longest {
        let read = source.before(&characters);
        let Some(character) = characters.next() else { break };
        let kind = kind(character);
        if character == ' ' || matches!(kind, Kind::Newline | Kind::Tab | Kind::Space) {
            cleaning.draft.end_marks();
            after_room = !cleaning.draft.is_empty();
            continue;
        }
        if std::mem::take(&mut after_room) {
            cleaning.room(read, 1);
        }
        cleaning.write(character, kind, &mut characters, read);
    }
    cleaning.draft.end_marks();
    if source.beyond > 0 || cleaning.draft.characters > longest {
        cleaning.draft.end_at(cleaning.last);
    }
    cleaning.draft.into_text()
}

/// A draft, and the last places where it can be cut with room for a notice.
struct Cleaning<'a> {
    source: &'a Source<'a>,
    limits: Limits,
    /// The characters that a notice needs.
    reserved: usize,
    draft: Draft,
    /// The last place where the text can be cut; never after `last_in_line`.
    last: Cut,
    /// The last place where the line can be cut.
    last_in_line: Cut,
}

impl<'a> Cleaning<'a> {
    fn new(source: &'a Source<'a>, limits: Limits, reserved: usize) -> Self {
        let draft = Draft::with_capacity(source.text.len());
        Self { source, limits, reserved, draft, last: Cut::default(), last_in_line: Cut::default() }
    }

    /// One character that is neither newline nor tab, and what belongs to it.
    fn write(&mut self, character: char, kind: Kind, after: &mut Chars<'_>, read: usize) {
        match kind {
            Kind::Nonspacing => return self.draft.mark(character, true),
            Kind::Spacing => return self.draft.mark(character, false),
            Kind::Space => return self.room(read, 1),
            Kind::Newline | Kind::Tab | Kind::Hidden | Kind::Plain => self.draft.end_marks(),
        }
        let previous = self.draft.previous;
        if kind == Kind::Plain {
            // A joiner is kept for what follows it, and a skin tone colours what it follows.
            if !previous.is_some_and(is_joiner) && !is_skin_tone(character) {
                self.may_cut(read);
            }
            self.draft.base(character);
            if let Some(tags) = subdivision(after.as_str()).filter(|_| character == BLACK_FLAG) {
                tags.chars().for_each(|tag| self.draft.append(tag));
                *after = after.as_str().get(tags.len()..).unwrap_or_default().chars();
            }
        } else if belongs(character, previous, after.as_str(), self.draft.marks) {
            self.draft.append(character);
        } else {
            self.may_cut(read);
            self.draft.code_point(character);
        }
    }

    fn room(&mut self, read: usize, spaces: usize) {
        self.draft.end_marks();
        self.may_cut(read);
        for _ in 0..spaces {
            self.draft.base(' ');
        }
    }

    /// Remembers this place, with `read` bytes of input before it, if a notice would fit.
    fn may_cut(&mut self, read: usize) {
        if self.draft.column <= self.limits.line - self.reserved {
            self.last_in_line = self.draft.cut(read);
            if self.draft.characters <= self.limits.characters - self.reserved {
                self.last = self.last_in_line;
            }
        }
    }

    fn begin_line(&mut self, read: usize) {
        self.draft.newline();
        self.last_in_line = self.draft.cut(read);
    }

    /// Ends a line whose input ends after `read` bytes; cuts it if it is too long.
    fn end_line(&mut self, read: usize) {
        self.draft.end_marks();
        if self.draft.column > self.limits.line {
            let left_out = self.source.characters(self.last_in_line.read..read);
            self.draft.end_at(self.last_in_line);
            self.draft.left_out(left_out);
        }
    }

    /// Ends the text; cuts it if it is too long or not `complete`.
    fn end_text(mut self, read: usize, complete: bool) -> String {
        self.end_line(read);
        if !complete || self.draft.characters > self.limits.characters {
            let left_out = self.source.characters(self.last.read..self.source.text.len()) + self.source.beyond;
            self.draft.end_at(self.last);
            self.draft.left_out(left_out);
        }
        self.draft.into_text()
    }
}
