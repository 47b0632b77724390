use super::DigestError;

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

    /// Takes a string, with its quotes.
    pub(super) fn string(&mut self) -> Result<&'a str, DigestError> {
        self.peek();
        let end = string_end(self.text, self.at).ok_or(DigestError::NotJson)?;
        self.take(end)
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
            Some(b'"') => return self.string().map(drop),
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

/// The place after the string that opens at `start`.
pub(super) fn string_end(text: &str, start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        let ahead = text.get(at..)?;
        let (before, _) = ahead.split_once('"')?;
        at += before.len() + 1;
        // A quote after an odd number of backslashes is part of the string.
        if before.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 0 {
            return Some(at);
        }
    }
}
