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
    pub fn next_event(&mut self) -> Option<Event> {
        while let Some(found) = memchr::memchr2(b'\n', b'\r', &self.buffer[self.scanned..]) {
            let end = self.scanned + found;
            let after = if self.buffer[end] == b'\n' {
                end + 1
            } else {
                // A CR may be the first half of a CR LF whose second half has not come yet.
                match self.buffer.get(end + 1) {
                    None => {
                        self.scanned = end;
                        return None;
                    }
                    Some(b'\n') => end + 2,
                    Some(_) => end + 1,
                }
            };
            let empty = end == self.line_start;
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

    /// The event with `message` in place of its data. Its id and retry time stay.
    pub fn with_message(&self, message: &str) -> Bytes {
        let text = String::from_utf8_lossy(&self.raw);
        let mut event = BytesMut::new();
        for line in lines(text.trim_start_matches('\u{feff}')) {
            if line.starts_with("id:") || line.starts_with("retry:") {
                event.extend_from_slice(line.as_bytes());
                event.extend_from_slice(b"\n");
            }
        }
        event.extend_from_slice(&message_event(message));
        event.freeze()
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

fn data_of(text: &str) -> Option<Cow<'_, str>> {
    let mut data: Option<Cow<'_, str>> = None;
    for line in lines(text.strip_prefix('\u{feff}').unwrap_or(text)) {
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

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

/// Our own event that carries `message`.
pub fn message_event(message: &str) -> Bytes {
    let mut event = String::with_capacity(message.len() + 32);
    event.push_str("event: message\n");
    for line in lines(message) {
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

    /// A client resumes from the same place, whatever the event says by now.
    #[test]
    fn an_event_with_another_message_keeps_its_id() {
        let event =
            Event { raw: Bytes::from_static(b"\xef\xbb\xbfid: 4\r\nevent: message\nretry:9\ndata: a\ndata: b\n\n") };
        assert_eq!(event.with_message("{}"), "id: 4\nretry:9\nevent: message\ndata: {}\n\n");
        assert_eq!(Event { raw: KEEP_ALIVE }.with_message("{}"), message_event("{}"));
        let ours = Event { raw: event_with_id("u-1", &message_event("{}")) };
        assert!(ours.has_id() && ours.data().as_deref() == Some("{}"));
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
        fn no_byte_is_lost_or_moved(text in "[ab:\\r\\n ]{0,60}", cuts in proptest::collection::vec(0_usize..60, 0..6)) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.push(0);
            cuts.push(bytes.len());
            cuts.sort_unstable();
            let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            let (whole, whole_rest) = events(&[bytes]);
            let (cut, cut_rest) = events(&chunks);
            prop_assert_eq!(&whole, &cut);
            prop_assert_eq!(&whole_rest, &cut_rest);
            let mut joined = whole.concat();
            joined.extend_from_slice(&whole_rest);
            prop_assert_eq!(joined, bytes);
        }
    }
}
