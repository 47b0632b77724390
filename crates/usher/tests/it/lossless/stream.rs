//! Streams of events with everything that may stand in one.

use proptest::prelude::*;

use super::json::{Draft, draft};

/// What stands in a stream before and between messages.
#[derive(Debug, Clone)]
enum Part {
    Notification(Draft),
    Request(Draft),
    Line(&'static str),
}

/// A stream: what is in it before the last message, how its lines end, and how it is cut into pieces.
#[derive(Debug, Clone)]
pub struct Stream {
    parts: Vec<Part>,
    fields: Vec<&'static str>,
    end: &'static str,
    /// Bytes a piece.
    pub piece: usize,
}

/// Any stream; with requests of the server where the era has them.
pub fn stream() -> impl Strategy<Value = Stream> {
    let part = prop_oneof![
        3 => draft().prop_map(Part::Notification),
        1 => draft().prop_map(Part::Request),
        2 => prop::sample::select(vec![": a comment\n", ":\n", "retry: 100\n", "id: 7\ndata:\n", "unknown: 1\n", "\n"])
            .prop_map(Part::Line),
    ];
    let fields = prop::sample::subsequence(vec!["id: 12", "event: message", ": why", "x: y"], 0..4);
    let end = prop_oneof![4 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\r")];
    (prop::collection::vec(part, 0..4), fields, end, prop_oneof![1_usize..40, Just(100_000)])
        .prop_map(|(parts, fields, end, piece)| Stream { parts, fields, end, piece })
}

impl Stream {
    /// The bytes of the stream up to its end, with `last` as the last message.
    pub fn text(&self, requests: bool, last: &str) -> String {
        let mut text = String::new();
        for (place, part) in self.parts.iter().enumerate() {
            match part {
                Part::Notification(draft) => text += &self.event(&notification(draft, "notifications/any")),
                Part::Request(draft) if requests => {
                    let id = format!("\"r{place}\"");
                    text += &self.event(&draft.with(&[("jsonrpc", "\"2.0\""), ("id", &id), ("method", "\"any/ask\"")]));
                }
                Part::Request(_) => {}
                Part::Line(line) => text += &format!("{line}\n").replace('\n', self.end),
            }
        }
        text + &self.event(last)
    }

    /// One message, over as many lines as it has.
    pub fn event(&self, message: &str) -> String {
        let fields: String = self.fields.iter().map(|field| format!("{field}{}", self.end)).collect();
        let data: String = message.split('\n').map(|line| format!("data: {line}{}", self.end)).collect();
        fields + &data + self.end
    }
}

/// A notification with whatever stands in the draft beside its params.
pub fn notification(draft: &Draft, method: &str) -> String {
    let params = draft.with(&[("level", "\"info\""), ("data", "1e999")]);
    draft.with(&[("jsonrpc", "\"2.0\""), ("method", &format!("\"{method}\"")), ("params", &params)])
}
