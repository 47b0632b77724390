//! The canonical bytes of a small value, written in one walk over the text. An object whose keys stand in another order
//! has its members moved afterwards, once for each object around them, so depth is bounded more narrowly than elsewhere.

use std::cmp::Ordering;

use super::cursor::Cursor;

/// The longest text that is read this way, in bytes: at one time it takes no more than half a mebibyte.
pub(super) const MAX_BYTES: usize = 16 * 1024;
/// How deep arrays and objects may be nested.
pub(super) const MAX_DEPTH: usize = 16;

/// A value that was written.
pub(super) struct Small {
    /// Its canonical bytes.
    pub(super) bytes: Vec<u8>,
    /// The place after it in the text.
    pub(super) end: usize,
}

/// Writes the value that begins at `start`, after white space, of a text that was found valid before. `None` says only that
/// it has to be done in the other way: the text is long or deep, or an object names a key twice.
pub(super) fn write(text: &str, start: usize) -> Option<Small> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let mut writer = Writer::new(text, start);
    writer.value(0)?;
    Some(Small { bytes: writer.bytes, end: writer.cursor.at() })
}

/// How many bytes a small valid text needs at one time beside itself and its longest string.
#[cfg(test)]
pub(super) fn cost(text: &str) -> Option<usize> {
    let mut writer = Writer::new(text, 0);
    writer.value(0)?;
    let Writer { bytes, members, moved, .. } = writer;
    Some(bytes.capacity() + members.capacity() * size_of::<Member>() + moved.capacity())
}

struct Writer<'a> {
    cursor: Cursor<'a>,
    bytes: Vec<u8>,
    /// Those of the objects around the present place, the innermost last.
    members: Vec<Member>,
    /// Room for the members of one object.
    moved: Vec<u8>,
}

/// Where a member stands among the bytes.
#[derive(Clone, Copy)]
struct Member {
    /// The first eight bytes of its key, with zeros where it is shorter: most keys differ in these.
    head: u64,
    start: usize,
    value: usize,
    end: usize,
}

impl Member {
    fn bytes(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// Its key, without the mark and the length before it.
    fn key(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.start + 1 + size_of::<u64>()..self.value).unwrap_or_default()
    }

    /// The order of keys by UTF-8 bytes, which is that of code points.
    fn order(self, other: Self, bytes: &[u8]) -> Ordering {
        self.head.cmp(&other.head).then_with(|| self.key(bytes).cmp(other.key(bytes)))
    }
}

impl<'a> Writer<'a> {
    fn new(text: &'a str, start: usize) -> Self {
        let mut cursor = Cursor::new(text);
        cursor.jump(start);
        // Most texts do not get longer than this.
        let bytes = Vec::with_capacity(text.len().saturating_sub(start) * 2);
        Self { cursor, bytes, members: Vec::new(), moved: Vec::new() }
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        match self.cursor.peek()? {
            b'{' | b'[' if depth == MAX_DEPTH => None,
            b'{' => self.object(depth + 1),
            b'[' => self.array(depth + 1),
            b'"' => self.text().map(drop),
            _ => {
                let word = self.cursor.word().ok()?;
                self.bytes.extend_from_slice(word.as_bytes());
                self.bytes.push(b',');
                Some(())
            }
        }
    }

    /// Its first eight bytes.
    fn text(&mut self) -> Option<u64> {
        let text = self.cursor.text().ok()?;
        let mut mark = [b'"'; 1 + size_of::<u64>()];
        mark[1..].copy_from_slice(&(text.len() as u64).to_be_bytes());
        self.bytes.extend_from_slice(&mark);
        self.bytes.extend_from_slice(&text);
        Some(head(&text))
    }

    fn array(&mut self, depth: usize) -> Option<()> {
        self.cursor.expect(b'[').ok()?;
        self.bytes.push(b'[');
        while self.cursor.peek() != Some(b']') {
            self.value(depth)?;
            self.cursor.comma(b']').ok()?;
        }
        self.bytes.push(b']');
        self.cursor.expect(b']').ok()
    }

    fn object(&mut self, depth: usize) -> Option<()> {
        let before = self.members.len();
        self.cursor.expect(b'{').ok()?;
        self.bytes.push(b'{');
        let first = self.bytes.len();
        while self.cursor.peek() != Some(b'}') {
            let start = self.bytes.len();
            let head = self.text()?;
            let value = self.bytes.len();
            self.cursor.expect(b':').ok()?;
            self.value(depth)?;
            self.members.push(Member { head, start, value, end: self.bytes.len() });
            self.cursor.comma(b'}').ok()?;
        }
        self.sort(before, first)?;
        self.bytes.push(b'}');
        self.cursor.expect(b'}').ok()
    }

    /// Puts the members of the innermost object, whose bytes begin at `first`, in the order of keys.
    fn sort(&mut self, before: usize, first: usize) -> Option<()> {
        let Self { bytes, members, moved, .. } = self;
        let those = members.get_mut(before..)?;
        let in_order = |those: &[Member]| those.is_sorted_by(|left, right| left.order(*right, bytes).is_lt());
        if !in_order(those) {
            those.sort_unstable_by(|left, right| left.order(*right, bytes));
            if !in_order(those) {
                return None;
            }
            moved.clear();
            for member in those {
                moved.extend_from_slice(member.bytes(bytes));
            }
            bytes.truncate(first);
            bytes.extend_from_slice(moved);
        }
        members.truncate(before);
        Some(())
    }
}

fn head(text: &[u8]) -> u64 {
    text.first_chunk().map_or_else(
        || text.iter().zip((0..8).rev()).fold(0, |head, (byte, place)| head | u64::from(*byte) << (place * 8)),
        |eight| u64::from_be_bytes(*eight),
    )
}
