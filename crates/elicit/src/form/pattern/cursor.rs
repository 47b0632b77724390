use super::{PatternError, PatternFault};

/// A place in a pattern. Positions are in bytes here; an error counts code points.
#[derive(Clone)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, rest: text }
    }

    pub(super) fn position(&self) -> usize {
        self.text.len() - self.rest.len()
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let character = characters.next();
        self.rest = characters.as_str();
        character
    }

    /// Steps over `expected` where it is next.
    pub(super) fn eat(&mut self, expected: &str) -> bool {
        let rest = self.rest.strip_prefix(expected);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Steps over all characters up to the first for which `inside` does not hold.
    pub(super) fn eat_while(&mut self, inside: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest.trim_start_matches(inside);
        let eaten = self.rest.strip_suffix(rest).unwrap_or_default();
        self.rest = rest;
        eaten
    }

    pub(super) fn error(&self, position: usize, fault: PatternFault) -> PatternError {
        let before = self.text.get(..position).unwrap_or(self.text);
        PatternError { position: before.chars().count(), fault }
    }
}
