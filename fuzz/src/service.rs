//! The fuzz targets of the service's parsers: each takes any bytes and panics where it reads them otherwise than its reader
//! of a few lines here does.
//!
//! A plain module, for two runners: the libFuzzer binaries in `fuzz_targets`, and `crates/usher/tests/fuzz.rs`, which is a
//! test on stable Rust.

use std::fmt;
use std::str;

use http::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserializer as _;
use serde::de::{MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

use super::mcp::envelope::{EnvelopeError, Message, error_object, error_text, result_text, text_of};
use super::mcp::headers::{self, accepts_events, check_mirrored, forwarded, is_type, returned};
use super::mcp::sse::{Event, Events, message_event};

/// Messages: the kind and the members are those that any reader of JSON finds, and what stays raw stays as it stands.
pub fn envelope(input: &[u8]) {
    let read = Message::parse(input);
    if let Ok(message) = &read {
        parts(input, message);
    }
    let Ok(text) = str::from_utf8(input) else { return assert_eq!(read.err(), Some(EnvelopeError::NotJson)) };
    // What one reader takes and another does not (numbers without end, half characters) has no second opinion.
    let Ok(value) = serde_json::from_str::<Value>(text) else { return };
    let members = match value {
        Value::Object(_) => members(text),
        Value::Array(_) => return assert_eq!(read.err(), Some(EnvelopeError::Batch)),
        _ => return assert_eq!(read.err(), Some(EnvelopeError::NotJson)),
    };
    match (expected(&members), read) {
        (Ok(kind), Ok(message)) => assert_eq!(kind, shape(&message)),
        (Err(expected), Err(error)) => assert_eq!(expected, error),
        (expected, read) => panic!("expected {expected:?}, read {read:?}"),
    }
}

/// Kind, id, method and body of a message, as values.
type Shape = (&'static str, Option<Value>, Option<String>, Option<Value>);

fn shape(message: &Message<'_>) -> Shape {
    let value = |raw: &RawValue| serde_json::from_str::<Value>(raw.get()).expect("a part of a value is a value");
    let id = message.id().map(value);
    match message {
        Message::Request { method, params, .. } => ("request", id, Some(method.to_string()), params.map(value)),
        Message::Notification { method, params } => ("notification", id, Some(method.to_string()), params.map(value)),
        Message::Response { outcome: Ok(result), .. } => ("result", id, None, Some(value(result))),
        Message::Response { outcome: Err(error), .. } => ("error", id, None, Some(value(error))),
    }
}

/// What a message with these members is.
fn expected(members: &[(String, Value, &str)]) -> Result<Shape, EnvelopeError> {
    const KNOWN: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
    let of = |name: &str| members.iter().find(|(key, ..)| key == name);
    let twice = |name: &&str| members.iter().filter(|(key, ..)| key == name).count() > 1;
    if KNOWN.iter().any(twice) || of("jsonrpc").is_none_or(|(_, value, _)| value != "2.0") {
        return Err(EnvelopeError::NotJsonRpc);
    }
    let is_id = |(_, value, raw): &(String, Value, &str)| {
        value.is_string() || value.is_number() && raw.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit())
    };
    if of("id").is_some_and(|member| !is_id(member)) {
        return Err(EnvelopeError::BadId);
    }
    let value = |name: &str| of(name).map(|(_, value, _)| value.clone());
    let method = value("method").map(|method| method.as_str().map(str::to_owned));
    let (id, params) = (value("id"), value("params"));
    if method == Some(None) || params.as_ref().is_some_and(|params| !params.is_object()) {
        return Err(EnvelopeError::NotJsonRpc);
    }
    match (&id, method.flatten(), value("result"), value("error")) {
        (Some(_), Some(method), None, None) => Ok(("request", id, Some(method), params)),
        (None, Some(method), None, None) => Ok(("notification", id, Some(method), params)),
        (Some(_), None, Some(result), None) => Ok(("result", id, None, Some(result))),
        (Some(_), None, None, Some(error)) => Ok(("error", id, None, Some(error))),
        _ => Err(EnvelopeError::NotJsonRpc),
    }
}

/// The members of an object in their order, also such as stand twice: key, value and text.
fn members(text: &str) -> Vec<(String, Value, &str)> {
    struct Members;
    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(String, Value, &'de str)>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some((key, raw)) = map.next_entry::<String, &'de RawValue>()? {
                let value = serde_json::from_str(raw.get()).map_err(serde::de::Error::custom)?;
                members.push((key, value, raw.get()));
            }
            Ok(members)
        }
    }
    serde_json::Deserializer::from_str(text).deserialize_map(Members).expect("an object")
}

/// What is raw is a part of the input, and our own responses are messages with these very parts.
fn parts(input: &[u8], message: &Message<'_>) {
    let text = str::from_utf8(input).expect("what was read is UTF-8");
    let inside = |raw: &RawValue| {
        let start = raw.get().as_ptr() as usize - text.as_ptr() as usize;
        assert_eq!(text.get(start..start + raw.get().len()), Some(raw.get()), "a part that is a copy");
        assert!(RawValue::from_string(raw.get().to_owned()).is_ok_and(|again| again.get() == raw.get()));
        assert_eq!(text_of(raw).map(|read| read.into_owned()), serde_json::from_str(raw.get()).ok());
    };
    if let Some(id) = message.id() {
        inside(id);
        for (text, outcome) in [
            (result_text(id, "{\"n\":1e999}"), Ok("{\"n\":1e999}")),
            (error_text(Some(id), &error_object(-1, "m")), Err("{\"code\":-1,\"message\":\"m\"}")),
        ] {
            let Ok(Message::Response { id: again, outcome: read }) = Message::parse(text.as_bytes()) else {
                panic!("no response: {text}")
            };
            assert_eq!(again.get(), id.get());
            assert_eq!(read.map(RawValue::get).map_err(RawValue::get), outcome);
        }
    }
    match message {
        Message::Request { params, .. } | Message::Notification { params, .. } => {
            params.iter().for_each(|raw| inside(raw))
        }
        Message::Response { outcome: Ok(raw) | Err(raw), .. } => inside(raw),
    }
}

/// Streams: the events' bytes are the stream's bytes however they are cut, and their data is what a reader gets that goes
/// character by character. The first byte says how the rest is cut.
pub fn sse(input: &[u8]) {
    let Some((&cut, stream)) = input.split_first() else { return };
    let (whole, rest) = events([stream]);
    let read = |events: &[Vec<u8>]| -> Vec<(Option<String>, bool)> {
        let event = |raw: &Vec<u8>| Event { raw: raw.clone().into() };
        events.iter().map(event).map(|event| (event.data().map(|data| data.into_owned()), event.has_id())).collect()
    };
    for (events, rest) in [
        (whole.clone(), rest),
        events(stream.chunks(1 + usize::from(cut % 16))),
        events(stream.split_inclusive(|byte| *byte == b'\r')),
    ] {
        assert_eq!(read(&events), read(&whole), "another cut, other events");
        assert_eq!([events.concat(), rest].concat(), stream, "a byte was lost or moved");
    }
    for raw in whole {
        let text = String::from_utf8_lossy(&raw).into_owned();
        let lines = lines(text.strip_prefix('\u{feff}').unwrap_or(&text));
        let event = Event { raw: raw.into() };
        assert_eq!(event.data().map(|data| data.into_owned()), data(&lines));
        assert_eq!(event.has_id(), self::lines(&text).iter().any(|line| line.starts_with("id:")));
        assert!(self::lines(&text).iter().rev().skip(1).all(|line| !line.is_empty()), "two events in one");
        own(&text);
    }
}

/// Our own framing: one event, with the lines of the message as its data.
fn own(message: &str) {
    let framed = message_event(message);
    let (events, rest) = events([&framed[..]]);
    let [event] = events.as_slice() else { panic!("{} events", events.len()) };
    assert!(rest.is_empty());
    let data = Event { raw: event.clone().into() }.data().map(|data| data.into_owned());
    assert_eq!(data, Some(message.replace("\r\n", "\n").replace('\r', "\n")));
}

fn events<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Vec<u8>>, Vec<u8>) {
    let mut events = Events::default();
    let mut found = Vec::new();
    for piece in pieces {
        events.push(piece).expect("inputs are short");
        found.extend(std::iter::from_fn(|| events.next_event()).map(|event| event.raw.to_vec()));
    }
    (found, events.rest().to_vec())
}

/// The lines of a text, with the empty one that ends it.
fn lines(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut after_return = false;
    for character in text.chars() {
        let second_half = after_return && character == '\n';
        after_return = character == '\r';
        match character {
            '\n' if second_half => {}
            '\n' | '\r' => lines.push(String::new()),
            other => lines.last_mut().expect("there is one").push(other),
        }
    }
    lines.pop();
    lines
}

fn data(lines: &[String]) -> Option<String> {
    let value = |line: &String| match line.split_once(':') {
        Some(("data", value)) => Some(value.strip_prefix(' ').unwrap_or(value).to_owned()),
        None if line == "data" => Some(String::new()),
        _ => None,
    };
    let values: Vec<String> = lines.iter().filter_map(value).collect();
    (!values.is_empty()).then(|| values.join("\n"))
}

/// Headers: a name that was written as the specification says is found to be the body's, and no other; and of lines of
/// headers those go on that are meant to. The first line is what the body says, the second what the header says, and the
/// rest are headers.
pub fn headers(input: &[u8]) {
    let mut lines = input.split(|byte| *byte == b'\n');
    let (Some(body), Some(header)) = (lines.next(), lines.next()) else { return };
    if let Ok(body) = str::from_utf8(body) {
        mirrored(body, header);
    }
    passing(lines);
}

fn mirrored(body: &str, header: &[u8]) {
    let check = |name: &[u8]| {
        let mut map = HeaderMap::from_iter([(headers::METHOD, HeaderValue::from_static("tools/call"))]);
        map.insert(headers::NAME, HeaderValue::from_bytes(name).ok()?);
        Some(check_mirrored(&map, "tools/call", Some(body)).is_ok())
    };
    assert_eq!(check(wrapped(body).as_bytes()), Some(true), "an encoded name is not the name");
    if is_plain(body) {
        assert_eq!(check(body.as_bytes()), Some(true), "a plain name is not the name");
    }
    let is_wrapped = header.len() > 10 && header.starts_with(b"=?base64?") && header.ends_with(b"?=");
    let meant = if is_wrapped { wrapped(body).as_bytes() == header } else { body.as_bytes() == header };
    let is_text = header.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
    if let Some(passed) = check(header) {
        assert_eq!(passed, meant && is_text, "a header that says something else");
    }
}

/// Whether a value goes without encoding (streamable HTTP 2026-07-28, "Value Encoding").
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b' '..=b'~')) && text.trim() == text && !text.starts_with("=?base64?")
}

fn wrapped(text: &str) -> String {
    format!("=?base64?{}?=", base64(text.as_bytes()))
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0_usize, |bits, byte| bits << 8 | usize::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let sextet = bits >> (18 - 6 * place) & 63;
            text.push(if place > group.len() { '=' } else { char::from(ALPHABET[sextet]) });
        }
    }
    text
}

/// Names that must not go upstream, whatever else does.
const OURS: [&str; 7] =
    ["authorization", "cookie", "proxy-authorization", "host", "mcp-session-id", "x-api-key", "content-length"];

fn passing<'a>(lines: impl Iterator<Item = &'a [u8]>) {
    let mut map = HeaderMap::new();
    for line in lines {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else { continue };
        let name = HeaderName::from_bytes(&line[..colon]);
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(line[colon + 1..].trim_ascii())) {
            map.append(name, value);
        }
    }
    let upstream = forwarded(&map);
    for name in upstream.keys() {
        assert!(!OURS.contains(&name.as_str()), "{name} went upstream");
        assert!(upstream.get_all(name).iter().eq(map.get_all(name)), "{name} changed on its way");
    }
    for name in map.keys().filter(|name| name.as_str().starts_with("mcp-param-")) {
        assert!(upstream.contains_key(name), "{name} was left out");
    }
    for (name, value) in &returned(&map) {
        assert!(["content-type", "retry-after"].contains(&name.as_str()) && map.get(name) == Some(value));
    }
    let range = |value: &HeaderValue| value.to_str().is_ok_and(|text| text.trim() == "text/event-stream");
    let named = map.get_all("accept").iter().any(range);
    assert!(!named || accepts_events(&map), "a named type is not accepted");
    let kind = map.get("content-type");
    assert!(!(is_type(kind, "application/json") && is_type(kind, "text/event-stream")), "two types at once");
}
