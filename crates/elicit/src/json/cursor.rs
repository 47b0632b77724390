//! Walks through JSON text once, and hands out the pieces of it as they stand there.

use std::borrow::Cow;

/// The text is not JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotJson;

/// A key of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Key<'a> {
    Text(Cow<'a, str>),
    /// With half of a surrogate pair in it, as [`unescape`](super::unescape) makes it.
    NoText(Vec<u8>),
}

/// A place in a JSON text. Everything before it was found valid.
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The first byte of the next value.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
                return Some(*byte);
            }
            self.at += 1;
        }
        None
    }

    /// Enters an object or an array, whose first byte was [peeked](Self::peek).
    pub(crate) fn enter(&mut self) {
        self.at += 1;
    }

    /// The next key of the object that was entered, up to its value; `None` at its end. `first` says whether none was read
    /// before.
    pub(crate) fn next_key(&mut self, first: bool) -> Result<Option<Key<'a>>, NotJson> {
        if !self.continues(b'}', first)? {
            return Ok(None);
        }
        if self.peek() != Some(b'"') {
            return Err(NotJson);
        }
        let start = self.at;
        let plain = self.string()?;
        let text = self.text.get(start..self.at).ok_or(NotJson)?;
        let key = if plain {
            Key::Text(Cow::Borrowed(text.get(1..text.len() - 1).ok_or(NotJson)?))
        } else {
            let bytes = super::unescape(text).ok_or(NotJson)?.into_owned();
            String::from_utf8(bytes)
                .map_or_else(|error| Key::NoText(error.into_bytes()), |text| Key::Text(Cow::Owned(text)))
        };
        if self.peek() != Some(b':') {
            return Err(NotJson);
        }
        self.at += 1;
        Ok(Some(key))
    }

    /// Whether the array that was entered has one more item, which is next.
    pub(crate) fn next_item(&mut self, first: bool) -> Result<bool, NotJson> {
        self.continues(b']', first)
    }

    /// The text of the next value, behind which the cursor then stands. Depth costs a bit a level, and no stack.
    pub(crate) fn value(&mut self) -> Result<&'a str, NotJson> {
        let first = self.peek();
        let start = self.at;
        match first {
            Some(b'{' | b'[') => self.container()?,
            Some(b'"') => drop(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => self.word()?,
        }
        self.text.get(start..self.at).ok_or(NotJson)
    }

    fn container(&mut self) -> Result<(), NotJson> {
        let mut open = Levels::default();
        loop {
            // A value begins here, or the end of an empty container.
            match self.peek().ok_or(NotJson)? {
                b'"' => drop(self.string()?),
                byte @ (b'{' | b'[') => {
                    self.at += 1;
                    open.push(byte == b'{');
                    let end = if byte == b'{' { b'}' } else { b']' };
                    if self.peek() != Some(end) {
                        if byte == b'{' {
                            self.key()?;
                        }
                        continue;
                    }
                    self.at += 1;
                    open.pop();
                }
                b'-' | b'0'..=b'9' => self.number()?,
                _ => self.word()?,
            }
            // A value has ended: so may what it stands in.
            loop {
                let Some(in_object) = open.last() else { return Ok(()) };
                match (self.peek().ok_or(NotJson)?, in_object) {
                    (b',', _) => {
                        self.at += 1;
                        if in_object {
                            self.key()?;
                        }
                        break;
                    }
                    (b'}', true) | (b']', false) => {
                        self.at += 1;
                        open.pop();
                    }
                    _ => return Err(NotJson),
                }
            }
        }
    }

    /// Nothing but white space may follow.
    pub(crate) fn end(&mut self) -> Result<(), NotJson> {
        if self.peek().is_none() { Ok(()) } else { Err(NotJson) }
    }

    fn continues(&mut self, end: u8, first: bool) -> Result<bool, NotJson> {
        match self.peek() {
            Some(byte) if byte == end => {
                self.at += 1;
                Ok(false)
            }
            Some(_) if first => Ok(true),
            Some(b',') => {
                self.at += 1;
                // No comma before the end.
                if self.peek() == Some(end) { Err(NotJson) } else { Ok(true) }
            }
            _ => Err(NotJson),
        }
    }

    fn key(&mut self) -> Result<(), NotJson> {
        if self.peek() != Some(b'"') {
            return Err(NotJson);
        }
        self.string()?;
        if self.peek() != Some(b':') {
            return Err(NotJson);
        }
        self.at += 1;
        Ok(())
    }

    /// Whether it has no escapes.
    fn string(&mut self) -> Result<bool, NotJson> {
        let bytes = self.text.as_bytes();
        let mut plain = true;
        let mut at = self.at + 1;
        loop {
            let rest = bytes.get(at..).ok_or(NotJson)?;
            at += rest.iter().position(|byte| STOPS[usize::from(*byte)]).ok_or(NotJson)?;
            match bytes.get(at) {
                Some(b'"') => break,
                Some(b'\\') => {
                    plain = false;
                    at += match bytes.get(at + 1).ok_or(NotJson)? {
                        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
                        b'u' if bytes
                            .get(at + 2..at + 6)
                            .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) =>
                        {
                            6
                        }
                        _ => return Err(NotJson),
                    };
                }
                _ => return Err(NotJson),
            }
        }
        self.at = at + 1;
        Ok(plain)
    }

    fn number(&mut self) -> Result<(), NotJson> {
        let bytes = self.text.as_bytes();
        let digits = |mut at: usize| {
            let start = at;
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            if at > start { Ok(at) } else { Err(NotJson) }
        };
        let mut at = self.at + usize::from(bytes.get(self.at) == Some(&b'-'));
        at = if bytes.get(at) == Some(&b'0') { at + 1 } else { digits(at)? };
        if bytes.get(at) == Some(&b'.') {
            at = digits(at + 1)?;
        }
        if matches!(bytes.get(at), Some(b'e' | b'E')) {
            at += 1;
            at += usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
            at = digits(at)?;
        }
        self.at = at;
        Ok(())
    }

    fn word(&mut self) -> Result<(), NotJson> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let word = [&b"true"[..], b"false", b"null"].into_iter().find(|word| rest.starts_with(word));
        self.at += word.ok_or(NotJson)?.len();
        Ok(())
    }
}

/// The bytes that end a run of plain characters in a string: its end, an escape, and what may not stand there.
const STOPS: [bool; 256] = {
    let mut stops = [false; 256];
    let mut control = 0;
    while control < 0x20 {
        stops[control] = true;
        control += 1;
    }
    stops[b'"' as usize] = true;
    stops[b'\\' as usize] = true;
    stops
};

/// For each open container whether it is an object: a bit each, so that depth is cheap.
#[derive(Default)]
struct Levels {
    /// The innermost 64, the last one lowest.
    near: u64,
    /// Those before, 64 a word.
    far: Vec<u64>,
    depth: usize,
}

impl Levels {
    fn push(&mut self, object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.far.push(self.near);
        }
        self.near = self.near << 1 | u64::from(object);
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.near >>= 1;
        if self.depth > 0
            && self.depth.is_multiple_of(64)
            && let Some(near) = self.far.pop()
        {
            self.near = near;
        }
    }

    fn last(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.near & 1 == 1)
    }
}

/// The items of a valid text that is an array; none of another one.
pub(crate) fn items(raw: &str) -> impl Iterator<Item = &str> {
    let mut cursor = Cursor::new(raw);
    let mut first = true;
    let array = cursor.peek() == Some(b'[');
    cursor.enter();
    std::iter::from_fn(move || {
        let more = array && cursor.next_item(first).unwrap_or(false);
        first = false;
        if more { cursor.value().ok() } else { None }
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;

    fn whole(text: &str) -> Result<&str, NotJson> {
        let mut cursor = Cursor::new(text);
        let value = cursor.value()?;
        cursor.end()?;
        Ok(value)
    }

    /// Against `serde_json` as the oracle.
    fn agree(text: &str) {
        let oracle = serde_json::from_str::<&RawValue>(text).ok().map(RawValue::get);
        assert_eq!(whole(text).ok(), oracle, "{text:?}");
    }

    #[test]
    fn json_is_what_the_oracle_says_it_is() {
        for text in [
            "",
            " ",
            "null",
            "nul",
            "nulll",
            "true ",
            " false",
            "0",
            "-0",
            "01",
            "-",
            "1.",
            ".1",
            "1.5e+10",
            "1e",
            "1e+",
            "--1",
            "\"\"",
            "\"a\\u00e9\\n\"",
            "\"\\u00g0\"",
            "\"\\x\"",
            "\"\n\"",
            "\"\u{7f}\"",
            "\"",
            "\"\\",
            "\"\\u12",
            "[]",
            "[ ]",
            "[1,]",
            "[,1]",
            "[1 2]",
            "[1,2]",
            "[[[]]]",
            "[[]",
            "[]]",
            "{}",
            "{ }",
            "{\"a\":1}",
            "{\"a\":1,}",
            "{\"a\"}",
            "{\"a\" 1}",
            "{a:1}",
            "{\"a\":1,\"b\":[{}]}",
            "{\"a\":{}}",
            "{\"a\":}",
            "[}",
            "{]",
            "[{]}",
            "1 1",
            "\u{feff}1",
            "{\"a\":1 , \"b\" : 2}",
            "[\"\\ud800\"]",
            "[1]\n",
        ] {
            agree(text);
        }
    }

    #[test]
    fn any_depth_costs_no_stack() {
        for depth in [63, 64, 65, 127, 128, 129, 200_000] {
            let deep: String = (0..depth).map(|n| if n % 3 == 0 { "{\"a\":" } else { "[" }).collect::<String>() + "1";
            let close: String = (0..depth).rev().map(|n| if n % 3 == 0 { "}" } else { "]" }).collect();
            assert!(whole(&(deep.clone() + &close)).is_ok(), "{depth}");
            assert!(whole(&(deep.clone() + &close.replacen('}', "]", 1))).is_err(), "{depth}");
            assert!(whole(&deep).is_err(), "{depth}");
        }
    }

    #[test]
    fn an_array_is_handed_out_item_by_item() {
        let read: Vec<_> = items(r#" [ 1 , "a,b" ,[2, 3],{"x":[4]} ] "#).collect();
        assert_eq!(read, ["1", r#""a,b""#, "[2, 3]", r#"{"x":[4]}"#]);
        assert_eq!(items("[]").count() + items("{\"a\":1}").count() + items("7").count(), 0);
    }

    proptest! {
        #[test]
        fn any_text_is_read_as_the_oracle_reads_it(text in prop_oneof![
            any::<String>(),
            "[\\[\\]{}:,\"0-9a\\\\ .e+-]{0,12}",
            "(\\[|\\{\"a\":|1|\"b\"|null|,|\\]|\\}|,\"c\":){0,12}",
        ]) {
            let oracle = serde_json::from_str::<&RawValue>(&text).ok().map(RawValue::get);
            prop_assert_eq!(whole(&text).ok(), oracle);
        }
    }
}
