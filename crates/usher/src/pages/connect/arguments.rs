//! What a call is called with, as a person can read it: nothing left out, nothing hidden, every number as it was written.
//!
//! Long parts are folded, so that what is short can be found. Below stands the text itself, in which all that is not
//! ASCII is escaped, so that no two calls look alike.

use std::{borrow::Cow, fmt::Write as _};

use elicit::text::{Limits, clean_with};
use serde::{Deserialize as _, Deserializer, de};
use serde_json::value::RawValue;

use crate::pages::words::{Html, Words};

/// Longer texts are folded: characters, and lines.
const SHORT: (usize, usize) = (240, 6);

/// What stands before a fold, in characters.
const BEGINNING: usize = 60;

/// Members or items before the rest is folded.
const UNFOLDED: usize = 20;

/// Nothing is cut: what is shown is bounded where it is taken in (`OPERATION_AT_MOST`).
const WHOLE: Limits = Limits { characters: 1 << 22, lines: 1 << 22, line: 1 << 22 };

/// One level of a JSON value. Its parts are raw.
enum Level<'a> {
    Object(Vec<(Cow<'a, str>, &'a RawValue)>),
    Array(Vec<&'a RawValue>),
    Text(String),
    /// A number, `true`, `false`, `null`; or what cannot be read, as it is written.
    Word(&'a str),
}

/// The arguments of a call as a list.
pub(super) fn list(words: Words, arguments: Option<&str>) -> Html {
    match arguments.map(level) {
        None => Html::text(words.text("call.nothing")),
        Some(Level::Object(members)) if members.is_empty() => Html::text(words.text("call.nothing")),
        Some(level) => value(words, level),
    }
}

/// The same as it is sent.
pub(super) fn exact(arguments: &str) -> Html {
    let mut escaped = String::with_capacity(arguments.len());
    for character in arguments.chars() {
        if character.is_ascii() && character != '\u{7f}' {
            escaped.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing into a string cannot fail.
            let _ = write!(escaped, "\\u{unit:04x}");
        }
    }
    Html::text(&escaped)
}

/// A text of somebody else's, whole; a long one is folded.
pub(super) fn text(words: Words, text: &str) -> Html {
    let cleaned = clean_with(text, &WHOLE);
    let whole = Html::element("span", Some("said"), &Html::text(&cleaned));
    let characters = cleaned.chars().count();
    if characters <= SHORT.0 && cleaned.lines().count() <= SHORT.1 {
        return whole;
    }
    let beginning: String = cleaned.chars().take(BEGINNING).map(|one| if one == '\n' { ' ' } else { one }).collect();
    let count = characters.to_string();
    let summary = words.rich("call.long", &[("beginning", beginning.as_str()), ("n", count.as_str())]);
    fold(&summary, &whole)
}

fn level(raw: &str) -> Level<'_> {
    let raw = raw.trim_ascii();
    let read = match raw.as_bytes().first() {
        Some(b'{') => members(raw).map(Level::Object),
        Some(b'[') => serde_json::from_str(raw).ok().map(Level::Array),
        Some(b'"') => serde_json::from_str(raw).ok().map(Level::Text),
        _ => None,
    };
    read.unwrap_or(Level::Word(raw))
}

/// The members in the order in which they are written. Numbers keep their text, which a map of values would not do.
fn members(raw: &str) -> Option<Vec<(Cow<'_, str>, &RawValue)>> {
    struct Members;
    impl<'de> de::Visitor<'de> for Members {
        type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = Vec::new();
            while let Some((key, value)) = map.next_entry::<&RawValue, &RawValue>()? {
                // A key that is no text is shown as it is written.
                let key = String::deserialize(key).map_or(Cow::Borrowed(key.get()), Cow::Owned);
                members.push((key, value));
            }
            Ok(members)
        }
    }
    serde_json::Deserializer::from_str(raw).deserialize_map(Members).ok()
}

/// No deeper than a digest goes, which every call that is shown has.
fn value(words: Words, level: Level<'_>) -> Html {
    match level {
        Level::Text(said) if said.is_empty() => quiet(words.text("call.empty_text")),
        Level::Text(said) => text(words, &said),
        Level::Word(word) => Html::element("code", None, &text(words, word)),
        Level::Array(items) if items.is_empty() => quiet(words.text("call.empty_list")),
        Level::Object(members) if members.is_empty() => quiet(words.text("call.empty_object")),
        Level::Array(items) => {
            let items = items.into_iter().map(|item| Html::element("li", None, &value(words, self::level(item.get()))));
            folded(words, "ol", items.collect())
        }
        Level::Object(members) => {
            let members = members.into_iter().map(|(key, raw)| {
                let key = if key.is_empty() { quiet(words.text("call.empty_name")) } else { text(words, &key) };
                let value = Html::element("dd", None, &value(words, self::level(raw.get())));
                Html::element("div", None, &Html::joined([Html::element("dt", None, &key), value]))
            });
            folded(words, "dl", members.collect())
        }
    }
}

/// A list of which the first parts are seen at once.
fn folded(words: Words, list: &'static str, mut parts: Vec<Html>) -> Html {
    let rest = parts.split_off(parts.len().min(UNFOLDED));
    let shown = Html::element(list, Some("value"), &Html::joined(parts));
    if rest.is_empty() {
        return shown;
    }
    let count = rest.len().to_string();
    let rest = Html::element(list, Some("value"), &Html::joined(rest));
    Html::joined([shown, fold(&words.rich("call.more", &[("n", count.as_str())]), &rest)])
}

fn fold(summary: &Html, inner: &Html) -> Html {
    Html::element("details", Some("fold"), &Html::joined([Html::element("summary", None, summary), inner.clone()]))
}

fn quiet(text: &str) -> Html {
    Html::element("span", Some("quiet"), &Html::text(text))
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use crate::pages::language::Language;

    fn shown(arguments: &str) -> String {
        list(Words::of(Language::English), Some(arguments)).to_string()
    }

    /// R-FORM-11: two numbers that a double cannot tell apart look different, and all others as they were written.
    #[test]
    fn numbers_are_shown_as_they_are_written() {
        let html = shown(r#"{"a":9007199254740993,"b":1e999,"c":1.50,"d":-0}"#);
        for number in ["9007199254740993", "1e999", "1.50", "-0"] {
            assert!(html.contains(&format!("<code><span class=\"said\">{number}</span></code>")), "{html}");
        }
        assert!(shown(r#"{"a":9007199254740992}"#).contains("9007199254740992"));
    }

    /// R-SEC-02: what somebody else wrote is text, and hides nothing.
    #[test]
    fn hostile_arguments_are_text() {
        let html = shown(
            "{\"<script>alert(1)</script>\":\"</dd><img src=x>\",\"a\u{202e}b\":\"c\u{200b}\\u0000\\u001b[31m\\u202e\"}",
        );
        assert!(!html.contains("<script") && !html.contains("<img"), "{html}");
        assert!(html.contains("a‹U+202E›b") && html.contains("c‹U+200B›‹U+0000›‹U+001B›[31m‹U+202E›"), "{html}");
        let half = shown(r#"{"half":"\ud800","\udc00":1}"#);
        assert!(half.contains("&quot;\\ud800&quot;") && half.contains("&quot;\\udc00&quot;"), "{half}");
    }

    #[test]
    fn what_is_sent_is_shown_in_ascii() {
        assert_eq!(
            exact("{\"a\":\"é\u{1f600}\u{7f}\u{202e}\"}").to_string(),
            "{&quot;a&quot;:&quot;\\u00e9\\ud83d\\ude00\\u007f\\u202e&quot;}"
        );
    }

    /// Nothing is left out, however much it is; what is long is folded.
    #[test]
    fn long_and_many_arguments_are_folded_and_whole() {
        let mut many = String::from("{");
        for number in 0..200 {
            write!(many, "{}\"name-{number}\":\"value-{number}\"", if number == 0 { "" } else { "," }).unwrap();
        }
        let html = shown(&format!("{many}}}"));
        for number in 0..200 {
            assert!(
                html.contains(&format!("name-{number}</span></dt><dd><span class=\"said\">value-{number}<")),
                "{number}"
            );
        }
        assert_eq!(html.matches("<details").count(), 1);
        assert!(html.contains("<bdi>180</bdi> more"), "{html}");
        let long = format!("{}end", "x".repeat(60 * 1024));
        let html = shown(&format!("{{\"text\":\"{long}\"}}"));
        assert!(html.contains(&long) && html.contains("<details class=\"fold\"><summary>"));
        assert!(shown("{\"text\":\"a\\nb\"}").contains("a\nb"));
    }

    #[test]
    fn nested_values_and_empty_ones_can_be_read() {
        let html = shown(r#"{"to":{"name":"Ada","tags":["a",7,null]},"none":[],"blank":"","":{}}"#);
        for part in [
            "<dt><span class=\"said\">to</span></dt><dd><dl class=\"value\"><div><dt><span class=\"said\">name</span></dt>",
            "<li><span class=\"said\">a</span></li><li><code><span class=\"said\">7</span></code></li>",
            "<dd><span class=\"quiet\">(empty list)</span></dd>",
            "<dd><span class=\"quiet\">(empty text)</span></dd>",
            "<dt><span class=\"quiet\">(no name)</span></dt><dd><span class=\"quiet\">(empty object)</span></dd>",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert_eq!(shown("{}"), "nothing");
        assert_eq!(list(Words::of(Language::English), None).to_string(), "nothing");
        assert_eq!(shown("null"), "<code><span class=\"said\">null</span></code>");
        // As deep as a call can be.
        let deep = format!("{}1{}", "[".repeat(127), "]".repeat(127));
        assert_eq!(shown(&format!("{{\"a\":{deep}}}")).matches("<ol").count(), 127);
    }
}
