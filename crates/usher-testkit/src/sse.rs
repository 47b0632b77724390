//! Reading `text/event-stream` as the WHATWG HTML standard says (9.2.6), piece by piece.

/// What a stream said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// An event that would be dispatched.
    Event(Event),
    /// A comment line without its colon; browsers ignore it, tests want to see keep-alives.
    Comment(String),
    /// A `retry` field, in milliseconds.
    Retry(u64),
    /// A blank line that dispatched nothing (no `data` at all) but left this last event id.
    Id(String),
}

/// One dispatched event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The type: `message` where the stream named none.
    pub kind: String,
    /// The data lines, joined by line feeds.
    pub data: String,
    /// The last event id at that moment; empty when none was given.
    pub id: String,
}

/// An incremental parser: feed it pieces, cut anywhere.
#[derive(Debug, Default)]
pub struct Parser {
    line: Vec<u8>,
    started: bool,
    after_return: bool,
    kind: String,
    data: Option<String>,
    named: bool,
    last_id: String,
}

impl Parser {
    /// A parser at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// The last event id so far, as a browser would send it in `Last-Event-ID`.
    pub fn last_event_id(&self) -> &str {
        &self.last_id
    }

    /// What became complete with this piece. An event without its blank line is never dispatched.
    pub fn push(&mut self, piece: &[u8]) -> Vec<Item> {
        let mut items = Vec::new();
        for &byte in piece {
            let second_half = std::mem::take(&mut self.after_return) && byte == b'\n';
            match byte {
                _ if second_half => {}
                b'\r' | b'\n' => {
                    self.after_return = byte == b'\r';
                    let line = std::mem::take(&mut self.line);
                    self.end_of_line(&line, &mut items);
                }
                _ => self.line.push(byte),
            }
        }
        items
    }

    fn end_of_line(&mut self, line: &[u8], items: &mut Vec<Item>) {
        let text = String::from_utf8_lossy(line);
        let mut text = text.as_ref();
        if !std::mem::replace(&mut self.started, true) {
            text = text.strip_prefix('\u{feff}').unwrap_or(text);
        }
        if text.is_empty() {
            return self.dispatch(items);
        }
        let (field, value) = text.split_once(':').unwrap_or((text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "" => items.push(Item::Comment(value.to_owned())),
            "event" => value.clone_into(&mut self.kind),
            "data" => {
                let data = self.data.get_or_insert_default();
                data.push_str(value);
                data.push('\n');
            }
            "id" if !value.contains('\0') => {
                value.clone_into(&mut self.last_id);
                self.named = true;
            }
            "retry" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                items.extend(value.parse().ok().map(Item::Retry));
            }
            _ => {}
        }
    }

    fn dispatch(&mut self, items: &mut Vec<Item>) {
        let kind = std::mem::take(&mut self.kind);
        let named = std::mem::take(&mut self.named);
        // `data:` alone is an event with empty data by the standard; MCP primes streams with it.
        match self.data.take().as_deref().and_then(|data| data.strip_suffix('\n')) {
            Some(data) => items.push(Item::Event(Event {
                kind: if kind.is_empty() { "message".to_owned() } else { kind },
                data: data.to_owned(),
                id: self.last_id.clone(),
            })),
            _ if named => items.push(Item::Id(self.last_id.clone())),
            _ => {}
        }
    }
}

/// The text of one event of type `message` with this data.
pub fn event(data: &str) -> String {
    let mut text = String::from("event: message\n");
    for line in data.split('\n') {
        text.push_str("data: ");
        text.push_str(line);
        text.push('\n');
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(data: &str, id: &str) -> Item {
        Item::Event(Event { kind: "message".into(), data: data.into(), id: id.into() })
    }

    #[test]
    fn every_line_ending_and_every_cut_gives_the_same_events() {
        let plain =
            "\u{feff}: hi\nid: 1\ndata\n\nretry: 15\ndata: a\ndata:b\n\nevent:x\ndata:  c\nnonsense: 1\n\ndata: lost";
        let expected = vec![
            Item::Comment("hi".into()),
            message("", "1"),
            Item::Retry(15),
            message("a\nb", "1"),
            Item::Event(Event { kind: "x".into(), data: " c".into(), id: "1".into() }),
        ];
        for ending in ["\n", "\r", "\r\n"] {
            let bytes = plain.replace('\n', ending).into_bytes();
            for size in 1..=bytes.len() {
                let mut parser = Parser::new();
                let items: Vec<Item> = bytes.chunks(size).flat_map(|piece| parser.push(piece)).collect();
                assert_eq!(items, expected, "ending {ending:?}, pieces of {size}");
            }
        }
    }

    #[test]
    fn an_id_with_nul_and_a_retry_with_letters_are_ignored() {
        let mut parser = Parser::new();
        assert_eq!(parser.push(b"id: a\0b\nretry: 1s\ndata: x\n\n"), vec![message("x", "")]);
        assert_eq!(parser.last_event_id(), "");
        assert_eq!(parser.push(b"id: 4\n\n"), vec![Item::Id("4".into())]);
    }

    #[test]
    fn a_built_event_reads_back() {
        assert_eq!(Parser::new().push(event("{\n}").as_bytes()), vec![message("{\n}", "")]);
    }
}
