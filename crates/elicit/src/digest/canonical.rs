//! One byte string for each JSON value, whatever its white space, key order and escapes.

use std::borrow::Cow;

use super::DigestError;
use crate::json;

/// How deep arrays and objects may be nested: the limit of `serde_json`, and of our stack.
pub(super) const MAX_DEPTH: usize = 128;

/// A value of a text that was found valid before.
enum Node<'a> {
    /// A number in its exact text, or `true`, `false`, `null`.
    Word(&'a str),
    Text(Cow<'a, [u8]>),
    Array(Vec<Node<'a>>),
    /// Sorted by key: in the order of UTF-8 bytes, which is that of code points.
    Object(Vec<(Cow<'a, [u8]>, Node<'a>)>),
}

/// Appends the canonical bytes of the JSON value `raw`. Every part says its kind and ends by a
/// length or a closing mark, so no two values have the same bytes, also one after the other.
pub(super) fn write(raw: &str, bytes: &mut Vec<u8>) -> Result<(), DigestError> {
    if !json::is_valid(raw) {
        return Err(DigestError::NotJson);
    }
    let mut reader = Reader { rest: raw };
    reader.value(0)?.write(bytes);
    Ok(())
}

impl Node<'_> {
    fn write(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Word(word) => part(bytes, b'w', word.as_bytes()),
            Self::Text(text) => part(bytes, b's', text),
            Self::Array(items) => {
                bytes.push(b'[');
                for item in items {
                    item.write(bytes);
                }
                bytes.push(b']');
            }
            Self::Object(members) => {
                bytes.push(b'{');
                for (key, value) in members {
                    part(bytes, b's', key);
                    value.write(bytes);
                }
                bytes.push(b'}');
            }
        }
    }
}

fn part(bytes: &mut Vec<u8>, kind: u8, content: &[u8]) {
    bytes.push(kind);
    bytes.extend_from_slice(&(content.len() as u64).to_be_bytes());
    bytes.extend_from_slice(content);
}

/// Recursive, but only [`MAX_DEPTH`] deep. The text is valid, so what does not fit is not looked
/// for closely; it ends as `NotJson`, never as a panic.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn value(&mut self, depth: usize) -> Result<Node<'a>, DigestError> {
        match self.peek() {
            Some(b'{' | b'[') if depth == MAX_DEPTH => Err(DigestError::TooDeep),
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.array(depth + 1),
            Some(b'"') => self.string().map(Node::Text),
            _ => {
                let end = self.rest.find([',', ']', '}', ' ', '\t', '\n', '\r']).unwrap_or(self.rest.len());
                self.take(end).map(Node::Word)
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Node<'a>, DigestError> {
        self.skip(b'[')?;
        let mut items = Vec::new();
        while self.peek() != Some(b']') {
            items.push(self.value(depth)?);
            self.comma(b']')?;
        }
        self.skip(b']')?;
        Ok(Node::Array(items))
    }

    fn object(&mut self, depth: usize) -> Result<Node<'a>, DigestError> {
        self.skip(b'{')?;
        let mut members = Vec::new();
        while self.peek() != Some(b'}') {
            let key = self.string()?;
            self.skip(b':')?;
            members.push((key, self.value(depth)?));
            self.comma(b'}')?;
        }
        self.skip(b'}')?;
        members.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        if members.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(DigestError::DuplicateKey);
        }
        Ok(Node::Object(members))
    }

    fn string(&mut self) -> Result<Cow<'a, [u8]>, DigestError> {
        self.peek();
        let mut escaped = true; // the opening quote ends nothing
        let end = self
            .rest
            .bytes()
            .position(|byte| {
                let ends = byte == b'"' && !escaped;
                escaped = byte == b'\\' && !escaped;
                ends
            })
            .ok_or(DigestError::NotJson)?;
        json::unescape(self.take(end + 1)?).ok_or(DigestError::NotJson)
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
        self.rest.bytes().next()
    }

    fn skip(&mut self, byte: u8) -> Result<(), DigestError> {
        if self.peek() == Some(byte) { self.take(1).map(drop) } else { Err(DigestError::NotJson) }
    }

    fn comma(&mut self, close: u8) -> Result<(), DigestError> {
        if self.peek() == Some(close) { Ok(()) } else { self.skip(b',') }
    }

    fn take(&mut self, length: usize) -> Result<&'a str, DigestError> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(DigestError::NotJson)?;
        self.rest = rest;
        Ok(taken)
    }
}
