//! The canonical bytes of a value of any length, written straight into the hash.
//!
//! Memory goes to the members of the objects around the present place, and to the [spans](super::spans) of the text;
//! arrays cost none. Time is linear but for sorting keys: a byte is read when the text is checked, when spans are looked
//! for, when the innermost object around it is looked over, and when it is hashed.

use super::DigestError;
use super::cursor::Cursor;
use super::members::Members;
use super::spans::{Span, spans};
use super::stream::Stream;
/// A value in a text that was found valid before.
pub(super) struct Large<'a> {
    text: &'a str,
    start: usize,
    end: usize,
    spans: Vec<Span>,
}

impl<'a> Large<'a> {
    /// The value that begins at `start`, after white space.
    pub(super) fn at(text: &'a str, start: usize) -> Result<Self, DigestError> {
        let mut cursor = Cursor::new(text);
        cursor.jump(start);
        let (spans, end) = if let Some(b'{' | b'[') = cursor.peek() {
            spans(text, cursor.at())?
        } else {
            cursor.pass_value()?;
            (Vec::new(), cursor.at())
        };
        Ok(Self { text, start, end, spans })
    }

    /// The place after it.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// Writes its canonical bytes.
    pub(super) fn write(self, stream: &mut Stream) -> Result<(), DigestError> {
        Writer::new(self, stream).value()
    }
}

/// Recursive, but only [`MAX_DEPTH`](super::spans::MAX_DEPTH) deep, since there are no spans of anything deeper.
struct Writer<'a, 's> {
    text: &'a str,
    cursor: Cursor<'a>,
    spans: Vec<Span>,
    /// The next span that begins after the cursor.
    span: usize,
    members: Members,
    stream: &'s mut Stream,
}

impl<'a, 's> Writer<'a, 's> {
    fn new(Large { text, start, spans, .. }: Large<'a>, stream: &'s mut Stream) -> Self {
        let mut cursor = Cursor::new(text);
        cursor.jump(start);
        Self { text, cursor, spans, span: 0, members: Members::default(), stream }
    }

    fn value(&mut self) -> Result<(), DigestError> {
        match self.cursor.peek() {
            Some(b'{') => return self.object(),
            Some(b'[') => return self.array(),
            Some(b'"') => {
                let text = self.cursor.text()?;
                self.stream.write_text(&text);
            }
            _ => {
                self.stream.write(self.cursor.word()?.as_bytes());
                self.stream.write(b",");
            }
        }
        Ok(())
    }

    fn array(&mut self) -> Result<(), DigestError> {
        self.cursor.expect(b'[')?;
        self.stream.write(b"[");
        while self.cursor.peek() != Some(b']') {
            self.value()?;
            self.cursor.comma(b']')?;
        }
        self.stream.write(b"]");
        self.cursor.expect(b']')
    }

    fn object(&mut self) -> Result<(), DigestError> {
        let mark = self.members.mark();
        self.cursor.expect(b'{')?;
        while self.cursor.peek() != Some(b'}') {
            self.look_over_member()?;
            self.cursor.comma(b'}')?;
        }
        self.cursor.expect(b'}')?;
        let (end, next) = (self.cursor.at(), self.span);

        self.stream.write(b"{");
        for index in 0..self.members.sort(self.text, mark)? {
            let Some((key, member)) = self.members.member(self.text, mark, index) else { break };
            self.stream.write_text(key);
            self.cursor.jump(member.value());
            self.span = member.span();
            self.cursor.expect(b':')?;
            self.value()?;
        }
        self.stream.write(b"}");

        self.members.forget(mark);
        self.cursor.jump(end);
        self.span = next;
        Ok(())
    }

    /// Notes one member, and goes to the end of its value.
    fn look_over_member(&mut self) -> Result<(), DigestError> {
        let key = self.cursor.text()?;
        let after_key = self.cursor.at();
        self.cursor.expect(b':')?;
        if !matches!(self.cursor.peek(), Some(b'{' | b'[')) {
            self.members.push(self.text, key, after_key, self.span)?;
            return self.cursor.pass_value();
        }
        self.members.push(self.text, key, after_key, self.span + 1)?;
        let span = *self.spans.get(self.span).ok_or(DigestError::NotJson)?;
        self.cursor.jump(span.end());
        self.span = span.next();
        Ok(())
    }
}

/// What the valid JSON `text` costs: the most bytes that it needs at one time beside itself and its longest string, and
/// over how many bytes the writer goes.
#[cfg(test)]
pub(super) fn cost(text: &str) -> (usize, usize) {
    let mut stream = Stream::new("");
    let value = Large::at(text, 0).unwrap();
    let mut writer = Writer::new(value, &mut stream);
    writer.value().unwrap();
    let bytes = writer.spans.capacity() * size_of::<Span>() + writer.members.high_water();
    (bytes, writer.cursor.walked)
}
