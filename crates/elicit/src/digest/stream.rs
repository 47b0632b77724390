use aws_lc_rs::digest::{Context, SHA256, digest};

use super::Digest;

/// How many bytes are kept until the hash takes them together: a call for each number would cost more than hashing it.
pub(super) const ROOM: usize = 2048;

/// SHA-256 of what comes in pieces.
pub(super) struct Stream {
    kept: [u8; ROOM],
    length: usize,
    /// The hash of what is kept no longer. Most requests are shorter than the room.
    context: Option<Context>,
}

impl Stream {
    /// Begins with a label, so that digests of different purposes differ.
    pub(super) fn new(label: &str) -> Self {
        let mut stream = Self { kept: [0; ROOM], length: 0, context: None };
        stream.write(label.as_bytes());
        stream
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        if let Some(room) = self.kept.get_mut(self.length..self.length + bytes.len()) {
            room.copy_from_slice(bytes);
            self.length += bytes.len();
            return;
        }
        let context = self.context.get_or_insert_with(|| Context::new(&SHA256));
        context.update(kept(&self.kept, self.length));
        context.update(bytes);
        self.length = 0;
    }

    /// Writes a text so that its end is known.
    pub(super) fn write_text(&mut self, text: &[u8]) {
        self.write(b"\"");
        self.write(&(text.len() as u64).to_be_bytes());
        self.write(text);
    }

    pub(super) fn finish(self) -> Digest {
        let rest = kept(&self.kept, self.length);
        let value = match self.context {
            Some(mut context) => {
                context.update(rest);
                context.finish()
            }
            None => digest(&SHA256, rest),
        };
        Digest::from_hash(&value)
    }
}

fn kept(kept: &[u8; ROOM], length: usize) -> &[u8] {
    kept.get(..length).unwrap_or_default()
}
