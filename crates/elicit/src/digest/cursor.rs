use std::borrow::Cow;

use super::DigestError;
use crate::json;

/// Reads along a text that was found valid before. So what does not fit is not looked for closely: it ends as
/// [`DigestError::NotJson`], never as a panic, and every step but [`Self::peek`] gets on or fails.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// Over how many bytes it went in all.
    #[cfg(test)]
    pub(super) walked: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            #[cfg(test)]
            walked: 0,
        }
    }

    /// How many bytes lie behind.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Goes to the beginning or the end of a value.
    pub(super) fn jump(&mut self, at: usize) {
        self.at = at;
    }

    /// The next byte that is no white space, and stops before it.
    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.text.as_bytes().get(self.at) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.walk(self.at + 1),
                byte => return byte.copied(),
            }
        }
    }

    /// Takes the mark `byte`.
    pub(super) fn expect(&mut self, byte: u8) -> Result<(), DigestError> {
        if self.peek() != Some(byte) {
            return Err(DigestError::NotJson);
        }
        self.walk(self.at + 1);
        Ok(())
    }

    /// Between two items of an array or object: takes the comma, or stops before `close`.
    pub(super) fn comma(&mut self, close: u8) -> Result<(), DigestError> {
        if self.peek() == Some(close) { Ok(()) } else { self.expect(b',') }
    }

    /// Takes a string: its content, with escapes undone.
    pub(super) fn text(&mut self) -> Result<Cow<'a, [u8]>, DigestError> {
        self.peek();
        let Quoted { end, escapes } = string(self.text, self.at).ok_or(DigestError::NotJson)?;
        let quoted = self.take(end)?;
        if escapes {
            return json::unescape(quoted).ok_or(DigestError::NotJson);
        }
        let content = quoted.as_bytes().get(1..quoted.len() - 1).ok_or(DigestError::NotJson)?;
        Ok(Cow::Borrowed(content))
    }

    /// Takes a number, `true`, `false` or `null`.
    pub(super) fn word(&mut self) -> Result<&'a str, DigestError> {
        self.peek();
        let ahead = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let length = ahead
            .iter()
            .position(|byte| matches!(byte, b',' | b']' | b'}' | b':' | b'"' | b' ' | b'\t' | b'\n' | b'\r'))
            .unwrap_or(ahead.len());
        if length == 0 { Err(DigestError::NotJson) } else { self.take(self.at + length) }
    }

    /// Passes over a value of any depth, which costs no stack.
    pub(super) fn pass_value(&mut self) -> Result<(), DigestError> {
        match self.peek() {
            Some(b'"') => {
                let end = string_end(self.text, self.at).ok_or(DigestError::NotJson)?;
                return self.take(end).map(drop);
            }
            Some(b'{' | b'[') => {}
            _ => return self.word().map(drop),
        }
        let (mut at, mut depth) = (self.at, 0_usize);
        loop {
            match self.text.as_bytes().get(at).ok_or(DigestError::NotJson)? {
                b'"' => at = string_end(self.text, at).ok_or(DigestError::NotJson)?,
                b'{' | b'[' => (at, depth) = (at + 1, depth + 1),
                b'}' | b']' => (at, depth) = (at + 1, depth - 1),
                _ => at += 1,
            }
            if depth == 0 {
                return self.take(at).map(drop);
            }
        }
    }

    fn take(&mut self, end: usize) -> Result<&'a str, DigestError> {
        let taken = self.text.get(self.at..end).ok_or(DigestError::NotJson)?;
        self.walk(end);
        Ok(taken)
    }

    fn walk(&mut self, end: usize) {
        #[cfg(test)]
        {
            self.walked += end - self.at;
        }
        self.at = end;
    }
}

/// A string in the text.
struct Quoted {
    /// The place after it.
    end: usize,
    /// Whether it holds escapes.
    escapes: bool,
}

/// The string that opens at `start`.
fn string(text: &str, start: usize) -> Option<Quoted> {
    let (mut end, mut escapes) = (start + 1, false);
    loop {
        end += plain(text.as_bytes().get(end..)?);
        if text.as_bytes().get(end)? == &b'"' {
            return Some(Quoted { end: end + 1, escapes });
        }
        // Whatever follows the backslash does not close the string.
        (end, escapes) = (end + 2, true);
    }
}

/// How many bytes stand before the first quote or backslash.
fn plain(bytes: &[u8]) -> usize {
    // Eight bytes at a time. Where a byte is zero, its high bit is what is left here, and no bit below it.
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let zeros = |eight: u64| eight.wrapping_sub(ONES) & !eight & (ONES << 7);
    let (chunks, rest) = bytes.as_chunks();
    for (index, chunk) in chunks.iter().enumerate() {
        let eight = u64::from_le_bytes(*chunk);
        let found = zeros(eight ^ (ONES * u64::from(b'"'))) | zeros(eight ^ (ONES * u64::from(b'\\')));
        if found != 0 {
            return index * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let rest_plain = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')).unwrap_or(rest.len());
    chunks.len() * 8 + rest_plain
}

/// The place after the string that opens at `start`.
pub(super) fn string_end(text: &str, start: usize) -> Option<usize> {
    string(text, start).map(|string| string.end)
}
