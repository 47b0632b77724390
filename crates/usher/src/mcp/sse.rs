//! Server-sent events, event by event: the bytes of each are kept as they came, so that what we do not act on passes unchanged.
//!
//! Source: WHATWG HTML, "Server-sent events" (`text/event-stream`).

use std::borrow::Cow;

use bytes::{Bytes, BytesMut};

/// The longest event that is taken, in bytes.
pub const EVENT_LIMIT: usize = 16 * 1024 * 1024;

/// An event grew over [`EVENT_LIMIT`] without ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is over {EVENT_LIMIT} bytes")]
pub struct EventTooLong;

/// Cuts a byte stream into events.
#[derive(Debug, Default)]
pub struct Events {
    buffer: BytesMut,
    /// Where the search for the end of the event goes on.
    scanned: usize,
    /// Where the line begins that holds `scanned`.
    line_start: usize,
    /// The last byte is a CR, which ends a line: an LF that follows is its second half.
    after_return: bool,
}

impl Events {
    /// Takes the next bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), EventTooLong> {
        if self.buffer.len() + bytes.len() > EVENT_LIMIT {
            return Err(EventTooLong);
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    /// The next whole event with the empty line that ends it; `None` where more bytes are needed.
    ///
    /// An event is whole at a CR, as it is for its reader, whatever follows. An LF that comes in a later piece then stands
    /// before the next event.
    pub fn next_event(&mut self) -> Option<Event> {
        if self.after_return && !self.buffer[self.scanned..].is_empty() {
            self.after_return = false;
            if self.buffer[self.scanned] == b'\n' {
                self.scanned += 1;
                self.line_start = self.scanned;
            }
        }
        while let Some(found) = memchr::memchr2(b'\n', b'\r', &self.buffer[self.scanned..]) {
            let end = self.scanned + found;
            let rest = &self.buffer[end..];
            let after = end + if rest.starts_with(b"\r\n") { 2 } else { 1 };
            let empty = end == self.line_start;
            self.after_return = rest == b"\r";
            self.line_start = after;
            self.scanned = after;
            if empty {
                let raw = self.buffer.split_to(after).freeze();
                self.line_start = 0;
                self.scanned = 0;
                return Some(Event { raw });
            }
        }
        self.scanned = self.buffer.len();
        None
    }

    /// What is left when the stream has ended: an event without its end, which a reader discards.
    pub fn rest(self) -> Bytes {
        self.buffer.freeze()
    }
}

/// One event, or a comment, or an empty line, as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// All its bytes.
    pub raw: Bytes,
}

impl Event {
    /// Whether the event carries an id, from which a client may resume.
    pub fn has_id(&self) -> bool {
        lines(&String::from_utf8_lossy(&self.raw)).any(|line| line.starts_with("id:"))
    }

    /// The event's data: its `data` lines joined by newlines; `None` where it has none. It is read as clients read it:
    /// bytes that are no UTF-8 are replaced, and a byte order mark is passed over.
    pub fn data(&self) -> Option<Cow<'_, str>> {
        match String::from_utf8_lossy(&self.raw) {
            Cow::Borrowed(text) => data_of(text),
            Cow::Owned(text) => data_of(&text).map(|data| Cow::Owned(data.into_owned())),
        }
    }
}

impl Event {
    /// The event with other data; its other fields stay (R-GW-02).
    pub fn with_data(&self, data: &str) -> Bytes {
        let text = String::from_utf8_lossy(&self.raw);
        let fields = lines(inner(&text)).filter(|line| !line.is_empty() && data_of(line).is_none());
        framed(fields, data)
    }
}

/// The text of an event without what may stand before its first line: half a line end, and a byte order mark.
fn inner(text: &str) -> &str {
    let text = text.strip_prefix('\n').unwrap_or(text);
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn data_of(text: &str) -> Option<Cow<'_, str>> {
    let mut data: Option<Cow<'_, str>> = None;
    for line in lines(inner(text)) {
        let Some(value) = line.strip_prefix("data") else { continue };
        let value = match value.strip_prefix(':') {
            Some(value) => value.strip_prefix(' ').unwrap_or(value),
            None if value.is_empty() => value,
            None => continue,
        };
        data = Some(match data {
            None => Cow::Borrowed(value),
            Some(before) => Cow::Owned(format!("{before}\n{value}")),
        });
    }
    data
}

/// The lines of a text: each of LF, CR LF and CR ends one.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = memchr::memchr2(b'\n', b'\r', text.as_bytes()) else {
            rest = None;
            return Some(text);
        };
        let (line, after) = text.split_at(end);
        rest = after.strip_prefix("\r\n").or_else(|| after.get(1..));
        Some(line)
    })
}

/// Our own event that carries `message`.
pub fn message_event(message: &str) -> Bytes {
    framed(std::iter::once("event: message"), message)
}

fn framed<'a>(fields: impl Iterator<Item = &'a str>, data: &str) -> Bytes {
    let mut event = String::with_capacity(data.len() + 32);
    for field in fields {
        event.push_str(field);
        event.push('\n');
    }
    for line in lines(data) {
        event.push_str("data: ");
        event.push_str(line);
        event.push('\n');
    }
    event.push('\n');
    Bytes::from(event)
}

/// An event with an id put before it. It has none yet.
pub fn event_with_id(id: &str, event: &[u8]) -> Bytes {
    let mut with_id = BytesMut::with_capacity(id.len() + event.len() + 8);
    with_id.extend_from_slice(b"id: ");
    with_id.extend_from_slice(id.as_bytes());
    with_id.extend_from_slice(b"\n");
    with_id.extend_from_slice(event);
    with_id.freeze()
}

/// A comment, which keeps a stream from being closed as idle.
pub const KEEP_ALIVE: Bytes = Bytes::from_static(b": waiting\n\n");

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn events(chunks: &[&[u8]]) -> (Vec<Bytes>, Bytes) {
        let mut events = Events::default();
        let mut found = Vec::new();
        for chunk in chunks {
            events.push(chunk).unwrap();
            while let Some(event) = events.next_event() {
                found.push(event.raw);
            }
        }
        (found, events.rest())
    }

    #[test]
    fn every_kind_of_line_end_ends_an_event() {
        for end in ["\n", "\r\n", "\r"] {
            let text = format!("data: a{end}{end}data: b{end}{end}:{end}");
            let (found, rest) = events(&[text.as_bytes()]);
            let first = Event { raw: found[0].clone() };
            assert_eq!(first.data().as_deref(), Some("a"), "{end:?}");
            assert_eq!(found.concat().len() + rest.len(), text.len(), "{end:?}");
        }
    }

    /// A server that ends lines by CR alone may ask something, and then wait.
    #[test]
    fn an_event_is_whole_before_its_next_byte_came() {
        let (found, rest) = events(&[b"data: a\r\r", b"\ndata: b\r\n\r", b"\n"]);
        assert_eq!(found, ["data: a\r\r", "\ndata: b\r\n\r"]);
        assert_eq!(rest, "\n");
    }

    #[test]
    fn data_lines_are_joined_and_other_fields_are_not_data() {
        let event = Event {
            raw: Bytes::from_static(b"id: 1\nevent: message\ndata: {\"a\":\ndata:1}\ndatas: x\n: data: y\n\n"),
        };
        assert_eq!(event.data().as_deref(), Some("{\"a\":\n1}"));
        assert_eq!(Event { raw: KEEP_ALIVE }.data(), None);
    }

    /// R-CAP-03: what hides behind bytes that a reader replaces or passes over is seen.
    #[test]
    fn data_is_read_as_clients_read_it() {
        let event = |raw: &'static [u8]| Event { raw: Bytes::from_static(raw) };
        assert_eq!(event(b"\xef\xbb\xbfdata: a\n\n").data().as_deref(), Some("a"));
        assert_eq!(event(b": \xff\ndata: a\xff\n\n").data().as_deref(), Some("a\u{fffd}"));
        assert!(event(b": \xff\nid: 1\n\n").has_id());
    }

    #[test]
    fn a_message_with_line_breaks_survives_its_own_framing() {
        let event = Event { raw: message_event("{\n \"a\": 1\r\n}") };
        assert_eq!(event.data().as_deref(), Some("{\n \"a\": 1\n}"));
    }

    /// R-GW-02
    #[test]
    fn an_event_with_other_data_keeps_its_other_fields() {
        let event =
            Event { raw: Bytes::from_static(b"id: 7\r\ndata: {\r\ndata: }\r\nretry: 5\r\ndata\r\n: why\r\n\r\n") };
        assert_eq!(event.with_data("{\n1}"), "id: 7\nretry: 5\n: why\ndata: {\ndata: 1}\n\n");
    }

    #[test]
    fn each_line_end_counts_once() {
        assert_eq!(lines("a\r\n\rb\n\nc\r").collect::<Vec<_>>(), ["a", "", "b", "", "c", ""]);
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut events = Events::default();
        let chunk = vec![b'x'; EVENT_LIMIT / 2 + 1];
        events.push(&chunk).unwrap();
        assert_eq!(events.push(&chunk), Err(EventTooLong));
    }

    proptest! {
        /// R-GW-02: however the bytes are cut into chunks, the events' bytes are the stream's bytes.
        #[test]
        fn no_byte_is_lost_or_moved(text in "([b:\\r\\n ]|data){0,60}", cuts in proptest::collection::vec(0_usize..60, 0..6)) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.push(0);
            cuts.push(bytes.len());
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            let (whole, whole_rest) = events(&[bytes]);
            let (cut, cut_rest) = events(&chunks);
            let data = |raw: &Vec<Bytes>| raw.iter().map(|raw| Event { raw: raw.clone() }.data().map(Cow::into_owned)).collect::<Vec<_>>();
            prop_assert_eq!(data(&whole), data(&cut));
            for (events, rest) in [(whole, whole_rest), (cut, cut_rest)] {
                prop_assert_eq!([events.concat(), rest.to_vec()].concat(), bytes);
            }
        }
    }
}
